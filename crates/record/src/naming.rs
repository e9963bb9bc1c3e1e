//! Frames for addresses: each distinct address is named once, when it is first written.
//!
//! Invariant: an address that cannot be named gets a frame with a reason, and addresses without a
//! name inside one function, mapping or reason fold into one frame.

use crate::address::AddressId;
use crate::jit_maps::JitMaps;
use crate::objects::Objects;
use crate::processes::{Image, ImageId, Location, Processes};
use crate::source_lines::SourceLines;
use crate::symbol_sources::read_kernel_symbols;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use zwhy_perf::{chain, label};
use zwhy_profile::{FrameId, FrameKind, Profile};
use zwhy_symbols::{ElfSymbol, ImageKind, KernelSymbol, KernelSymbols, Reason, demangle, module_name};

/// An address that means the same wherever it is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Address {
    Kernel(u64),
    User(ImageId, u64),
    /// Memory without a file, of a process.
    Made(i32, u64),
    Nameless(FrameKind, Reason),
}

/// Addresses kept, at about 80 bytes each; when there are more, those not seen lately are forgotten.
pub(crate) const ADDRESS_BUDGET: usize = 40_000;
/// An address seen in so many of the last flushes stays then; fewer where that leaves too many.
const ADDRESS_KEEP: u32 = 24;
/// kallsyms is read again for modules loaded later, but only after so many flushes, and after twice
/// as many each time that it did not help.
const KALLSYMS_PAUSE: u32 = 5;

/// An address that was seen.
#[derive(Clone, Copy)]
struct Seen {
    address: Address,
    frame: Option<FrameId>,
    /// Flush in which it was last seen.
    used: u32,
}

const _: () = assert!(size_of::<Seen>() == 32);

pub(crate) struct Names {
    kernel: Result<KernelSymbols, Reason>,
    /// While samples from before and after a change of modules are named: the symbols after it.
    changed: Option<KernelSymbols>,
    ids: FxHashMap<Address, AddressId>,
    addresses: Vec<Seen>,
    objects: Objects,
    kallsyms_wait: u32,
    kallsyms_pause: u32,
    jit: JitMaps,
    flushes: u32,
    /// Where lines are asked for.
    lines: Option<SourceLines>,
    /// Frames without a name by reason, counted a sample and frame.
    pub unresolved: BTreeMap<&'static str, u64>,
}

impl Names {
    /// `kernel` is false for recordings that have no kernel frames.
    pub(crate) fn new(kernel: bool) -> Names {
        Names {
            kernel: if kernel { read_kernel_symbols() } else { Err(Reason::KernelHidden) },
            changed: None,
            ids: FxHashMap::default(),
            addresses: Vec::new(),
            objects: Objects::default(),
            kallsyms_wait: 0,
            kallsyms_pause: KALLSYMS_PAUSE,
            jit: JitMaps::default(),
            flushes: 0,
            lines: None,
            unresolved: BTreeMap::new(),
        }
    }

    /// As [`Names::new`], with source lines where there is debug information.
    pub(crate) fn with_lines(kernel: bool) -> Names {
        let mut names = Names::new(kernel);
        let base = names.kernel.as_ref().ok().and_then(KernelSymbols::base);
        names.lines = Some(SourceLines::new(base));
        names
    }

    pub(crate) fn kernel_named(&self) -> bool {
        self.kernel.is_ok()
    }

    pub(crate) fn kernel_address(&mut self, address: u64) -> AddressId {
        self.intern(match self.kernel {
            Ok(_) => Address::Kernel(address),
            Err(reason) => Address::Nameless(FrameKind::Kernel, reason),
        })
    }

    pub(crate) fn user_address(&mut self, processes: &mut Processes, pid: i32, address: u64) -> AddressId {
        let address = if let Some(reason) = chain::impossible(address) {
            Address::Nameless(FrameKind::User, reason)
        } else {
            match processes.locate(pid, address) {
                Location::Image(image, offset) => match processes.image(image) {
                    Some(row) if row.kind == ImageKind::Anonymous && module_name(&row.path) == "anon" => {
                        Address::Made(pid, address)
                    }
                    _ => Address::User(image, offset),
                },
                Location::NotMapped => Address::Nameless(FrameKind::User, Reason::NotMapped),
                Location::ProcessEnded => Address::Nameless(FrameKind::User, Reason::ProcessEnded),
            }
        };
        self.intern(address)
    }

