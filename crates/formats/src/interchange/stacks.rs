//! Leaf-first frames to stacks, within the depth limit and a budget of new nodes.

use zwhy_profile::{FrameId, Profile, StackId};

/// Makes stacks of frames that come leaf first.
#[derive(Debug)]
pub struct StackMaker {
    frames: Vec<FrameId>,
    max_depth: usize,
    /// New stack nodes that the file may still cause: a few bytes can name a long stack again and again.
    /// A node takes about 40 bytes, and real files have less than one node a byte.
    nodes_left: usize,
    /// Frames that may still be looked at: the same for time.
    work_left: u64,
    /// Stacks that had to be cut.
    pub cut: u64,
}

impl StackMaker {
    pub fn new(max_depth: usize, input_bytes: usize) -> StackMaker {
        const ALWAYS: usize = 1 << 20;
        let nodes_left = input_bytes.saturating_add(ALWAYS);
        let work_left = (input_bytes as u64).saturating_mul(8).saturating_add(1 << 26);
        StackMaker { frames: Vec::new(), max_depth, nodes_left, work_left, cut: 0 }
    }

    /// The stack of `leaf_first`; frames towards the root are cut at the depth limit. `None` when the file
    /// has used up its nodes.
    pub fn stack(
        &mut self,
        profile: &mut Profile,
        leaf_first: impl IntoIterator<Item = FrameId>,
    ) -> Option<StackId> {
        self.frames.clear();
        let mut rest = leaf_first.into_iter();
        self.frames.extend(rest.by_ref().take(self.max_depth));
        self.cut += u64::from(rest.next().is_some());
        self.work_left = self.work_left.checked_sub(self.frames.len() as u64)?;
        if self.nodes_left < self.frames.len() {
            return None;
        }
        let before = profile.stacks.len();
        let mut at = StackId::ROOT;
        for &frame in self.frames.iter().rev() {
            at = profile.stacks.child(at, frame);
        }
        self.nodes_left -= profile.stacks.len() - before;
        Some(at)
    }

    /// What to say of stacks that were cut.
    pub fn warning(&self) -> Option<String> {
        (self.cut > 0).then(|| {
            format!("{} stacks are deeper than the limit: their frames next to the root are cut", self.cut)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_and_nodes_are_bounded() {
        let mut profile = Profile::new();
        let ids: Vec<FrameId> =
            (0..2000).map(|i| profile.frame(&i.to_string(), "", Default::default())).collect();
        let mut maker = StackMaker::new(3, 0);
        let stack = maker.stack(&mut profile, ids.iter().copied()).unwrap();
        assert_eq!(profile.function_names(stack), ["2", "1", "0"]);
        assert_eq!(maker.cut, 1);
        let mut maker = StackMaker::new(usize::MAX, 0);
        let mut made = 0;
        while made < 5000
            && maker.stack(&mut profile, ids.iter().cycle().skip(made % 2000).copied().take(2000)).is_some()
        {
            made += 1;
        }
        assert!(made < 600, "{made}");
    }
}
