//! What was read, kept, left out and lost, in words: the one place that every face takes them from.

use crate::escape::plain;
use crate::figures::grouped;
use std::collections::BTreeMap;
use zwhy_diagnose::Quality;
use zwhy_evidence::ImportStats;

/// The figures of one reading, of an import or of an answer.
#[derive(Clone, Copy)]
pub struct Account<'a> {
    unit: &'a str,
    read: u64,
    kept: u64,
    lost: Option<u64>,
    lost_bytes: u64,
    cut_at: Option<u64>,
    dropped: &'a BTreeMap<String, u64>,
    warnings: &'a [String],
}

impl<'a> From<&'a ImportStats> for Account<'a> {
    fn from(s: &'a ImportStats) -> Self {
        Account {
            unit: &s.unit,
            read: s.read,
            kept: s.kept,
            lost: s.lost_known(),
            lost_bytes: s.lost_bytes,
            cut_at: s.cut_at,
            dropped: &s.dropped,
            warnings: &s.warnings,
        }
    }
}

impl<'a> From<&'a Quality> for Account<'a> {
    fn from(q: &'a Quality) -> Self {
        Account {
            unit: &q.unit,
            read: q.read,
            kept: q.kept,
            lost: q.lost,
            lost_bytes: q.lost_bytes,
            cut_at: q.cut_at,
            dropped: &q.dropped,
            warnings: &q.warnings,
        }
    }
}

impl Account<'_> {
    /// `2 lost`, `unknown number lost (cut at byte 12,345)`: never "0" of what nobody could count.
    pub fn lost(&self) -> String {
        let place = self.place();
        match self.lost {
            Some(lost) => format!("{} lost{place}", grouped(lost)),
            None => format!("unknown number lost{place}"),
        }
    }

    fn place(&self) -> String {
        match (self.cut_at, self.lost_bytes) {
            (Some(byte), _) => format!(" (cut at byte {})", grouped(byte)),
            (None, 0) => String::new(),
            (None, bytes) => format!(" ({} bytes)", grouped(bytes)),
        }
    }

    /// `1,204 samples read, 1,190 kept, 312 bytes not readable`
    pub fn read(&self) -> String {
        let bytes = match self.lost_bytes {
            0 => String::new(),
            bytes => format!(", {} bytes not readable", grouped(bytes)),
        };
        format!("{} {} read, {} kept{bytes}", grouped(self.read), self.unit(), grouped(self.kept))
    }

    fn unit(&self) -> &str {
        if self.unit.is_empty() { "samples" } else { self.unit }
    }

    /// Sentences on all that was lost, left out, scaled or taken for something else; empty where nothing was.
    pub fn notes(&self) -> Vec<String> {
        let unit = self.unit();
        let mut notes = Vec::new();
        match self.lost {
            None => notes.push(format!("an unknown number of {unit} was lost{}", self.place())),
            Some(0) => {}
            Some(lost) => notes.push(format!("{} of {} {unit} were lost", grouped(lost), grouped(self.read))),
        }
        let dropped = self.dropped.iter().filter(|(reason, _)| !self.says_nothing(reason));
        notes.extend(dropped.map(|(reason, n)| format!("{} dropped: {reason}", grouped(*n))));
        notes.extend(self.warnings.iter().cloned());
        notes
    }

    /// Lines that cannot say anything are no loss, and lines that were not recognised may have a warning.
    fn says_nothing(&self, reason: &str) -> bool {
        matches!(reason, "blank line" | "command line" | "comment")
            || (reason == "line not recognised"
                && self.warnings.iter().any(|w| w.contains("were not recognised")))
    }
}

/// What an import lost, left out, scaled or took for something else; empty where nothing was.
pub fn stats_notes(stats: &ImportStats) -> Vec<String> {
    Account::from(stats).notes()
}

/// One line with the counts, one more for each reason and warning.
pub fn stats_text(name: &str, stats: &ImportStats) -> String {
    let mut out = format!(
        "{} ({}): {} {} read, {} kept, {} dropped, {}",
        plain(name),
        plain(&stats.format),
        grouped(stats.read),
        plain(&stats.unit),
        grouped(stats.kept),
        grouped(stats.dropped_total()),
        Account::from(stats).lost()
    );
    for (reason, count) in &stats.dropped {
        out.push_str(&format!("\n  dropped {}: {}", grouped(*count), plain(reason)));
    }
    for warning in &stats.warnings {
        out.push_str(&format!("\n  note: {}", plain(warning)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_could_count_is_not_called_zero() {
        let mut stats = ImportStats::new("folded", "lines");
        (stats.read, stats.kept) = (350, 350);
        assert!(
            stats_text("x", &stats).ends_with("350 kept, 0 dropped, 0 lost")
                && stats_notes(&stats).is_empty()
        );
        stats.cut_at = Some(12_345);
        assert!(stats_text("x", &stats).ends_with("0 dropped, unknown number lost (cut at byte 12,345)"));
        assert_eq!(stats_notes(&stats), ["an unknown number of lines was lost (cut at byte 12,345)"]);
        (stats.cut_at, stats.lost_bytes) = (None, 99);
        assert!(stats_text("x", &stats).ends_with("unknown number lost (99 bytes)"));
    }

    #[test]
    fn notes_are_told_when_all_was_kept() {
        let mut stats = ImportStats::new("folded", "lines");
        (stats.read, stats.kept) = (4, 3);
        stats.drop("blank line", 1);
        assert_eq!(stats_notes(&stats), [""; 0]);
        stats.warnings.push("all counts are multiplied by 1000".into());
        assert_eq!(stats_notes(&stats), ["all counts are multiplied by 1000"]);
    }
}
