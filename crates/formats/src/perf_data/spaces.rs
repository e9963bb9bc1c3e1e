//! What was mapped where in each process over time, and which name each thread had.
//!
//! An [`Era`] is a span of a process in which no address changed its meaning: it ends when the
//! process runs another program or maps over code. A mapping that only adds joins the era that
//! runs, so most processes have one era, and equal call chains of one era mean equal stacks.
//! Events are replayed in time order once; samples then ask in any order.

use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use zwhy_profile::{StringId, ThreadId};

/// Copies of mappings that forks and remappings may cost in all; a bound for hostile files.
const MOST_COPIES: usize = 2 << 20;

/// Index of a span of one process's address space. Era 0 has no mappings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Era(pub u32);

/// Index into the table of mapped objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Image(pub u32);

#[derive(Clone, Copy, Debug)]
struct Mapping {
    end: u64,
    /// Offset in the file of the mapping's first byte.
    offset: u64,
    image: Image,
}

/// A change of a process or thread.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    Map { pid: i32, start: u64, len: u64, offset: u64, image: Image },
    Comm { pid: i32, tid: i32, comm: StringId, exec: bool },
    Fork { pid: i32, parent: i32, tid: i32, parent_tid: i32 },
}

type Maps = BTreeMap<u64, Mapping>;

#[derive(Debug)]
struct ProcessSpan {
    from: u64,
    era: Era,
    /// Another process shares the era: the next change of either starts a new one.
    shared: bool,
}

#[derive(Debug)]
struct ThreadSpan {
    from: u64,
    comm: StringId,
    /// Row in the profile, once a sample needed it.
    row: Option<(i32, ThreadId)>,
}

#[derive(Debug)]
pub struct Spaces {
    /// While replaying; emptied by it.
    eras: Vec<Maps>,
    /// The same as sorted rows, in which searching is faster.
    rows: Vec<Box<[(u64, Mapping)]>>,
    processes: FxHashMap<i32, Vec<ProcessSpan>>,
    threads: FxHashMap<i32, Vec<ThreadSpan>>,
    copies: usize,
    /// Processes whose mappings were not copied because of [`MOST_COPIES`].
    pub refused: u64,
}

impl Spaces {
    /// Replays `changes`, which must be in time order.
    pub fn replay(changes: &[(u64, Change)]) -> Spaces {
        let mut spaces = Spaces {
            eras: vec![Maps::default()],
            rows: Vec::new(),
            processes: FxHashMap::default(),
            threads: FxHashMap::default(),
            copies: 0,
            refused: 0,
        };
        for (time, change) in changes {
            match *change {
                Change::Map { pid, start, len, offset, image } => {
                    let end = start.saturating_add(len);
                    if end > start {
                        spaces.map(*time, pid, start, Mapping { end, offset, image });
                    }
                }
                Change::Comm { pid, tid, comm, exec } => {
                    spaces.name(*time, tid, comm);
                    if exec {
                        spaces.begin(*time, pid, Maps::default());
                    }
                }
                Change::Fork { pid, parent, tid, parent_tid } => {
                    let comm = spaces.threads.get(&parent_tid).and_then(|t| t.last()).map(|t| t.comm);
                    if let Some(comm) = comm {
                        spaces.name(*time, tid, comm);
                    }
                    if pid != parent {
                        spaces.fork(*time, pid, parent);
                    }
                }
            }
        }
        spaces.rows =
            std::mem::take(&mut spaces.eras).into_iter().map(|maps| maps.into_iter().collect()).collect();
        spaces
    }

    fn name(&mut self, from: u64, tid: i32, comm: StringId) {
        let spans = self.threads.entry(tid).or_default();
        if spans.last().is_none_or(|last| last.comm != comm) {
            spans.push(ThreadSpan { from, comm, row: None });
        }
    }

    fn begin(&mut self, from: u64, pid: i32, maps: Maps) {
        let era = Era(self.eras.len() as u32);
        self.eras.push(maps);
        self.processes.entry(pid).or_default().push(ProcessSpan { from, era, shared: false });
    }

    fn fork(&mut self, from: u64, pid: i32, parent: i32) {
        let era = match self.processes.get_mut(&parent).and_then(|spans| spans.last_mut()) {
            Some(span) => {
                span.shared = true;
                span.era
            }
            None => Era(0),
        };
        self.processes.entry(pid).or_default().push(ProcessSpan { from, era, shared: true });
    }

    fn map(&mut self, time: u64, pid: i32, start: u64, new: Mapping) {
        let current = self.processes.get(&pid).and_then(|spans| spans.last());
        let (era, shared) = current.map_or((Era(0), true), |span| (span.era, span.shared));
        let overlap = overlap(&self.eras[era.0 as usize], start, &new);
        match overlap {
            Overlap::Same => {}
            Overlap::None if !shared => {
                self.eras[era.0 as usize].insert(start, new);
            }
            overlap => {
                let mut maps = self.copy(era);
                if overlap == Overlap::Other {
                    cut_away(&mut maps, start, new.end);
                }
                maps.insert(start, new);
                // Nothing was known of the process before: the mapping holds for its past, too.
                let from = if self.processes.contains_key(&pid) { time } else { 0 };
                self.begin(from, pid, maps);
            }
        }
    }

    fn copy(&mut self, era: Era) -> Maps {
        let maps = &self.eras[era.0 as usize];
        if self.copies + maps.len() > MOST_COPIES {
            self.refused += 1;
            return Maps::new();
        }
        self.copies += maps.len();
        maps.clone()
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Overlap {
    None,
    /// What is there already means the same.
    Same,
    Other,
}

fn overlap(maps: &Maps, start: u64, new: &Mapping) -> Overlap {
    let mut found = Overlap::None;
    for (at, old) in maps.range(..new.end).rev().take_while(|(_, old)| old.end > start) {
        let same = old.image == new.image && at.wrapping_sub(old.offset) == start.wrapping_sub(new.offset);
        if !same {
            return Overlap::Other;
        }
        let covered = *at <= start && old.end >= new.end;
        found = if covered { Overlap::Same } else { Overlap::Other };
    }
    found
}

fn cut_away(maps: &mut Maps, start: u64, end: u64) {
    let hit: Vec<(u64, Mapping)> =
        maps.range(..end).rev().take_while(|(_, m)| m.end > start).map(|(at, m)| (*at, *m)).collect();
    for (at, old) in hit {
        maps.remove(&at);
        if at < start {
            maps.insert(at, Mapping { end: start, ..old });
        }
        if old.end > end {
            maps.insert(end, Mapping { offset: old.offset.wrapping_add(end - at), ..old });
        }
    }
}
