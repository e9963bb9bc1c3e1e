//! The call tree of a flame graph in preorder.
//!
//! Invariants: node 0 is the root at level 0; a node's value is its own samples plus its
//! children's; siblings differ in label or stage and are sorted by name, so equal profiles give equal
//! trees. A sample ends in a box of its own stage: what runs on two kinds of threads, of which one
//! tells the stage, is two boxes.

use rustc_hash::{FxHashMap, FxHashSet};
use zwhy_profile::{Event, FrameId, Profile, StackId, StringId, StringTable, ThreadId, Unit};
use zwhy_zfs::thread_base;

/// Which of two compared profiles samples belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    A,
    B,
}

/// What stands directly above the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Roots {
    /// Thread names, trailing numbers removed (`z_rd_int_3` and `z_rd_int_7` are one).
    Threads,
    /// The first frame of each stack.
    Frames,
}

/// The stages of a profile's samples.
pub trait Stages {
    fn names(&self) -> &[String];
    /// Threads of one kind have the same stage on the same stack.
    fn kind_of(&self, thread: ThreadId) -> u8;
    /// Index into the names: of samples on this stack by threads of this kind, and of its last frame there.
    fn stage_on(&self, stack: StackId, kind: u8) -> u8;
}

/// One box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    pub level: u32,
    pub label: u32,
    pub stage: u8,
    /// Samples of side A and side B, descendants included.
    pub value: [u64; 2],
    /// Samples of side A and side B that end here.
    pub own: [u64; 2],
}

/// A box's text: function (or thread) and module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Label {
    name: StringId,
    module: StringId,
}

/// Collects profiles; [`FlameTree::nodes`] gives the result in preorder.
pub struct FlameTree {
    strings: StringTable,
    labels: Vec<Label>,
    label_ids: FxHashMap<Label, u32>,
    stages: Vec<String>,
    parents: Vec<u32>,
    label_of: Vec<u32>,
    stage_of: Vec<u8>,
    own: Vec<[u64; 2]>,
    children: FxHashMap<(u32, u32), u32>,
    /// Children of the same label with another stage than the first.
    twins: FxHashMap<(u32, u32, u8), u32>,
    /// Whether `children` and `twins` have every node.
    indexed: bool,
    diff: bool,
    event: Event,
    /// Of the values; that of the first profile that was added.
    unit: Option<Unit>,
    /// Row of the profile's samples and the box where it ends, where they are asked for.
    placed: Option<Vec<(u32, u32)>>,
}

/// Module of boxes that are threads.
pub const THREAD: &str = "thread";

/// Stage name of boxes that are not code: the root and thread names.
pub const STRUCTURE: &str = "";

impl FlameTree {
    /// An empty tree of one event; `stages` are the names of [`Stages`].
    pub fn new(event: Event, stages: &[String]) -> FlameTree {
        let mut tree = FlameTree {
            strings: StringTable::default(),
            labels: Vec::new(),
            label_ids: FxHashMap::default(),
            stages: stages.iter().take(254).cloned().collect(),
            parents: vec![0],
            label_of: Vec::new(),
            stage_of: Vec::new(),
            own: vec![[0, 0]],
            children: FxHashMap::default(),
            twins: FxHashMap::default(),
            indexed: true,
            diff: false,
            event,
            unit: None,
            placed: None,
        };
        tree.stages.push(STRUCTURE.to_owned());
        let root = tree.label("all", "");
        tree.label_of.push(root);
        tree.stage_of.push(tree.structure());
        tree
    }

    /// Remembers where each row of side A ends.
    pub fn keep_rows(mut self) -> FlameTree {
        self.placed = Some(Vec::new());
        self
    }

    /// Rows of side A and the boxes where they end, in no order of their own.
    pub(crate) fn placed(&self) -> &[(u32, u32)] {
        self.placed.as_deref().unwrap_or_default()
    }

    pub fn event(&self) -> Event {
        self.event
    }

    /// What values are in.
    pub fn unit(&self) -> &Unit {
        self.unit.as_ref().unwrap_or(&Unit::Samples)
    }

    /// `true` when side B was added.
    pub fn is_diff(&self) -> bool {
        self.diff
    }

    pub fn stages(&self) -> &[String] {
        &self.stages
    }

