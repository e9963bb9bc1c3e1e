//! The file as it is written, with our own additional keys.

use crate::interchange::frames::{NO_NAME, dressed};
use crate::interchange::json::{Cell, Few, NumberRows, Numbers, Text};
use crate::interchange::meaning::Unit;
use crate::text::{names, roots};
use serde::Deserialize;
use zwhy_profile::{Frame, FrameId, FrameKind, NamedFrame, Profile};

/// Units of the specification.
pub const UNITS: [&str; 6] = ["none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"];

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct File {
    pub shared: Shared,
    pub profiles: Few<OneProfile, 65_536>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Shared {
    pub frames: Few<FileFrame, 4_194_304>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct FileFrame {
    name: Text,
    file: Text,
    line: Cell,
    module: Option<Text>,
    kind: Text,
    reason: Text,
}

impl FileFrame {
    pub fn intern(&self, profile: &mut Profile) -> FrameId {
        // Written by us: nothing has to be guessed.
        if let Some(kind) = FrameKind::from_name(&self.kind.0) {
            let module = self.module.as_ref().map_or("", |m| &m.0);
            // Where there is no source file, `file` repeats the module for speedscope's own view.
            let file = if self.file.0 == dressed(module, kind) { "" } else { &self.file.0 };
            return self.frame(profile, &self.name.0, module, file, kind, &self.reason.0);
        }
        let (module, name) = names::backtick(&self.name.0);
        let file = self.file.0.as_str();
        if module.is_empty() && is_module(file) {
            return self.frame(profile, name, names::module(file), "", names::kind_of_module(file), "");
        }
        if file.is_empty() || !module.is_empty() {
            let frame = names::frame_of_folded(profile, &self.name.0);
            let frame =
                Frame { file: profile.strings.intern(file), line: self.line(), ..profile.frames.get(frame) };
            return profile.frames.intern(frame);
        }
        self.frame(profile, name, "", file, FrameKind::User, "")
    }

    fn frame(
        &self,
        profile: &mut Profile,
        name: &str,
        module: &str,
        file: &str,
        kind: FrameKind,
        reason: &str,
    ) -> FrameId {
        let (function, reason) = if name.is_empty() { ("[unknown]", NO_NAME) } else { (name, reason) };
        profile.named_frame(NamedFrame { function, module, file, line: self.line(), kind, reason })
    }

    fn line(&self) -> u32 {
        self.line.0 as u32 // casts of floats saturate, and NaN is 0
    }
}

/// `[kernel.kallsyms]`, `/usr/lib/libc.so.6`, `zfs.ko`: an object, not a source file.
fn is_module(file: &str) -> bool {
    let base = file.rsplit('/').next().unwrap_or(file);
    names::kind_of_module(file) == FrameKind::Kernel
        || (file.starts_with('[') && file.ends_with(']'))
        || base.ends_with(".so")
        || base.contains(".so.")
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct OneProfile {
    #[serde(rename = "type")]
    kind: Text,
    name: Text,
    pub unit: Text,
    #[serde(default = "Cell::zero")]
    pub start_value: Cell,
    pub end_value: Cell,
    pub samples: NumberRows,
    pub weights: Numbers,
    pub events: Vec<OpenOrClose>,
    comm: Option<Text>,
    pid: Text,
    tid: Text,
    pub event: Text,
}

impl OneProfile {
    pub fn is_evented(&self) -> bool {
        self.kind.0 == "evented" || (self.samples.len() == 0 && !self.events.is_empty())
    }

    pub fn unit(&self) -> Unit {
        match self.unit.0.as_str() {
            "bytes" => Unit::Other,
            unit => match Unit::from_name(unit) {
                Unit::Other => Unit::Count,
                known => known,
            },
        }
    }

    /// Name, pid and tid.
    pub fn thread(&self) -> (&str, i32, i32) {
        match &self.comm {
            Some(comm) => (&comm.0, self.pid.id(), self.tid.id()),
            None => roots::split_ids(&self.name.0),
        }
    }
}

/// One event: 24 bytes, less than its text.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct OpenOrClose {
    #[serde(rename = "type")]
    pub kind: EventKind,
    pub at: Cell,
    pub frame: Cell,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum EventKind {
    #[serde(rename = "O")]
    Open,
    #[serde(rename = "C")]
    Close,
    #[default]
    #[serde(other)]
    Other,
}
