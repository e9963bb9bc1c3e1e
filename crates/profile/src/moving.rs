//! Moving single stacks and threads of one profile into another, for profiles that forget.

use crate::{Frame, FrameId, Profile, StackId, StringId, ThreadId};
use rustc_hash::FxHashMap;

/// Knows where the ids that it moved went.
pub struct Move<'a> {
    from: &'a Profile,
    to: &'a mut Profile,
    frames: FxHashMap<FrameId, FrameId>,
    stacks: FxHashMap<StackId, StackId>,
}

impl<'a> Move<'a> {
    pub fn new(from: &'a Profile, to: &'a mut Profile) -> Move<'a> {
        let stacks = FxHashMap::from_iter([(StackId::ROOT, StackId::ROOT)]);
        Move { from, to, frames: FxHashMap::default(), stacks }
    }

    pub fn thread(&mut self, id: ThreadId) -> ThreadId {
        let row = self.from.threads.get(id);
        self.to.thread(row.pid, row.tid, self.from.strings.get(row.comm))
    }

    /// With all of its callers.
    pub fn stack(&mut self, id: StackId) -> StackId {
        let mut missing = Vec::new();
        let mut at = id;
        let mut to = loop {
            match self.stacks.get(&at) {
                Some(known) => break *known,
                None => missing.push(at),
            }
            at = self.from.stacks.parent(at);
        };
        for id in missing.into_iter().rev() {
            if let Some(frame) = self.from.stacks.frame(id) {
                let frame = self.frame(frame);
                to = self.to.stacks.child(to, frame);
            }
            self.stacks.insert(id, to);
        }
        to
    }

    pub fn frame(&mut self, id: FrameId) -> FrameId {
        if let Some(known) = self.frames.get(&id) {
            return *known;
        }
        let frame = self.from.frames.get(id);
        let to = &mut *self.to;
        let mut text = |id: StringId| to.strings.intern(self.from.strings.get(id));
        let moved = Frame {
            function: text(frame.function),
            module: text(frame.module),
            file: text(frame.file),
            reason: text(frame.reason),
            ..frame
        };
        let moved = to.frames.intern(moved);
        self.frames.insert(id, moved);
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FrameKind;

    #[test]
    fn only_what_is_asked_for_moves_and_keeps_its_names() {
        let mut old = Profile::new();
        let frames = ["main", "zio_read", "never"].map(|n| old.frame(n, "zfs", FrameKind::Kernel));
        let kept = old.stack(&frames[..2]);
        old.stack(&[frames[2]]);
        let thread = old.thread(1, 2, "txg_sync");
        let mut new = Profile::new();
        let mut moving = Move::new(&old, &mut new);
        let (stack, again, thread) = (moving.stack(kept), moving.stack(kept), moving.thread(thread));
        assert_eq!((new.function_names(stack), stack), (vec!["main", "zio_read"], again));
        assert_eq!((new.stacks.len(), new.frames.len()), (3, Profile::new().frames.len() + 2));
        assert_eq!(new.strings.get(new.threads.get(thread).comm), "txg_sync");
    }
}
