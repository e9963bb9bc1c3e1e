//! The answer as Markdown, ready for an issue thread.

use crate::escape::{markdown_code as code, markdown_text as text, plain};
use crate::figures::{grouped, itself_text, percent, sampled};
use crate::stats;
use crate::words::{
    NO_POOL, Small, affected, assumption, confidence, is_small, measured, not_named, speed_up, times,
    whole_text,
};
use std::fmt::Write;
use zwhy_diagnose::{
    Answer, EvidenceLine, Finding, OriginRow, PathRow, PathStep, ShareOf, StageRow, ThreadRow, WaitRow,
};

/// All of the answer. Names are put in code spans, so they cannot be markup.
pub fn answer_markdown(answer: &Answer) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(out, "**{}**\n", text(&answer.why));
    if let Some(what) = &answer.act {
        let _ = writeln!(out, "{}\n", text(what));
    }
    source(&mut out, answer);
    crate::bottleneck::markdown(&mut out, answer);
    crate::demand::markdown(&mut out, answer);
    answer.findings.iter().for_each(|f| finding(&mut out, f));
    stages(&mut out, answer);
    answer.paths.iter().for_each(|row| path(&mut out, row));
    threads(&mut out, answer);
    if let Some(itself) = &answer.itself {
        let _ = writeln!(out, "{}\n", text(&itself_text(itself)));
    }
    waiting(&mut out, &answer.waiting);
    origins(&mut out, answer);
    quality(&mut out, answer);
    out
}

/// What was read: the host, the system, how long and how much.
fn source(out: &mut String, answer: &Answer) {
    let s = &answer.source;
    let name = Some(&s.name).filter(|n| !n.is_empty());
    let kind = Some(&s.kind).filter(|k| !k.is_empty());
    let facts = [
        ("source", name),
        ("kind", kind),
        ("host", s.host.as_ref()),
        ("OpenZFS", s.zfs_version.as_ref()),
        ("kernel", s.kernel.as_ref()),
        ("system", s.os.as_ref()),
    ];
    for (name, value) in facts.into_iter().filter_map(|(n, v)| v.map(|v| (n, v))) {
        let _ = writeln!(out, "- {name}: {}", code(value));
    }
    if s.zfs_in_use == Some(false) {
        let _ = writeln!(out, "- {NO_POOL}");
    }
    let how_long = match (s.duration_s, s.hz) {
        (Some(d), Some(hz)) => format!("{d:.1} s at {hz:.0} Hz, "),
        (Some(d), None) => format!("{d:.1} s, "),
        _ => String::new(),
    };
    let lost = stats::lost(&answer.quality);
    let _ = writeln!(out, "- {how_long}{}, {lost} (zwhy {})", sampled(s), text(&answer.zwhy));
    if let Some(whole) = &answer.whole {
        let _ = writeln!(out, "- {}", text(&whole_text(whole)));
    }
    out.push('\n');
}

fn finding(out: &mut String, f: &Finding) {
    let _ = writeln!(out, "### {}\n\n{}: {}.\n", text(&f.title), code(&f.class), confidence(f));
    let _ = writeln!(out, "{}\n", text(&f.explanation.split_whitespace().collect::<Vec<_>>().join(" ")));
    if let Some(about) = crate::rows::about(f) {
        let _ = writeln!(out, "About {}.\n", text(&about));
    }
    let before = out.len();
    f.evidence.iter().for_each(|e| evidence(out, "", e));
    f.against.iter().for_each(|e| evidence(out, "against it: ", e));
    for limit in &f.limits {
        let _ = writeln!(out, "- {}", text(&limit.text));
    }
    if let Some(without) = &f.without {
        let _ = writeln!(out, "- Without this work {}.", speed_up(without));
    }
    if let Some(upgrade) = &f.upgrade {
        let _ = writeln!(out, "- Upgrade: {}", text(upgrade));
    }
    if out.len() > before {
        out.push('\n');
    }
    crate::remedy::markdown(out, &f.remedy);
    if let Some(gain) = &f.gain {
        let _ = writeln!(out, "- Gain: {}", text(&gain.text));
    }
    further(out, f);
}

