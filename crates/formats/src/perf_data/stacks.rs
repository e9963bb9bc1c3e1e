//! From raw call chains to named stacks, each distinct chain once and each distinct address once.
//!
//! Invariant: two samples get one stack without looking at their addresses only if the bytes of
//! their chains and the era of their address space are the same.

use super::kernel_names::{KernelName, KernelNames};
use super::source_lines::{SourceLines, Spot};
use super::spaces::{Era, Image, Spaces};
use super::user_names::{UserName, UserNames};
use rustc_hash::FxHashMap;
use zwhy_perf::Sample;
use zwhy_perf::bytes::View;
use zwhy_perf::chain::{self, Space, Step};
use zwhy_perf::label;
use zwhy_profile::{FrameId, FrameKind, Profile, StackId};
use zwhy_symbols::{Reason, SymbolGroup, unnamed_label};

pub struct Stacks {
    chains: ChainTable,
    /// Chains without their leaves.
    callers: ChainTable,
    kernel: KernelNames,
    user: UserNames,
    kernel_frames: FxHashMap<u64, FrameId>,
    user_frames: FxHashMap<(Era, u64), FrameId>,
    object_frames: FxHashMap<(u32, u64), FrameId>,
    /// Of named functions of objects.
    function_frames: FxHashMap<(u32, SymbolGroup), FrameId>,
    /// Of addresses that no code can have, and of those in no mapping.
    unknown_frames: [Option<FrameId>; 2],
    /// Where lines are asked for.
    pub lines: Option<SourceLines>,
    /// Frames of the chain at hand, leaf first.
    scratch: Vec<FrameId>,
    /// The chain before, root first: neighbours share most of it.
    path: Vec<(FrameId, StackId)>,
    max_depth: usize,
    /// Distinct chains that were longer than the limit.
    pub cut_chains: u64,
    /// Distinct chains that end where their next caller cannot be code.
    pub broken_chains: u64,
}

impl Stacks {
    pub fn new(kernel: KernelNames, user: UserNames, max_depth: usize) -> Stacks {
        Stacks {
            chains: ChainTable::new(),
            callers: ChainTable::new(),
            kernel,
            user,
            kernel_frames: FxHashMap::default(),
            user_frames: FxHashMap::default(),
            object_frames: FxHashMap::default(),
            function_frames: FxHashMap::default(),
            unknown_frames: [None; 2],
            lines: None,
            scratch: Vec::new(),
            path: Vec::new(),
            max_depth,
            cut_chains: 0,
            broken_chains: 0,
        }
    }

    pub fn into_user_names(self) -> UserNames {
        self.user
    }

    /// The stack of a sample taken in `era`.
    #[inline]
    pub fn of(&mut self, profile: &mut Profile, spaces: &Spaces, era: Era, sample: &Sample<'_>) -> StackId {
        let key = chain_key(era, sample);
        if let Some(stack) = self.chains.get(key) {
            return stack;
        }
        let stack = self.build(profile, spaces, era, sample);
        self.chains.insert(key, stack);
        stack
    }

    /// Chains differ mostly in their leaf, so what is below the leaf is looked up by itself.
    fn build(&mut self, profile: &mut Profile, spaces: &Spaces, era: Era, sample: &Sample<'_>) -> StackId {
        let (leaf, rest) = chain::leaf(sample);
        let Step { space, at, .. } = leaf;
        let user_ip = sample.user_ip.filter(|_| space != Space::User);
        let key = callers_key(era, space, user_ip, rest);
        let callers = match self.callers.get(key) {
            Some(stack) => stack,
            None => {
                self.scratch.clear();
                self.collect(profile, spaces, era, space, rest, user_ip);
                let stack = self.stack_of_scratch(profile);
                if stack != StackId::ROOT {
                    self.callers.insert(key, stack);
                }
                stack
            }
        };
        let frame = self.frame(profile, spaces, era, space, at);
        let (frame, inlined) = self.with_line(profile, spaces, era, space, at, frame);
        inlined.iter().fold(profile.stacks.child(callers, frame), |stack, f| profile.stacks.child(stack, *f))
    }

    /// Adds the frames of a chain's rest to the scratch, leaf first.
    fn collect(
        &mut self,
        profile: &mut Profile,
        spaces: &Spaces,
        era: Era,
        space: Space,
        rest: View<'_>,
        user_ip: Option<u64>,
    ) {
        let mut saw_user = false;
        for Step { space, at, exact } in chain::callers(chain::words(rest), space) {
            if self.scratch.len() + 1 >= self.max_depth {
                self.cut_chains += 1;
                break;
            }
            saw_user |= space == Space::User;
            if !exact && !self.may_be_code(spaces, era, space, at) {
                self.broken_chains += 1;
                break;
            }
            self.push(profile, spaces, era, space, at);
        }
        if let Some(ip) = user_ip.filter(|_| !saw_user) {
            self.push(profile, spaces, era, Space::User, ip);
        }
    }

