//! Counted calls: how many, how often, by whom, as text and JSON.
//!
//! Invariant: the rows of the caller tree add up to the calls they stand under; what is not shown is
//! summed in a row of its own.

use crate::escape::plain;
use crate::figures::grouped;
use crate::layout::wrap;
use crate::style::Style;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use zwhy_profile::{Profile, Share, StackId, StringId};

/// A function that was counted.
#[derive(Clone, Debug, Serialize)]
pub struct CountRow {
    pub function: String,
    pub module: String,
    pub calls: u64,
}

/// Calls of the functions below a caller, related to the caller's own calls.
#[derive(Clone, Debug)]
pub struct CountPer {
    pub caller: String,
    pub caller_calls: u64,
    pub calls: u64,
    /// Calls below each call of the caller in order of time, where all were seen.
    pub each: Vec<u32>,
}

/// Everything that is told of a count.
#[derive(Clone, Debug)]
pub struct CountReport<'a> {
    pub functions: Vec<CountRow>,
    pub profile: &'a Profile,
    /// Calls by stack with the function at the leaf; whether the stack holds the caller asked for.
    pub stacks: &'a [(StackId, u64, bool)],
    /// The caller asked for, and the calls below it.
    pub under: Option<(String, u64)>,
    pub per: Option<CountPer>,
    pub seconds: f64,
    /// Calls without a stack.
    pub lost: u64,
    /// One call in so many has a stack.
    pub one_in: u64,
    /// Nanoseconds that a call costs more.
    pub call_cost_ns: Option<f64>,
    /// Of the CPU time of all CPUs.
    pub overhead: Option<f64>,
    pub notes: &'a [String],
}

/// Rows of the tree at most; a screen or two.
const ROWS: usize = 40;
/// Callers below this share of all calls are summed.
const SMALL: f64 = 0.005;
/// Single calls of the caller that are listed.
const LISTED: usize = 60;

impl CountReport<'_> {
    fn calls(&self) -> u64 {
        self.functions.iter().map(|f| f.calls).sum()
    }

    /// Text of lines of at most `width` cells, where names allow it.
    pub fn text(&self, width: usize, style: Style) -> String {
        let width = width.clamp(40, 200);
        let mut out = String::new();
        let about = if self.one_in > 1 { "about " } else { "" };
        let rate = |calls: u64| grouped((calls as f64 / self.seconds.max(1e-9)).round() as u64);
        for f in &self.functions {
            let name = style.bold(&plain(&f.function));
            let module = plain(&f.module);
            let (calls, rate) = (grouped(f.calls), rate(f.calls));
            line(
                &mut out,
                format!("{name} [{module}]: {about}{calls} calls in {:.1} s, {rate} a second", self.seconds),
            );
        }
        if self.functions.len() > 1 {
            line(&mut out, format!("all together: {about}{} calls", grouped(self.calls())));
        }
        if let Some((caller, calls)) = &self.under {
            let share = Share::of(*calls, self.stacks.iter().map(|(_, n, _)| n).sum()).percent();
            line(
                &mut out,
                format!("under {}: {about}{} calls ({share:.1} %)", plain(caller), grouped(*calls)),
            );
        }
        if let Some(per) = &self.per {
            out.push_str(&per_text(per, width));
        }
        self.tree(&mut out, width, style);
        if let (Some(cost), Some(share)) = (self.call_cost_ns, self.overhead) {
            let share = share * 100.0;
            line(&mut out, format!("counting cost {cost:.0} ns a call and {share:.2} % of all CPUs"));
        }
        for note in self.notes {
            out.push_str(&crate::labelled("note:", 6, note, width.min(80)));
        }
        out
    }

    /// `{functions, calls, duration_s, calls_per_s, under, per, lost, one_in, call_cost_ns, overhead,
    /// notes, stacks: [{calls, under, frames: [{function, module}]}]}`, frames root first.
    pub fn json(&self) -> serde_json::Result<String> {
        let value = json!({
            "functions": self.functions,
            "calls": self.calls(),
            "duration_s": self.seconds,
            "calls_per_s": self.calls() as f64 / self.seconds.max(1e-9),
            "under": self.under.as_ref().map(|(caller, calls)| json!({ "caller": caller, "calls": calls })),
            "per": self.per.as_ref().map(|p| json!({
                "caller": p.caller,
                "caller_calls": p.caller_calls,
                "calls": p.calls,
                "calls_per_call": (p.caller_calls > 0).then(|| p.calls as f64 / p.caller_calls as f64),
                "each": p.each,
            })),
            "lost": self.lost,
            "one_in": self.one_in,
            "call_cost_ns": self.call_cost_ns,
            "overhead": self.overhead,
            "notes": self.notes,
            "stacks": self.stacks.iter().map(|s| self.stack_json(s)).collect::<Vec<_>>(),
        });
        serde_json::to_string_pretty(&value).map(|s| s + "\n")
    }

    fn stack_json(&self, (stack, calls, under): &(StackId, u64, bool)) -> Value {
        let p = self.profile;
        let frame = |f| json!({ "function": p.function_of(f), "module": p.module_of(f) });
        let mut frames: Vec<Value> = p.stacks.leaf_to_root(*stack).map(frame).collect();
        frames.reverse();
        json!({ "calls": calls, "under": self.under.is_some().then_some(under), "frames": frames })
    }

    fn tree(&self, out: &mut String, width: usize, style: Style) {
        let only_under = self.under.is_some();
        let mut tree = Tree { nodes: vec![Node::default()], ids: BTreeMap::new() };
        for (stack, count, under) in self.stacks {
            if *under || !only_under {
                tree.add(self.profile, *stack, *count);
            }
        }
        let total = tree.nodes[0].count;
        if total == 0 {
            return;
        }
        let below = if only_under { " below that caller" } else { "" };
        line(out, format!("\n{}", style.heading(&format!("calls{below} by caller, nearest first"))));
        let mut view = View { out, profile: self.profile, total, width, rows: 0 };
        view.children(&tree, 0, 0, "");
    }
}