fn evidence(out: &mut String, label: &str, e: &EvidenceLine) {
    let source = if e.source.is_empty() { String::new() } else { format!(" ({})", text(&e.source)) };
    let _ = match e.measure.as_str() {
        "" => writeln!(out, "- {label}{}{source}", text(&e.claim)),
        measure => {
            writeln!(out, "- {label}{}: {}{source}", text(e.claim.trim_end_matches('.')), code(measure))
        }
    };
}

/// What to measure and to read next.
fn further(out: &mut String, f: &Finding) {
    if let Some(experiment) = &f.experiment {
        let terms = crate::proof::terms(experiment).map_or(String::new(), |terms| format!(" ({terms})"));
        let _ = writeln!(out, "- To prove it: {}{terms}", code(&crate::proof::command(experiment)));
    }
    for next in &f.next {
        let _ = writeln!(out, "- Next: {}", text(next));
    }
    for ruled in &f.rules_out {
        let _ = writeln!(out, "- Not {}: {}", code(&ruled.class), text(&ruled.why));
    }
    let affected = affected(f);
    if !affected.is_empty() {
        let _ = writeln!(out, "- Affected: {}", text(&affected));
    }
    for reference in &f.references {
        let _ = writeln!(out, "- <{}>", plain(reference).replace(['<', '>'], ""));
    }
    out.push('\n');
}

fn stages(out: &mut String, answer: &Answer) {
    if answer.stages.is_empty() {
        return;
    }
    let bounds = answer.stages.iter().any(|row| row.without.is_some());
    let (head, line) = if bounds { (" without it, at most |", "---|") } else { ("", "") };
    let _ = writeln!(out, "| stage | share | 95 % | who |{head}\n|---|--:|---|---|{line}");
    let (rows, small) = Small::split(&answer.stages, |row| row.share.value);
    for row in rows {
        let without = row.without.as_ref().map_or(String::new(), times);
        let cell = if bounds { format!(" {without} |") } else { String::new() };
        let _ = writeln!(out, "| {} | {} | {} |{cell}", text(&row.stage), share_cells(&row.share), who(row));
        for label in row.labels.iter().filter(|l| !is_small(l.share.value)) {
            let rest = if bounds { " | |" } else { " |" };
            let _ =
                writeln!(out, "| – of which {} | {} |{rest}", text(&label.label), share_cells(&label.share));
        }
    }
    out.push('\n');
    folded(out, &small.text("stage", "stages"));
    for (row, limit) in answer.stages.iter().flat_map(|row| row.limits.iter().map(move |l| (row, l))) {
        let _ = writeln!(out, "- {}: {}", text(&row.stage), text(&limit.text));
    }
    if let Some(what_if) = answer.what_if.as_ref().filter(|_| bounds) {
        let _ = writeln!(out, "- {}", text(&assumption(what_if)));
    }
    out.push('\n');
}

/// What a table leaves out.
fn folded(out: &mut String, more: &str) {
    if !more.is_empty() {
        let _ = writeln!(out, "{more}\n");
    }
}

/// Two cells: the share and its interval.
fn share_cells(share: &ShareOf) -> String {
    format!("{} | {}", percent(share.value), measured(share))
}

fn who(row: &StageRow) -> String {
    let named = row.who.iter().filter(|w| !w.thread.is_empty()).take(2);
    named.map(|w| format!("{} {:.0} %", code(&w.thread), w.share * 100.0)).collect::<Vec<_>>().join(", ")
}

