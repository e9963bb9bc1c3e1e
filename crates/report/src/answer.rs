//! The answer on a terminal: why, what to do, the figures, in one screen of 80 columns.

use crate::escape::{plain, shell_word};
use crate::figures::{grouped, itself_text, percent, sampled};
use crate::layout::{Align, Grid, INDENT, labelled, titled, width, wrap};
use crate::remedy;
use crate::stats;
use crate::style::Style;
use crate::words::{
    NO_POOL, Small, affected, assumption, confidence, is_small, measured, not_named, speed_up, times,
    whole_text,
};
use zwhy_diagnose::{
    Answer, ConfidenceWord, EvidenceLine, Finding, PathRow, PathStep, SpeedUp, StageRow, ThreadRow,
};

const STAGES_SHOWN: usize = 8;
const THREADS_SHOWN: usize = 6;
const EVIDENCE_SHOWN: usize = 4;
/// A bound below this is not worth a line.
const MATTERS: f64 = 1.05;
/// Share of CPU from which the short form says what generic work a stage does.
const LABEL_SHOWN: f64 = 0.02;
/// Share of CPU from which an operation is taken apart in the short form.
const PATH_SHOWN: f64 = 0.5;
/// Smaller parts of an operation are in the last row.
const STEP_SHOWN: f64 = 0.005;

/// `input` is how the user called the source, for the commands suggested at the end.
pub fn answer_text(answer: &Answer, verbose: bool, input: &str, style: Style) -> String {
    let mut out = String::new();
    let source = labelled("", 0, &source_line(answer), style.prose());
    out.push_str(&style.dim(source.trim_end()));
    out.push('\n');
    if let Some(whole) = &answer.whole {
        out.push_str(&style.dim(&labelled("", 0, &whole_text(whole), style.prose())));
    }
    if verbose {
        out.push_str(&style.dim(&labelled("", 0, &system_line(answer), style.prose())));
    }
    out.push('\n');
    out.push_str(&headline(answer, style));
    match (verbose, answer.findings.first()) {
        (false, Some(first)) => out.push_str(&first_finding(first, answer, style)),
        (true, Some(_)) => answer.findings.iter().for_each(|f| out.push_str(&whole_finding(f, style))),
        (_, None) => {}
    }
    if !verbose {
        out.push_str(&others(answer, style));
    }
    out.push_str(&crate::bottleneck::tables(answer, verbose, style));
    out.push_str(&crate::demand::tables(answer, verbose, style));
    out.push_str(&stages(answer, verbose, style));
    out.push_str(&paths(answer, verbose, style));
    out.push_str(&threads(answer, verbose, style));
    out.push_str(&itself(answer, style));
    out.push_str(&crate::waiting::waiting(answer, verbose, style));
    if verbose {
        out.push_str(&origins(answer, style));
    }
    out.push_str(&quality(answer, verbose, style));
    out.push_str(&more(answer, verbose, input, style));
    out
}

fn source_line(answer: &Answer) -> String {
    let s = &answer.source;
    let mut parts: Vec<String> = Vec::new();
    parts.extend(s.host.clone().or_else(|| Some(s.name.clone()).filter(|n| !n.is_empty())));
    parts.extend(s.zfs_version.as_ref().map(|v| format!("OpenZFS {v}")));
    match (s.duration_s, s.hz) {
        (Some(d), Some(hz)) => parts.push(format!("{} at {hz:.0} Hz", seconds(d))),
        (Some(d), None) => parts.push(seconds(d)),
        _ => {}
    }
    parts.push(format!("{}, {}", sampled(s), stats::lost(&answer.quality)));
    parts.join(" · ")
}

