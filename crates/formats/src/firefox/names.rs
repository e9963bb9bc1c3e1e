//! Frames of a Firefox profile to ours.
//!
//! Flag bits of versions 71 (frames) and 75 (functions) say which columns of a row are set; files before
//! them say it with null or -1.

use super::file::{FrameTable, FuncTable, Lib, Libs, Meta, ResourceTable};
use crate::interchange::frames::{self, Line, Place};
use crate::interchange::json::{Numbers, Texts, index};
use crate::text::names;
use zwhy_profile::{FrameId, FrameKind, Profile};

/// The tables one thread uses: its own, or the shared ones.
#[derive(Clone, Copy, Debug)]
pub struct Names<'a> {
    pub meta: &'a Meta,
    pub libs: &'a Libs,
    pub texts: &'a Texts,
    pub frames: &'a FrameTable,
    pub funcs: &'a FuncTable,
    pub resources: &'a ResourceTable,
    /// Index of the text with a source's name.
    pub sources: &'a Numbers,
}

/// The cell if its flag is set, or if the table has no flags.
fn flagged(flags: f64, bit: usize, cell: f64) -> Option<usize> {
    match index(flags) {
        Some(flags) if flags & bit == 0 => None,
        _ => index(cell),
    }
}

impl Names<'_> {
    /// The frame of a row; `None` when the file has no such row.
    pub fn frame(&self, profile: &mut Profile, row: usize) -> Option<FrameId> {
        if row >= self.frames.rows() {
            return None;
        }
        let flags = self.frames.flags(row);
        let category = flagged(flags, 4, self.frames.category(row));
        let kind =
            category.and_then(|c| self.meta.categories.get(c)).and_then(|c| kind_of_category(&c.name.0));
        if let Some(location) = index(self.frames.location(row)) {
            return Some(self.gecko_frame(profile, self.texts.get(Some(location)), kind, row));
        }
        let func = index(self.frames.func(row));
        let cell = |column: fn(&FuncTable, usize) -> f64| func.map_or(f64::NAN, |f| column(self.funcs, f));
        let func_flags = cell(FuncTable::flags);
        let resource = flagged(func_flags, 4, cell(FuncTable::resource));
        let lib = flagged(flags, 2, self.frames.lib(row))
            .or_else(|| index(self.resources.lib(resource?)))
            .and_then(|lib| self.libs.get(lib));
        let module = match lib {
            Some(lib) => lib.module(),
            None => self.texts.get(resource.and_then(|r| index(self.resources.name(r)))),
        };
        let source = flagged(func_flags, 8, cell(FuncTable::source));
        let file = source.and_then(|s| self.sources.index(s)).or_else(|| index(cell(FuncTable::file_name)));
        let line = flagged(flags, 16, self.frames.line(row));
        let inlined = self.frames.inline_depth(row) > 0.0 || index(flags).is_some_and(|f| f & 1 != 0);
        let line = line.and_then(|l| u32::try_from(l).ok()).unwrap_or(0);
        let name = self.texts.get(index(cell(FuncTable::name)));
        let place = Place { module, kind, ..Place::default() };
        // A name that is the frame's address was never looked up.
        let unnamed = address(name).filter(|a| *a as f64 == self.frames.address(row));
        Some(match unnamed {
            Some(address) => Place { address, ..place }.frame(profile, Line::default(), inlined),
            None => {
                let line = Line { function: name, file: self.texts.get(file), line };
                place.frame(profile, line, inlined)
            }
        })
    }

    /// Gecko: `0x7f1234`, `function (in object)`, `function (file:12)` or a label.
    pub fn gecko_frame(
        &self,
        profile: &mut Profile,
        text: &str,
        kind: Option<FrameKind>,
        row: usize,
    ) -> FrameId {
        if let Some(address) = address(text) {
            let lib = self.libs.at(address);
            let (start, offset) = lib.map_or((0, 0), Lib::place);
            let place = Place { module: lib.map_or("", Lib::module), address, start, offset, kind };
            return place.frame(profile, Line::default(), false);
        }
        let (function, inside) = match text.strip_suffix(')').and_then(|t| t.rsplit_once(" (")) {
            Some((function, inside)) if !function.is_empty() => (function, inside),
            _ => (text, ""),
        };
        if let Some(module) = inside.strip_prefix("in ") {
            let place = Place { module, kind, ..Place::default() };
            return place.frame(profile, Line { function, ..Line::default() }, false);
        }
        let kind = kind.or(Some(FrameKind::User));
        let place = Place { kind, ..Place::default() };
        let line = index(self.frames.line(row)).and_then(|l| u32::try_from(l).ok());
        match inside.rsplit_once(':').map(|(file, line)| (file, line.parse::<u32>())) {
            Some((file, Ok(at))) => {
                place.frame(profile, Line { function, file, line: line.unwrap_or(at) }, false)
            }
            _ => place.frame(profile, Line { function: text, file: "", line: line.unwrap_or(0) }, false),
        }
    }
}

fn kind_of_category(name: &str) -> Option<FrameKind> {
    [("kernel", FrameKind::Kernel), ("user", FrameKind::User), ("unknown", FrameKind::Unknown)]
        .into_iter()
        .find(|(category, _)| name.eq_ignore_ascii_case(category))
        .map(|(_, kind)| kind)
}

/// The address that stands in place of a name.
fn address(name: &str) -> Option<u64> {
    let hex = name.strip_prefix("0x")?;
    names::is_address(name).then(|| u64::from_str_radix(hex, 16).ok()).flatten()
}

/// The file says nothing of this frame.
pub fn missing(profile: &mut Profile) -> FrameId {
    frames::unknown(profile, "the profile does not describe this frame")
}
