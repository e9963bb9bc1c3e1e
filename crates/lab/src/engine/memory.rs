//! The most memory that this process holds in a step.

use std::fs;

/// Begins anew. `false` where the kernel does not let it: then the most so far would count.
pub fn reset_peak() -> bool {
    // "5" of clear_refs sets VmHWM back to what is resident now (proc(5)).
    fs::write("/proc/self/clear_refs", "5").is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use zwhy_host::peak_rss;

    #[test]
    fn what_was_given_back_before_does_not_count() {
        const LARGE: usize = 96 << 20;
        let touched = std::hint::black_box(vec![1_u8; LARGE]);
        let before = peak_rss().unwrap();
        drop(touched);
        if reset_peak() {
            let after = peak_rss().unwrap();
            assert!(after + (LARGE as u64) / 2 < before, "{after} of {before}");
        }
    }
}