    /// Texts of labels and their modules, by label id.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        self.labels.iter().map(|l| (self.strings.get(l.name), self.strings.get(l.module)))
    }

    pub fn label_text(&self, label: u32) -> (&str, &str) {
        self.labels
            .get(label as usize)
            .map_or(("", ""), |l| (self.strings.get(l.name), self.strings.get(l.module)))
    }

    /// Adds the samples of a profile to one side.
    pub fn add(&mut self, profile: &Profile, stages: Option<&dyn Stages>, roots: Roots, side: Side) {
        self.diff |= side == Side::B;
        self.unit.get_or_insert_with(|| profile.measure(self.event).unit.clone());
        self.index();
        let (empty, labels) = (self.parents.len() == 1, self.labels.len());
        let frame_labels = self.frame_labels(profile);
        let own_labels = self.labels.len() - labels == frame_labels.len();
        let stage_map = self.stage_map(stages);
        let (scopes, scope_of) = self.scopes(profile, stages, roots);
        // Where nothing else is in the tree, each frame has a label of its own and no two scopes share a box, stacks
        // of a scope and boxes are the same tree: no box needs to be searched for.
        let distinct: FxHashSet<u32> = scopes.iter().map(|scope| scope.root).collect();
        let alike = empty && own_labels && distinct.len() == scopes.len();
        self.indexed = !alike;
        let mut nodes = Placed::new(scopes.len().max(1), profile.stacks.len());
        let (samples, amounts) = (&profile.samples, profile.amounts());
        for (row, (stack, thread)) in samples.stack.iter().zip(&samples.thread).enumerate() {
            let amount = if samples.event[row] == self.event { amounts.of(row) } else { 0 };
            if amount == 0 {
                continue;
            }
            let number = scope_of.get(thread.index()).copied().unwrap_or(0);
            let scope = scopes.get(number as usize).copied().unwrap_or_default();
            let added = Added {
                profile,
                frame_labels: &frame_labels,
                stages,
                stage_map: &stage_map,
                number,
                scope,
                alike,
            };
            let node = self.node_of(&added, *stack, &mut nodes);
            let own = &mut self.own[node as usize][side as usize];
            *own = own.saturating_add(amount);
            if let (Some(placed), Side::A) = (&mut self.placed, side) {
                placed.push((row as u32, node));
            }
        }
    }

    /// What threads share for all of their stacks, each combination once, and which one each thread has.
    fn scopes(
        &mut self,
        profile: &Profile,
        stages: Option<&dyn Stages>,
        roots: Roots,
    ) -> (Vec<Scope>, Vec<u32>) {
        let thread_roots = match roots {
            Roots::Threads => Some(self.thread_nodes(profile)),
            Roots::Frames => None,
        };
        let mut scopes: Vec<Scope> = Vec::new();
        let mut numbers: FxHashMap<Scope, u32> = FxHashMap::default();
        let scope_of = (0..profile.threads.len()).map(|at| {
            let root = thread_roots.as_ref().and_then(|nodes| nodes.get(at)).copied().unwrap_or(0);
            let scope = Scope { root, kind: stages.map_or(0, |s| s.kind_of(ThreadId(at as u32))) };
            *numbers.entry(scope).or_insert_with(|| {
                scopes.push(scope);
                scopes.len() as u32 - 1
            })
        });
        let scope_of = scope_of.collect();
        (scopes, scope_of)
    }

    /// The node of a stack in a scope, made with all its ancestors when it is new.
    fn node_of(&mut self, added: &Added<'_>, stack: StackId, nodes: &mut Placed) -> u32 {
        let mut pending: Vec<(StackId, FrameId)> = Vec::new();
        let mut at = stack;
        let mut node = loop {
            if let Some(node) = nodes.get(added.number, at) {
                break node;
            }
            let Some(frame) = added.profile.stacks.frame(at) else { break added.scope.root };
            pending.push((at, frame));
            at = added.profile.stacks.parent(at);
        };
        while let Some((stack, frame)) = pending.pop() {
            let label = added.frame_labels.get(frame.index()).copied().unwrap_or(0);
            let stage = added.stages.map(|s| s.stage_on(stack, added.scope.kind));
            let stage = stage.and_then(|s| added.stage_map.get(usize::from(s)).copied());
            let stage = stage.unwrap_or_else(|| self.structure());
            node = if added.alike { self.push(node, label, stage) } else { self.child(node, label, stage) };
            nodes.insert(added.number, stack, node);
        }
        node
    }

    fn child(&mut self, parent: u32, label: u32, stage: u8) -> u32 {
        let next = self.parents.len() as u32;
        let mut node = *self.children.entry((parent, label)).or_insert(next);
        if node != next && self.stage_of[node as usize] != stage {
            node = *self.twins.entry((parent, label, stage)).or_insert(next);
        }
        if node == next { self.push(parent, label, stage) } else { node }
    }

    fn push(&mut self, parent: u32, label: u32, stage: u8) -> u32 {
        self.parents.push(parent);
        self.label_of.push(label);
        self.stage_of.push(stage);
        self.own.push([0, 0]);
        self.parents.len() as u32 - 1
    }

    /// Makes each box known by its parent, label and stage.
    fn index(&mut self) {
        if std::mem::replace(&mut self.indexed, true) {
            return;
        }
        for node in 1..self.parents.len() as u32 {
            let at = node as usize;
            let (parent, label, stage) = (self.parents[at], self.label_of[at], self.stage_of[at]);
            if *self.children.entry((parent, label)).or_insert(node) != node {
                self.twins.insert((parent, label, stage), node);
            }
        }
    }

    fn structure(&self) -> u8 {
        (self.stages.len() - 1) as u8
    }

    fn label(&mut self, name: &str, module: &str) -> u32 {
        let label = Label { name: self.strings.intern(name), module: self.strings.intern(module) };
        let next = self.labels.len() as u32;
        *self.label_ids.entry(label).or_insert_with(|| {
            self.labels.push(label);
            next
        })
    }

    fn frame_labels(&mut self, profile: &Profile) -> Vec<u32> {
        profile
            .frames
            .iter()
            .map(|(_, f)| self.label(profile.strings.get(f.function), profile.strings.get(f.module)))
            .collect()
    }

    fn thread_nodes(&mut self, profile: &Profile) -> Vec<u32> {
        (0..profile.threads.len() as u32)
            .map(|i| {
                let comm = profile.strings.get(profile.threads.get(ThreadId(i)).comm).to_owned();
                let label = self.label(&format!("[{}]", thread_base(&comm)), THREAD);
                let stage = self.structure();
                self.child(0, label, stage)
            })
            .collect()
    }

    /// Stage ids of the other profile's names in this tree's.
    fn stage_map(&self, stages: Option<&dyn Stages>) -> Vec<u8> {
        let names = stages.map_or(&[][..], |s| s.names());
        let find = |name: &String| self.stages.iter().position(|own| own == name);
        names.iter().map(|name| find(name).map_or(self.structure(), |at| at as u8)).collect()
    }

    /// All nodes with samples, in preorder.
    pub fn nodes(&self) -> Vec<Node> {
        self.preorder().0
    }

    /// The preorder number of each box; 0 for those without samples.
    pub(crate) fn places(&self) -> Vec<u32> {
        self.preorder().1
    }

    fn preorder(&self) -> (Vec<Node>, Vec<u32>) {
        let count = self.parents.len();
        let mut total = self.own.clone();
        for i in (1..count).rev() {
            let parent = self.parents[i] as usize;
            let [a, b] = total[i];
            total[parent][0] += a;
            total[parent][1] += b;
        }
        let (by_parent, first) = self.by_parent(&total);
        let mut out = Vec::with_capacity(by_parent.len() + 1);
        let mut places = vec![0; count];
        let mut stack = vec![(0u32, 0u32)];
        while let Some((node, level)) = stack.pop() {
            let i = node as usize;
            places[i] = out.len() as u32;
            out.push(Node {
                level,
                label: self.label_of[i],
                stage: self.stage_of[i],
                value: total[i],
                own: self.own[i],
            });
            stack.extend(by_parent[first[i]..first[i + 1]].iter().rev().map(|c| (*c, level + 1)));
        }
        (out, places)
    }

    /// The nodes with samples by parent, siblings sorted by name, and where each parent's begin.
    fn by_parent(&self, total: &[[u64; 2]]) -> (Vec<u32>, Vec<usize>) {
        let count = self.parents.len();
        // Dealt out twice, by name and then by parent: a pass over millions of nodes costs less than
        // sorting them.
        let rank = self.label_ranks();
        let mut next_of_rank = vec![0u32; rank.len() + 1];
        let mut first = vec![0usize; count + 1];
        let full = |i: &u32| total[*i as usize] != [0, 0];
        for i in (1..count as u32).filter(full) {
            next_of_rank[rank[self.label_of[i as usize] as usize] as usize + 1] += 1;
            first[self.parents[i as usize] as usize + 1] += 1;
        }
        (0..rank.len()).for_each(|i| next_of_rank[i + 1] += next_of_rank[i]);
        (0..count).for_each(|i| first[i + 1] += first[i]);
        let mut by_name = vec![0u32; first[count]];
        for i in (1..count as u32).filter(full) {
            let place = &mut next_of_rank[rank[self.label_of[i as usize] as usize] as usize];
            by_name[*place as usize] = i;
            *place += 1;
        }
        let mut next = first.clone();
        let mut by_parent = vec![0u32; by_name.len()];
        for i in by_name {
            let place = &mut next[self.parents[i as usize] as usize];
            by_parent[*place] = i;
            *place += 1;
        }
        if !self.twins.is_empty() {
            let key = |i: &u32| (rank[self.label_of[*i as usize] as usize], self.stage_of[*i as usize]);
            first.windows(2).for_each(|ends| by_parent[ends[0]..ends[1]].sort_by_key(key));
        }
        (by_parent, first)
    }

    fn label_ranks(&self) -> Vec<u32> {
        // Most names differ in their first letters, which compare as one number.
        let head = |name: &str| {
            let mut bytes = [0; 8];
            bytes.iter_mut().zip(name.bytes()).for_each(|(to, from)| *to = from);
            u64::from_be_bytes(bytes)
        };
        let mut order: Vec<(u64, u32)> =
            self.labels().zip(0u32..).map(|((name, _), label)| (head(name), label)).collect();
        order.sort_unstable_by(|a, b| {
            a.0.cmp(&b.0).then_with(|| self.label_text(a.1).cmp(&self.label_text(b.1)))
        });
        let mut rank = vec![0u32; order.len()];
        for (at, (_, label)) in order.iter().enumerate() {
            rank[*label as usize] = at as u32;
        }
        rank
    }
}

