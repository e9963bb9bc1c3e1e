//! What an importer took in, as text.

use crate::escape::plain;
use crate::figures::grouped;
use zwhy_evidence::ImportStats;

/// One line with the counts, one more for each reason and warning.
pub fn stats_text(name: &str, stats: &ImportStats) -> String {
    let mut out = format!(
        "{} ({}): {} {} read, {} kept, {} dropped, {} lost",
        plain(name),
        plain(&stats.format),
        grouped(stats.read),
        plain(&stats.unit),
        grouped(stats.kept),
        grouped(stats.dropped_total()),
        grouped(stats.lost)
    );
    if stats.lost_bytes > 0 {
        out.push_str(&format!(" ({} bytes)", grouped(stats.lost_bytes)));
    }
    for (reason, count) in &stats.dropped {
        out.push_str(&format!("\n  dropped {}: {}", grouped(*count), plain(reason)));
    }
    for warning in &stats.warnings {
        out.push_str(&format!("\n  note: {}", plain(warning)));
    }
    out
}