    /// Whether a call can return to this address, as far as is known.
    fn may_be_code(&self, spaces: &Spaces, era: Era, space: Space, at: u64) -> bool {
        let user = matches!(space, Space::User | Space::Unknown);
        !user || self.user_frames.contains_key(&(era, at)) || spaces.resolve(era, at).is_some()
    }

    /// Adds what is at an address to the scratch, what is inlined there first.
    fn push(&mut self, profile: &mut Profile, spaces: &Spaces, era: Era, space: Space, at: u64) {
        let frame = self.frame(profile, spaces, era, space, at);
        if matches!(space, Space::Guest | Space::Hypervisor) && self.scratch.last() == Some(&frame) {
            return;
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        let (frame, inlined) = self.with_line(profile, spaces, era, space, at, frame);
        scratch.extend(inlined.iter().rev());
        scratch.push(frame);
        self.scratch = scratch;
    }

    /// The frame with its line, and what is inlined at the address, where lines are asked for.
    fn with_line(
        &mut self,
        profile: &mut Profile,
        spaces: &Spaces,
        era: Era,
        space: Space,
        at: u64,
        frame: FrameId,
    ) -> (FrameId, &[FrameId]) {
        let Some(lines) = &mut self.lines else { return (frame, &[]) };
        let spot = match space {
            Space::Kernel => Some(Spot::Kernel(at)),
            Space::User | Space::Unknown => {
                spaces.resolve(era, at).map(|(image, offset)| Spot::Object(image, offset))
            }
            Space::Hypervisor | Space::Guest => None,
        };
        match spot {
            Some(spot) => lines.at(profile, (&self.kernel, &self.user), spot, frame),
            None => (frame, &[]),
        }
    }

    fn stack_of_scratch(&mut self, profile: &mut Profile) -> StackId {
        let frames = self.scratch.iter().rev();
        let common = frames.clone().zip(&self.path).take_while(|(frame, (old, _))| *frame == old).count();
        self.path.truncate(common);
        let mut stack = self.path.last().map_or(StackId::ROOT, |(_, stack)| *stack);
        for frame in frames.skip(common) {
            stack = profile.stacks.child(stack, *frame);
            self.path.push((*frame, stack));
        }
        stack
    }

    fn frame(&mut self, profile: &mut Profile, spaces: &Spaces, era: Era, space: Space, at: u64) -> FrameId {
        match space {
            Space::Kernel => {
                if let Some(frame) = self.kernel_frames.get(&at) {
                    return *frame;
                }
                let frame = kernel_frame(profile, &self.kernel, at);
                self.kernel_frames.insert(at, frame);
                frame
            }
            Space::User | Space::Unknown => {
                if let Some(frame) = self.user_frames.get(&(era, at)) {
                    return *frame;
                }
                // Not kept by address: there is no end to them.
                let Some((image, offset)) = spaces.resolve(era, at) else {
                    return self.unknown(profile, chain::impossible(at).unwrap_or(Reason::NotMapped));
                };
                let frame = self.object_frame(profile, image, offset);
                self.user_frames.insert((era, at), frame);
                frame
            }
            Space::Hypervisor => profile.frame("[hypervisor]", "hypervisor", FrameKind::Unknown),
            Space::Guest => label::nameless(profile, FrameKind::Unknown, "", Reason::Guest),
        }
    }

    /// An address in no mapping: such are one frame a reason.
    fn unknown(&mut self, profile: &mut Profile, reason: Reason) -> FrameId {
        *self.unknown_frames[usize::from(reason == Reason::NotMapped)]
            .get_or_insert_with(|| label::nameless(profile, FrameKind::User, "", reason))
    }

    fn object_frame(&mut self, profile: &mut Profile, image: Image, offset: u64) -> FrameId {
        if let Some(frame) = self.object_frames.get(&(image.0, offset)) {
            return *frame;
        }
        let group = self.user.group(image, offset).map(|group| (image.0, group));
        if let Some(frame) = group.and_then(|group| self.function_frames.get(&group)) {
            self.object_frames.insert((image.0, offset), *frame);
            return *frame;
        }
        let mut named = false;
        let frame = match self.user.resolve(image, offset) {
            UserName::Named { function, module } => {
                named = true;
                profile.frame(&function, module, FrameKind::User)
            }
            UserName::Unnamed { module, reason, .. } if reason == Reason::Anonymous.text() => {
                label::nameless(profile, FrameKind::User, module, Reason::Anonymous)
            }
            UserName::Unnamed { module, offset, reason, between } => {
                label::in_object(profile, module, offset, between.as_ref(), reason)
            }
        };
        if let Some(group) = group.filter(|_| named) {
            self.function_frames.insert(group, frame);
        }
        self.object_frames.insert((image.0, offset), frame);
        frame
    }
}

fn kernel_frame(profile: &mut Profile, kernel: &KernelNames, at: u64) -> FrameId {
    match kernel.resolve(at) {
        KernelName::Named { function, module } => profile.frame(function, module, FrameKind::Kernel),
        // In nothing that the kernel has loaded: the address says no more than that.
        KernelName::Unnamed { module: "kernel", reason, .. } if reason == Reason::OutsideKernel.text() => {
            label::nameless(profile, FrameKind::Kernel, "kernel", Reason::OutsideKernel)
        }
        KernelName::Unnamed { module, offset, reason } => {
            let function = unnamed_label(module, offset, None);
            label::reasoned(profile, FrameKind::Kernel, &function, module, reason)
        }
    }
}

/// 64 bits that stand for a chain in an era. Equal keys are taken for equal chains: by chance that
/// happens once in a million files of five million distinct chains.
type Key = u64;

fn chain_key(era: Era, sample: &Sample<'_>) -> Key {
    let mut hash = Hash::new(u64::from(era.0) << 16 | u64::from(sample.mode));
    if let Some(ip) = sample.user_ip {
        hash.add(ip);
    }
    if sample.chain.is_empty() {
        hash.add(sample.ip);
    }
    hash.add_words(sample.chain);
    hash.finish()
}

fn callers_key(era: Era, space: Space, user_ip: Option<u64>, rest: View<'_>) -> Key {
    let mut hash = Hash::new(u64::from(era.0) << 16 | space as u64);
    if let Some(ip) = user_ip {
        hash.add(ip);
    }
    hash.add_words(rest);
    hash.finish()
}

/// Multiply and fold, one word after the other.
struct Hash(u64);

impl Hash {
    fn new(seed: u64) -> Hash {
        Hash(seed ^ 0x2d35_8dcc_aa6c_78a5)
    }