/// What the stacks of some threads have in common: where they stand and what their thread says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Scope {
    root: u32,
    kind: u8,
}

/// What [`FlameTree::node_of`] needs of the profile being added.
struct Added<'a> {
    profile: &'a Profile,
    frame_labels: &'a [u32],
    stages: Option<&'a dyn Stages>,
    stage_map: &'a [u8],
    /// Number of the scope.
    number: u32,
    scope: Scope,
    /// A stack that is new in its scope is a new box.
    alike: bool,
}

/// The boxes of stacks in scopes: a list while that is not large, as looking up is most of the work.
enum Placed {
    /// One more than the box, by scope and stack; 0 where there is none.
    All(Vec<u32>, usize),
    Some(FxHashMap<(u32, StackId), u32>),
}

/// Numbers in the list; memory is taken for those alone that are written to.
const MOST_PLACES: usize = 16 << 20;

impl Placed {
    fn new(scopes: usize, stacks: usize) -> Placed {
        match scopes.checked_mul(stacks) {
            Some(places) if places <= MOST_PLACES => Placed::All(vec![0; places], stacks),
            _ => Placed::Some(FxHashMap::default()),
        }
    }

    fn get(&self, scope: u32, stack: StackId) -> Option<u32> {
        match self {
            Placed::All(list, stacks) => list.get(scope as usize * stacks + stack.index())?.checked_sub(1),
            Placed::Some(map) => map.get(&(scope, stack)).copied(),
        }
    }

