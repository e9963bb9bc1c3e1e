//! CSV of self and total samples per function, for spreadsheets: RFC 4180, the largest self count first.
//!
//! A cell that a spreadsheet would take for a formula (it starts with `=`, `+`, `-`, `@`, tab or carriage
//! return) gets an apostrophe before it, and control characters become `?`: names come from strangers. One
//! way only, as it holds no stacks.

use super::parts::{plain, with_stacks};
use crate::{ExportOptions, Exporter};
use std::borrow::Cow;
use std::io::Write;
use zwhy_evidence::Evidence;
use zwhy_profile::{FunctionTotals, Share};

pub(super) const EXPORTER: Exporter = Exporter { name: "csv", extension: "csv", write };

fn write(evidence: &Evidence, options: &ExportOptions, out: &mut dyn Write) -> std::io::Result<()> {
    let profile = &*with_stacks(&evidence.profile);
    let totals = FunctionTotals::of(profile, options.event);
    out.write_all(b"function,module,kind,self,total,self_percent,total_percent\r\n")?;
    for row in &totals.rows {
        let percent = |part| Share::of(part, totals.samples).percent();
        write!(
            out,
            "{},{},{},{},{},{:.4},{:.4}\r\n",
            cell(profile.strings.get(row.function)),
            cell(profile.strings.get(row.module)),
            row.kind.name(),
            row.own,
            row.total,
            percent(row.own),
            percent(row.total),
        )?;
    }
    Ok(())
}

/// A text as one cell.
fn cell(text: &str) -> Cow<'_, str> {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if !formula && !text.contains([',', '"']) && !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let text = plain(text);
    let guard = if formula { "'" } else { "" };
    Cow::Owned(format!("\"{guard}{}\"", text.replace('"', "\"\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_formulas_disarmed() {
        for (text, want) in [
            ("zio_read", "zio_read"),
            ("f(int, char)", "\"f(int, char)\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("a\r\nb\u{1b}[31m", "\"a??b?[31m\""),
            ("=cmd|' /C calc'!A0", "\"'=cmd|' /C calc'!A0\""),
            ("-[NSObject init]", "\"'-[NSObject init]\""),
            ("@x", "\"'@x\""),
            ("", ""),
        ] {
            assert_eq!(cell(text), want);
        }
    }
}