    #[inline]
    fn add(&mut self, word: u64) {
        self.0 = fold(self.0 ^ word, 0x9e37_79b9_7f4a_7c15);
    }

    /// In four lanes, so that the multiplications need not wait for each other.
    #[inline]
    fn add_words(&mut self, view: View<'_>) {
        let (words, _) = view.bytes.as_chunks::<8>();
        let (blocks, rest) = words.as_chunks::<4>();
        let seed = self.0;
        let mut lanes = [seed, !seed, seed.rotate_left(17), seed.rotate_left(41)];
        for block in blocks {
            for (lane, word) in lanes.iter_mut().zip(block) {
                *lane = fold(*lane ^ u64::from_ne_bytes(*word), 0x9e37_79b9_7f4a_7c15);
            }
        }
        if !blocks.is_empty() {
            lanes.into_iter().for_each(|lane| self.add(lane));
        }
        rest.iter().for_each(|word| self.add(u64::from_ne_bytes(*word)));
    }

    fn finish(self) -> Key {
        fold(self.0, 0xa076_1d64_78bd_642f)
    }
}

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ (product >> 64) as u64
}

/// Chain key → stack, open addressing, 12 bytes a slot.
struct ChainTable {
    keys: Vec<Key>,
    /// No chain has the root as its stack, so the root marks a free slot.
    stacks: Vec<StackId>,
    len: usize,
}

impl ChainTable {
    fn new() -> ChainTable {
        ChainTable::with_slots(1 << 12)
    }

    fn with_slots(slots: usize) -> ChainTable {
        ChainTable { keys: vec![0; slots], stacks: vec![StackId::ROOT; slots], len: 0 }
    }

    #[inline]
    fn find(&self, key: Key) -> usize {
        let mask = self.keys.len() - 1;
        let mut at = key as usize & mask;
        while self.keys[at] != key && self.stacks[at] != StackId::ROOT {
            at = (at + 1) & mask;
        }
        at
    }

    #[inline]
    fn get(&self, key: Key) -> Option<StackId> {
        let stack = self.stacks[self.find(key)];
        (stack != StackId::ROOT).then_some(stack)
    }

    fn insert(&mut self, key: Key, stack: StackId) {
        if (self.len + 1) * 4 > self.keys.len() * 3 {
            let mut grown = ChainTable::with_slots(self.keys.len() * 2);
            for (key, stack) in self.keys.iter().zip(&self.stacks).filter(|(_, s)| **s != StackId::ROOT) {
                let at = grown.find(*key);
                (grown.keys[at], grown.stacks[at]) = (*key, *stack);
            }
            grown.len = self.len;
            *self = grown;
        }
        let at = self.find(key);
        self.len += usize::from(self.stacks[at] == StackId::ROOT);
        (self.keys[at], self.stacks[at]) = (key, stack);
    }
}
