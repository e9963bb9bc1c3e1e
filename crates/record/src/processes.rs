//! Address spaces of live processes, from /proc at the start and from records after; which files they map.
//!
//! Invariant: whatever number of processes and files come and go, about [`MOST_MAPPINGS`] mappings and
//! [`MOST_IMAGES`] images stay after a flush. A forgotten process that lives is read again from /proc.

use rustc_hash::{FxHashMap, FxHashSet};
use std::fs;
use std::path::Path;
use zwhy_perf::{AddressSpace, Era, Identity, Mmap, NewMapping, Spaces};
use zwhy_symbols::{ImageKind, parse_maps};

/// Mappings kept, at some 50 bytes each; a process counts as two more.
const MOST_MAPPINGS: usize = 65_536;
/// Images kept, at about 300 bytes each, beside those that are mapped.
const MOST_IMAGES: usize = 4096;

/// Names an [`Image`]; never given again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ImageId(pub u32);

/// A mapped object, the same for all processes that map it.
#[derive(Clone, Debug)]
pub(crate) struct Image {
    pub path: String,
    pub kind: ImageKind,
    pub inode: u64,
    /// One process that maps it and where, to reach the file through /proc.
    pub pid: i32,
    pub start: u64,
    pub end: u64,
}

pub(crate) struct Processes {
    spaces: Spaces<ImageId>,
    /// The flush in which each process was last asked for.
    used: FxHashMap<i32, u32>,
    images: FxHashMap<ImageId, Image>,
    ids: FxHashMap<(String, u64), ImageId>,
    next: u32,
    /// Images left the last time that those which nobody maps were forgotten.
    images_left: usize,
    /// Processes whose first thread has ended; forgotten once /proc no longer has them.
    ended: Vec<i32>,
    flushes: u32,
}

/// Where a user address lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    Image(ImageId, u64),
    NotMapped,
    ProcessEnded,
}

impl Default for Processes {
    fn default() -> Processes {
        Processes {
            spaces: Spaces::live(),
            used: FxHashMap::default(),
            images: FxHashMap::default(),
            ids: FxHashMap::default(),
            next: 0,
            images_left: 0,
            ended: Vec::new(),
            flushes: 0,
        }
    }
}

impl Processes {
    /// What the process has mapped; it is another when an address means something else.
    #[inline]
    pub(crate) fn era(&self, pid: i32) -> Era {
        self.spaces.era(pid)
    }

    pub(crate) fn image(&self, id: ImageId) -> Option<&Image> {
        self.images.get(&id)
    }

    /// Reads the mappings of a process that is not known yet.
    pub(crate) fn learn(&mut self, pid: i32) {
        if self.spaces.knows(pid) {
            return;
        }
        let bytes = fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let mut maps = AddressSpace::default();
        for map in parse_maps(&text).filter(|m| m.executable) {
            let image = self.intern(&map.path, map.inode, pid, map.start, map.end);
            maps.map(NewMapping { start: map.start, len: map.end - map.start, offset: map.offset, image });
        }
        self.spaces.begin(pid, maps);
        self.used.insert(pid, self.flushes);
    }

    pub(crate) fn map(&mut self, map: &Mmap<'_>) {
        let Mmap { pid, start, len, offset, .. } = *map;
        self.learn(pid);
        let inode = match map.identity {
            Identity::Inode(inode) => inode,
            Identity::BuildId(_) | Identity::Unknown => 0,
        };
        let image = self.intern(&map.shown_path(), inode, pid, start, start.saturating_add(len));
        self.spaces.map(pid, NewMapping { start, len, offset, image });
        self.used.insert(pid, self.flushes);
    }

    pub(crate) fn fork(&mut self, pid: i32, parent: i32) {
        if pid != parent {
            self.learn(parent);
            self.spaces.fork(pid, parent);
            self.used.insert(pid, self.flushes);
        }
    }

    /// The process replaces its program: what was mapped is gone.
    pub(crate) fn exec(&mut self, pid: i32) {
        self.spaces.exec(pid);
        self.used.insert(pid, self.flushes);
    }

    fn forget(&mut self, pid: i32) {
        self.spaces.forget(pid);
        self.used.remove(&pid);
    }

    pub(crate) fn exit(&mut self, pid: i32) {
        self.ended.push(pid);
    }

    /// Drops what ended processes had, and what was not asked for lately when all is much; call it when
    /// no sample is waiting.
    pub(crate) fn flushed(&mut self) {
        self.flushes += 1;
        self.forget_ended(|pid| Path::new(&format!("/proc/{pid}")).exists());
        self.forget_idle();
        if self.images.len() > MOST_IMAGES.max(2 * self.images_left) {
            let mapped: FxHashSet<ImageId> = self.mapped();
            self.images.retain(|id, _| mapped.contains(id));
            self.ids.retain(|_, id| mapped.contains(id));
            self.images_left = self.images.len();
        }
    }

