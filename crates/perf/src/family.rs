//! Which processes count: those that were asked for, and all that they start.
//!
//! Rules: a process that a member starts is a member. A number given again to the child of a process that is
//! none is that of another process, and no member any more. A command that is awaited counts from the
//! moment on when it runs its program.

use rustc_hash::FxHashSet;

#[derive(Clone, Debug, Default)]
pub struct Family {
    /// `None`: every process.
    members: Option<FxHashSet<i32>>,
    awaited: Option<i32>,
}

impl Family {
    /// Every process of the host.
    pub fn everyone() -> Family {
        Family::default()
    }

    pub fn of(pids: impl IntoIterator<Item = i32>) -> Family {
        Family { members: Some(pids.into_iter().collect()), awaited: None }
    }

    /// A process that was started and waits before it runs its program.
    pub fn awaiting(pid: i32) -> Family {
        Family { members: Some(FxHashSet::default()), awaited: Some(pid) }
    }

    pub fn is_everyone(&self) -> bool {
        self.members.is_none()
    }

    #[inline]
    pub fn counts(&self, pid: i32) -> bool {
        self.members.as_ref().is_none_or(|members| members.contains(&pid))
    }

    /// Asked for by name, not only as one of all.
    pub fn has(&self, pid: i32) -> bool {
        self.members.as_ref().is_some_and(|members| members.contains(&pid))
    }

    /// `None`: every process.
    pub fn pids(&self) -> Option<impl Iterator<Item = i32>> {
        self.members.as_ref().map(|members| members.iter().copied())
    }

    /// `ppid` made the process `pid`, or a thread of its own.
    pub fn fork(&mut self, pid: i32, ppid: i32) {
        let Some(members) = self.members.as_mut().filter(|_| pid != ppid) else { return };
        if members.contains(&ppid) {
            members.insert(pid);
        } else {
            members.remove(&pid);
        }
    }

    /// A process runs another program.
    pub fn exec(&mut self, pid: i32) {
        if self.awaited == Some(pid) {
            self.awaited = None;
            self.add(pid);
        }
    }

    pub fn add(&mut self, pid: i32) {
        if let Some(members) = &mut self.members {
            members.insert(pid);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_are_members_and_a_number_given_again_is_not() {
        let mut family = Family::of([10]);
        family.fork(11, 10);
        family.fork(12, 11);
        family.fork(20, 1);
        assert_eq!([10, 11, 12, 20].map(|pid| family.counts(pid)), [true, true, true, false]);
        // 12 has ended; the shell of somebody else starts a process of that number.
        family.fork(12, 20);
        assert!(!family.counts(12) && family.counts(11));
        // A thread of a process that is none says nothing new.
        family.fork(11, 11);
        assert!(family.counts(11));
    }

    #[test]
    fn a_command_counts_from_its_exec_on() {
        let mut family = Family::awaiting(7);
        assert!(!family.counts(7) && !family.is_everyone());
        family.exec(8);
        assert!(!family.counts(8));
        family.exec(7);
        family.fork(9, 7);
        assert!(family.has(7) && family.has(9));
        assert!(Family::everyone().counts(5) && !Family::everyone().has(5));
    }
}
