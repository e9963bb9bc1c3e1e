//! Threads that were blocked when recording began: no context switch tells of them until they go on, and one that
//! waits for a slow disk or a suspended pool may not do so for minutes. Their stacks are read from /proc, once.
//!
//! Invariant: a thread counts from the beginning of the recording, and only while it is known not to have run since.

use super::stack_text::functions;
use rustc_hash::FxHashMap;
use std::path::Path;
use std::time::{Duration, Instant};
use zwhy_host::{numbers_in, read_trimmed, stat_fields};

/// Threads that are looked at, at some 10 µs each, and the time that takes at most.
const MOST_THREADS: usize = 32_768;
const PATIENCE: Duration = Duration::from_millis(300);

/// A thread in state D.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Blocked {
    pub pid: i32,
    /// The monotonic clock, in nanoseconds.
    pub since: u64,
    /// Functions and their modules, root first.
    pub stack: Vec<(String, String)>,
}

/// By thread.
pub(super) type Begun = FxHashMap<i32, Blocked>;

/// The blocked threads of processes that are wanted; what may not be read is left out.
pub(super) fn blocked(proc_root: &Path, now_ns: u64, wanted: impl Fn(i32) -> bool) -> Begun {
    let (begin, mut seen, mut found) = (Instant::now(), 0, Begun::default());
    for pid in numbers_in(proc_root).into_iter().filter(|pid| wanted(*pid)) {
        for tid in numbers_in(proc_root.join(format!("{pid}/task"))) {
            seen += 1;
            if seen > MOST_THREADS || begin.elapsed() > PATIENCE {
                return found;
            }
            let read = |file: &str| read_trimmed(proc_root.join(format!("{pid}/task/{tid}/{file}")));
            let is_blocked = |stat: &String| stat_fields(stat).and_then(|mut f| f.next()) == Some("D");
            if read("stat").as_ref().is_some_and(is_blocked)
                && let Some(text) = read("stack")
            {
                let own = |(name, module): (&str, &str)| (name.to_owned(), module.to_owned());
                let mut stack: Vec<_> = functions(&text).map(own).collect();
                stack.reverse();
                if !stack.is_empty() {
                    found.insert(tid, Blocked { pid, since: now_ns, stack });
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn threads_that_are_blocked_are_found_with_their_stacks() {
        let root = tempfile::tempdir().unwrap();
        for (pid, state, stack) in [
            (7, "D", "[<0>] cv_wait_common+0x1/0x2 [spl]\n[<0>] txg_wait_synced+0x1/0x2 [zfs]\n"),
            (8, "S", "[<0>] do_select+0x1/0x2\n"),
            (9, "D", ""),
            (10, "D", "[<0>] io_schedule+0x1/0x2\n"),
        ] {
            let folder = root.path().join(format!("{pid}/task/{pid}"));
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("stat"), format!("{pid} (z (x) D) {state} 1 1")).unwrap();
            fs::write(folder.join("stack"), stack).unwrap();
        }
        let found = blocked(root.path(), 50, |pid| pid != 10);
        let stack = [("txg_wait_synced", "zfs"), ("cv_wait_common", "spl")];
        let stack = stack.map(|(name, module)| (name.to_owned(), module.to_owned())).to_vec();
        assert_eq!(found, Begun::from_iter([(7, Blocked { pid: 7, since: 50, stack })]));
    }
}
