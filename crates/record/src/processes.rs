//! Address spaces of processes, from /proc at the start and from mmap, fork and exec records after.

use rustc_hash::FxHashMap;
use std::fs;
use zwhy_symbols::{AddressSpace, ImageKind, parse_maps};

/// Index of an [`Image`].
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

#[derive(Default)]
pub(crate) struct Processes {
    spaces: FxHashMap<i32, AddressSpace<ImageId>>,
    images: Vec<Image>,
    ids: FxHashMap<(String, u64), ImageId>,
    /// Processes whose first thread has ended; forgotten once /proc no longer has them.
    ended: Vec<i32>,
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
        self.images.get(id.0 as usize)
    }

    /// Reads the mappings of a process that is not known yet.
    pub(crate) fn learn(&mut self, pid: i32) {
        if self.spaces.contains_key(&pid) {
            return;
        }
        let bytes = fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let mut space = AddressSpace::new();
        for map in parse_maps(&text).filter(|m| m.executable) {
            let image = self.intern(&map.path, map.inode, pid, map.start, map.end);
            space.map(map.start, map.end - map.start, map.offset, image);
        }
        self.spaces.insert(pid, space);
    }

    pub(crate) fn map(&mut self, pid: i32, start: u64, len: u64, offset: u64, inode: u64, path: &str) {
        self.learn(pid);
        let image = self.intern(path, inode, pid, start, start.saturating_add(len));
        if let Some(space) = self.spaces.get_mut(&pid) {
            space.map(start, len, offset, image);
        }
    }

    pub(crate) fn fork(&mut self, pid: i32, parent: i32) {
        if pid != parent {
            self.learn(parent);
            let space = self.spaces.get(&parent).cloned().unwrap_or_default();
            self.spaces.insert(pid, space);
        }
    }

    /// The process replaces its program: what was mapped is gone.
    pub(crate) fn exec(&mut self, pid: i32) {
        self.spaces.insert(pid, AddressSpace::new());
    }

    pub(crate) fn exit(&mut self, pid: i32) {
        self.ended.push(pid);
    }

    /// Drops what ended processes had; call it when no sample of theirs is waiting.
    pub(crate) fn forget_ended(&mut self) {
        for pid in std::mem::take(&mut self.ended) {
            // Other threads of the process may live on, or the id may be in use again.
            if !std::path::Path::new(&format!("/proc/{pid}")).exists() {
                self.spaces.remove(&pid);
            }
        }
    }

    pub(crate) fn place(&mut self, pid: i32, address: u64) -> Place {
        self.learn(pid);
        match self.spaces.get(&pid) {
            Some(space) if !space.is_empty() => {
                space.resolve(address).map_or(Place::NotMapped, |(image, offset)| Place::Image(image, offset))
            }
            _ => Place::ProcessEnded,
        }
    }

    fn intern(&mut self, path: &str, inode: u64, pid: i32, start: u64, end: u64) -> ImageId {
        if let Some(id) = self.ids.get(&(path.to_owned(), inode)) {
            return *id;
        }
        let id = ImageId(self.images.len() as u32);
        let kind = ImageKind::of_path(path);
        self.images.push(Image { path: path.to_owned(), kind, inode, pid, start, end });
        self.ids.insert((path.to_owned(), inode), id);
        id
    }
}
