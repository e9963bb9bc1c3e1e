//! The answer on a terminal: why, what to do, the figures, in one screen of 80 columns.

use crate::escape::plain;
use crate::layout::{Align, Grid, labelled, wrap};
use crate::style::Style;
use zwhy_diagnose::{Answer, ConfidenceWord, EvidenceLine, Finding, ShareOf, StageRow};

const WIDTH: usize = 80;
const INDENT: usize = 5;
const STAGES_SHOWN: usize = 8;
const THREADS_SHOWN: usize = 6;
const EVIDENCE_SHOWN: usize = 4;

/// `input` is how the user called the source, for the commands suggested at the end.
pub fn answer_text(answer: &Answer, verbose: bool, input: &str, style: Style) -> String {
    let mut out = String::new();
    out.push_str(&style.dim(&plain(&source_line(answer))));
    out.push_str("\n\n");
    out.push_str(&headline(answer, style));
    match (verbose, answer.findings.first()) {
        (false, Some(first)) => out.push_str(&finding(first, EVIDENCE_SHOWN, false, style)),
        (true, Some(_)) => answer.findings.iter().for_each(|f| out.push_str(&whole_finding(f, style))),
        (_, None) => {}
    }
    if !verbose {
        out.push_str(&others(answer, style));
    }
    out.push_str(&stages(answer, verbose, style));
    out.push_str(&threads(answer, verbose, style));
    out.push_str(&quality(answer, style));
    out.push_str(&more(answer, verbose, input, style));
    out
}

fn source_line(answer: &Answer) -> String {
    let s = &answer.source;
    let mut parts: Vec<String> = Vec::new();
    parts.extend(s.host.clone().or_else(|| Some(s.name.clone()).filter(|n| !n.is_empty())));
    parts.extend(s.zfs_version.as_ref().map(|v| format!("OpenZFS {v}")));
    match (s.duration_s, s.hz) {
        (Some(d), Some(hz)) => parts.push(format!("{d:.0} s at {hz:.0} Hz")),
        (Some(d), None) => parts.push(format!("{d:.0} s")),
        _ => {}
    }
    parts.push(format!("{} samples, {} lost", s.samples, s.lost));
    parts.join(" · ")
}

fn headline(answer: &Answer, style: Style) -> String {
    let why = labelled("WHY", INDENT, &answer.why, WIDTH);
    let mut out = emphasise(&why, "WHY", style);
    if let Some(what) = &answer.act {
        out.push_str(&emphasise(&labelled("DO", INDENT, what, WIDTH), "DO", style));
    }
    out
}

fn emphasise(text: &str, label: &str, style: Style) -> String {
    match text.strip_prefix(label) {
        Some(rest) => format!("{}{rest}", style.heading(label)),
        None => text.to_owned(),
    }
}

/// Evidence and remedy of one finding, below its headline.
fn finding(f: &Finding, evidence: usize, with_title: bool, style: Style) -> String {
    let pad = " ".repeat(INDENT);
    let mut out = String::new();
    if with_title {
        out.push_str(&style.bold(&format!("\n{} — {}\n", plain(&f.title), confidence(f))));
        out.push_str(&paragraph(&f.explanation));
    }
    for command in &f.remedy.commands {
        out.push_str(&format!("{pad}  {}\n", style.bold(&plain(command))));
    }
    if let Some(experiment) = &f.experiment {
        out.push_str(&format!(
            "{pad}Prove it here first: {}\n",
            style.bold(&format!("zwhy lab run {}", plain(experiment)))
        ));
    }
    if !f.evidence.is_empty() {
        out.push_str(&format!("\n{}\n", style.bold("Evidence")));
    }
    for item in f.evidence.iter().take(evidence) {
        let text = evidence_text(item);
        out.push_str(&labelled("  ·", 4, &text, WIDTH));
    }
    if f.evidence.len() > evidence {
        out.push_str(&style.dim(&format!("    and {} more (-v)\n", f.evidence.len() - evidence)));
    }
    if let Some(next) = f.next.first() {
        out.push_str(&labelled("Next", INDENT + 1, next, WIDTH));
    }
    out
}

/// Claim and measure in one sentence.
fn evidence_text(item: &EvidenceLine) -> String {
    if item.measure.is_empty() {
        return item.claim.clone();
    }
    format!("{}: {}", item.claim.trim_end_matches('.'), item.measure)
}

/// Everything a finding says.
fn whole_finding(f: &Finding, style: Style) -> String {
    let mut out = finding(f, usize::MAX, true, style);
    out.push_str(&labelled("Remedy", 9, &f.remedy.text, WIDTH));
    for (label, text) in [("Undo", &f.remedy.undo), ("Risk", &f.remedy.risk)] {
        out.push_str(&labelled(label, 9, text, WIDTH));
    }
    for next in f.next.iter().skip(1) {
        out.push_str(&labelled("Next", 9, next, WIDTH));
    }
    for ruled in &f.rules_out {
        out.push_str(&labelled("Not", 9, &format!("{}: {}", ruled.class, ruled.why), WIDTH));
    }
    for reference in &f.references {
        out.push_str(&labelled("See", 9, reference, WIDTH));
    }
    out
}

