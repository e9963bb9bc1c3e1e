//! `arc_summary`: sections of `name:   percentage   size` lines.

use crate::blocks::{Block, Line, Sink, Taken};
use zwhy_evidence::Table;

pub struct ArcSummary;

impl Block for ArcSummary {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        if !starts(lines.first()?.text.trim()) {
            return None;
        }
        let (mut rows, mut section) = (Vec::new(), String::new());
        let mut taken = Taken::default();
        // Blank lines count only when the report goes on after them.
        let (mut blanks, mut used) = (0, 0);
        for (i, line) in lines.iter().enumerate() {
            let text = line.text.trim();
            if text.is_empty() {
                blanks += 1;
                if blanks > 2 {
                    break;
                }
                continue;
            }
            let rule = text.len() > 10 && text.bytes().all(|b| b == b'-');
            match split(&line.text) {
                Some((name, values)) => {
                    if !line.text.starts_with([' ', '\t']) {
                        name.clone_into(&mut section);
                    }
                    rows.push(vec![section.clone(), name.to_owned(), values]);
                }
                None if rule || starts(text) => {}
                None => break,
            }
            taken.drop("blank line", blanks);
            taken.kept += 1;
            (blanks, used) = (0, i + 1);
        }
        if rows.is_empty() {
            return None;
        }
        let origin = sink.origin("arc_summary", &lines[..used]);
        let columns = ["section", "name", "value"].map(str::to_owned).to_vec();
        sink.evidence.tables.push(Table { tool: "arc_summary".to_owned(), columns, rows, origin });
        Some(taken)
    }
}

fn starts(text: &str) -> bool {
    const HEADS: [&str; 9] = [
        "ZFS Subsystem Report",
        "ARC status:",
        "ARC Summary:",
        "ARC size (current):",
        "ARC Size:",
        "ARC hash breakdown:",
        "ARC total accesses",
        "L2ARC status:",
        "ARC Misc:",
    ];
    HEADS.iter().any(|head| text.starts_with(head))
}

/// `Target size (adaptive):   100.0 %   15.5 GiB`: figures behind a gap, as no sentence has.
fn split(text: &str) -> Option<(&str, String)> {
    let (name, value) = text.trim().split_once(':')?;
    let gap = value.starts_with("  ") || value.contains('\t') || value.is_empty();
    let named = !name.is_empty() && name.len() < 60;
    (gap && named).then(|| (name.trim(), value.split_whitespace().collect::<Vec<_>>().join(" ")))
}
