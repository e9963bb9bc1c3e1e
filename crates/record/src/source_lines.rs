//! Source lines of the addresses of a recording, kept by address.
//!
//! Invariant: an address is looked up once; what could not be found is said at the end.

use crate::address::AddressId;
use crate::processes::Image;
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use zwhy_evidence::LineFacts;
use zwhy_profile::{FrameId, Profile};
use zwhy_symbols::{ElfObject, FileId, KernelSymbol, Lines, source_frames};

pub(crate) struct SourceLines {
    lines: Lines,
    inlined: FxHashMap<AddressId, Box<[FrameId]>>,
}

impl SourceLines {
    /// Reads those of the kernel and of ZFS now: that takes seconds, in which nothing is recorded yet.
    /// `kernel_base` is where the text of the kernel begins; `None` where its functions have no names.
    pub(crate) fn new(kernel_base: Option<u64>) -> SourceLines {
        let mut lines = Lines::of_running_kernel(Path::new("/"));
        if let Some(base) = kernel_base {
            lines.with_kernel_at(base);
            lines.prepare("kernel");
            let loaded = |module: &&&str| Path::new("/sys/module").join(module).join("sections").exists();
            ["spl", "zfs"].iter().filter(loaded).for_each(|module| lines.prepare(module));
        }
        SourceLines { lines, inlined: FxHashMap::default() }
    }

    /// What is inlined at an address, one into the other.
    pub(crate) fn inlined(&self, id: AddressId) -> &[FrameId] {
        self.inlined.get(&id).map_or(&[], |frames| frames)
    }

    /// Forgets addresses: they are looked up again.
    pub(crate) fn forget(&mut self) {
        self.inlined = FxHashMap::default();
    }

    /// Ids of addresses, old and new, are reassigned: all others are forgotten. Frames become those
    /// that `moved` gives.
    pub(crate) fn renumber(
        &mut self,
        ids: impl Iterator<Item = (AddressId, AddressId)>,
        mut moved: impl FnMut(FrameId) -> FrameId,
    ) {
        let mut old = std::mem::take(&mut self.inlined);
        for (id, new) in ids {
            if let Some(mut frames) = old.remove(&id) {
                frames.iter_mut().for_each(|frame| *frame = moved(*frame));
                self.inlined.insert(new, frames);
            }
        }
    }

    /// Forgets where modules are; addresses have to be forgotten with it.
    pub(crate) fn forget_modules(&mut self) {
        self.lines.forget_modules();
    }

    /// The frame of a kernel address with its line.
    pub(crate) fn kernel(
        &mut self,
        id: AddressId,
        frame: FrameId,
        address: u64,
        symbol: &KernelSymbol<'_>,
        profile: &mut Profile,
    ) -> FrameId {
        let chain = self.lines.kernel(address, symbol);
        let (frame, inlined) = source_frames(profile, frame, &chain);
        self.keep(id, inlined);
        frame
    }

    /// The frame of the code at a file offset of an image with its line; `key` stands for the image.
    pub(crate) fn user(
        &mut self,
        id: AddressId,
        frame: FrameId,
        (key, image, object): (u32, &Image, &ElfObject),
        offset: u64,
        profile: &mut Profile,
    ) -> FrameId {
        let Some(address) = object.address_of_offset(offset) else { return frame };
        let chain = self.lines.user(key, address, || files(image, object.build_id()));
        let (frame, inlined) = source_frames(profile, frame, &chain);
        self.keep(id, inlined);
        frame
    }

    fn keep(&mut self, id: AddressId, inlined: Box<[FrameId]>) {
        if !inlined.is_empty() {
            self.inlined.insert(id, inlined);
        }
    }

    /// What has no lines, with what to do.
    pub(crate) fn limits(&self) -> Vec<String> {
        self.lines.missing()
    }

    /// Which modules have lines, and why others have none.
    pub(crate) fn facts(&self) -> LineFacts {
        let without = self.lines.modules_without().map(|(module, why)| (module.to_owned(), why.to_string()));
        let (objects, bare) = self.lines.objects();
        LineFacts {
            modules: Some(self.lines.modules_with_lines().map(str::to_owned).collect()),
            modules_without: Some(without.collect()),
            objects: Some(objects as u64),
            objects_without: Some(bare as u64),
            ..LineFacts::default()
        }
    }
}

/// Where the file of an image may be, and what must hold for it.
fn files<'a>(image: &Image, build_id: Option<&'a [u8]>) -> (Vec<PathBuf>, FileId<'a>) {
    let Image { path, pid, start, end, inode, .. } = image;
    let plain = path.strip_suffix(" (deleted)").unwrap_or(path);
    let mut paths = vec![PathBuf::from(format!("/proc/{pid}/root{plain}")), PathBuf::from(plain)];
    if build_id.is_some() {
        paths.insert(0, format!("/proc/{pid}/map_files/{start:x}-{end:x}").into());
    }
    // Without a build-id the inode is all that tells the file from one put in its place.
    let inode = build_id.is_none().then_some(*inode);
    (paths, FileId { inode, build_id })
}
