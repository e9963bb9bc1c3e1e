//! The answer as Markdown, ready for an issue thread.

use crate::answer::word;
use crate::escape::plain;
use crate::figures::{itself_text, sampled};
use crate::stats::Account;
use std::fmt::Write;
use zwhy_diagnose::{Answer, Finding};

/// Headline, findings, stages and threads. Names are put in code spans, so they cannot be markup.
pub fn answer_markdown(answer: &Answer) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(out, "**{}**\n", text(&answer.why));
    if let Some(what) = &answer.act {
        let _ = writeln!(out, "{}\n", text(what));
    }
    let s = &answer.source;
    let facts = [("OpenZFS", &s.zfs_version), ("kernel", &s.kernel), ("system", &s.os)];
    for (name, value) in facts.into_iter().filter_map(|(n, v)| v.as_ref().map(|v| (n, v))) {
        let _ = writeln!(out, "- {name}: {}", code(value));
    }
    let account = Account::from(&answer.quality);
    let _ = writeln!(out, "- {}, {}\n", sampled(s), account.lost());
    answer.findings.iter().for_each(|f| finding(&mut out, f));
    if !answer.stages.is_empty() {
        out.push_str("| stage | share | 95 % |\n|---|--:|---|\n");
        for row in &answer.stages {
            let m = &row.share;
            let (value, low, high) = (m.value * 100.0, m.low * 100.0, m.high * 100.0);
            let range = if low < high { format!("{low:.1}–{high:.1}") } else { String::new() };
            let _ = writeln!(out, "| {} | {value:.1} % | {range} |", text(&row.stage));
        }
        out.push('\n');
    }
    // A profile that does not tell threads apart has one without a name.
    if answer.threads.iter().any(|t| !t.comm.is_empty()) {
        out.push_str("| thread | number | CPU s |\n|---|--:|--:|\n");
        for t in answer.threads.iter().filter(|t| !t.comm.is_empty()) {
            let cpu = t.cpu_s.map_or(String::new(), |s| format!("{s:.2}"));
            let _ = writeln!(out, "| {} | {} | {cpu} |", code(&t.comm), t.threads);
        }
        out.push('\n');
    }
    if let Some(itself) = &answer.itself {
        let _ = writeln!(out, "{}\n", text(&itself_text(itself)));
    }
    let notes = account.notes();
    if !notes.is_empty() {
        out.push_str("### Data quality\n\n");
        notes.iter().for_each(|note| {
            let _ = writeln!(out, "- {}", text(note));
        });
    }
    out
}

fn finding(out: &mut String, f: &Finding) {
    let share = f.share.as_ref().map_or(String::new(), |s| format!("{:.1} % of CPU. ", s.value * 100.0));
    let _ = writeln!(
        out,
        "### {}\n\n{share}Confidence {}. {}\n",
        text(&f.title),
        word(f.confidence_word),
        text(&f.explanation.split_whitespace().collect::<Vec<_>>().join(" "))
    );
    if let Some(about) = crate::rows::about(f) {
        let _ = writeln!(out, "About {}.\n", text(&about));
    }
    for e in &f.evidence {
        let _ = match e.measure.as_str() {
            "" => writeln!(out, "- {}", text(&e.claim)),
            measure => writeln!(out, "- {}: {}", text(e.claim.trim_end_matches('.')), code(measure)),
        };
    }
    for e in &f.against {
        let _ = writeln!(out, "- against it: {} {}", text(&e.claim), code(&e.measure));
    }
    for limit in &f.limits {
        let _ = writeln!(out, "- {}", text(&limit.text));
    }
    let gap = if f.evidence.is_empty() { "" } else { "\n" };
    out.push_str(gap);
    crate::remedy::markdown(out, &f.remedy);
    if let Some(gain) = &f.gain {
        let _ = writeln!(out, "- Gain: {}", text(&gain.text));
    }
    for reference in &f.references {
        let _ = writeln!(out, "- <{}>", plain(reference).replace(['<', '>'], ""));
    }
    out.push('\n');
}

/// Running text: characters that Markdown or HTML would act on are escaped.
pub(crate) fn text(raw: &str) -> String {
    let mut out = String::new();
    for c in plain(raw).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '@' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

/// A code span that holds `raw` whatever backticks it has (CommonMark 6.1), safe in a table cell.
fn code(raw: &str) -> String {
    if raw.is_empty() {
        return String::new();
    }
    let raw = plain(raw).replace('|', "¦");
    let longest = raw.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if raw.starts_with('`') || raw.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{raw}{pad}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_become_markup() {
        assert_eq!(text("<b>*x*</b>"), "&lt;b>\\*x\\*&lt;/b>");
        assert_eq!(code("a`b|c"), "``a`b¦c``");
        assert_eq!(code("`x"), "`` `x ``");
    }
}
