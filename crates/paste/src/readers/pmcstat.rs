//! `pmcstat` of FreeBSD: functions by share of samples with their callers (`-T`), and trees of callers (`-G`).
//!
//! Invariant: a row's share is that of the function itself; callers get their parts of it, `caller:PCT`, and what is
//! left is nobody's.

use crate::blocks::{Block, Line, Sink, Taken};
use zwhy_evidence::{FlatRow, OriginId, PctKind, PctStack};

pub struct Pmcstat;

impl Block for Pmcstat {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let mut taken = Taken::default();
        let mut at = 0;
        if is_title(&lines.first()?.text) {
            at += 1;
            let blank = lines[at..].iter().take(2).take_while(|l| l.is_blank()).count();
            at += blank;
            taken.drop("blank line", blank);
        }
        if !lines.get(at)?.text.split_whitespace().take(3).eq(["%SAMP", "IMAGE", "FUNCTION"]) {
            return None;
        }
        let heading = at;
        let rows: Vec<Row> = lines[at + 1..].iter().map_while(|l| row(&l.text)).collect();
        at += 1 + rows.len();
        if rows.is_empty() {
            return None;
        }
        taken.kept = usize::from(heading > 0) + 1 + rows.len();
        let origin = sink.origin("pmcstat -T", &lines[..at]);
        for row in rows {
            for (caller, pct) in &row.callers {
                sink.evidence.trees.push(PctStack {
                    pct: Some(*pct),
                    kind: PctKind::Own,
                    frames: vec![caller.clone(), row.function.clone()],
                    origin,
                    ..PctStack::default()
                });
            }
            sink.evidence.flat.push(row.flat(origin));
        }
        Some(taken)
    }
}

/// `pmcstat -G`: a function at the margin with its share of all samples, its callers below, each one blank further in
/// and with its share of what stands above it.
pub struct PmcstatTree;

impl Block for PmcstatTree {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let mut taken = Taken::default();
        let mut nodes: Vec<Node> = Vec::new();
        let mut event = String::new();
        let mut at = 0;
        if let Some(title) = tree_title(&lines.first()?.text) {
            event = title.to_ascii_lowercase();
            taken.kept += 1;
            at += 1;
        }
        while let Some(line) = lines.get(at) {
            // Functions are a blank line apart.
            let blank = lines[at..].iter().take(2).take_while(|l| l.is_blank()).count();
            let Some(node) = lines.get(at + blank).and_then(|l| node(&l.text)) else { break };
            if line.is_blank() {
                taken.drop("blank line", blank);
            }
            nodes.push(node);
            taken.kept += 1;
            at += blank + 1;
        }
        // A report may be pasted further in as a whole.
        let margin = nodes.iter().map(|node| node.depth).min()?;
        nodes.iter_mut().for_each(|node| node.depth -= margin);
        if is_no_time(&event) || event.is_empty() && sink.command.as_deref().is_some_and(is_no_time) {
            taken.kept -= nodes.len();
            taken.drop("samples of another event than time on the CPU", nodes.len());
            return Some(taken);
        }
        let origin = sink.origin("pmcstat -G", &lines[..at]);
        let without_function = push_trees(&nodes, origin, sink);
        taken.kept -= without_function;
        taken.drop("caller whose function was cut", without_function);
        Some(taken)
    }
}

/// A function of a tree.
struct Node {
    depth: usize,
    /// Of all samples at the margin, of the function above elsewhere.
    pct: f64,
    image: Option<String>,
    function: String,
}

/// `@ CPU_CLK_UNHALTED.THREAD [482031 samples]`: the event.
fn tree_title(text: &str) -> Option<&str> {
    let (event, samples) = text.trim().strip_prefix("@ ")?.split_once(" [")?;
    (samples.ends_with(" samples]") && !event.contains(' ')).then_some(event)
}

