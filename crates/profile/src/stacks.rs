//! Stacks as a prefix tree: a stack is its parent plus one frame, so common roots are stored once.
//!
//! Invariants: stack 0 is the root (no frames); a parent's id is smaller than its children's.

use crate::frames::FrameId;
use rustc_hash::FxHashMap;

/// Index into a [`StackTable`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StackId(pub u32);

impl StackId {
    /// The empty stack.
    pub const ROOT: StackId = StackId(0);

    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// All distinct stacks of a profile.
#[derive(Clone, Debug)]
pub struct StackTable {
    parents: Vec<StackId>,
    frames: Vec<FrameId>,
    depths: Vec<u32>,
    children: FxHashMap<(StackId, FrameId), StackId>,
}

impl Default for StackTable {
    fn default() -> Self {
        StackTable {
            parents: vec![StackId::ROOT],
            frames: vec![FrameId::default()],
            depths: vec![0],
            children: FxHashMap::default(),
        }
    }
}

impl StackTable {
    /// Number of stacks, the root included.
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    pub fn is_empty(&self) -> bool {
        false // the root is always there
    }

    /// The stack that `frame` makes on top of `parent`.
    pub fn child(&mut self, parent: StackId, frame: FrameId) -> StackId {
        let next = StackId(self.parents.len() as u32);
        *self.children.entry((parent, frame)).or_insert_with(|| {
            let depth = self.depths.get(parent.index()).copied().unwrap_or(0);
            self.parents.push(parent);
            self.frames.push(frame);
            self.depths.push(depth + 1);
            next
        })
    }

    /// The stack below the leaf; the root's parent is the root.
    pub fn parent(&self, stack: StackId) -> StackId {
        self.parents.get(stack.index()).copied().unwrap_or(StackId::ROOT)
    }

    /// The leaf frame; `None` for the root.
    pub fn frame(&self, stack: StackId) -> Option<FrameId> {
        if stack == StackId::ROOT { None } else { self.frames.get(stack.index()).copied() }
    }

    /// Number of frames.
    pub fn depth(&self, stack: StackId) -> u32 {
        self.depths.get(stack.index()).copied().unwrap_or(0)
    }

    /// Frames from the leaf to the root.
    pub fn leaf_to_root(&self, stack: StackId) -> impl Iterator<Item = FrameId> + '_ {
        let mut at = stack;
        std::iter::from_fn(move || {
            let frame = self.frame(at)?;
            at = self.parent(at);
            Some(frame)
        })
    }

    /// `(id, parent, leaf frame, depth)` of every stack but the root, parents before children.
    pub fn iter(&self) -> impl Iterator<Item = (StackId, StackId, FrameId, u32)> + '_ {
        (1..self.parents.len()).map(|i| (StackId(i as u32), self.parents[i], self.frames[i], self.depths[i]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_prefixes_are_stored_once() {
        let mut stacks = StackTable::default();
        let a = stacks.child(StackId::ROOT, FrameId(7));
        let b = stacks.child(a, FrameId(8));
        let c = stacks.child(a, FrameId(9));
        assert_eq!(stacks.child(StackId::ROOT, FrameId(7)), a);
        assert_eq!(stacks.len(), 4);
        assert_eq!(stacks.leaf_to_root(b).collect::<Vec<_>>(), [FrameId(8), FrameId(7)]);
        assert_eq!((stacks.depth(c), stacks.parent(c)), (2, a));
        assert_eq!(stacks.frame(StackId::ROOT), None);
    }
}