    pub(crate) fn guest(&mut self) -> AddressId {
        self.intern(Address::Nameless(FrameKind::Unknown, Reason::Guest))
    }

    /// Whether many addresses share this id because none of them can be named.
    pub(crate) fn is_nameless(&self, id: AddressId) -> bool {
        matches!(self.addresses.get(id.0 as usize), Some(Seen { address: Address::Nameless(..), .. }))
    }

    /// Whether a chain ends before this caller; returns the reason.
    pub(crate) fn breaks_chain(&self, id: AddressId) -> Option<&'static str> {
        match self.addresses.get(id.0 as usize)?.address {
            Address::Nameless(FrameKind::User, reason) if chain::cuts(reason) => Some(reason.text()),
            _ => None,
        }
    }

    fn intern(&mut self, address: Address) -> AddressId {
        let next = AddressId(self.addresses.len() as u32);
        *self.ids.entry(address).or_insert_with(|| {
            self.addresses.push(Seen { address, frame: None, used: 0 });
            next
        })
    }

    /// The frame of an address that `samples` samples have, named now if it was not before.
    pub(crate) fn frame(
        &mut self,
        id: AddressId,
        samples: u64,
        processes: &Processes,
        profile: &mut Profile,
    ) -> FrameId {
        let Some(seen) = self.addresses.get_mut(id.0 as usize) else { return FrameId::default() };
        seen.used = self.flushes;
        let Seen { address, frame: named, .. } = *seen;
        let frame = named.unwrap_or_else(|| {
            let frame = self.name(address, processes, profile);
            let frame = self.with_line(id, address, frame, processes, profile);
            // A kernel address without a name may get one when its module is known.
            let known = profile.frames.get(frame).reason == Default::default();
            // Code made at run time moves, and another process may get the number of an ended one.
            let lasts = !matches!(address, Address::Made(..));
            if lasts && (known || !matches!(address, Address::Kernel(_))) {
                self.addresses[id.0 as usize].frame = Some(frame);
            }
            frame
        });
        let reason = profile.frames.get(frame).reason;
        if reason != Default::default()
            && let Some(count) = self.unresolved.get_mut(profile.strings.get(reason))
        {
            *count += samples;
        }
        frame
    }

    /// Kernel modules came, went or moved since the symbols were read: until [`Names::settle`] an
    /// address has a name only where both agree or only one has any.
    pub(crate) fn modules_changed(&mut self) {
        if self.kernel.is_ok() {
            self.changed = read_kernel_symbols().ok();
            self.forget_frames();
        }
    }

    /// From here on addresses are those of the modules that are loaded now.
    pub(crate) fn settle(&mut self) {
        if let Some(fresh) = self.changed.take() {
            self.kernel = Ok(fresh);
            (self.kallsyms_wait, self.kallsyms_pause) = (0, KALLSYMS_PAUSE);
            self.forget_frames();
            self.lines.iter_mut().for_each(SourceLines::forget_modules);
        }
    }

    /// Every address is named again when it is seen again.
    fn forget_frames(&mut self) {
        self.addresses.iter_mut().for_each(|seen| seen.frame = None);
        self.lines.iter_mut().for_each(SourceLines::forget);
    }

    /// Names what has no name yet, one image after the other, so that each is looked through once for all its addresses.
    pub(crate) fn name_by_image(&mut self, ids: &[AddressId], processes: &Processes, profile: &mut Profile) {
        let place = |id: &AddressId| match self.addresses.get(id.0 as usize) {
            Some(Seen { address: Address::User(image, offset), frame: None, .. }) => {
                Some((image.0, *offset, id.0))
            }
            _ => None,
        };
        let mut new: Vec<(u32, u64, u32)> = ids.iter().filter_map(place).collect();
        new.sort_unstable();
        new.dedup();
        for of_image in new.chunk_by(|a, b| a.0 == b.0) {
            let image = ImageId(of_image[0].0);
            if let Some(row) = processes.image(image).filter(|row| row.kind != ImageKind::Anonymous) {
                let offsets: Vec<u64> = of_image.iter().map(|(_, offset, _)| *offset).collect();
                if self.objects.prepare(image, row, &offsets) {
                    self.forget_frames_of(image);
                }
            }
            for (_, _, id) in of_image {
                self.frame(AddressId(*id), 0, processes, profile);
            }
        }
    }

    /// The addresses of an image are named again when they are seen again.
    fn forget_frames_of(&mut self, image: ImageId) {
        let of_it = |seen: &&mut Seen| matches!(seen.address, Address::User(at, _) if at == image);
        self.addresses.iter_mut().filter(of_it).for_each(|seen| seen.frame = None);
    }

    /// Keeps the addresses that were seen in the last `keep` flushes, with frames as `moved` gives
    /// them; call it when no [`AddressId`] is in use, as they are assigned again.
    fn keep_seen(&mut self, keep: u32, mut moved: impl FnMut(FrameId) -> FrameId) {
        let old = std::mem::take(&mut self.addresses);
        self.ids = FxHashMap::default();
        let mut kept = Vec::new();
        for (id, seen) in (0..).map(AddressId).zip(old) {
            // One without a frame is as good as new.
            if let (Some(frame), true) = (seen.frame, self.flushes - seen.used <= keep) {
                let new = self.intern(seen.address);
                self.addresses[new.0 as usize] = Seen { frame: Some(moved(frame)), ..seen };
                kept.push((id, new));
            }
        }
        if let Some(lines) = &mut self.lines {
            lines.renumber(kept.into_iter(), moved);
        }
    }

    /// Names go on in another profile: frames of addresses seen lately are moved there, the others are
    /// forgotten. Call it after [`Names::trim`].
    pub(crate) fn move_over(&mut self, moved: impl FnMut(FrameId) -> FrameId) {
        self.keep_seen(ADDRESS_KEEP, moved);
    }

    /// Addresses that are kept.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.addresses.len()
    }

    /// The frame with its file and line where those are asked for and known.
    fn with_line(
        &mut self,
        id: AddressId,
        address: Address,
        frame: FrameId,
        processes: &Processes,
        profile: &mut Profile,
    ) -> FrameId {
        // Where a module's sections were before a change is not known any more.
        let Some(lines) = self.lines.as_mut().filter(|_| self.changed.is_none()) else { return frame };
        if profile.frames.get(frame).reason != Default::default() {
            return frame;
        }
        match address {
            Address::Kernel(at) => match self.kernel.as_ref().ok().and_then(|k| k.resolve(at)) {
                Some(symbol) => lines.kernel(id, frame, at, &symbol, profile),
                None => frame,
            },
            Address::User(image, offset) => match processes.image(image).zip(self.objects.object(image)) {
                Some((row, object)) => lines.user(id, frame, (image.0, row, object), offset, profile),
                None => frame,
            },
            Address::Made(..) | Address::Nameless(..) => frame,
        }
    }

    pub(crate) fn lines(&self) -> Option<&SourceLines> {
        self.lines.as_ref()
    }

    /// What is inlined at an address that has its frame.
    pub(crate) fn inlined(&self, id: AddressId) -> &[FrameId] {
        self.lines.as_ref().map_or(&[], |lines| lines.inlined(id))
    }

    /// Gives memory back; call it when no [`AddressId`] is in use.
    pub(crate) fn trim(&mut self, processes: &Processes) {
        self.kallsyms_wait = self.kallsyms_wait.saturating_sub(1);
        self.flushes += 1;
        if self.addresses.len() > ADDRESS_BUDGET {
            let mut keep = ADDRESS_KEEP;
            self.keep_seen(keep, |frame| frame);
            // There is to be room for some flushes, or each would look through all again.
            while self.addresses.len() > ADDRESS_BUDGET / 2 {
                keep /= 2;
                self.keep_seen(keep, |frame| frame);
            }
        }
        self.jit.flushed();
        self.objects.flushed(|id| processes.image(id).is_some());
    }

    fn name(&mut self, address: Address, processes: &Processes, profile: &mut Profile) -> FrameId {
        match address {
            Address::Kernel(at) => self.kernel_frame(at, profile),
            Address::User(image, offset) => match processes.image(image) {
                Some(image_row) => self.user_frame(image, image_row, offset, profile),
                None => self.nameless(profile, FrameKind::User, "", Reason::NotMapped),
            },
            Address::Made(pid, at) => match self.jit.resolve(pid, at) {
                Some(name) => profile.frame(name, "jit", FrameKind::User),
                None => self.nameless(profile, FrameKind::User, "anon", Reason::Anonymous),
            },
            Address::Nameless(kind, reason) => {
                let module = if kind == FrameKind::Kernel { "kernel" } else { "" };
                self.nameless(profile, kind, module, reason)
            }
        }
    }

    fn kernel_frame(&mut self, address: u64, profile: &mut Profile) -> FrameId {
        if let (Some(after), Ok(before)) = (&self.changed, &self.kernel) {
            return match either(before.resolve(address), after.resolve(address)) {
                Ok(symbol) => profile.frame(symbol.function, symbol.module, FrameKind::Kernel),
                Err(reason) => self.nameless(profile, FrameKind::Kernel, "kernel", reason),
            };
        }
        let known = |kernel: &Result<KernelSymbols, Reason>, profile: &mut Profile| {
            let symbol = kernel.as_ref().ok()?.resolve(address)?;
            Some(profile.frame(symbol.function, symbol.module, FrameKind::Kernel))
        };
        if let Some(frame) = known(&self.kernel, profile) {
            return frame;
        }
        if self.kallsyms_wait == 0 {
            if let Ok(fresh) = read_kernel_symbols() {
                self.kernel = Ok(fresh);
            }
            let found = known(&self.kernel, profile);
            let pause = if found.is_some() { KALLSYMS_PAUSE } else { self.kallsyms_pause.saturating_mul(2) };
            (self.kallsyms_wait, self.kallsyms_pause) = (pause, pause);
            if let Some(frame) = found {
                return frame;
            }
        }
        self.nameless(profile, FrameKind::Kernel, "kernel", Reason::OutsideKernel)
    }

    fn user_frame(&mut self, id: ImageId, image: &Image, offset: u64, profile: &mut Profile) -> FrameId {
        let module = module_name(&image.path);
        if image.kind == ImageKind::Anonymous {
            return self.nameless(profile, FrameKind::User, module, Reason::Anonymous);
        }
        let found = match self.objects.find(id, image, offset) {
            Ok(found) => found,
            Err(reason) => return self.in_object(profile, module, label::page(offset), None, reason),
        };
        let at = found.as_ref().map(|(at, _)| *at);
        let (start, between) = match found {
            Some((_, ElfSymbol::Named { name, .. })) => {
                return profile.frame(&demangle(&name), module, FrameKind::User);
            }
            Some((_, ElfSymbol::Unnamed { start, between })) => (start, between),
            None => (None, None),
        };
        let address = start.unwrap_or_else(|| label::page(at.unwrap_or(offset)));
        self.in_object(profile, module, address, between.as_ref(), Reason::NoSymbol)
    }

    fn nameless(&mut self, profile: &mut Profile, kind: FrameKind, module: &str, reason: Reason) -> FrameId {
        self.unresolved.entry(reason.text()).or_default();
        label::nameless(profile, kind, module, reason)
    }

    fn in_object(
        &mut self,
        profile: &mut Profile,
        module: &str,
        address: u64,
        between: Option<&(String, String)>,
        reason: Reason,
    ) -> FrameId {
        self.unresolved.entry(reason.text()).or_default();
        label::in_object(profile, module, address, between, reason.text())
    }
}