/// ` 97.21%  [65742]     arc_evict_state_impl @ /boot/kernel/zfs.ko`
fn node(text: &str) -> Option<Node> {
    const DEEPEST: usize = 200;
    let depth = text.len() - text.trim_start_matches(' ').len();
    if depth > DEEPEST {
        return None;
    }
    let mut words = text.split_whitespace();
    let pct: f64 = words.next()?.strip_suffix('%')?.parse().ok().filter(|p| (0.0..=100.0).contains(p))?;
    let count = words.next()?.strip_prefix('[')?.strip_suffix(']')?;
    let _: u64 = count.parse().ok()?;
    let function = words.next()?.to_owned();
    let image = match words.next() {
        Some("@") => Some(words.next()?.rsplit('/').next()?.to_owned()),
        Some(_) => return None,
        None => None,
    };
    Some(Node { depth, pct, image, function })
}

/// Whether an event counts something else than time: misses of caches, branches, accesses to memory.
fn is_no_time(event: &str) -> bool {
    let event = event.to_ascii_lowercase();
    ["miss", "branch", "mem_load", "mem_inst", "llc", "dtlb", "itlb"].iter().any(|part| event.contains(part))
}

/// Adds each path from the margin to its last caller, with what of the samples passes there and ends. Returns how many
/// callers stand below nothing.
fn push_trees(nodes: &[Node], origin: OriginId, sink: &mut Sink) -> usize {
    let mut path: Vec<(&Node, f64)> = Vec::new();
    let mut without_function = 0;
    for (at, node) in nodes.iter().enumerate() {
        path.truncate(node.depth);
        if path.len() < node.depth {
            without_function += 1;
            continue;
        }
        let above = path.last().map_or(100.0, |(_, part)| *part);
        let part = above * node.pct / 100.0;
        path.push((node, part));
        if node.depth == 0 {
            let module = node.image.as_deref().map(|image| image.trim_end_matches(".ko").to_owned());
            let symbol = node.function.clone();
            let row = FlatRow { pct: Some(node.pct), module, symbol, origin, ..FlatRow::default() };
            sink.evidence.flat.push(row);
        }
        let below: f64 = nodes[at + 1..]
            .iter()
            .take_while(|n| n.depth > node.depth)
            .filter(|n| n.depth == node.depth + 1)
            .map(|n| n.pct)
            .sum();
        let own = part * (100.0 - below).max(0.0) / 100.0;
        const LEAST: f64 = 0.01;
        if path.len() > 1 && own > LEAST {
            sink.evidence.trees.push(PctStack {
                pct: Some(own),
                kind: PctKind::Own,
                frames: path.iter().rev().map(|(node, _)| node.function.clone()).collect(),
                origin,
                ..PctStack::default()
            });
        }
    }
    without_function
}

struct Row {
    pct: f64,
    image: String,
    function: String,
    callers: Vec<(String, f64)>,
}

impl Row {
    fn flat(self, origin: OriginId) -> FlatRow {
        let module = Some(self.image.trim_end_matches(".ko").to_owned());
        FlatRow { pct: Some(self.pct), module, symbol: self.function, origin, ..FlatRow::default() }
    }
}

/// `PMC: [cpu_clk_unhalted.thread] Samples: 61284 (100.0%) , 0 unresolved`
fn is_title(text: &str) -> bool {
    text.trim_start().starts_with("PMC: [") && text.contains("Samples:")
}

