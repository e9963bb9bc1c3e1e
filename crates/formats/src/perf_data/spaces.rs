//! What was mapped where in each process over time, and which name each thread had.
//!
//! Changes are replayed in time order once; samples then ask in any order for the [`Era`] of their process.

use rustc_hash::FxHashMap;
pub use zwhy_perf::Era;
use zwhy_perf::{Mapping, NewMapping};
use zwhy_profile::{StringId, ThreadId};

/// Index into the table of mapped objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Image(pub u32);

/// A change of a process or thread.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    Map { pid: i32, map: NewMapping<Image> },
    Comm { pid: i32, tid: i32, comm: StringId, exec: bool },
    Fork { pid: i32, parent: i32, tid: i32, parent_tid: i32 },
}

#[derive(Debug)]
struct ProcessSpan {
    from: u64,
    era: Era,
}

#[derive(Debug)]
struct ThreadSpan {
    from: u64,
    comm: StringId,
    /// Row in the profile, once a sample needed it.
    row: Option<(i32, ThreadId)>,
}

/// A mapping and its first address.
type Row = (u64, Mapping<Image>);

#[derive(Debug, Default)]
pub struct Spaces {
    /// Mappings of each era as sorted rows, in which searching is fastest.
    rows: Vec<Box<[Row]>>,
    processes: FxHashMap<i32, Vec<ProcessSpan>>,
    threads: FxHashMap<i32, Vec<ThreadSpan>>,
    /// Processes whose mappings were not copied, for there were too many.
    pub refused: u64,
}

impl Spaces {
    /// Replays `changes`, which must be in time order.
    pub fn replay(changes: &[(u64, Change)]) -> Spaces {
        let mut spaces = Spaces::default();
        let mut now = zwhy_perf::Spaces::history();
        for (time, change) in changes {
            match *change {
                Change::Map { pid, map } => {
                    // Nothing was known of the process before: the mapping holds for its past, too.
                    let from = if now.knows(pid) { *time } else { 0 };
                    if let Some(era) = now.map(pid, map) {
                        spaces.begin(from, pid, era);
                    }
                }
                Change::Comm { pid, tid, comm, exec } => {
                    spaces.name(*time, tid, comm);
                    if exec {
                        spaces.begin(*time, pid, now.exec(pid));
                    }
                }
                Change::Fork { pid, parent, tid, parent_tid } => {
                    let comm = spaces.threads.get(&parent_tid).and_then(|t| t.last()).map(|t| t.comm);
                    if let Some(comm) = comm {
                        spaces.name(*time, tid, comm);
                    }
                    if pid != parent {
                        spaces.begin(*time, pid, now.fork(pid, parent));
                    }
                }
            }
        }
        spaces.refused = now.refused;
        for (era, maps) in now.spaces() {
            let at = era.0 as usize;
            if spaces.rows.len() <= at {
                spaces.rows.resize_with(at + 1, Box::default);
            }
            spaces.rows[at] = maps.iter().collect();
        }
        spaces
    }

    fn name(&mut self, from: u64, tid: i32, comm: StringId) {
        let spans = self.threads.entry(tid).or_default();
        if spans.last().is_none_or(|last| last.comm != comm) {
            spans.push(ThreadSpan { from, comm, row: None });
        }
    }

    fn begin(&mut self, from: u64, pid: i32, era: Era) {
        self.processes.entry(pid).or_default().push(ProcessSpan { from, era });
    }

    /// The era of a process at a time.
    pub fn era(&self, pid: i32, time: u64) -> Era {
        let Some(spans) = self.processes.get(&pid) else { return Era(0) };
        let after = spans.partition_point(|s| s.from <= time);
        spans.get(after.saturating_sub(1)).map_or(Era(0), |s| s.era)
    }

    /// The object at an address and the offset in it.
    pub fn resolve(&self, era: Era, address: u64) -> Option<(Image, u64)> {
        let rows = self.rows.get(era.0 as usize)?;
        let after = rows.partition_point(|(start, _)| *start <= address);
        let (start, map) = rows.get(after.checked_sub(1)?)?;
        (address < map.end).then(|| (map.image, map.offset.wrapping_add(address - start)))
    }

    /// The profile's row of a thread at a time; `add` makes one from the name, if there is a name.
    pub fn thread(
        &mut self,
        pid: i32,
        tid: i32,
        time: u64,
        mut add: impl FnMut(Option<StringId>) -> ThreadId,
    ) -> ThreadId {
        let spans = self.threads.entry(tid).or_default();
        if spans.is_empty() {
            return add(None);
        }
        let after = spans.partition_point(|s| s.from <= time);
        let Some(span) = spans.get_mut(after.saturating_sub(1)) else { return add(None) };
        match span.row {
            Some((of, row)) if of == pid => row,
            _ => {
                let row = add(Some(span.comm));
                span.row = Some((pid, row));
                row
            }
        }
    }
}
