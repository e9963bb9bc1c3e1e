//! From raw call chains to named stacks, each distinct chain once and each distinct address once.
//!
//! Invariant: two samples get one stack without looking at their addresses only if the bytes of
//! their chains and the era of their address space are the same.

use super::bytes::View;
use super::kernel_names::{KernelName, KernelNames};
use super::sample::Sample;
use super::spaces::{Era, Image, Spaces};
use super::user_names::{UserName, UserNames};
use rustc_hash::FxHashMap;
use zwhy_profile::{Frame, FrameId, FrameKind, Profile, StackId, StringId};
use zwhy_symbols::Reason;

/// Marks in a call chain that say whose addresses follow (`enum perf_callchain_context`).
const FIRST_MARK: u64 = -4095i64 as u64;
const MARK_HYPERVISOR: u64 = -32i64 as u64;
const MARK_KERNEL: u64 = -128i64 as u64;
const MARK_USER: u64 = -512i64 as u64;
const MARK_USER_DEFERRED: u64 = -640i64 as u64;

/// `misc & 7` of a record.
const MODE_KERNEL: u16 = 1;
const MODE_USER: u16 = 2;
const MODE_HYPERVISOR: u16 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Space {
    Kernel,
    User,
    Hypervisor,
    Guest,
    Unknown,
}

pub struct Stacks {
    chains: ChainTable,
    kernel: KernelNames,
    user: UserNames,
    kernel_frames: FxHashMap<u64, FrameId>,
    user_frames: FxHashMap<(Era, u64), FrameId>,
    object_frames: FxHashMap<(u32, u64), FrameId>,
    /// Frames of the chain at hand, leaf first.
    scratch: Vec<FrameId>,
    /// The chain before, root first: neighbours share most of it.
    path: Vec<(FrameId, StackId)>,
    max_depth: usize,
    /// Distinct chains that were longer than the limit.
    pub cut_chains: u64,
}

impl Stacks {
    pub fn new(kernel: KernelNames, user: UserNames, max_depth: usize) -> Stacks {
        Stacks {
            chains: ChainTable::new(),
            kernel,
            user,
            kernel_frames: FxHashMap::default(),
            user_frames: FxHashMap::default(),
            object_frames: FxHashMap::default(),
            scratch: Vec::new(),
            path: Vec::new(),
            max_depth,
            cut_chains: 0,
        }
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

    fn build(&mut self, profile: &mut Profile, spaces: &Spaces, era: Era, sample: &Sample<'_>) -> StackId {
        self.scratch.clear();
        let mode = match sample.mode {
            MODE_KERNEL => Space::Kernel,
            MODE_USER => Space::User,
            MODE_HYPERVISOR => Space::Hypervisor,
            4 | 5 => Space::Guest,
            _ => Space::Unknown,
        };
        let mut space = mode;
        let mut saw_user = false;
        // The first address of a space is where it was; the others are where calls return to, which
        // may be the first byte of another function when the call never returns.
        let mut exact = true;
        for i in 0..sample.chain.len() / 8 {
            let Some(address) = sample.chain.u64(i * 8) else { break };
            if address >= FIRST_MARK {
                space = match address {
                    MARK_KERNEL => Space::Kernel,
                    MARK_USER | MARK_USER_DEFERRED => Space::User,
                    MARK_HYPERVISOR => Space::Hypervisor,
                    _ => Space::Guest,
                };
                exact = true;
                continue;
            }
            if self.scratch.len() >= self.max_depth {
                self.cut_chains += 1;
                break;
            }
            // A cookie of a chain that the kernel would deliver later is no address.
            let at = if exact { address } else { address.wrapping_sub(1) };
            exact = false;
            saw_user |= space == Space::User;
            let frame = self.frame(profile, spaces, era, space, at);
            self.scratch.push(frame);
        }
        if self.scratch.is_empty() {
            let frame = self.frame(profile, spaces, era, mode, sample.ip);
            self.scratch.push(frame);
            saw_user |= mode == Space::User;
        }
        if let Some(ip) = sample.user_ip.filter(|_| !saw_user) {
            let frame = self.frame(profile, spaces, era, Space::User, ip);
            self.scratch.push(frame);
        }
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
                let frame = match spaces.resolve(era, at) {
                    Some((image, offset)) => self.object_frame(profile, image, offset),
                    None if !(4096..1 << 63).contains(&at) => unknown(profile, Reason::BadAddress),
                    None => unknown(profile, Reason::NotMapped),
                };
                self.user_frames.insert((era, at), frame);
                frame
            }
            Space::Hypervisor => profile.frame("[hypervisor]", "hypervisor", FrameKind::Unknown),
            Space::Guest => unnamed(profile, "guest", at, Reason::Guest.text(), FrameKind::Unknown),
        }
    }

    fn object_frame(&mut self, profile: &mut Profile, image: Image, offset: u64) -> FrameId {
        if let Some(frame) = self.object_frames.get(&(image.0, offset)) {
            return *frame;
        }
        let frame = match self.user.resolve(image, offset) {
            UserName::Named { function, module } => profile.frame(&function, module, FrameKind::User),
            UserName::Unnamed { module, offset, reason } => {
                unnamed(profile, module, offset, reason, FrameKind::User)
            }
        };
        self.object_frames.insert((image.0, offset), frame);
        frame
    }
}

