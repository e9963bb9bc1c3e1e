//! What the agent itself uses.

use rustix::time::{ClockId, clock_gettime};

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Own {
    /// CPU time of all its threads.
    pub cpu_s: f64,
    pub rss_bytes: Option<u64>,
}

impl Own {
    pub(crate) fn read() -> Own {
        let cpu = clock_gettime(ClockId::ProcessCPUTime);
        Own { cpu_s: cpu.tv_sec as f64 + cpu.tv_nsec as f64 / 1e9, rss_bytes: rss() }
    }
}

/// Resident memory, the second number of /proc/self/statm, in pages.
fn rss() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}