fn per_text(per: &CountPer, width: usize) -> String {
    let mut out = String::new();
    let caller = plain(&per.caller);
    if per.caller_calls == 0 {
        line(&mut out, format!("{caller} was not called"));
        return out;
    }
    let mean = per.calls as f64 / per.caller_calls as f64;
    let spread = match (per.each.iter().min(), per.each.iter().max()) {
        (Some(least), Some(most)) => format!(" (least {least}, most {most})"),
        _ => String::new(),
    };
    let calls = grouped(per.caller_calls);
    line(&mut out, format!("per call of {caller} ({calls} calls): {mean:.1} on average{spread}"));
    if per.each.len() > 1 {
        let more = if per.each.len() > LISTED { " …" } else { "" };
        let listed: Vec<String> = per.each.iter().take(LISTED).map(u32::to_string).collect();
        out.push_str(&crate::labelled("  in order:", 12, &(listed.join(" ") + more), width.min(80)));
    }
    out
}

fn line(out: &mut String, text: impl AsRef<str>) {
    out.push_str(text.as_ref());
    out.push('\n');
}

#[derive(Default)]
struct Node {
    name: (StringId, StringId),
    count: u64,
    /// Calls whose stack ends here.
    own: u64,
    children: Vec<usize>,
}

/// Stacks from the leaf to the root; node 0 stands above all functions.
struct Tree {
    nodes: Vec<Node>,
    ids: BTreeMap<(usize, StringId, StringId), usize>,
}

impl Tree {
    fn add(&mut self, profile: &Profile, stack: StackId, count: u64) {
        let mut at = 0;
        self.nodes[0].count += count;
        for frame in profile.stacks.leaf_to_root(stack) {
            let frame = profile.frames.get(frame);
            let name = (frame.function, frame.module);
            let next = self.nodes.len();
            let id = *self.ids.entry((at, name.0, name.1)).or_insert(next);
            if id == next {
                self.nodes.push(Node { name, ..Node::default() });
                self.nodes[at].children.push(id);
            }
            self.nodes[id].count += count;
            at = id;
        }
        self.nodes[at].own += count;
    }

    /// Children by count, most first; equal ones in the order they came.
    fn children(&self, node: usize) -> Vec<usize> {
        let mut children = self.nodes[node].children.clone();
        children.sort_by_key(|c| std::cmp::Reverse(self.nodes[*c].count));
        children
    }
}

struct View<'a> {
    out: &'a mut String,
    profile: &'a Profile,
    total: u64,
    width: usize,
    rows: usize,
}

