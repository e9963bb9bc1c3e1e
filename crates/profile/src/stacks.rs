//! Stacks as a prefix tree: a stack is its parent plus one frame, so common roots are stored once.
//!
//! Invariants: stack 0 is the root (no frames); a parent's id is smaller than its children's.

use crate::frames::FrameId;

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
    /// Parent and leaf frame of each stack, side by side: a search looks at both.
    nodes: Vec<(StackId, FrameId)>,
    depths: Vec<u32>,
    /// Open-addressing table of ids; 0 is a free slot, as the root is nobody's child. The keys are in
    /// `nodes`: a table of millions of stacks is not stored twice.
    slots: Vec<u32>,
}

impl Default for StackTable {
    fn default() -> Self {
        StackTable { nodes: vec![(StackId::ROOT, FrameId::default())], depths: vec![0], slots: vec![0; 64] }
    }
}

impl StackTable {
    /// Number of stacks, the root included.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn is_empty(&self) -> bool {
        false // the root is always there
    }

    /// Bytes held in memory, about.
    pub fn memory(&self) -> usize {
        let ids = self.depths.capacity() + self.slots.capacity();
        self.nodes.capacity() * size_of::<(StackId, FrameId)>() + ids * size_of::<u32>()
    }

    /// The stack that `frame` makes on top of `parent`.
    pub fn child(&mut self, parent: StackId, frame: FrameId) -> StackId {
        let mask = self.slots.len() - 1;
        let mut slot = hash(parent, frame) & mask;
        while self.slots[slot] != 0 {
            let id = self.slots[slot];
            if self.nodes[id as usize] == (parent, frame) {
                return StackId(id);
            }
            slot = (slot + 1) & mask;
        }
        let id = self.nodes.len() as u32;
        let depth = self.depth(parent) + 1;
        self.nodes.push((parent, frame));
        self.depths.push(depth);
        self.slots[slot] = id;
        if self.nodes.len() * 4 > self.slots.len() * 3 {
            self.grow_to(self.slots.len() * 2);
        }
        StackId(id)
    }

    /// Makes room for more stacks.
    pub fn reserve(&mut self, more: usize) {
        self.nodes.reserve(more);
        self.depths.reserve(more);
        let slots = (self.nodes.len() + more) * 4 / 3 + 1;
        if slots > self.slots.len() {
            self.grow_to(slots.next_power_of_two());
        }
    }

    fn grow_to(&mut self, size: usize) {
        // Given back before the new one is taken: it can be filled from the nodes alone.
        self.slots = Vec::new();
        let mut slots = vec![0u32; size];
        for (id, (parent, frame)) in (0u32..).zip(&self.nodes).skip(1) {
            let mut slot = hash(*parent, *frame) & (size - 1);
            while slots[slot] != 0 {
                slot = (slot + 1) & (size - 1);
            }
            slots[slot] = id;
        }
        self.slots = slots;
    }

    /// The stack below the leaf; the root's parent is the root.
    pub fn parent(&self, stack: StackId) -> StackId {
        self.nodes.get(stack.index()).map_or(StackId::ROOT, |(parent, _)| *parent)
    }

    /// The leaf frame; `None` for the root.
    pub fn frame(&self, stack: StackId) -> Option<FrameId> {
        if stack == StackId::ROOT { None } else { self.nodes.get(stack.index()).map(|(_, frame)| *frame) }
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
        let rows = (0u32..).zip(self.nodes.iter().zip(&self.depths)).skip(1);
        rows.map(|(id, ((parent, frame), depth))| (StackId(id), *parent, *frame, *depth))
    }
}

fn hash(parent: StackId, frame: FrameId) -> usize {
    let key = u64::from(parent.0) << 32 | u64::from(frame.0);
    let product = u128::from(key ^ 0x2d35_8dcc_aa6c_78a5) * 0x9e37_79b9_7f4a_7c15;
    (product as u64 ^ (product >> 64) as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn a_child_is_found_again_and_never_taken_for_another(
            steps in prop::collection::vec((0usize..400, 0u32..40), 0..600),
        ) {
            let mut stacks = StackTable::default();
            let mut known: HashMap<(StackId, FrameId), StackId> = HashMap::new();
            for (parent, frame) in steps {
                let (parent, frame) = (StackId((parent % stacks.len()) as u32), FrameId(frame));
                let next = StackId(stacks.len() as u32);
                let id = stacks.child(parent, frame);
                prop_assert_eq!(id, *known.entry((parent, frame)).or_insert(next));
                prop_assert_eq!((stacks.parent(id), stacks.frame(id)), (parent, Some(frame)));
                prop_assert_eq!(stacks.depth(id), stacks.depth(parent) + 1);
            }
            prop_assert_eq!(stacks.len(), known.len() + 1);
        }
    }

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