fn confidence(f: &Finding) -> String {
    let share = f.share.as_ref().map(|s| format!("{}, ", interval(s))).unwrap_or_default();
    format!("{share}confidence {} ({:.2})", word(f.confidence_word), f.confidence)
}

/// The confidence as people read it.
pub fn word(confidence: ConfidenceWord) -> &'static str {
    match confidence {
        ConfidenceWord::High => "high",
        ConfidenceWord::Medium => "medium",
        ConfidenceWord::Low => "low",
    }
}

fn paragraph(text: &str) -> String {
    wrap(text, WIDTH - INDENT).iter().map(|l| format!("{}{}\n", " ".repeat(INDENT), plain(l))).collect()
}

fn interval(s: &ShareOf) -> String {
    format!("{:.1} % ({:.1}–{:.1})", s.value * 100.0, s.low * 100.0, s.high * 100.0)
}

/// The findings after the first, a line each.
fn others(answer: &Answer, style: Style) -> String {
    if answer.findings.len() < 2 {
        return String::new();
    }
    let mut grid = Grid::new(2, &[Align::Left, Align::Right, Align::Left]);
    for f in &answer.findings[1..] {
        let share = f.share.as_ref().map_or(String::new(), |s| format!("{:.1} %", s.value * 100.0));
        grid.row([f.title.as_str(), &share, word(f.confidence_word)]);
    }
    format!("\n{}\n{}\n", style.bold("Also seen"), grid.lines(WIDTH).join("\n"))
}

fn stages(answer: &Answer, verbose: bool, style: Style) -> String {
    if answer.stages.is_empty() {
        return String::new();
    }
    let mut grid = Grid::new(2, &[Align::Left, Align::Right, Align::Left, Align::Left]);
    grid.row(["CPU by stage", "share", "95 %", "who"]);
    let limit = if verbose { usize::MAX } else { STAGES_SHOWN };
    for row in answer.stages.iter().take(limit) {
        grid.row(stage_cells(row));
        for label in row.labels.iter().filter(|l| verbose || l.share.value >= 0.02).take(3) {
            grid.row([
                format!("  of it {}", label.label),
                format!("{:.1} %", label.share.value * 100.0),
                String::new(),
                String::new(),
            ]);
        }
    }
    let rest = answer.stages.len().saturating_sub(limit);
    table(grid, rest, "stages", style)
}

fn stage_cells(row: &StageRow) -> [String; 4] {
    let who: Vec<String> = row
        .who
        .iter()
        .filter(|w| !w.thread.is_empty())
        .take(2)
        .map(|w| format!("{} {:.0} %", w.thread, w.share * 100.0))
        .collect();
    [
        row.stage.clone(),
        format!("{:.1} %", row.share.value * 100.0),
        format!("{:.1}–{:.1}", row.share.low * 100.0, row.share.high * 100.0),
        who.join(", "),
    ]
}

fn threads(answer: &Answer, verbose: bool, style: Style) -> String {
    if answer.threads.is_empty() {
        return String::new();
    }
    let mut grid = Grid::new(2, &[Align::Left, Align::Right, Align::Right, Align::Right, Align::Left]);
    grid.row(["Threads", "number", "CPU s", "share", "role"]);
    let limit = if verbose { usize::MAX } else { THREADS_SHOWN };
    for t in answer.threads.iter().take(limit) {
        let cpu = t.cpu_s.map_or(String::new(), |s| format!("{s:.2}"));
        let share = t.cpu_share.map_or(String::new(), |s| format!("{:.1} %", s * 100.0));
        grid.row([t.comm.as_str(), &t.threads.to_string(), &cpu, &share, &t.role]);
    }
    table(grid, answer.threads.len().saturating_sub(limit), "threads", style)
}

fn table(grid: Grid, rest: usize, what: &str, style: Style) -> String {
    let mut lines = grid.lines(WIDTH);
    lines[0] = style.bold(&lines[0]);
    if rest > 0 {
        lines.push(style.dim(&format!("  and {rest} more {what} (-v)")));
    }
    format!("\n{}\n", lines.join("\n"))
}

fn quality(answer: &Answer, style: Style) -> String {
    let q = &answer.quality;
    let mut lines: Vec<String> = Vec::new();
    if q.lost > 0 {
        lines.push(format!("{} of {} samples were lost", q.lost, q.read));
    }
    lines.extend(q.dropped.iter().map(|(reason, n)| format!("{n} dropped: {reason}")));
    lines.extend(q.warnings.iter().cloned());
    if lines.is_empty() {
        return String::new();
    }
    let text: String = lines.iter().map(|l| labelled("  !", 4, l, WIDTH)).collect();
    format!("\n{}\n{text}", style.warning("Data quality"))
}

fn more(answer: &Answer, verbose: bool, input: &str, style: Style) -> String {
    if input == "-" {
        return String::new();
    }
    let input = plain(input);
    let mut ways: Vec<String> = Vec::new();
    if !verbose {
        ways.push(format!("zwhy explain -v {input}"));
    }
    ways.push(format!("zwhy report {input} -o report.html"));
    if answer.source.samples > 0 {
        ways.push(format!("zwhy flame {input} -o flame.svg"));
    }
    let lines: String = ways.iter().map(|way| labelled("  ", 2, way, usize::MAX)).collect();
    format!("\n{}\n{}", style.bold("More"), lines)
}