fn kernel_frame(profile: &mut Profile, kernel: &KernelNames, at: u64) -> FrameId {
    match kernel.resolve(at) {
        KernelName::Named { function, module } => profile.frame(function, module, FrameKind::Kernel),
        KernelName::Unnamed { module, offset, reason } => {
            unnamed(profile, module, offset, reason, FrameKind::Kernel)
        }
    }
}

/// A frame shown as `module+0xoffset`.
fn unnamed(profile: &mut Profile, module: &str, offset: u64, reason: &str, kind: FrameKind) -> FrameId {
    anonymous(profile, &format!("{module}+{offset:#x}"), module, reason, kind)
}

/// An address in no mapping. Code without frame pointers leaves such numbers in call chains, a new
/// one each time: kept apart they would be frames without end that mean nothing.
fn unknown(profile: &mut Profile, reason: Reason) -> FrameId {
    anonymous(profile, "[unknown]", "", reason.text(), FrameKind::User)
}

fn anonymous(profile: &mut Profile, function: &str, module: &str, reason: &str, kind: FrameKind) -> FrameId {
    let frame = Frame {
        function: profile.strings.intern(function),
        module: profile.strings.intern(module),
        file: StringId::EMPTY,
        line: 0,
        kind,
        reason: profile.strings.intern(reason),
    };
    profile.frames.intern(frame)
}

/// 96 bits that stand for a chain in an era.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key(u64, u32);

fn chain_key(era: Era, sample: &Sample<'_>) -> Key {
    let mut hash = Hash::new(u64::from(era.0) << 16 | u64::from(sample.mode));
    if let Some(ip) = sample.user_ip {
        hash.add(ip);
    }
    if sample.chain.len() == 0 {
        hash.add(sample.ip);
    }
    hash.add_words(sample.chain);
    hash.finish()
}

/// Two multiply-and-fold hashes side by side. Equal keys are taken for equal chains: by chance that
/// happens once in 10^15 files of ten million chains.
struct Hash(u64, u64);

impl Hash {
    fn new(seed: u64) -> Hash {
        Hash(seed ^ 0x2d35_8dcc_aa6c_78a5, seed ^ 0x8bb8_4b93_962e_acc9)
    }

    #[inline]
    fn add(&mut self, word: u64) {
        self.0 = fold(self.0 ^ word, 0x9e37_79b9_7f4a_7c15);
        self.1 = (self.1.rotate_left(23) ^ word).wrapping_mul(0xd6e8_feb8_6659_fd93);
    }

    #[inline]
    fn add_words(&mut self, view: View<'_>) {
        for word in view.bytes.chunks_exact(8) {
            self.add(u64::from_ne_bytes([
                word[0], word[1], word[2], word[3], word[4], word[5], word[6], word[7],
            ]));
        }
    }

    fn finish(self) -> Key {
        let low = fold(self.0, 0xa076_1d64_78bd_642f);
        let high = fold(self.1, 0xe703_7ed1_a0b4_28db);
        Key(low, (high >> 32) as u32)
    }
}

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ (product >> 64) as u64
}

/// Chain key → stack, open addressing, 16 bytes a slot.
struct ChainTable {
    slots: Vec<(u64, u32, StackId)>,
    len: usize,
}

impl ChainTable {
    /// No chain has the root as its stack, so it marks a free slot.
    const FREE: (u64, u32, StackId) = (0, 0, StackId::ROOT);

    fn new() -> ChainTable {
        ChainTable { slots: vec![Self::FREE; 1 << 12], len: 0 }
    }

    #[inline]
    fn find(&self, key: Key) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = key.0 as usize & mask;
        while self.slots[at].2 != StackId::ROOT && (self.slots[at].0, self.slots[at].1) != (key.0, key.1) {
            at = (at + 1) & mask;
        }
        at
    }

    #[inline]
    fn get(&self, key: Key) -> Option<StackId> {
        let stack = self.slots[self.find(key)].2;
        (stack != StackId::ROOT).then_some(stack)
    }

    fn insert(&mut self, key: Key, stack: StackId) {
        if (self.len + 1) * 4 > self.slots.len() * 3 {
            let doubled = vec![Self::FREE; self.slots.len() * 2];
            let old = std::mem::replace(&mut self.slots, doubled);
            for slot in old.into_iter().filter(|slot| slot.2 != StackId::ROOT) {
                let at = self.find(Key(slot.0, slot.1));
                self.slots[at] = slot;
            }
        }
        let at = self.find(key);
        self.slots[at] = (key.0, key.1, stack);
        self.len += 1;
    }
}