/// The name of an address that was seen about the time of a change of modules.
fn either<'a>(
    before: Option<KernelSymbol<'a>>,
    after: Option<KernelSymbol<'a>>,
) -> Result<KernelSymbol<'a>, Reason> {
    match (before, after) {
        (Some(before), Some(after)) if before != after => Err(Reason::ModuleChanged),
        (before, after) => before.or(after).ok_or(Reason::OutsideKernel),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn about_a_change_of_modules_only_what_is_certain_has_a_name() {
        let parse = |modules: &str| {
            let text = format!("ffffffff81000000 T _stext\nffffffff81000010 T schedule\n{modules}");
            KernelSymbols::parse(text.as_bytes(), None).unwrap()
        };
        let before = parse("ffffffffa0000000 t zfs_read\t[zfs]\nffffffffa0001000 t spl_kmem\t[spl]\n");
        let after = parse("ffffffffa0000000 t nfsd_read\t[nfsd]\nffffffffa0008000 t zfs_read\t[zfs]\n");
        let at = |address: u64| either(before.resolve(address), after.resolve(address)).map(|s| s.function);
        assert_eq!(at(0xffff_ffff_8100_0012), Ok("schedule"));
        assert_eq!(at(0xffff_ffff_a000_0004), Err(Reason::ModuleChanged));
        assert_eq!([at(0xffff_ffff_a000_1004), at(0xffff_ffff_a000_8004)], [Ok("spl_kmem"), Ok("zfs_read")]);
        assert_eq!(at(0xffff_ffff_b000_0000), Err(Reason::OutsideKernel));
    }
}