/// What was read, and the system it is of.
fn system_line(answer: &Answer) -> String {
    let s = &answer.source;
    let named = |what: &str, value: &Option<String>| value.as_ref().map(|v| format!("{what}{v}"));
    let name = match s.kind.as_str() {
        "" => s.name.clone(),
        kind => format!("{} ({kind})", s.name),
    };
    let unused = (s.zfs_in_use == Some(false)).then(|| NO_POOL.to_owned());
    let parts = [Some(name), named("kernel ", &s.kernel), named("", &s.os), unused];
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

fn seconds(s: f64) -> String {
    if s < 10.0 { format!("{s:.1} s") } else { format!("{s:.0} s") }
}

fn headline(answer: &Answer, style: Style) -> String {
    let why = labelled("WHY", INDENT, &answer.why, style.prose());
    let mut out = emphasise(&why, "WHY", style);
    if let Some(line) = crate::bottleneck::line(answer) {
        out.push_str(&labelled("", INDENT, &line, style.prose()));
    }
    if let Some(what) = &answer.act {
        out.push_str(&emphasise(&labelled("DO", INDENT, what, style.prose()), "DO", style));
    }
    out
}

fn emphasise(text: &str, label: &str, style: Style) -> String {
    match text.strip_prefix(label) {
        Some(rest) => format!("{}{rest}", style.heading(label)),
        None => text.to_owned(),
    }
}

/// Remedy and evidence of the finding that the headline is about.
fn first_finding(f: &Finding, answer: &Answer, style: Style) -> String {
    // A remedy for what is only one of several guesses does harm.
    let guess = f.confidence_word == ConfidenceWord::Low;
    let mut out = if guess { String::new() } else { remedy::short(&f.remedy, style) };
    if !guess {
        out.push_str(&gain(f, INDENT, style));
    }
    // A lab capture is that proof.
    if let (Some(experiment), true) = (&f.experiment, answer.source.kind != "lab" && !guess) {
        out.push_str(&proof(experiment, style));
    }
    out.push_str(&about(f, INDENT + 1, style));
    out.push_str(&evidence(f, false, style));
    out.push_str(&against(f, false, style));
    out.push_str(&limits(f, style));
    if let Some(next) = f.next.first() {
        out.push_str(&labelled("Next", INDENT + 1, next, style.prose()));
    }
    out
}

/// What the remedy should bring.
fn gain(f: &Finding, indent: usize, style: Style) -> String {
    f.gain.as_ref().map_or(String::new(), |gain| labelled("Gain", indent, &gain.text, style.prose()))
}

/// The datasets, pools or vdevs that it is about.
fn about(f: &Finding, indent: usize, style: Style) -> String {
    crate::rows::about(f).map_or(String::new(), |text| labelled("About", indent, &text, style.prose()))
}

fn proof(experiment: &str, style: Style) -> String {
    let (indent, lead) = (" ".repeat(INDENT), "Prove it here first:");
    let command = crate::proof::command(&plain(experiment));
    let fits = INDENT + width(lead) + 1 + width(&command) <= style.prose();
    let gap = if fits { " ".to_owned() } else { format!("\n{indent}  ") };
    let terms = crate::proof::terms(experiment).map_or(Vec::new(), |t| wrap(&t, style.prose() - INDENT));
    let terms: String = terms.iter().map(|line| format!("{indent}{line}\n")).collect();
    format!("{indent}{lead}{gap}{}\n{terms}", style.bold(&command))
}

fn evidence(f: &Finding, verbose: bool, style: Style) -> String {
    if f.evidence.is_empty() {
        return String::new();
    }
    let limit = if verbose { usize::MAX } else { EVIDENCE_SHOWN };
    let mut out = format!("\n{}\n", style.bold("Evidence"));
    for item in f.evidence.iter().take(limit) {
        out.push_str(&labelled("  ·", 4, &evidence_text(item, verbose), style.prose()));
    }
    if f.evidence.len() > limit {
        out.push_str(&style.dim(&format!("    and {} more (-v)", f.evidence.len() - limit)));
        out.push('\n');
    }
    out
}

/// What lowered the confidence; never cut, as it is what a hasty reader would rather not see.
fn against(f: &Finding, verbose: bool, style: Style) -> String {
    if f.against.is_empty() {
        return String::new();
    }
    let lines: String =
        f.against.iter().map(|i| labelled("  ·", 4, &evidence_text(i, verbose), style.prose())).collect();
    format!("\n{}\n{lines}", style.bold("Against it"))
}

/// What this machine can do of the work.
fn limits(f: &Finding, style: Style) -> String {
    f.limits.iter().map(|limit| labelled("CPU", INDENT + 1, &limit.text, style.prose())).collect()
}

/// Claim and measure in one sentence, and where they are from.
fn evidence_text(item: &EvidenceLine, with_source: bool) -> String {
    let claim = item.claim.trim_end_matches('.');
    let source = match item.source.as_str() {
        source if with_source && !source.is_empty() => format!(" ({source})"),
        _ => String::new(),
    };
    // A setting that is the claim itself would be there twice.
    if item.measure.is_empty() || item.measure.eq_ignore_ascii_case(claim) {
        return item.claim.clone() + &source;
    }
    format!("{claim}: {}{source}", item.measure)
}

/// Everything a finding says.
fn whole_finding(f: &Finding, style: Style) -> String {
    let title = format!("{} — {}", f.title, confidence(f));
    let mut out = String::from("\n");
    for line in wrap(&title, style.prose()) {
        out.push_str(&style.bold(&plain(&line)));
        out.push('\n');
    }
    out.push_str(&paragraph(&f.explanation, style));
    out.push_str(&about(f, 9, style));
    out.push_str(&evidence(f, true, style));
    out.push_str(&against(f, true, style));
    out.push_str(&limits(f, style));
    out.push('\n');
    if let Some(without) = f.without.as_ref().filter(|w| w.at_most.is_none_or(|n| n >= MATTERS)) {
        out.push_str(&labelled("Without", 9, &speed_up(without), style.prose()));
    }
    f.upgrade.iter().for_each(|text| out.push_str(&labelled("Upgrade", 9, text, style.prose())));
    out.push_str(&remedy::whole(&f.remedy, style));
    out.push_str(&gain(f, 9, style));
    f.experiment.iter().for_each(|experiment| out.push_str(&proof(experiment, style)));
    for next in &f.next {
        out.push_str(&labelled("Next", 9, next, style.prose()));
    }
    for ruled in &f.rules_out {
        out.push_str(&labelled("Not", 9, &format!("{}: {}", ruled.class, ruled.why), style.prose()));
    }
    out.push_str(&labelled("Affected", 9, &affected(f), style.prose()));
    for reference in &f.references {
        out.push_str(&labelled("See", 9, reference, style.prose()));
    }
    out.push_str(&labelled("See", 9, &format!("zwhy knowledge show {}", f.class), style.prose()));
    out
}

fn paragraph(text: &str, style: Style) -> String {
    wrap(text, style.prose() - INDENT)
        .iter()
        .map(|l| format!("{}{}\n", " ".repeat(INDENT), plain(l)))
        .collect()
}

/// The findings after the first, a line each.
fn others(answer: &Answer, style: Style) -> String {
    if answer.findings.len() < 2 {
        return String::new();
    }
    let mut grid = Grid::new(2, &[Align::Left, Align::Right, Align::Left]);
    for f in &answer.findings[1..] {
        let share = f.share.as_ref().map_or(String::new(), |s| percent(s.value));
        grid.row([f.title.as_str(), &share, f.confidence_word.word()]);
    }
    format!("\n{}\n{}\n", style.bold("Also seen"), grid.lines(style.table()).join("\n"))
}

fn stages(answer: &Answer, verbose: bool, style: Style) -> String {
    if answer.stages.is_empty() {
        return String::new();
    }
    let mut grid = Grid::new(2, &[Align::Left, Align::Right, Align::Left, Align::Left]);
    grid.header(["CPU by stage", "share", "95 %", "who"]);
    let limit = if verbose { usize::MAX } else { STAGES_SHOWN };
    let (rows, small) = Small::split(&answer.stages, |row| row.share.value);
    let mut marked: Vec<Option<&str>> = vec![None];
    for row in rows.iter().take(limit) {
        grid.row(stage_cells(row));
        marked.push(Some(&row.stage));
        let least = if verbose { 0.0 } else { LABEL_SHOWN };
        for label in row.labels.iter().filter(|l| !is_small(l.share.value) && l.share.value >= least).take(3)
        {
            let share = percent(label.share.value);
            grid.row([format!("  of which {}", label.label), share, measured(&label.share)]);
            marked.push(None);
        }
    }
    let mut lines = grid.lines(style.table());
    for (line, stage) in lines.iter_mut().zip(&marked) {
        let swatch = stage.map_or(String::new(), |stage| style.swatch(stage));
        if !swatch.is_empty() {
            line.replace_range(..2, &swatch);
        }
    }
    let rest = rows.len().saturating_sub(limit);
    let more = if rest > 0 { left_out(rest + small.count, "stages") } else { small.text("stage", "stages") };
    let mut out = titled(lines, &more, style);
    if verbose {
        out.push_str(&stage_notes(answer, style));
    }
    out
}

/// What this machine can do of the stages' work, and what would be without them.
fn stage_notes(answer: &Answer, style: Style) -> String {
    let mut out = String::new();
    for (row, limit) in answer.stages.iter().flat_map(|row| row.limits.iter().map(move |l| (row, l))) {
        out.push_str(&labelled("", 2, &format!("{}: {}", row.stage, limit.text), style.prose()));
    }
    let mut grid = Grid::new(2, &[Align::Left, Align::Left]);
    grid.header(["Without", "speed-up, at most"]);
    let matters = |bound: &SpeedUp| bound.at_most.is_none_or(|n| n >= MATTERS);
    let rows = answer.stages.iter().filter_map(|row| Some((row, row.without.filter(matters)?)));
    let cells: Vec<[String; 2]> = rows.map(|(row, bound)| [row.stage.clone(), times(&bound)]).collect();
    let Some(what_if) = answer.what_if.as_ref().filter(|_| !cells.is_empty()) else { return out };
    cells.iter().for_each(|row| grid.row(row));
    out.push_str(&grid.titled("", style));
    out.push_str(&labelled("", 2, &assumption(what_if), style.prose()));
    out
}

fn stage_cells(row: &StageRow) -> [String; 4] {
    let who: Vec<String> = row
        .who
        .iter()
        .filter(|w| !w.thread.is_empty())
        .take(2)
        .map(|w| format!("{} {:.0} %", w.thread, w.share * 100.0))
        .collect();
    [row.stage.clone(), percent(row.share.value), measured(&row.share), who.join(", ")]
}

/// Operations by their parts; one that dominates is shown even in the short form.
fn paths(answer: &Answer, verbose: bool, style: Style) -> String {
    let dominant = |row: &PathRow| row.share.value >= PATH_SHOWN;
    let shown = answer.paths.iter().filter(|row| verbose || dominant(row));
    shown.take(if verbose { usize::MAX } else { 1 }).map(|row| path(row, style)).collect()
}

fn path(row: &PathRow, style: Style) -> String {
    let mut grid = Grid::new(2, &[Align::Left, Align::Right, Align::Right, Align::Left]);
    let head = format!("{} ({})", row.name, row.root);
    let range = match measured(&row.share) {
        range if range.is_empty() => range,
        range => format!("(95 %: {range})"),
    };
    grid.header([head.as_str(), &percent(row.share.value), "of it", &range]);
    for step in row.steps.iter().filter(|s| s.of_path >= STEP_SHOWN) {
        let share = percent(step.share.value);
        grid.row([step.function.as_str(), &share, &percent(step.of_path), &what_for(step)]);
        for part in &step.inside {
            let name = format!("  {}", part.function);
            grid.row([name.as_str(), &percent(part.share.value), &percent(part.of_path), &what_for(part)]);
        }
    }
    let narrow: u64 = row.steps.iter().filter(|s| s.of_path < STEP_SHOWN).map(|s| s.samples).sum();
    let rest = (row.rest + narrow) as f64 / row.samples.max(1) as f64;
    grid.row(["all else", &percent(row.share.value * rest), &percent(rest), ""]);
    grid.titled("", style)
}

fn what_for(step: &PathStep) -> String {
    if step.useful { format!("{} (useful work)", step.what) } else { step.what.clone() }
}

fn threads(answer: &Answer, verbose: bool, style: Style) -> String {
    // A profile that does not tell threads apart has one without a name.
    if answer.threads.iter().all(|t| t.comm.is_empty()) {
        return String::new();
    }
    let right = Align::Right;
    let mut grid = Grid::new(2, &[Align::Left, right, right, right, right, Align::Left]);
    grid.header(["Threads", "number", "CPU s", "of a CPU", "samples", "role"]);
    let limit = if verbose { usize::MAX } else { THREADS_SHOWN };
    let all = answer.source.amount.max(1) as f64;
    let used = |t: &ThreadRow| t.cpu_share.unwrap_or(0.0).max(t.samples as f64 / all);
    let (rows, small) = Small::split(&answer.threads, used);
    for t in rows.iter().take(limit) {
        let cpu = t.cpu_s.map_or(String::new(), |s| format!("{s:.2}"));
        let share = t.cpu_share.map_or(String::new(), percent);
        let sampled = format!("{:.1} %", t.samples as f64 / all * 100.0);
        let sampled = if answer.source.amount > 0 { sampled } else { String::new() };
        let comm = if t.comm.is_empty() { "(unnamed)" } else { &t.comm };
        grid.row([comm, &t.threads.to_string(), &cpu, &share, &sampled, &t.role]);
    }
    let rest = rows.len().saturating_sub(limit);
    let more = if rest > 0 {
        left_out(rest + small.count, "threads")
    } else {
        small.text("thread", "threads by name")
    };
    grid.titled(&more, style)
}

fn itself(answer: &Answer, style: Style) -> String {
    let line = |itself| labelled("", 2, &itself_text(itself), style.prose());
    answer.itself.as_ref().map_or(String::new(), |itself| format!("\n{}", style.dim(&line(itself))))
}

/// What asked for the work, by samples.
fn origins(answer: &Answer, style: Style) -> String {
    if answer.origins.is_empty() {
        return String::new();
    }
    let mut grid = Grid::new(2, &[Align::Left, Align::Right, Align::Left, Align::Right]);
    grid.header(["CPU by origin", "share", "95 %", "samples"]);
    for row in &answer.origins {
        let share = percent(row.share.value);
        grid.row([row.origin.as_str(), &share, &measured(&row.share), &grouped(row.samples)]);
    }
    grid.titled("", style)
}

fn left_out(rest: usize, what: &str) -> String {
    format!("and {rest} more {what} (-v)")
}

fn quality(answer: &Answer, verbose: bool, style: Style) -> String {
    let mut text: String =
        stats::notes(&answer.quality).iter().map(|l| labelled("  !", 4, l, style.prose())).collect();
    if verbose {
        let figures = std::iter::once(stats::read(&answer.quality)).chain(not_named(&answer.quality));
        text.extend(figures.map(|line| labelled("  ·", 4, &line, style.prose())));
    }
    if text.is_empty() {
        return String::new();
    }
    format!("\n{}\n{text}", style.warning("Data quality"))
}

fn more(answer: &Answer, verbose: bool, input: &str, style: Style) -> String {
    if input == "-" {
        return String::new();
    }
    let input = shell_word(input);
    let mut ways: Vec<String> = Vec::new();
    if !verbose {
        ways.push(format!("zwhy explain -v {input}"));
    }
    ways.push(format!("zwhy report {input} -o report.html"));
    if answer.source.amount > 0 {
        ways.push(format!("zwhy flame {input} -o flame.svg"));
    }
    let lines: String = ways.iter().map(|way| format!("  {way}\n")).collect();
    format!("\n{}\n{}", style.bold("More"), lines)
}
