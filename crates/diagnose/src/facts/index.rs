//! An index over the stacks of one event: how many samples lie below any set of functions.
//!
//! Nodes are numbered in preorder, so the samples below a node are a range of a prefix sum, and
//! recursion is not counted twice: of nested nodes only the outermost counts.

use crate::name::bare;
use crate::pattern::{Glob, Pattern};
use rustc_hash::FxHashMap;
use zwhy_profile::Profile;

/// Index into the sorted names of an [`StackIndex`].
pub type NameId = u32;

/// A range of preorder numbers: a node and everything below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

/// Samples of one event, by stack and by function name.
#[derive(Clone, Debug, Default)]
pub struct StackIndex {
    /// Bare function names, sorted.
    names: Vec<String>,
    /// Spans of the nodes of each name, in preorder: `nodes[starts[i]..starts[i + 1]]`.
    starts: Vec<u32>,
    nodes: Vec<Span>,
    /// `sums[p]` is the number of samples at nodes before preorder number `p`.
    sums: Vec<u64>,
    /// Preorder number by stack id.
    preorder: Vec<u32>,
    /// Preorder number of the parent, by preorder number; the root is its own.
    parent: Vec<u32>,
    /// One past the last preorder number below each, by preorder number.
    end: Vec<u32>,
}

/// Of more nodes than this part of all, marking each in a set of all is quicker than sorting them.
const MANY: usize = 32;

impl StackIndex {
    /// Builds from the samples at each stack (index is the stack id).
    pub fn new(profile: &Profile, own: &[u64]) -> StackIndex {
        let n = profile.stacks.len();
        let mut size = vec![1u32; n];
        let parents: Vec<usize> =
            (0..n).map(|i| profile.stacks.parent(zwhy_profile::StackId(i as u32)).index()).collect();
        for i in (1..n).rev() {
            size[parents[i]] += size[i];
        }
        let mut preorder = vec![0u32; n];
        let mut next = vec![1u32; n];
        for i in 1..n {
            let at = next[parents[i]];
            next[parents[i]] = at + size[i];
            preorder[i] = at;
            next[i] = at + 1;
        }
        let mut sums = vec![0u64; n + 1];
        for i in 0..n {
            sums[preorder[i] as usize + 1] = own.get(i).copied().unwrap_or(0);
        }
        for i in 0..n {
            sums[i + 1] += sums[i];
        }
        let mut parent = vec![0u32; n];
        let mut end = vec![n as u32; n];
        for i in 1..n {
            parent[preorder[i] as usize] = preorder[parents[i]];
            end[preorder[i] as usize] = preorder[i] + size[i];
        }
        let (names, name_of_frame) = sorted_names(profile);
        let (starts, nodes) = (Vec::new(), Vec::new());
        let mut index = StackIndex { names, starts, nodes, sums, preorder, parent, end };
        index.fill_nodes(profile, &name_of_frame, &size);
        index
    }

    fn fill_nodes(&mut self, profile: &Profile, name_of_frame: &[NameId], size: &[u32]) {
        let name = |frame: zwhy_profile::FrameId| name_of_frame.get(frame.index()).map(|n| *n as usize);
        let mut starts = vec![0u32; self.names.len() + 1];
        for (_, _, frame, _) in profile.stacks.iter() {
            if let Some(name) = name(frame) {
                starts[name + 1] += 1;
            }
        }
        for i in 0..self.names.len() {
            starts[i + 1] += starts[i];
        }
        let mut fill = starts.clone();
        self.nodes = vec![Span { start: 0, end: 0 }; starts.last().map_or(0, |n| *n as usize)];
        for (id, _, frame, _) in profile.stacks.iter() {
            if let Some(name) = name(frame) {
                let start = self.preorder[id.index()];
                self.nodes[fill[name] as usize] = Span { start, end: start + size[id.index()] };
                fill[name] += 1;
            }
        }
        for i in 0..self.names.len() {
            self.nodes[starts[i] as usize..starts[i + 1] as usize].sort_unstable_by_key(|s| s.start);
        }
        self.starts = starts;
    }

    pub fn total(&self) -> u64 {
        self.sums.last().copied().unwrap_or(0)
    }

    pub fn name(&self, id: NameId) -> &str {
        self.names.get(id as usize).map_or("", String::as_str)
    }

    /// Preorder number of a stack.
    pub fn preorder(&self, stack: zwhy_profile::StackId) -> u32 {
        self.preorder.get(stack.index()).copied().unwrap_or(0)
    }

