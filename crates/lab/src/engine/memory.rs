//! The most memory that this process holds in a step.

use super::clocks::field;
use std::fs;

/// Begins anew. `false` where the kernel does not let it: then the most so far would count.
pub fn reset_peak() -> bool {
    // "5" of clear_refs sets VmHWM back to what is resident now (proc(5)).
    fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// The most since then, in bytes.
pub fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let kib = field(&status, "VmHWM:");
    (kib > 0).then_some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_given_back_before_does_not_count() {
        const LARGE: usize = 96 << 20;
        let touched = std::hint::black_box(vec![1_u8; LARGE]);
        let before = peak().unwrap();
        drop(touched);
        if reset_peak() {
            let after = peak().unwrap();
            assert!(after + (LARGE as u64) / 2 < before, "{after} of {before}");
        }
    }
}
