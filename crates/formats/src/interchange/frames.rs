//! Native frames of foreign tables to ours: modules as the files spell them, inlined lines, addresses
//! without names.

use crate::text::names;
use std::borrow::Cow;
use zwhy_profile::{FrameId, FrameKind, NamedFrame, Profile};

/// Lines that one address may stand for; more are not believed.
pub const MAX_INLINED: usize = 256;

/// Why an address has no name; what people see.
pub const NO_NAME: &str = "the profile holds no name for this address";

/// What a file says of the code at one address.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place<'a> {
    /// Object as the file spells it: `[zfs]`, `/usr/lib/libc.so.6`; empty where not known.
    pub module: &'a str,
    pub address: u64,
    /// Where the object starts in memory, and what part of it is there.
    pub start: u64,
    pub offset: u64,
    /// Said by the file itself, more reliable than the spelling of the module.
    pub kind: Option<FrameKind>,
}

/// One source line at a place.
#[derive(Clone, Copy, Debug, Default)]
pub struct Line<'a> {
    pub function: &'a str,
    pub file: &'a str,
    pub line: u32,
}

impl Place<'_> {
    fn kind(&self) -> FrameKind {
        /// Kernel half of the address space on x86-64 and arm64.
        const KERNEL: u64 = 0xffff_0000_0000_0000;
        match self.kind.unwrap_or_else(|| names::kind_of_module(self.module)) {
            FrameKind::Unknown if self.address >= KERNEL => FrameKind::Kernel,
            kind => kind,
        }
    }

    /// The frame of a line here; `inlined` for all lines but the outermost.
    pub fn frame(&self, profile: &mut Profile, line: Line, inlined: bool) -> FrameId {
        let module = names::module(self.module);
        let kind = if inlined { FrameKind::Inlined } else { self.kind() };
        if line.function.is_empty() {
            return self.unnamed(profile, module, kind);
        }
        let Line { function, file, line } = line;
        profile.named_frame(NamedFrame { function, module, file, line, kind, reason: "" })
    }

    /// Frames of all lines here, leaf first, one where there is none. A line has a function, whose name and
    /// file `function` tells, and a number.
    pub fn frames<'n>(
        &self,
        profile: &mut Profile,
        lines: &[[u64; 2]],
        function: impl Fn(u64) -> (Cow<'n, str>, Cow<'n, str>),
    ) -> Vec<FrameId> {
        let lines = if lines.is_empty() { &[[0, 0]] } else { lines };
        let frame = |(i, [id, number]): (usize, &[u64; 2])| {
            let (name, file) = function(*id);
            let line = Line { function: &name, file: &file, line: line_number(*number as i64) };
            self.frame(profile, line, i + 1 < lines.len())
        };
        lines.iter().enumerate().map(frame).collect()
    }

    fn unnamed(&self, profile: &mut Profile, module: &str, kind: FrameKind) -> FrameId {
        let offset = self.address.wrapping_sub(self.start).wrapping_add(self.offset);
        let function = match (self.address, module) {
            (0, _) => "[unknown]".to_owned(),
            (address, "") => format!("{address:#x}"),
            _ => format!("{module}+{offset:#x}"),
        };
        unnamed(profile, &function, module, kind, NO_NAME)
    }
}

/// A frame that a file mentions and does not describe.
pub fn unknown(profile: &mut Profile, reason: &str) -> FrameId {
    unnamed(profile, "[unknown]", "", FrameKind::Unknown, reason)
}

fn unnamed(profile: &mut Profile, function: &str, module: &str, kind: FrameKind, reason: &str) -> FrameId {
    profile.named_frame(NamedFrame { function, module, kind, reason, ..NamedFrame::default() })
}

/// A module as perf spells it, from which its kind can be told again: `[zfs]`, `libc.so.6`.
pub fn dressed(module: &str, kind: FrameKind) -> String {
    match kind {
        FrameKind::Kernel => format!("[{module}]"),
        _ => module.to_owned(),
    }
}

/// A line number of a file; 0 for what cannot be one.
pub fn line_number(value: i64) -> u32 {
    u32::try_from(value).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_without_names_keep_their_place_and_say_why() {
        let mut p = Profile::new();
        let mut name = |place: Place| {
            let id = place.frame(&mut p, Line::default(), false);
            (p.function_of(id).to_owned(), p.frames.get(id).kind, p.frames.get(id).reason.0 > 0)
        };
        let place = Place {
            module: "/lib/libc.so.6",
            address: 0x7f10_0123,
            start: 0x7f10_0000,
            offset: 0x2000,
            kind: None,
        };
        assert_eq!(name(place), ("libc.so.6+0x2123".into(), FrameKind::User, true));
        let place = Place { address: 0xffff_ffff_8100_0000, ..Place::default() };
        assert_eq!(name(place), ("0xffffffff81000000".into(), FrameKind::Kernel, true));
        assert_eq!(name(Place::default()), ("[unknown]".into(), FrameKind::Unknown, true));
    }
}
