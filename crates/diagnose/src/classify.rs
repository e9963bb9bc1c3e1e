//! The stage of every sample: each frame is looked up once, each node of the prefix tree once, each thread once.
//!
//! Invariant: every sample has exactly one stage, [`Classified::stage_of`], so the stages' samples add up to all
//! samples, in every table, condition and picture alike.

use crate::anatomy::{
    Anatomy, FrameRule, IDLE, ModuleKind, NOT_ZFS, Only, StageId, ThreadStage, UNKNOWN, starts_threads,
};
use crate::name::bare;
use rustc_hash::FxHashMap;
use zwhy_profile::{Frame, FrameId, FrameKind, Profile, StackId, StringId, ThreadId};

/// Who asked for the work of a stack, as far as its frames tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StackOrigin {
    #[default]
    Other,
    Syscall,
    Interrupt,
}

/// Stages and labels of a profile, computed once. [`Classified::stage_of`] is what every table, condition,
/// picture and page takes for the stage of a sample.
#[derive(Clone, Debug, Default)]
pub struct Classified {
    /// Names; stage ids index them.
    pub stages: Vec<String>,
    pub labels: Vec<String>,
    /// What the functions of a stack say, by stack id.
    node_stage: Vec<StageId>,
    /// Generic work at the leaf (`lock`, `FPU state`); 0 is none.
    pub node_label: Vec<u8>,
    pub node_origin: Vec<StackOrigin>,
    /// How much of a stack there is, as bits that rules of threads ask for.
    node_shape: Vec<u8>,
    /// Index into `kinds` by thread id.
    kind_of_thread: Vec<u8>,
    /// What threads of a kind do; the first kind is of threads that are not of ZFS.
    kinds: Vec<Vec<KindRule>>,
}

/// A stage of samples on stacks that tell nothing by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct KindRule {
    /// Bits that the stack must have one of; 0 asks for none.
    shape: u8,
    stage: StageId,
}

/// The stack is whole and names no function of ZFS: one that has a name, but no stage, is work that nobody has
/// placed yet.
const WHOLE: u8 = 1;
/// Bit of the first library that cuts stacks off; the others follow.
const FIRST_CUT: u8 = 2;

impl Classified {
    pub fn stage_name(&self, stage: StageId) -> &str {
        self.stages.get(usize::from(stage)).map_or("", String::as_str)
    }

    /// The stage of a sample of this thread on this stack: that of its functions, else of the thread. Work of a
    /// ZFS thread that neither tells is unknown; what interrupts it is not its. It is also the stage of the
    /// function that the stack ends with, on this thread.
    pub fn stage_of(&self, stack: StackId, thread: ThreadId) -> StageId {
        self.stage_on(stack, self.kind_of(thread))
    }

    /// Threads of one kind have the same stage on the same stack; 0 are threads that are not of ZFS.
    pub fn kind_of(&self, thread: ThreadId) -> u8 {
        self.kind_of_thread.get(thread.index()).copied().unwrap_or(0)
    }

    /// As [`Classified::stage_of`], by the kind of the thread.
    pub fn stage_on(&self, stack: StackId, kind: u8) -> StageId {
        let stage = self.of_functions(stack);
        let tells = !matches!(stage, UNKNOWN | NOT_ZFS)
            || self.node_origin.get(stack.index()) == Some(&StackOrigin::Interrupt);
        if kind == 0 || tells {
            return stage;
        }
        let shape = self.node_shape.get(stack.index()).copied().unwrap_or(0);
        let rules = self.kinds.get(usize::from(kind)).map_or(&[][..], Vec::as_slice);
        let applies = |rule: &&KindRule| rule.shape == 0 || rule.shape & shape != 0;
        rules.iter().find(applies).map_or(UNKNOWN, |rule| rule.stage)
    }

    /// What the functions of a stack say, whatever thread runs them.
    pub fn of_functions(&self, stack: StackId) -> StageId {
        self.node_stage.get(stack.index()).copied().unwrap_or(UNKNOWN)
    }

    /// A CPU that has nothing to do: no thread changes that.
    pub fn is_idle(&self, stack: StackId) -> bool {
        self.of_functions(stack) == IDLE
    }

    /// What is known of the threads: which kind each one is, and the rules of each kind.
    fn add_threads(&mut self, profile: &Profile, anatomy: &Anatomy, cutters: &[&str]) {
        let rule = |rule: &ThreadStage| {
            let shape = match &rule.only {
                Only::Any => 0,
                Only::Whole => WHOLE,
                Only::CutBy(library) => cut_bit(cutters, library)?,
            };
            Some(KindRule { shape, stage: rule.stage })
        };
        self.kinds.push(Vec::new());
        let mut kinds: FxHashMap<Vec<KindRule>, u8> = FxHashMap::default();
        let mut of_comm: FxHashMap<StringId, u8> = FxHashMap::default();
        for (_, thread) in profile.threads.iter() {
            let kind = *of_comm.entry(thread.comm).or_insert_with(|| {
                let name = zwhy_zfs::thread_base(profile.strings.get(thread.comm));
                let Some(role) = zwhy_zfs::thread_role(name) else { return 0 };
                let rules: Vec<KindRule> = anatomy.of_role(role.name).filter_map(rule).collect();
                let next = u8::try_from(self.kinds.len()).unwrap_or(u8::MAX);
                *kinds.entry(rules.clone()).or_insert_with(|| {
                    self.kinds.push(rules);
                    next
                })
            });
            self.kind_of_thread.push(kind);
        }
    }
}

fn cut_bit(cutters: &[&str], library: &str) -> Option<u8> {
    cutters.iter().position(|l| *l == library).map(|at| FIRST_CUT << at)
}