impl View<'_> {
    /// Rows of all children of `node`, which belongs to `module`.
    fn children(&mut self, tree: &Tree, node: usize, indent: usize, module: &str) {
        let (mut left, mut hidden) = (0, 0);
        for child in tree.children(node) {
            let count = tree.nodes[child].count;
            let small = (count as f64) < SMALL * self.total as f64;
            if self.rows >= ROWS || small {
                left += count;
                hidden += 1;
                continue;
            }
            self.chain(tree, child, indent, module);
        }
        if hidden > 0 {
            let s = if hidden == 1 { "" } else { "s" };
            self.row(left, indent, &format!("({hidden} more caller{s})"));
        }
        let own = tree.nodes[node].own;
        if own > 0 && !tree.nodes[node].children.is_empty() {
            self.row(own, indent, "(no caller seen)");
        }
    }

    /// One row for a node and the only callers it has, then its children.
    fn chain(&mut self, tree: &Tree, first: usize, indent: usize, module: &str) {
        let mut node = first;
        let mut text = String::new();
        let mut module = module.to_owned();
        loop {
            let (function, of) = tree.nodes[node].name;
            let (function, of) = (self.profile.strings.get(function), self.profile.strings.get(of));
            if !text.is_empty() {
                text.push_str(" ← ");
            }
            text.push_str(&plain(function));
            if of != module && !of.is_empty() {
                // Writing to a String cannot fail.
                let _ = write!(text, " [{}]", plain(of));
                module = of.to_owned();
            }
            match tree.nodes[node].children[..] {
                [only] if tree.nodes[node].own == 0 => node = only,
                _ => break,
            }
        }
        self.row(tree.nodes[first].count, indent, &text);
        self.children(tree, node, indent + 2, &module);
    }

    fn row(&mut self, count: u64, indent: usize, text: &str) {
        self.rows += 1;
        let share = Share::of(count, self.total).percent();
        let head = format!("{:>13} {share:>5.1} %  ", grouped(count));
        let indent = indent.min(self.width / 3);
        // Lines after the first are set in by two.
        let room = self.width.saturating_sub(head.len() + indent + 2).max(20);
        for (i, part) in wrap(text, room).iter().enumerate() {
            let head = if i == 0 { head.clone() } else { " ".repeat(head.len() + 2) };
            line(self.out, format!("{head}{}{part}", " ".repeat(indent)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zwhy_profile::FrameKind;

    fn profile(stacks: &[(&[&str], u64)]) -> (Profile, Vec<(StackId, u64, bool)>) {
        let mut p = Profile::new();
        let rows = stacks.iter().map(|(names, count)| {
            let frames: Vec<_> = names.iter().map(|n| p.frame(n, "zfs", FrameKind::Kernel)).collect();
            (p.stack(&frames), *count, names.contains(&"unmount"))
        });
        let rows = rows.collect();
        (p, rows)
    }

    fn report<'a>(
        p: &'a Profile,
        stacks: &'a [(StackId, u64, bool)],
        notes: &'a [String],
    ) -> CountReport<'a> {
        CountReport {
            functions: vec![CountRow {
                function: "strcmp\u{1b}[2J".into(),
                module: "kernel".into(),
                calls: stacks.iter().map(|s| s.1).sum(),
            }],
            profile: p,
            stacks,
            under: None,
            per: None,
            seconds: 2.0,
            lost: 0,
            one_in: 1,
            call_cost_ns: Some(2100.0),
            overhead: Some(0.0123),
            notes,
        }
    }

    #[test]
    fn callers_are_a_tree_whose_rows_add_up() {
        let (p, stacks) = profile(&[
            (&["main", "unmount", "get_vfs", "strcmp"], 1900),
            (&["main", "mount", "get_vfs", "strcmp"], 90),
            (&["strcmp"], 7),
            (&["other", "strcmp"], 3),
        ]);
        let notes = ["one note".to_owned()];
        let text = report(&p, &stacks, &notes).text(80, Style::PLAIN);
        assert_eq!(
            text,
            "strcmp\\u{1b}[2J [kernel]: 2,000 calls in 2.0 s, 1,000 a second\n\
             \n\
             calls by caller, nearest first\n\
             \x20       2,000 100.0 %  strcmp [zfs]\n\
             \x20       1,990  99.5 %    get_vfs\n\
             \x20       1,900  95.0 %      unmount ← main\n\
             \x20          90   4.5 %      mount ← main\n\
             \x20           3   0.1 %    (1 more caller)\n\
             \x20           7   0.4 %    (no caller seen)\n\
             counting cost 2100 ns a call and 1.23 % of all CPUs\n\
             note: one note\n"
        );
    }

    #[test]
    fn calls_under_and_per_caller_are_told() {
        let (p, stacks) = profile(&[(&["unmount", "strcmp"], 27), (&["mount", "strcmp"], 3)]);
        let mut report = report(&p, &stacks, &[]);
        report.under = Some(("unmount".into(), 27));
        report.per =
            Some(CountPer { caller: "unmount".into(), caller_calls: 3, calls: 27, each: vec![10, 9, 8] });
        let text = report.text(80, Style::PLAIN);
        assert!(text.contains("under unmount: 27 calls (90.0 %)\n"), "{text}");
        let per = "per call of unmount (3 calls): 9.0 on average (least 8, most 10)\n  in order: 10 9 8\n";
        assert!(text.contains(per), "{text}");
        assert!(text.contains("strcmp [zfs] ← unmount\n") && !text.contains("← mount"), "{text}");
        let json: Value = serde_json::from_str(&report.json().unwrap()).unwrap();
        assert_eq!(json["per"]["calls_per_call"], 9.0);
        assert_eq!(json["under"]["calls"], 27);
        assert_eq!(json["stacks"][1]["frames"][1]["function"], "strcmp");
    }

    #[test]
    fn long_chains_stay_in_the_terminal() {
        let names: Vec<String> = (0..40).map(|i| format!("a_function_{i}")).collect();
        let chain: Vec<&str> = names.iter().map(String::as_str).collect();
        let (p, stacks) = profile(&[(&chain, 5)]);
        let text = report(&p, &stacks, &[]).text(80, Style::PLAIN);
        assert!(text.lines().all(|l| crate::layout::width(l) <= 80), "{text}");
        assert!(names.iter().all(|n| text.contains(n.as_str())));
    }
}
