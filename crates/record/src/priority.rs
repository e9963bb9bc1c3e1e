//! The recorder goes before what it records.
//!
//! It needs a hundredth of a CPU, but where a hundred threads wait for each CPU it would wait with them
//! for seconds, and its rings would run over. Invariants: nothing that is recorded is raised; a nice value
//! that was given is kept.

use rustix::process::{getpriority_process, setpriority_process};

/// That of the threads of ZFS that compress, encrypt and checksum what is written (`wtqclsyspri` in OpenZFS's
/// include/os/linux/spl/sys/sysmacros.h): where they fill the CPUs, a thread of nice 0 gets a seventieth of one.
const NICE: i32 = -19;

/// How the calling thread goes before others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Priority {
    pub(crate) nice: i32,
    raised: bool,
}

impl Priority {
    /// Raises the calling thread where that is allowed: root and holders of CAP_SYS_NICE may. What it starts then is as high.
    pub fn raise() -> Priority {
        let nice = getpriority_process(None).unwrap_or(0);
        if nice == 0 && setpriority_process(None, NICE).is_ok() {
            Priority { nice: NICE, raised: true }
        } else {
            Priority { nice, raised: false }
        }
    }

    /// What the thread does next is not recording.
    pub(crate) fn lower(self) {
        if self.raised {
            // It always may: only less than before is asked for.
            let _ = setpriority_process(None, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_raised_where_it_may_be_and_lowered_again() {
        // A thread of its own: this one must stay as it is.
        std::thread::spawn(|| {
            let before = getpriority_process(None).unwrap();
            let priority = Priority::raise();
            assert_eq!(getpriority_process(None).unwrap(), priority.nice);
            assert_eq!(priority.raised, priority.nice == NICE && before == 0);
            priority.lower();
            assert_eq!(getpriority_process(None).unwrap(), before);
            // Who asked to be nice stays nice.
            if setpriority_process(None, 5).is_ok() && getpriority_process(None).unwrap() == 5 {
                assert_eq!(Priority::raise(), Priority { nice: 5, raised: false });
            }
        })
        .join()
        .unwrap();
    }
}
