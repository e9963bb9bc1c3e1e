//! Threads that were sampled or whose CPU time was read.
//!
//! A thread that changes its name (exec, prctl) is a new row: samples keep the name they had.

use crate::strings::StringId;
use rustc_hash::FxHashMap;

/// Index into a [`ThreadTable`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadId(pub u32);

impl ThreadId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A thread; ids are -1 where the source does not say. tid 0 is the idle task and what interrupts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Thread {
    pub pid: i32,
    pub tid: i32,
    pub comm: StringId,
}

/// All threads of a profile.
#[derive(Clone, Debug, Default)]
pub struct ThreadTable {
    rows: Vec<Thread>,
    ids: FxHashMap<Thread, ThreadId>,
}

impl ThreadTable {
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Bytes held in memory, about.
    pub fn memory(&self) -> usize {
        let entry = size_of::<(Thread, ThreadId)>() + 1;
        self.rows.capacity() * size_of::<Thread>() + self.ids.capacity() * 8 / 7 * entry
    }

    pub fn intern(&mut self, thread: Thread) -> ThreadId {
        let next = ThreadId(self.rows.len() as u32);
        *self.ids.entry(thread).or_insert_with(|| {
            self.rows.push(thread);
            next
        })
    }

    /// The thread of an id; ids of -1 and no name for an id that is out of range.
    pub fn get(&self, id: ThreadId) -> Thread {
        self.rows.get(id.index()).copied().unwrap_or(Thread { pid: -1, tid: -1, comm: StringId::EMPTY })
    }

    pub fn iter(&self) -> impl Iterator<Item = (ThreadId, Thread)> + '_ {
        self.rows.iter().enumerate().map(|(i, t)| (ThreadId(i as u32), *t))
    }
}
