//! How far an experiment in the VM is: lines of the serial line, between those of the kernel.

use std::io::Write;

/// Set in the VM: progress goes to standard error in lines, each after [`SAYS`].
pub const LINES: &str = "ZWHY_LAB_LINES";
const SAYS: &str = "zwhy-lab: ";

/// One line, as JSON.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    Step { run: usize, runs: usize, variant: String, phase: String },
    Bytes { done: u64, total: u64 },
}

impl Line {
    pub fn say(&self) {
        // A console that takes nothing more is no reason to end.
        let _ = writeln!(std::io::stderr(), "{SAYS}{}", serde_json::to_string(self).unwrap_or_default());
    }

    /// `None` for what others say on the serial line, and for a line that was cut.
    pub fn heard(line: &str) -> Option<Line> {
        serde_json::from_str(line.trim().strip_prefix(SAYS)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_vm_says_is_heard_between_the_kernels_lines() {
        let line = serde_json::to_string(&Line::Bytes { done: 1, total: 2 }).unwrap();
        assert!(matches!(Line::heard(&format!("{SAYS}{line}\r")), Some(Line::Bytes { done: 1, total: 2 })));
        assert!(Line::heard("[  1.0] zfs: loading").is_none() && Line::heard("zwhy-lab: {").is_none());
    }
}
