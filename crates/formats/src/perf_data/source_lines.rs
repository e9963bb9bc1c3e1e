//! Source lines of the addresses of a perf.data, from debug information on this host.
//!
//! Invariant: an address is looked up once, and only in objects of the build-id that was recorded.

use super::kernel_names::{KernelMap, KernelNames};
use super::spaces::Image;
use super::user_names::UserNames;
use rustc_hash::FxHashMap;
use std::path::Path;
use zwhy_profile::{FrameId, Profile};
use zwhy_symbols::{Lines, source_frames};

/// An address that means the same wherever it is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Spot {
    Kernel(u64),
    Object(Image, u64),
}

#[derive(Debug)]
pub struct SourceLines {
    lines: Lines,
    known: FxHashMap<Spot, (FrameId, Box<[FrameId]>)>,
}

impl SourceLines {
    /// `build_ids` as the file lists them, by path: modules are `[zfs]` or `/lib/…/zfs.ko.xz`.
    pub fn new(build_ids: &FxHashMap<Vec<u8>, Vec<u8>>) -> SourceLines {
        let modules = build_ids.iter().filter_map(|(path, id)| {
            let path = String::from_utf8_lossy(path);
            let is_module = path.starts_with('[') || path.contains(".ko");
            is_module.then(|| (KernelMap::new(0, 0, 0, &path).module, id.clone()))
        });
        SourceLines {
            lines: Lines::of_recording(Path::new("/"), modules.collect()),
            known: FxHashMap::default(),
        }
    }

    /// `frame`, which has the code at `spot`, with its line; and what is inlined there.
    pub fn at(
        &mut self,
        profile: &mut Profile,
        (kernel, user): (&KernelNames, &UserNames),
        spot: Spot,
        frame: FrameId,
    ) -> (FrameId, &[FrameId]) {
        let lines = &mut self.lines;
        let (frame, inlined) = self.known.entry(spot).or_insert_with(|| {
            if profile.frames.get(frame).reason != Default::default() {
                return (frame, Box::default());
            }
            let chain = match spot {
                Spot::Kernel(at) => kernel.module_symbol(at).map(|symbol| lines.kernel(at, &symbol)),
                Spot::Object(image, offset) => user
                    .address(image, offset)
                    .map(|address| lines.user(image.0, address, || user.files(image))),
            };
            source_frames(profile, frame, &chain.unwrap_or_default())
        });
        (*frame, inlined)
    }

    /// What has no lines, with what to do.
    pub fn missing(&self) -> Vec<String> {
        self.lines.missing()
    }
}
