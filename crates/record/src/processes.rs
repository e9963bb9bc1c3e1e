//! Address spaces of processes, from /proc at the start and from mmap, fork and exec records after.
//!
//! Invariant: whatever number of processes and files come and go, about [`MOST_MAPPINGS`] mappings and
//! [`MOST_IMAGES`] images stay after a flush. A forgotten process that lives is read again from /proc.

use rustc_hash::{FxHashMap, FxHashSet};
use std::fs;
use std::path::Path;
use zwhy_symbols::{AddressSpace, ImageKind, parse_maps};

/// Mappings kept, at 32 bytes each; a process counts as two more.
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

/// What a process maps, and the flush in which it was last asked for.
#[derive(Clone, Default)]
struct Space {
    maps: AddressSpace<ImageId>,
    used: u32,
}

#[derive(Default)]
pub(crate) struct Processes {
    spaces: FxHashMap<i32, Space>,
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
pub(crate) enum Place {
    Image(ImageId, u64),
    NotMapped,
    ProcessEnded,
}

impl Processes {
    pub(crate) fn image(&self, id: ImageId) -> Option<&Image> {
        self.images.get(&id)
    }

    /// Reads the mappings of a process that is not known yet.
    pub(crate) fn learn(&mut self, pid: i32) {
        if self.spaces.contains_key(&pid) {
            return;
        }
        let bytes = fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let mut maps = AddressSpace::new();
        for map in parse_maps(&text).filter(|m| m.executable) {
            let image = self.intern(&map.path, map.inode, pid, map.start, map.end);
            maps.map(map.start, map.end - map.start, map.offset, image);
        }
        self.spaces.insert(pid, Space { maps, used: self.flushes });
    }

    pub(crate) fn map(&mut self, pid: i32, start: u64, len: u64, offset: u64, inode: u64, path: &str) {
        self.learn(pid);
        let image = self.intern(path, inode, pid, start, start.saturating_add(len));
        if let Some(space) = self.spaces.get_mut(&pid) {
            space.maps.map(start, len, offset, image);
            space.used = self.flushes;
        }
    }

    pub(crate) fn fork(&mut self, pid: i32, parent: i32) {
        if pid != parent {
            self.learn(parent);
            let maps = self.spaces.get(&parent).map(|space| space.maps.clone()).unwrap_or_default();
            self.spaces.insert(pid, Space { maps, used: self.flushes });
        }
    }

    /// The process replaces its program: what was mapped is gone.
    pub(crate) fn exec(&mut self, pid: i32) {
        self.spaces.insert(pid, Space { maps: AddressSpace::new(), used: self.flushes });
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
            let mapped: FxHashSet<ImageId> = self.spaces.values().flat_map(|s| s.maps.images()).collect();
            self.images.retain(|id, _| mapped.contains(id));
            self.ids.retain(|_, id| mapped.contains(id));
            self.images_left = self.images.len();
        }
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
        for pid in gone {
            self.spaces.remove(&pid);
        }
        self.ended.sort_unstable();
        self.ended.dedup();
    }

    fn forget_idle(&mut self) {
        let size = |space: &Space| space.maps.len() + 2;
        let all: usize = self.spaces.values().map(size).sum();
        if all <= MOST_MAPPINGS {
            return;
        }
        let mut oldest: Vec<(u32, i32, usize)> =
            self.spaces.iter().map(|(pid, space)| (space.used, *pid, size(space))).collect();
        oldest.sort_unstable();
        let mut left = all;
        for (_, pid, size) in oldest {
            if left <= MOST_MAPPINGS / 2 {
                break;
            }
            self.spaces.remove(&pid);
            left -= size;
        }
    }

    pub(crate) fn place(&mut self, pid: i32, address: u64) -> Place {
        self.learn(pid);
        match self.spaces.get_mut(&pid) {
            Some(space) if !space.maps.is_empty() => {
                space.used = self.flushes;
                let found = space.maps.resolve(address);
                found.map_or(Place::NotMapped, |(image, offset)| Place::Image(image, offset))
            }
            _ => Place::ProcessEnded,
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
        let inode = u64::from(pid.cast_unsigned());
        processes.map(pid, 1 << 40, 4096, 0, inode, &format!("/build/{pid}/build-script"));
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
        let before = processes.place(own, here);
        assert!(matches!(before, Place::Image(..)));
        processes.flushed();
        for pid in FIRST..FIRST + MOST_MAPPINGS as i32 / 2 {
            program(&mut processes, pid);
        }
        processes.flushed();
        assert!(processes.spaces.len() <= MOST_MAPPINGS / 4 && !processes.spaces.contains_key(&own));
        let after = processes.place(own, here);
        let path = |place| match place {
            Place::Image(id, offset) => (processes.image(id).unwrap().path.clone(), offset),
            other => panic!("{other:?}"),
        };
        assert_eq!(path(after).0, std::env::current_exe().unwrap().to_str().unwrap());
    }
}