/// `23.8 kernel  memcpy_erms  abd_copy_to_buf_off_cb:21.9 uiomove_faultflag:1.9`; a caller alone has no figure.
fn row(text: &str) -> Option<Row> {
    let mut words = text.split_whitespace();
    let pct: f64 = words.next()?.parse().ok().filter(|p| (0.0..=100.0).contains(p))?;
    let (image, function) = (words.next()?.to_owned(), words.next()?.to_owned());
    if !function.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return None;
    }
    let callers: Vec<&str> = words.collect();
    let alone = callers.len() == 1;
    let caller = |word: &&str| match word.rsplit_once(':') {
        Some((name, part)) => Some((name.to_owned(), part.parse().ok()?)),
        None if alone => Some(((*word).to_owned(), pct)),
        None => None,
    };
    Some(Row { pct, image, function, callers: callers.iter().filter_map(caller).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use zwhy_evidence::Evidence;

    fn evidence_of(text: &str) -> Evidence {
        crate::blocks::read("pasted", "x", text.as_bytes(), &[&Pmcstat], 9).evidence
    }

    #[test]
    fn functions_with_their_callers() {
        let text = "PMC: [cpu_clk_unhalted.thread] Samples: 61284 (100.0%) , 0 unresolved\n\n\
            %SAMP IMAGE      FUNCTION             CALLERS\n 23.8 kernel     memcpy_erms          \
            abd_copy_to_buf_off_cb:21.9 uiomove_faultflag:1.9\n  5.2 zfs.ko     abd_iterate_func     \
            abd_copy_to_buf_off\n  1.1 kernel     cpu_idle\n";
        let evidence = evidence_of(text);
        let flat: Vec<_> =
            evidence.flat.iter().map(|r| (r.pct, r.module.as_deref(), r.symbol.as_str())).collect();
        assert_eq!(
            flat,
            [
                (Some(23.8), Some("kernel"), "memcpy_erms"),
                (Some(5.2), Some("zfs"), "abd_iterate_func"),
                (Some(1.1), Some("kernel"), "cpu_idle"),
            ]
        );
        let trees: Vec<_> = evidence.trees.iter().map(|t| (t.pct, t.frames.join(";"))).collect();
        assert_eq!(
            trees,
            [
                (Some(21.9), "abd_copy_to_buf_off_cb;memcpy_erms".to_owned()),
                (Some(1.9), "uiomove_faultflag;memcpy_erms".to_owned()),
                (Some(5.2), "abd_copy_to_buf_off;abd_iterate_func".to_owned()),
            ]
        );
    }

    #[test]
    fn trees_of_callers() {
        let text = "@ CPU_CLK_UNHALTED.THREAD [482031 samples]\n\n\
            14.00%  [67629]    sx_try_xlock_int @ /boot/kernel/kernel\n \
            90.00%  [60866]     arc_evict_state_impl @ /boot/kernel/zfs.ko\n  \
            100.0%  [60866]      zthr_procedure\n \
            10.00%  [6763]      dbuf_evict_one\n\n\
            12.88%  [62085]    memcpy_erms @ /boot/kernel/kernel\n";
        let evidence = crate::blocks::read("pasted", "x", text.as_bytes(), &[&PmcstatTree], 9).evidence;
        let flat: Vec<_> =
            evidence.flat.iter().map(|r| (r.pct, r.module.as_deref(), r.symbol.as_str())).collect();
        assert_eq!(
            flat,
            [(Some(14.0), Some("kernel"), "sx_try_xlock_int"), (Some(12.88), Some("kernel"), "memcpy_erms")]
        );
        let trees: Vec<_> = evidence
            .trees
            .iter()
            .map(|t| format!("{:.1} {}", t.pct.unwrap_or(0.0), t.frames.join(";")))
            .collect();
        assert_eq!(
            trees,
            [
                "12.6 zthr_procedure;arc_evict_state_impl;sx_try_xlock_int",
                "1.4 dbuf_evict_one;sx_try_xlock_int"
            ]
        );
        // Pasted further in, and with a line cut out by grep.
        let cut = "    14.00%  [67629]    sx_try_xlock_int @ /boot/kernel/kernel\n      100.0%  [60866]      zthr_procedure\n";
        let read = crate::blocks::read("pasted", "x", cut.as_bytes(), &[&PmcstatTree], 9);
        assert_eq!((read.evidence.flat.len(), read.evidence.trees.len(), read.stats.kept), (1, 0, 1));
        assert_eq!(read.stats.dropped.get("caller whose function was cut"), Some(&1));
        let misses = "@ MEM_LOAD_RETIRED.L3_MISS [51712 samples]\n38.90%  [20117]    sx_try_xlock_int @ /boot/kernel/kernel\n";
        let read = crate::blocks::read("pasted", "x", misses.as_bytes(), &[&PmcstatTree], 9);
        assert!(read.evidence.flat.is_empty());
        assert_eq!(read.stats.dropped.get("samples of another event than time on the CPU"), Some(&1));
    }

    #[test]
    fn a_heading_alone_is_nothing() {
        let evidence = evidence_of("%SAMP IMAGE FUNCTION CALLERS\nand then nothing\n");
        assert!(evidence.flat.is_empty());
    }
}