    fn mapped(&self) -> FxHashSet<ImageId> {
        self.spaces.spaces().flat_map(|(_, space)| space.iter().map(|(_, map)| map.image)).collect()
    }

    /// Images and processes.
    #[cfg(test)]
    pub(crate) fn held(&self) -> (usize, usize) {
        (self.images.len(), self.spaces.len())
    }

    fn forget_ended(&mut self, lives: impl Fn(i32) -> bool) {
        // Other threads of the process may live on, its parent may not have looked at its end yet, or
        // the id may be in use again.
        let mut gone = Vec::new();
        self.ended.retain(|pid| {
            let lives = lives(*pid);
            if !lives {
                gone.push(*pid);
            }
            lives
        });
        gone.into_iter().for_each(|pid| self.forget(pid));
        self.ended.sort_unstable();
        self.ended.dedup();
    }

    fn forget_idle(&mut self) {
        let spaces = &self.spaces;
        let size = |pid: i32| spaces.space(spaces.era(pid)).map_or(0, AddressSpace::len) + 2;
        let mut oldest: Vec<(u32, i32, usize)> =
            spaces.pids().map(|pid| (self.used.get(&pid).copied().unwrap_or(0), pid, size(pid))).collect();
        let mut left: usize = oldest.iter().map(|(_, _, size)| size).sum();
        if left <= MOST_MAPPINGS {
            return;
        }
        oldest.sort_unstable();
        for (_, pid, size) in oldest {
            if left <= MOST_MAPPINGS / 2 {
                break;
            }
            self.forget(pid);
            left -= size;
        }
    }

    pub(crate) fn locate(&mut self, pid: i32, address: u64) -> Location {
        self.learn(pid);
        self.used.insert(pid, self.flushes);
        match self.spaces.space(self.spaces.era(pid)) {
            Some(space) if !space.is_empty() => {
                let found = space.resolve(address);
                found.map_or(Location::NotMapped, |(image, offset)| Location::Image(image, offset))
            }
            _ => Location::ProcessEnded,
        }
    }

    fn intern(&mut self, path: &str, inode: u64, pid: i32, start: u64, end: u64) -> ImageId {
        if let Some(id) = self.ids.get(&(path.to_owned(), inode)) {
            return *id;
        }
        let id = ImageId(self.next);
        self.next += 1;
        let kind = ImageKind::of_path(path);
        self.images.insert(id, Image { path: path.to_owned(), kind, inode, pid, start, end });
        self.ids.insert((path.to_owned(), inode), id);
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that no process has.
    const FIRST: i32 = 10_000_000;

    fn program(processes: &mut Processes, pid: i32) {
        processes.exec(pid);
        let (path, inode) = (format!("/build/{pid}/build-script"), u64::from(pid.cast_unsigned()));
        processes.map(&Mmap {
            pid,
            start: 1 << 40,
            len: 4096,
            offset: 0,
            path: path.as_bytes(),
            identity: Identity::Inode(inode),
            mode: 2,
            data: false,
        });
    }

    #[test]
    fn what_ended_processes_mapped_is_forgotten() {
        let mut processes = Processes::default();
        processes.learn(std::process::id() as i32);
        let own = processes.images.len();
        let mut most = 0;
        for pid in FIRST..FIRST + 20_000 {
            program(&mut processes, pid);
            processes.exit(pid);
            if pid % 100 == 99 {
                most = most.max(processes.images.len());
                processes.flushed();
                assert_eq!((processes.spaces.len(), processes.ended.len()), (1, 0));
            }
        }
        assert!(most <= MOST_IMAGES + 100, "{most}");
        assert!(processes.images.len() >= own && processes.images.len() == processes.ids.len());
    }

    #[test]
    fn of_very_many_processes_those_not_asked_for_are_read_again_later() {
        let mut processes = Processes::default();
        let own = std::process::id() as i32;
        let here = of_very_many_processes_those_not_asked_for_are_read_again_later as *const () as u64;
        let before = processes.locate(own, here);
        assert!(matches!(before, Location::Image(..)));
        processes.flushed();
        for pid in FIRST..FIRST + MOST_MAPPINGS as i32 / 2 {
            program(&mut processes, pid);
        }
        processes.flushed();
        assert!(processes.spaces.len() <= MOST_MAPPINGS / 4 && !processes.spaces.knows(own));
        let after = processes.locate(own, here);
        let path = |place| match place {
            Location::Image(id, offset) => (processes.image(id).unwrap().path.clone(), offset),
            other => panic!("{other:?}"),
        };
        assert_eq!(path(after).0, std::env::current_exe().unwrap().to_str().unwrap());
    }
}
