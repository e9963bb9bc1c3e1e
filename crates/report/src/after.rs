//! Whether a change helped, on a terminal and as Markdown: verdict, findings, cost, settings, doubts.

use crate::escape::markdown_text as text;
use crate::escape::plain;
use crate::figures::{grouped, percent};
use crate::layout::{Align, Grid, INDENT, labelled};
use crate::markdown::table;
use crate::style::Style;
use std::fmt::Write;
use zwhy_diagnose::{
    AfterAnswer, FindingChange, Outcome, Seen, SettingChange, ShareOf, Source, State, Times, change_words,
    figure_words,
};

/// What `*` behind shares means; the rule is that of `zwhy diff`.
const MARK: &str = "* changed by more than chance, at a false discovery rate of 5 %";
/// Settings listed in the short form.
const SETTINGS: usize = 12;

pub fn after_json(answer: &AfterAnswer) -> serde_json::Result<String> {
    serde_json::to_string_pretty(answer).map(|s| s + "\n")
}

/// One screen: the verdict, then a table each for findings, cost and settings.
pub fn after_text(answer: &AfterAnswer, verbose: bool, style: Style) -> String {
    let mut out = String::new();
    let verdict = labelled(label(answer.outcome), INDENT + 3, &answer.verdict, style.prose());
    match verdict.strip_prefix(label(answer.outcome)) {
        Some(rest) => out.push_str(&format!("{}{rest}", style.heading(label(answer.outcome)))),
        None => out.push_str(&verdict),
    }
    out.push_str(&format!("\n{}\n", style.dim(labelled("", 0, &sources(answer), style.prose()).trim_end())));
    let mut grid = Grid::new(2, &[Align::Left, Align::Left, Align::Left, Align::Left, Align::Left]);
    grid.header(["Finding", "before", "after", "of CPU", ""]);
    for row in &answer.findings {
        grid.row(finding_cells(row));
    }
    out.push_str(&grid.titled("", style));
    if is_marked(answer) {
        out.push_str(&style.dim(&labelled("", 2, MARK, style.prose())));
    }
    let mut grid = Grid::new(2, &[Align::Left, Align::Right, Align::Right, Align::Left]);
    grid.header(["Cost", "before", "after", "95 %"]);
    let costs = costs(answer);
    costs.iter().for_each(|row| grid.row(row));
    out.push_str(&grid.titled("", style));
    let limit = if verbose { usize::MAX } else { SETTINGS };
    let mut grid = Grid::new(2, &[Align::Left, Align::Left, Align::Left, Align::Left]);
    grid.header(["Settings changed", "", "before", "after"]);
    answer.settings.iter().take(limit).for_each(|s| grid.row(setting_cells(s)));
    out.push_str(&grid.titled("", style));
    let rest = answer.settings.len().saturating_sub(limit);
    if rest > 0 {
        out.push_str(&style.dim(&format!("  and {rest} more settings (-v)\n")));
    }
    if !answer.doubts.is_empty() {
        let lines: String =
            answer.doubts.iter().map(|d| labelled("  !", 4, &d.text, style.prose())).collect();
        let _ = write!(out, "\n{}\n{lines}", style.warning("Doubts"));
    }
    out.push('\n');
    out.push_str(&style.dim(&labelled("", 0, &answer.note, style.prose())));
    out
}

fn label(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Helped => "HELPED",
        Outcome::HelpedInPart => "PARTLY",
        Outcome::DidNotHelp => "NO",
        Outcome::Worse => "WORSE",
        Outcome::CannotTell => "UNSURE",
    }
}

/// `before.zwhy → after.zwhy · host · OpenZFS 2.3.2 · 10 → 12 s · 1,096 → 980 samples`
fn sources(answer: &AfterAnswer) -> String {
    let (a, b) = (&answer.before, &answer.after);
    let mut parts = vec![both(&a.name, &b.name)];
    parts.extend(two(a.host.as_ref(), b.host.as_ref()));
    parts.extend(two(a.zfs_version.as_ref(), b.zfs_version.as_ref()).map(|v| format!("OpenZFS {v}")));
    if let (Some(x), Some(y)) = (a.duration_s, b.duration_s) {
        parts.push(both(&format!("{x:.0}"), &format!("{y:.0}")) + " s");
    }
    let samples = |s: &Source| s.samples.map(grouped);
    parts.extend(two(samples(a).as_ref(), samples(b).as_ref()).map(|n| n + " samples"));
    parts.join(" · ")
}

