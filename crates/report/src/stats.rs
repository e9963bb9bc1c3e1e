//! What was read, kept, left out and lost, in words: the one place that every face takes them from.

use crate::escape::plain;
use crate::figures::grouped;
use zwhy_diagnose::Quality;
use zwhy_evidence::ImportStats;

/// `2 lost`, `unknown number lost (cut at byte 12,345)`: never "0" of what nobody could count.
pub fn lost(quality: &Quality) -> String {
    let place = place(quality);
    match quality.lost {
        Some(lost) => format!("{} lost{place}", grouped(lost)),
        None => format!("unknown number lost{place}"),
    }
}

fn place(quality: &Quality) -> String {
    match (quality.cut_at, quality.lost_bytes) {
        (Some(byte), _) => format!(" (cut at byte {})", grouped(byte)),
        (None, 0) => String::new(),
        (None, bytes) => format!(" ({} bytes)", grouped(bytes)),
    }
}

/// `1,204 samples read, 1,190 kept, 312 bytes not readable`
pub fn read(quality: &Quality) -> String {
    let bytes = match quality.lost_bytes {
        0 => String::new(),
        bytes => format!(", {} bytes not readable", grouped(bytes)),
    };
    format!("{} {} read, {} kept{bytes}", grouped(quality.read), unit(quality), grouped(quality.kept))
}

fn unit(quality: &Quality) -> &str {
    if quality.unit.is_empty() { "samples" } else { &quality.unit }
}

/// Sentences on all that was lost, left out, scaled or taken for something else; empty where nothing was.
pub fn notes(quality: &Quality) -> Vec<String> {
    let unit = unit(quality);
    let mut notes = Vec::new();
    match quality.lost {
        None => notes.push(format!("an unknown number of {unit} was lost{}", place(quality))),
        Some(0) => {}
        Some(lost) => notes.push(format!("{} of {} {unit} were lost", grouped(lost), grouped(quality.read))),
    }
    let dropped = quality.dropped.iter().filter(|(reason, _)| !says_nothing(reason, &quality.warnings));
    notes.extend(dropped.map(|(reason, n)| format!("{} dropped: {reason}", grouped(*n))));
    notes.extend(quality.warnings.iter().cloned());
    notes
}

/// Lines that cannot say anything are no loss, and lines that were not recognised may have a warning.
fn says_nothing(reason: &str, warnings: &[String]) -> bool {
    matches!(reason, "blank line" | "command line" | "comment")
        || (reason == "line not recognised" && warnings.iter().any(|w| w.contains("were not recognised")))
}

/// What an import lost, left out, scaled or took for something else; empty where nothing was.
pub fn stats_notes(stats: &ImportStats) -> Vec<String> {
    notes(&Quality::from(stats))
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
        lost(&Quality::from(stats))
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