    fn insert(&mut self, scope: u32, stack: StackId, node: u32) {
        match self {
            Placed::All(list, stacks) => {
                if let Some(place) = list.get_mut(scope as usize * *stacks + stack.index()) {
                    *place = node + 1;
                }
            }
            Placed::Some(map) => {
                map.insert((scope, stack), node);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use zwhy_profile::FrameKind;

    fn profile(stacks: &[(&str, &[&str], u32)]) -> Profile {
        let mut p = Profile::new();
        for (comm, names, count) in stacks {
            let frames: Vec<_> = names.iter().map(|n| p.frame(n, "zfs", FrameKind::Kernel)).collect();
            let stack = p.stack(&frames);
            let thread = p.thread(1, 1, comm);
            p.samples.push_counted(thread, stack, Event::Cpu, *count);
        }
        p
    }

    fn texts(tree: &FlameTree) -> Vec<(u32, String, u64, u64)> {
        let text = |n: &Node| tree.label_text(n.label).0.to_owned();
        tree.nodes().iter().map(|n| (n.level, text(n), n.value[0], n.own[0])).collect()
    }

    #[test]
    fn threads_of_one_pool_share_a_root_and_siblings_are_sorted() {
        let p =
            profile(&[("z_rd_int_1", &["b"], 1), ("z_rd_int_2", &["a", "c"], 2), ("z_rd_int_2", &["a"], 4)]);
        let mut tree = FlameTree::new(Event::Cpu, &[]);
        tree.add(&p, None, Roots::Threads, Side::A);
        let expected =
            [(0, "all", 7, 0), (1, "[z_rd_int]", 7, 0), (2, "a", 6, 4), (3, "c", 2, 2), (2, "b", 1, 1)];
        assert_eq!(texts(&tree), expected.map(|(l, n, v, o)| (l, n.to_owned(), v, o)));
    }

    /// `f` has no stage of its own: on threads of kind 1 it is theirs.
    struct ByThread([String; 2]);

    impl Stages for ByThread {
        fn names(&self) -> &[String] {
            &self.0
        }

        fn kind_of(&self, thread: ThreadId) -> u8 {
            thread.0 as u8
        }

        fn stage_on(&self, _: StackId, kind: u8) -> u8 {
            kind
        }
    }

    #[test]
    fn what_the_thread_tells_is_a_box_of_its_own() {
        let p = profile(&[("fio", &["start", "f"], 5), ("z_rd_int_1", &["start", "f"], 2)]);
        let stages = ByThread(["not zfs".to_owned(), "taskq".to_owned()]);
        for (roots, boxes) in [(Roots::Threads, 7), (Roots::Frames, 5)] {
            let mut tree = FlameTree::new(Event::Cpu, &stages.0);
            tree.add(&p, Some(&stages), roots, Side::A);
            let nodes = tree.nodes();
            let own = |stage: u8| nodes.iter().filter(|n| n.stage == stage).map(|n| n.own[0]).sum::<u64>();
            assert_eq!((nodes.len(), own(0), own(1), nodes[0].value[0]), (boxes, 5, 2, 7), "{roots:?}");
        }
    }

    #[test]
    fn two_sides_keep_what_vanished() {
        let (a, b) = (profile(&[("t", &["x", "gone"], 3)]), profile(&[("t", &["x", "new"], 5)]));
        let mut tree = FlameTree::new(Event::Cpu, &[]);
        tree.add(&a, None, Roots::Frames, Side::A);
        tree.add(&b, None, Roots::Frames, Side::B);
        assert!(tree.is_diff());
        let values: Vec<_> = tree.nodes().iter().map(|n| n.value).collect();
        assert_eq!(values, [[3, 5], [3, 5], [3, 0], [0, 5]]);
    }

    proptest! {
        #[test]
        fn values_are_own_plus_children(
            stacks in prop::collection::vec((prop::collection::vec(0usize..4, 0..6), 0u32..9), 0..40),
        ) {
            const NAMES: [&str; 4] = ["a", "b", "c", "d"];
            let mut p = Profile::new();
            for (names, count) in &stacks {
                let frames: Vec<_> = names.iter().map(|n| p.frame(NAMES[*n], "", FrameKind::User)).collect();
                let stack = p.stack(&frames);
                let thread = p.thread(1, 1, "t");
                p.samples.push_counted(thread, stack, Event::Cpu, *count);
            }
            let mut tree = FlameTree::new(Event::Cpu, &[]);
            tree.add(&p, None, Roots::Frames, Side::A);
            let nodes = tree.nodes();
            prop_assert_eq!(nodes[0].value[0], p.total(Event::Cpu));
            for (i, node) in nodes.iter().enumerate() {
                let children: u64 = nodes[i + 1..].iter().take_while(|n| n.level > node.level)
                    .filter(|n| n.level == node.level + 1).map(|n| n.value[0]).sum();
                prop_assert_eq!(node.value[0], node.own[0] + children);
            }
        }
    }
}
