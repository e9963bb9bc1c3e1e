//! The stage of a sample that its stack does not tell but its thread does.

use super::{Anatomy, ModuleKind, NOT_ZFS, StageId, UNKNOWN};
use crate::classify::{Classified, StackOrigin};
use crate::name::bare;
use zwhy_profile::{FrameId, Profile, StackId, StringId};

/// What samples of a thread count as when their stack has no stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ThreadStage {
    /// Role of the thread, as [`zwhy_zfs::Role::name`].
    pub name: String,
    pub stage: StageId,
    pub only: Only,
}

/// Which stacks of a thread say no more than it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Only {
    Any,
    /// Those that are whole: the thread is between two pieces of work.
    Whole,
    /// Those that end in a library whose name begins so, cut off by its code.
    CutBy(String),
}

/// Where threads begin: the function of the C library, Linux, FreeBSD or illumos at the root.
const STARTS: [&str; 8] = [
    "start_thread",
    "clone3",
    "__clone3",
    "kthread",
    "ret_from_fork",
    "ret_from_fork_asm",
    "fork_exit",
    "thread_start",
];

impl Anatomy {
    /// The stage of a sample on this stack by a thread of this role ([`zwhy_zfs::Role::name`]): that
    /// of its functions, else of the thread. Work of a ZFS thread that neither tells is unknown; what
    /// interrupts it is not its.
    pub fn sample_stage(
        &self,
        profile: &Profile,
        classified: &Classified,
        stack: StackId,
        role: Option<&str>,
    ) -> StageId {
        let stage = classified.node_stage.get(stack.index()).copied().unwrap_or(UNKNOWN);
        let interrupt = classified.node_origin.get(stack.index()) == Some(&StackOrigin::Interrupt);
        if !(stage == UNKNOWN || stage == NOT_ZFS) || interrupt {
            return stage;
        }
        let Some(role) = role else { return stage };
        let applies = |of_thread: &&ThreadStage| match &of_thread.only {
            _ if of_thread.name != role => false,
            Only::Any => true,
            Only::Whole => self.between(profile, stack),
            Only::CutBy(library) => cut_by(profile, stack, library),
        };
        self.threads.iter().find(applies).map_or(UNKNOWN, |t| t.stage)
    }

    /// The stack is whole and names no function of ZFS: one that has a name, but no stage, is work
    /// that nobody has placed yet.
    fn between(&self, profile: &Profile, stack: StackId) -> bool {
        let named = |frame: &FrameId| {
            profile.frames.get(*frame).reason == StringId::default()
                && self.module_kind(profile.module_of(*frame)) == ModuleKind::Zfs
        };
        let mut root = None;
        for frame in profile.stacks.leaf_to_root(stack) {
            if named(&frame) {
                return false;
            }
            root = Some(frame);
        }
        root.is_some_and(|frame| STARTS.contains(&bare(profile.function_of(frame)).function))
    }
}

/// The outermost function of the stack is the library's, so what called it is not known.
fn cut_by(profile: &Profile, stack: StackId, library: &str) -> bool {
    profile
        .stacks
        .leaf_to_root(stack)
        .last()
        .is_some_and(|frame| profile.module_of(frame).starts_with(library))
}