fn both(before: &str, after: &str) -> String {
    if before == after { before.to_owned() } else { format!("{before} → {after}") }
}

fn two(before: Option<&String>, after: Option<&String>) -> Option<String> {
    Some(both(before?, after?))
}

fn state(state: State) -> &'static str {
    match state {
        State::Gone => "gone",
        State::Came => "new",
        State::Stayed => "stayed",
    }
}

fn seen(seen: Option<Seen>) -> String {
    seen.map_or("–".to_owned(), |s| format!("{} ({:.2})", s.confidence_word.word(), s.confidence))
}

/// Whether a share bears the mark that has to be explained.
fn is_marked(answer: &AfterAnswer) -> bool {
    answer.findings.iter().any(|row| has_shares(row) && is_real(row))
}

fn has_shares(row: &FindingChange) -> bool {
    row.share_before.is_some() || row.share_after.is_some()
}

fn is_real(row: &FindingChange) -> bool {
    row.change.is_some_and(|c| c.real)
}

/// `73.4 % → 0.2 % *`
fn shares(row: &FindingChange) -> String {
    if !has_shares(row) {
        return String::new();
    }
    let real = if is_real(row) { " *" } else { "" };
    let shown = |share: Option<ShareOf>| share.map_or(String::new(), |s| percent(s.value));
    format!("{} → {}{real}", shown(row.share_before), shown(row.share_after))
}

fn finding_cells(row: &FindingChange) -> [String; 5] {
    let shares = shares(row);
    [row.title.clone(), seen(row.before), seen(row.after), shares, state(row.state).to_owned()]
}

fn costs(answer: &AfterAnswer) -> Vec<[String; 4]> {
    let row = |name: String, times: &Times, show: &dyn Fn(f64) -> String| {
        [name, show(times.before), show(times.after), change_words(times)]
    };
    let mut out = Vec::new();
    let cost = &answer.cost;
    if let Some(work) = &answer.work {
        let bytes = work.unit == "bytes";
        let unit = if bytes { "GB" } else { "1,000 operations" };
        let all = format!("CPU s a {unit}");
        for (name, times) in
            [(all, &cost.cpu_s_per_unit), ("  of which in ZFS".to_owned(), &cost.zfs_cpu_s_per_unit)]
        {
            out.extend(times.iter().map(|t| row(name.clone(), t, &figure_words)));
        }
        let (name, scale) = if bytes { ("MB a second", 1e6) } else { ("operations a second", 1.0) };
        out.push(row(name.to_owned(), &work.rate, &|rate| figure_words(rate / scale)));
    }
    for (name, times) in [("CPUs busy", &cost.cpus), ("  of which in ZFS", &cost.zfs_cpus)] {
        out.extend(times.iter().map(|t| row(name.to_owned(), t, &figure_words)));
    }
    out
}

fn setting_cells(s: &SettingChange) -> [String; 4] {
    let of = s.of.clone().unwrap_or_else(|| s.kind.clone());
    let value = |v: &Option<String>| v.clone().unwrap_or_else(|| "–".to_owned());
    [s.name.clone(), of, value(&s.before), value(&s.after)]
}

/// For an issue thread. Names are escaped, so they cannot be markup.
pub fn after_markdown(answer: &AfterAnswer) -> String {
    let mut out = format!("**{}**\n\n{}\n\n", text(&answer.verdict), text(&sources(answer)));
    let head = ["finding", "before", "after", "of CPU", ""];
    markdown_table(&mut out, head, answer.findings.iter().map(finding_cells));
    if is_marked(answer) {
        let _ = writeln!(out, "{}\n", text(MARK));
    }
    markdown_table(&mut out, ["cost", "before", "after", "95 %"], costs(answer));
    markdown_table(&mut out, ["setting", "of", "before", "after"], answer.settings.iter().map(setting_cells));
    for doubt in &answer.doubts {
        let _ = writeln!(out, "- {}", text(&doubt.text));
    }
    let _ = writeln!(out, "\n{}", text(&plain(&answer.note)));
    out
}

/// A table with an empty line after it; nothing without rows.
fn markdown_table<const N: usize>(
    out: &mut String,
    head: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) {
    let before = out.len();
    table(out, "", head, rows.into_iter().map(|row| row.map(|cell| text(&cell))));
    out.push_str(if out.len() > before { "\n" } else { "" });
}
