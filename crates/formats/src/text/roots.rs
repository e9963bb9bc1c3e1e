//! Where a thread's stack starts: telling a leading thread name from a function.

use zwhy_paste::words::WORDS;

/// The outermost functions of threads on Linux: what is before them is the thread's name.
pub fn is_thread_start(name: &[u8]) -> bool {
    let name = name.strip_suffix(b"_[k]").unwrap_or(name);
    WORDS.thread_starts.iter().any(|start| start.as_bytes() == name)
}

/// `comm-PID` and `comm-PID/TID` of the stackcollapse options; ids are -1 where there are none.
pub fn split_ids(name: &str) -> (&str, i32, i32) {
    let parsed = name.rsplit_once('-').and_then(|(comm, ids)| {
        let (pid, tid) = ids.split_once('/').unwrap_or((ids, ids));
        Some((comm, id(pid)?, id(tid)?))
    });
    match parsed {
        Some((comm, pid, tid)) if !comm.is_empty() => (comm, pid, tid),
        _ => (name, -1, -1),
    }
}

/// A number, or `?` where the tool did not know it.
fn id(text: &str) -> Option<i32> {
    if text == "?" {
        return Some(-1);
    }
    Some(i32::try_from(text.parse::<u32>().ok()?).unwrap_or(-1))
}

/// `comm-PID/TID`, which no function is called.
pub fn has_both_ids(name: &[u8]) -> bool {
    let Some(dash) = memchr::memrchr(b'-', name).filter(|at| *at > 0) else { return false };
    let Some(slash) = memchr::memchr(b'/', &name[dash..]) else { return false };
    let (pid, tid) = (&name[dash + 1..dash + slash], &name[dash + slash + 1..]);
    [pid, tid].iter().all(|id| *id == b"?" || (!id.is_empty() && id.iter().all(u8::is_ascii_digit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_split_off() {
        assert_eq!(split_ids("fio-12/13"), ("fio", 12, 13));
        assert_eq!(split_ids("z_rd_int-12"), ("z_rd_int", 12, 12));
        assert_eq!(split_ids("a-b"), ("a-b", -1, -1));
        assert_eq!(split_ids("a-?/7"), ("a", -1, 7));
        assert!(
            has_both_ids(b"a b-1/2")
                && has_both_ids(b"a-?/2")
                && !has_both_ids(b"a-1")
                && !has_both_ids(b"-1/2")
        );
        assert!(is_thread_start(b"kthread_[k]") && !is_thread_start(b"main"));
    }
}
