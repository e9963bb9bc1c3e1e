//! The stage of every stack: each frame is looked up once, each node of the prefix tree once.
//!
//! Invariant: every stack has exactly one stage, so the stages' samples add up to all samples.

use crate::anatomy::{Anatomy, FrameRule, IDLE, ModuleKind, NOT_ZFS, StageId, UNKNOWN};
use zwhy_profile::{FrameKind, Profile};

/// Who asked for the work of a stack, as far as its frames tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StackOrigin {
    #[default]
    Other,
    Syscall,
    Interrupt,
}

/// Stages and labels by stack id.
#[derive(Clone, Debug, Default)]
pub struct Classified {
    /// Names; [`Classified::node_stage`] indexes them.
    pub stages: Vec<String>,
    pub labels: Vec<String>,
    /// Stage of a sample whose stack ends here: also the stage of the frame at that node.
    pub node_stage: Vec<StageId>,
    /// Generic work at the leaf (`lock`, `FPU state`); 0 is none.
    pub node_label: Vec<u8>,
    pub node_origin: Vec<StackOrigin>,
}

impl Classified {
    pub fn stage_name(&self, stage: StageId) -> &str {
        self.stages.get(usize::from(stage)).map_or("", String::as_str)
    }
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
}

/// Classifies all stacks of a profile.
pub fn classify(profile: &Profile, anatomy: &Anatomy) -> Classified {
    let frames: Vec<(Option<FrameRule>, ModuleKind)> = profile
        .frames
        .iter()
        .map(|(id, frame)| {
            let (rule, kind) = anatomy.frame(profile.function_of(id), profile.module_of(id));
            // A program's own function may share a name with the kernel's.
            let of_kernel = matches!(rule, Some(FrameRule::Idle | FrameRule::Interrupt));
            if frame.kind == FrameKind::User && of_kernel { (None, kind) } else { (rule, kind) }
        })
        .collect();
    // Libraries of a program are ZFS's own only where ZFS is one of them: in zdb, ztest and the lab.
    let in_user_space = profile
        .frames
        .iter()
        .any(|(id, frame)| frame.kind == FrameKind::User && frames[id.index()].1 == ModuleKind::Zfs);
    let n = profile.stacks.len();
    let mut walks = vec![Walk::default(); n];
    let mut out = Classified {
        stages: anatomy.stages().iter().map(|s| s.name.clone()).collect(),
        labels: anatomy.labels().to_vec(),
        node_stage: vec![NOT_ZFS; n],
        node_label: vec![0; n],
        node_origin: vec![StackOrigin::Other; n],
    };
    for (id, parent, frame, depth) in profile.stacks.iter() {
        let (rule, kind) = frames.get(frame.index()).copied().unwrap_or((None, ModuleKind::Foreign));
        let mut walk = walks[parent.index()];
        let of_program = profile.frames.get(frame).kind == FrameKind::User;
        walk.step(rule, kind, depth == 1 && (in_user_space || !of_program), anatomy);
        walks[id.index()] = walk;
        out.node_stage[id.index()] = walk.result();
        out.node_label[id.index()] = walk.label;
        out.node_origin[id.index()] = walk.origin;
    }
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
            Some(FrameRule::Idle) => *self = Walk { idle: true, ..Walk::default() },
            Some(FrameRule::Interrupt) => *self = Walk { origin: StackOrigin::Interrupt, ..Walk::default() },
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