/// An operation by its parts.
fn path(out: &mut String, row: &PathRow) {
    let range = measured(&row.share);
    let range = if range.is_empty() { String::new() } else { format!(" ({range})") };
    let (name, root, all) = (text(&row.name), code(&row.root), percent(row.share.value));
    let _ = writeln!(out, "| {name} ({root}) | {all}{range} | of it | |\n|---|--:|--:|---|");
    for step in &row.steps {
        part(out, "", step);
        step.inside.iter().for_each(|inner| part(out, "– ", inner));
    }
    let rest = row.rest as f64 / row.samples.max(1) as f64;
    let _ = writeln!(out, "| all else | {} | {} | |\n", percent(row.share.value * rest), percent(rest));
}

fn part(out: &mut String, indent: &str, step: &PathStep) {
    let useful = if step.useful { " (useful work)" } else { "" };
    let (share, of_path) = (percent(step.share.value), percent(step.of_path));
    let (function, what) = (code(&step.function), text(&step.what));
    let _ = writeln!(out, "| {indent}{function} | {share} | {of_path} | {what}{useful} |");
}

fn threads(out: &mut String, answer: &Answer) {
    // A profile that does not tell threads apart has one without a name.
    if answer.threads.iter().all(|t| t.comm.is_empty()) {
        return;
    }
    let all = answer.source.amount.max(1) as f64;
    let used = |t: &ThreadRow| t.cpu_share.unwrap_or(0.0).max(t.samples as f64 / all);
    let (rows, small) = Small::split(&answer.threads, used);
    let row = |t: &ThreadRow| {
        let cpu = t.cpu_s.map_or(String::new(), |s| format!("{s:.2}"));
        let share = t.cpu_share.map_or(String::new(), percent);
        [code(&t.comm), t.threads.to_string(), cpu, share, grouped(t.samples), text(&t.role)]
    };
    let named = rows.into_iter().filter(|t| !t.comm.is_empty()).map(row);
    table(out, "", ["thread", ">number", ">CPU s", ">of a CPU", ">samples", "role"], named);
    out.push('\n');
    folded(out, &small.text("thread", "threads by name"));
}

/// Where threads wait, for what, and who ends it.
fn waiting(out: &mut String, rows: &[WaitRow]) {
    let row = |row: &WaitRow| {
        let time = if row.wait_s > 0.0 { format!("{:.2}", row.wait_s) } else { String::new() };
        let [waits_for, on, role, stage] = [&row.waits_for, &row.on, &row.role, &row.stage].map(|t| text(t));
        let (inside, thread) = (code(&row.inside), code(&row.thread));
        [inside, waits_for, on, time, grouped(row.samples), thread, role, stage]
    };
    let head = ["waiting (not CPU)", "for", "on", ">s", ">samples", "thread", "role", "stage"];
    table(out, "", head, rows.iter().map(row));
    out.push_str(if rows.is_empty() { "" } else { "\n" });
}

fn origins(out: &mut String, answer: &Answer) {
    let row = |row: &OriginRow| {
        [text(&row.origin), percent(row.share.value), measured(&row.share), grouped(row.samples)]
    };
    table(out, "", ["origin", ">share", "95 %", ">samples"], answer.origins.iter().map(row));
    out.push_str(if answer.origins.is_empty() { "" } else { "\n" });
}

/// A table of cells that are harmless already, after `before`; nothing without rows. A heading that begins with `>` is of
/// a column of figures.
pub(crate) fn table<const N: usize>(
    out: &mut String,
    before: &str,
    head: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) {
    let mut rows = rows.into_iter().peekable();
    if rows.peek().is_none() {
        return;
    }
    let names = head.map(|name| name.trim_start_matches('>'));
    let lines = head.map(|name| if name.starts_with('>') { "--:|" } else { "---|" });
    let _ = writeln!(out, "{before}| {} |\n|{}", names.join(" | "), lines.concat());
    for row in rows {
        let _ = writeln!(out, "| {} |", row.join(" | "));
    }
}

fn quality(out: &mut String, answer: &Answer) {
    out.push_str("### Data quality\n\n");
    let of = &answer.quality;
    let lines = std::iter::once(stats::read(of)).chain(stats::notes(of)).chain(not_named(of));
    lines.for_each(|line| {
        let _ = writeln!(out, "- {}", text(&line));
    });
}
