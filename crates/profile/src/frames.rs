//! Frames: what a stack is made of, each stored once.

use crate::strings::StringId;
use rustc_hash::FxHashMap;

/// Index into a [`FrameTable`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FrameId(pub u32);

impl FrameId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Where a frame's code ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FrameKind {
    Kernel,
    User,
    /// Inlined into the frame that is its parent.
    Inlined,
    #[default]
    Unknown,
}

impl FrameKind {
    pub const ALL: [FrameKind; 4] =
        [FrameKind::Kernel, FrameKind::User, FrameKind::Inlined, FrameKind::Unknown];

    pub fn name(self) -> &'static str {
        match self {
            FrameKind::Kernel => "kernel",
            FrameKind::User => "user",
            FrameKind::Inlined => "inlined",
            FrameKind::Unknown => "unknown",
        }
    }

    pub fn from_name(name: &str) -> Option<FrameKind> {
        FrameKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// One frame. Empty strings mean "not known"; `line` 0 too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Frame {
    pub function: StringId,
    /// Module or object without brackets or path: `zfs`, `kernel`, `libzpool.so.6`.
    pub module: StringId,
    pub file: StringId,
    pub line: u32,
    pub kind: FrameKind,
    /// Why the frame could not be named; empty when it was.
    pub reason: StringId,
}

/// A frame by its texts, as a source has them; what they mean is told at [`Frame`].
#[derive(Clone, Copy, Debug, Default)]
pub struct NamedFrame<'a> {
    pub function: &'a str,
    pub module: &'a str,
    pub file: &'a str,
    pub line: u32,
    pub kind: FrameKind,
    pub reason: &'a str,
}

/// All distinct frames of a profile.
#[derive(Clone, Debug, Default)]
pub struct FrameTable {
    rows: Vec<Frame>,
    ids: FxHashMap<Frame, FrameId>,
}

impl FrameTable {
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Bytes held in memory, about.
    pub fn memory(&self) -> usize {
        let entry = size_of::<(Frame, FrameId)>() + 1;
        self.rows.capacity() * size_of::<Frame>() + self.ids.capacity() * 8 / 7 * entry
    }

    pub fn intern(&mut self, frame: Frame) -> FrameId {
        let next = FrameId(self.rows.len() as u32);
        *self.ids.entry(frame).or_insert_with(|| {
            self.rows.push(frame);
            next
        })
    }

    /// The frame of an id; an empty one for an id that is out of range.
    pub fn get(&self, id: FrameId) -> Frame {
        self.rows.get(id.index()).copied().unwrap_or_default()
    }

    pub fn iter(&self) -> impl Iterator<Item = (FrameId, Frame)> + '_ {
        self.rows.iter().enumerate().map(|(i, f)| (FrameId(i as u32), *f))
    }
}
