//! What a finding is about, in one line: `dataset tank/a (writes 31.2M a second), tank/b; and 3 more`,
//! `thread arc_evict 712 (98 % of one CPU)`.

use zwhy_diagnose::{Finding, RowAnswer};
use zwhy_zfs::format_bytes;

/// `None` where a finding is about the whole host.
pub(crate) fn about(finding: &Finding) -> Option<String> {
    let first = finding.rows.first()?;
    let rows: Vec<String> = finding.rows.iter().map(row).collect();
    let more = match finding.rows_more {
        0 => String::new(),
        n => format!("; and {n} more"),
    };
    let unseen = match finding.rows_unseen {
        0 => String::new(),
        n => format!(" ({n} that do less were not looked at)"),
    };
    Some(format!("{} {}{more}{unseen}", first.kind, rows.join(", ")))
}

/// A name, and what it reads and writes, or its time on the CPU, where that is known.
fn row(row: &RowAnswer) -> String {
    let bytes = |what: &str, bytes_s: Option<f64>| {
        let bytes_s = bytes_s.filter(|n| *n >= 1.0)?;
        Some(format!("{what} {}", format_bytes(bytes_s as u64)))
    };
    let traffic = [bytes("reads", row.read_bytes_s), bytes("writes", row.written_bytes_s)];
    let traffic: Vec<String> = traffic.into_iter().flatten().collect();
    let traffic = (!traffic.is_empty()).then(|| format!("{} a second", traffic.join(", ")));
    let cpu = row.cpus.map(|cpus| format!("{:.0} % of one CPU", cpus * 100.0));
    let told: Vec<String> = traffic.into_iter().chain(cpu).collect();
    if told.is_empty() { row.name.clone() } else { format!("{} ({})", row.name, told.join("; ")) }
}