    /// Names that a pattern matches.
    pub fn matching(&self, pattern: &Pattern) -> Vec<NameId> {
        let mut found = Vec::new();
        for glob in &pattern.globs {
            match glob {
                Glob::Exact(text) => {
                    found.extend(self.names.binary_search(text).ok().map(|i| i as NameId));
                }
                Glob::Prefix(head) => {
                    let from = self.names.partition_point(|n| n.as_str() < head.as_str());
                    let rest = self.names[from..].iter().take_while(|n| n.starts_with(head.as_str()));
                    found.extend((from..from + rest.count()).map(|i| i as NameId));
                }
                Glob::Pieces(_) => {
                    let all = self.names.iter().enumerate().filter(|(_, n)| glob.matches(n));
                    found.extend(all.map(|(i, _)| i as NameId));
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn nodes_of(&self, name: NameId) -> &[Span] {
        let at = name as usize;
        match (self.starts.get(at), self.starts.get(at + 1)) {
            (Some(from), Some(to)) => &self.nodes[*from as usize..*to as usize],
            _ => &[],
        }
    }

    /// All nodes of some names, in preorder.
    pub fn nodes(&self, names: &[NameId]) -> Vec<Span> {
        let count = names.iter().map(|n| self.nodes_of(*n).len()).sum();
        if names.len() > 1 && count > self.end.len() / MANY {
            return self.marked(names, count);
        }
        let mut spans: Vec<Span> = Vec::with_capacity(count);
        names.iter().for_each(|n| spans.extend_from_slice(self.nodes_of(*n)));
        if names.len() > 1 {
            // The nodes of each name are in order already, which this sort takes advantage of.
            spans.sort_by_key(|s| s.start);
        }
        spans
    }

    /// As [`StackIndex::nodes`], of many: each preorder number is a bit, read in order.
    fn marked(&self, names: &[NameId], count: usize) -> Vec<Span> {
        let mut marks = vec![0u64; self.end.len().div_ceil(64)];
        for span in names.iter().flat_map(|n| self.nodes_of(*n)) {
            marks[span.start as usize / 64] |= 1 << (span.start % 64);
        }
        let mut spans = Vec::with_capacity(count);
        for (word, mut bits) in (0u32..).zip(marks) {
            while bits != 0 {
                let start = word * 64 + bits.trailing_zeros();
                spans.push(Span { start, end: self.end[start as usize] });
                bits &= bits - 1;
            }
        }
        spans
    }

    /// Samples below the outermost nodes of `spans`, which are in preorder.
    pub fn inclusive(&self, spans: &[Span]) -> u64 {
        outermost(spans).map(|s| self.within(s)).sum()
    }

    fn within(&self, span: Span) -> u64 {
        self.sums[span.end as usize] - self.sums[span.start as usize]
    }

    /// The nodes of `inner` that lie strictly below a node of `outer`; both in preorder.
    pub fn below(&self, inner: &[Span], outer: &[Span]) -> Vec<Span> {
        let mut outer = outermost(outer).peekable();
        let mut last: Option<Span> = None;
        let is_below = |s: &&Span| {
            while let Some(next) = outer.next_if(|o| o.start < s.start) {
                last = Some(next);
            }
            last.is_some_and(|last| s.start < last.end)
        };
        inner.iter().filter(is_below).copied().collect()
    }

    /// The nodes of `inner` with no node of `outer` above them; both in preorder.
    pub fn not_below(&self, inner: &[Span], outer: &[Span]) -> Vec<Span> {
        let mut below = self.below(inner, outer).into_iter().peekable();
        inner.iter().filter(|s| below.next_if_eq(*s).is_none()).copied().collect()
    }

    /// The nodes of `inner` whose parent is a node of `outer`, which is in preorder.
    pub fn directly_below(&self, inner: &[Span], outer: &[Span]) -> Vec<Span> {
        let is_outer = |at: u32| outer.binary_search_by_key(&at, |s| s.start).is_ok();
        let parent = |s: &Span| self.parent.get(s.start as usize).copied().unwrap_or(0);
        inner.iter().filter(|s| is_outer(parent(s))).copied().collect()
    }

    /// The names with the most samples below them, most first.
    pub fn heaviest(&self, names: &[NameId], most: usize) -> Vec<(NameId, u64)> {
        let mut by_weight: Vec<(NameId, u64)> = names
            .iter()
            .map(|n| (*n, self.inclusive(self.nodes_of(*n))))
            .filter(|(_, samples)| *samples > 0)
            .collect();
        by_weight.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        by_weight.truncate(most);
        by_weight
    }
}

/// The nodes of `spans` without what lies below them.
pub fn alone(spans: Vec<Span>) -> Vec<Span> {
    spans.into_iter().map(|s| Span { start: s.start, end: s.start + 1 }).collect()
}

/// Spans that are not inside another one of the list, which is in preorder.
pub fn outermost(spans: &[Span]) -> impl Iterator<Item = Span> + '_ {
    let mut end = 0;
    spans.iter().copied().filter(move |s| {
        let outer = s.start >= end;
        if outer {
            end = s.end;
        }
        outer
    })
}

/// Distinct bare names in order, and the name of each frame.
fn sorted_names(profile: &Profile) -> (Vec<String>, Vec<NameId>) {
    let mut ids: FxHashMap<&str, NameId> = FxHashMap::default();
    let mut first: Vec<&str> = Vec::new();
    let of_frame: Vec<NameId> = profile
        .frames
        .iter()
        .map(|(id, _)| {
            let name = bare(profile.function_of(id)).function;
            *ids.entry(name).or_insert_with(|| {
                first.push(name);
                first.len() as NameId - 1
            })
        })
        .collect();
    let mut order: Vec<NameId> = (0..first.len() as NameId).collect();
    order.sort_unstable_by_key(|i| first[*i as usize]);
    let mut rank = vec![0 as NameId; first.len()];
    for (at, id) in order.iter().enumerate() {
        rank[*id as usize] = at as NameId;
    }
    let names = order.iter().map(|i| first[*i as usize].to_owned()).collect();
    (names, of_frame.into_iter().map(|id| rank[id as usize]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use zwhy_profile::{Event, FrameKind, StackTotals};

    fn profile(stacks: &[(Vec<String>, u32)]) -> Profile {
        let mut p = Profile::new();
        let thread = p.thread(1, 1, "t");
        for (names, count) in stacks {
            let frames: Vec<_> = names.iter().map(|n| p.frame(n, "zfs", FrameKind::Kernel)).collect();
            let stack = p.stack(&frames);
            p.samples.push_counted(thread, stack, Event::Cpu, *count);
        }
        p
    }

    fn index(p: &Profile) -> StackIndex {
        StackIndex::new(p, &StackTotals::of(p, Event::Cpu).own)
    }

    proptest! {
        /// Against the definition: a sample counts once if any frame of its stack matches.
        #[test]
        fn inclusive_own_and_below_match_their_definitions(
            stacks in proptest::collection::vec((proptest::collection::vec("[abc]{1,2}", 1..6), 1u32..9), 0..20),
        ) {
            let p = profile(&stacks);
            let index = index(&p);
            let count = |keep: &dyn Fn(&[String]) -> bool| -> u64 {
                stacks.iter().filter(|(s, _)| keep(s)).map(|(_, c)| u64::from(*c)).sum()
            };
            let (a, b) = (Pattern::new("a*"), Pattern::new("b|cb"));
            let (an, bn) = (index.nodes(&index.matching(&a)), index.nodes(&index.matching(&b)));
            let names = index.matching(&Pattern::new("a*|b*"));
            let mut sorted: Vec<Span> = names.iter().flat_map(|n| index.nodes_of(*n)).copied().collect();
            sorted.sort_by_key(|s| s.start);
            prop_assert_eq!(index.marked(&names, sorted.len()), sorted);
            prop_assert_eq!(index.total(), count(&|_| true));
            prop_assert_eq!(index.inclusive(&an), count(&|s| s.iter().any(|f| a.matches(f))));
            prop_assert_eq!(index.inclusive(&alone(an.clone())), count(&|s| s.last().is_some_and(|f| a.matches(f))));
            let below = index.below(&an, &bn);
            prop_assert_eq!(index.inclusive(&below), count(&|s| {
                s.iter().position(|f| b.matches(f)).is_some_and(|i| s[i + 1..].iter().any(|f| a.matches(f)))
            }));
        }
    }

    #[test]
    fn names_lose_decoration_and_the_heaviest_come_first() {
        let p = profile(&[
            (vec!["zfs`a".into(), "b.isra.0".into()], 3),
            (vec!["a".into(), "b+0x4/0x8".into(), "c".into()], 4),
        ]);
        let index = index(&p);
        let names = index.matching(&Pattern::new("*"));
        let heavy: Vec<(&str, u64)> =
            index.heaviest(&names, 2).iter().map(|(n, c)| (index.name(*n), *c)).collect();
        assert_eq!(heavy, [("a", 7), ("b", 7)]);
    }
}
