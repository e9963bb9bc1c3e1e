//! Names of threads and processes by number, as far as intervals told them.
//!
//! Invariant: memory is that of numbers that have readings, and of one interval more.

use crate::readings::Readings;
use crate::slice::Slice;
use rustc_hash::FxHashMap;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub pid: i32,
    pub comm: String,
}

#[derive(Debug, Default)]
pub(crate) struct Names {
    of: FxHashMap<i32, Named>,
    /// Numbers after which those that are gone are forgotten.
    most: usize,
}

/// Fewer are not worth a look.
const FEW: usize = 4096;

impl Names {
    /// Takes in the names of an interval; a thread that was renamed has its newest.
    pub(crate) fn learn(&mut self, slice: &Slice, readings: &Readings) {
        let profile = &slice.profile;
        for (_, thread) in profile.threads.iter() {
            let comm = profile.strings.get(thread.comm);
            match self.of.get_mut(&thread.tid) {
                Some(named) if named.pid == thread.pid && named.comm == comm => {}
                _ => drop(self.of.insert(thread.tid, Named { pid: thread.pid, comm: comm.to_owned() })),
            }
        }
        if self.of.len() > self.most.max(FEW) {
            let lives = |tid: i32| {
                readings.value(&format!("thread/{tid}"), "cpu_ns").is_some()
                    || readings.value(&format!("process/{tid}"), "rss_bytes").is_some()
            };
            self.of.retain(|tid, _| lives(*tid));
            self.most = self.of.len() * 2;
        }
    }

    pub(crate) fn get(&self, tid: i32) -> Option<&Named> {
        self.of.get(&tid)
    }
}
