//! Content hashes that name frames, stacks and threads the same way on every host.
//!
//! XXH3-64 with seed 0 over length-prefixed parts; the layout is part of the format.

use twox_hash::XxHash3_64;
use zwhy_profile::{Frame, FrameId, FrameKind, Profile, StackId, Thread};

/// Id of the empty stack.
pub const ROOT_STACK: u64 = 0;

/// Columns of a row of the table `frames` without its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameRow<'a> {
    pub function: &'a str,
    pub module: &'a str,
    pub kind: FrameKind,
    pub file: &'a str,
    pub line: u32,
    pub reason: &'a str,
}

impl FrameRow<'_> {
    /// The id that this frame has on every host.
    pub fn id(&self) -> u64 {
        hash(&[
            self.function.as_bytes(),
            self.module.as_bytes(),
            self.file.as_bytes(),
            &self.line.to_le_bytes(),
            self.kind.name().as_bytes(),
            self.reason.as_bytes(),
        ])
    }
}

fn hash(parts: &[&[u8]]) -> u64 {
    let mut bytes = Vec::with_capacity(64);
    for part in parts {
        bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
        bytes.extend_from_slice(part);
    }
    XxHash3_64::oneshot(&bytes)
}

pub fn frame(profile: &Profile, f: Frame) -> u64 {
    let [function, module, file, reason] =
        [f.function, f.module, f.file, f.reason].map(|id| profile.strings.get(id));
    FrameRow { function, module, kind: f.kind, file, line: f.line, reason }.id()
}

pub fn stack(parent: u64, frame: u64) -> u64 {
    // 0 names the root, so no other stack may have it.
    hash(&[&parent.to_le_bytes(), &frame.to_le_bytes()]).max(1)
}

pub fn thread(profile: &Profile, t: Thread) -> u64 {
    hash(&[&t.pid.to_le_bytes(), &t.tid.to_le_bytes(), profile.strings.get(t.comm).as_bytes()])
}

/// Hashes of all frames and stacks of a profile, extended as the profile grows.
#[derive(Default)]
pub struct IdCache {
    pub frames: Vec<u64>,
    pub stacks: Vec<u64>,
    pub threads: Vec<u64>,
}

impl IdCache {
    /// Computes the ids of rows that are new since the last call.
    pub fn extend(&mut self, profile: &Profile) {
        for (_, f) in profile.frames.iter().skip(self.frames.len()) {
            self.frames.push(frame(profile, f));
        }
        if self.stacks.is_empty() {
            self.stacks.push(ROOT_STACK);
        }
        for (_, parent, f, _) in profile.stacks.iter().skip(self.stacks.len() - 1) {
            let id = stack(self.stack(parent), self.frame(f));
            self.stacks.push(id);
        }
        for (_, t) in profile.threads.iter().skip(self.threads.len()) {
            self.threads.push(thread(profile, t));
        }
    }

    pub fn stack(&self, id: StackId) -> u64 {
        self.stacks.get(id.index()).copied().unwrap_or(ROOT_STACK)
    }

    fn frame(&self, id: FrameId) -> u64 {
        self.frames.get(id.index()).copied().unwrap_or(0)
    }
}