/// What is known of a stack so far, walking from its root.
#[derive(Clone, Copy, Default)]
struct Walk {
    stage: Option<StageId>,
    context: Option<StageId>,
    label: u8,
    zfs: bool,
    idle: bool,
    origin: StackOrigin,
    shape: u8,
}

/// What one frame adds to the stacks that have it.
#[derive(Clone, Copy)]
struct Of {
    rule: Option<FrameRule>,
    kind: ModuleKind,
    user: bool,
    /// Bits of a stack that begins with it.
    shape: u8,
}

fn of_frames(profile: &Profile, anatomy: &Anatomy, cutters: &[&str]) -> Vec<Of> {
    let of = |(id, frame): (FrameId, Frame)| {
        let (function, module) = (profile.function_of(id), profile.module_of(id));
        let (rule, kind) = anatomy.frame(function, module);
        let user = frame.kind == FrameKind::User;
        // A program's own function may share a name with the kernel's.
        let of_kernel = matches!(rule, Some(FrameRule::Idle | FrameRule::Interrupt));
        let whole = if starts_threads(bare(function).function) { WHOLE } else { 0 };
        let cut = cutters.iter().filter(|library| module.starts_with(**library));
        let shape = cut.filter_map(|library| cut_bit(cutters, library)).fold(whole, |all, bit| all | bit);
        Of { rule: rule.filter(|_| !(user && of_kernel)), kind, user, shape }
    };
    profile.frames.iter().map(of).collect()
}

/// Classifies all stacks and threads of a profile.
pub fn classify(profile: &Profile, anatomy: &Anatomy) -> Classified {
    let cutters = anatomy.cutters();
    let frames = of_frames(profile, anatomy, &cutters);
    // Libraries of a program are ZFS's own only where ZFS is one of them: in zdb, ztest and the lab.
    let in_user_space = frames.iter().any(|frame| frame.user && frame.kind == ModuleKind::Zfs);
    let n = profile.stacks.len();
    let mut walks = vec![Walk::default(); n];
    let mut out = Classified {
        stages: anatomy.stages().iter().map(|s| s.name.clone()).collect(),
        labels: anatomy.labels().to_vec(),
        node_stage: vec![NOT_ZFS; n],
        node_label: vec![0; n],
        node_origin: vec![StackOrigin::Other; n],
        node_shape: vec![0; n],
        ..Classified::default()
    };
    for (id, parent, frame, depth) in profile.stacks.iter() {
        let unknown = Of { rule: None, kind: ModuleKind::Foreign, user: false, shape: 0 };
        let of = frames.get(frame.index()).copied().unwrap_or(unknown);
        let mut walk = walks[parent.index()];
        let of_program = profile.frames.get(frame).kind == FrameKind::User;
        walk.step(of.rule, of.kind, depth == 1 && (in_user_space || !of_program), anatomy);
        if depth == 1 {
            walk.shape = of.shape;
        }
        let has_a_name = profile.frames.get(frame).reason == StringId::default();
        if of.kind == ModuleKind::Zfs && has_a_name {
            walk.shape &= !WHOLE;
        }
        walks[id.index()] = walk;
        out.node_stage[id.index()] = walk.result();
        out.node_label[id.index()] = walk.label;
        out.node_origin[id.index()] = walk.origin;
        out.node_shape[id.index()] = walk.shape;
    }
    out.add_threads(profile, anatomy, &cutters);
    out
}

/// The stage and label of a function that stands alone, as in a flat list.
pub fn classify_alone(printed: &str, module: &str, anatomy: &Anatomy) -> (StageId, u8) {
    let (rule, kind) = anatomy.frame(printed, module);
    let mut walk = Walk::default();
    walk.step(rule, kind, true, anatomy);
    (walk.result(), walk.label)
}

impl Walk {
    /// `alone`: the frame has no caller, and may be ZFS's all the same.
    fn step(&mut self, rule: Option<FrameRule>, kind: ModuleKind, alone: bool, anatomy: &Anatomy) {
        if kind == ModuleKind::Zfs {
            self.zfs = true;
        }
        match rule {
            Some(FrameRule::Stage(stage)) => self.enter(stage, anatomy),
            Some(FrameRule::AmbiguousStage(stage)) if self.zfs => self.enter(stage, anatomy),
            Some(FrameRule::AmbiguousContext(stage)) if self.zfs => {
                self.label = 0;
                self.context = Some(stage);
            }
            Some(FrameRule::Shared(stage)) if self.zfs || alone => self.enter(stage, anatomy),
            Some(FrameRule::Context(stage)) => {
                self.zfs = true;
                self.label = 0;
                self.context = Some(stage);
            }
            Some(FrameRule::Label(label)) => self.label = label,
            Some(FrameRule::Idle) => *self = Walk { idle: true, shape: self.shape, ..Walk::default() },
            Some(FrameRule::Interrupt) => {
                *self = Walk { origin: StackOrigin::Interrupt, shape: self.shape, ..Walk::default() };
            }
            Some(FrameRule::Syscall) => self.origin = StackOrigin::Syscall,
            _ => {}
        }
    }

    fn enter(&mut self, stage: StageId, anatomy: &Anatomy) {
        self.zfs = true;
        self.idle = false;
        self.label = 0;
        let keeps = self.stage.is_some_and(|now| {
            anatomy.stages().get(usize::from(stage)).is_some_and(|s| s.more_exact.contains(&now))
        });
        if !keeps {
            self.stage = Some(stage);
        }
    }

    fn result(&self) -> StageId {
        match (self.idle, self.stage.or(self.context), self.zfs) {
            (true, ..) => IDLE,
            (_, Some(stage), _) => stage,
            (_, None, true) => UNKNOWN,
            (_, None, false) => NOT_ZFS,
        }
    }
}
