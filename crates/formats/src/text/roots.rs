//! Where a thread's stack starts: telling a leading thread name from a function.

/// The outermost functions of threads on Linux: what is before them is the thread's name.
pub fn is_thread_start(name: &[u8]) -> bool {
    let name = name.strip_suffix(b"_[k]").unwrap_or(name);
    matches!(
        name,
        b"ret_from_fork"
            | b"ret_from_fork_asm"
            | b"kthread"
            | b"entry_SYSCALL_64_after_hwframe"
            | b"entry_SYSCALL_64"
            | b"system_call_fastpath"
            | b"_start"
            | b"__libc_start_main"
            | b"__libc_start_call_main"
            | b"start_thread"
            | b"thread_start"
            | b"clone"
            | b"clone3"
            | b"__clone"
            | b"__clone3"
            | b"secondary_startup_64"
            | b"secondary_startup_64_no_verify"
            | b"el0t_64_sync"
            | b"el0_svc"
    )
}

/// `comm-PID` and `comm-PID/TID` of the stackcollapse options; ids are -1 where there are none.
pub fn split_ids(name: &str) -> (&str, i32, i32) {
    let parsed = name.rsplit_once('-').and_then(|(comm, ids)| {
        let (pid, tid) = ids.split_once('/').unwrap_or((ids, ids));
        Some((comm, pid.parse::<u32>().ok()?, tid.parse::<u32>().ok()?))
    });
    match parsed {
        Some((comm, pid, tid)) if !comm.is_empty() => {
            (comm, i32::try_from(pid).unwrap_or(-1), i32::try_from(tid).unwrap_or(-1))
        }
        _ => (name, -1, -1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_split_off() {
        assert_eq!(split_ids("fio-12/13"), ("fio", 12, 13));
        assert_eq!(split_ids("z_rd_int-12"), ("z_rd_int", 12, 12));
        assert_eq!(split_ids("a-b"), ("a-b", -1, -1));
        assert!(is_thread_start(b"kthread_[k]") && !is_thread_start(b"main"));
    }
}
