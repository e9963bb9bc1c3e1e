//! The anatomy of OpenZFS: which function belongs to which stage of its work, as data.
//!
//! Invariants: at most 250 stages and 250 labels, so both fit a byte; stage 0 is `unknown`,
//! 1 `idle`, 2 `not zfs`; label 0 is "none".

mod load;
mod matcher;
mod threads;

pub use matcher::NameMap;
use threads::{MOST_CUTTERS, cutters};
pub use threads::{Only, ThreadStage, starts_threads};

#[cfg(test)]
mod tests;

use crate::name::{bare, neighbours};

/// Index into [`Anatomy::stages`].
pub type StageId = u8;

pub const UNKNOWN: StageId = 0;
pub const IDLE: StageId = 1;
pub const NOT_ZFS: StageId = 2;

/// A stage of the work: `decrypt`, `dbuf`, `allocate`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    pub name: String,
    /// One sentence for people.
    pub what: String,
    /// Stages that say more than this one: below them this stage's functions count as theirs.
    pub more_exact: Vec<StageId>,
}

/// What one function says of a stack that contains it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameRule {
    /// Does this stage's work.
    Stage(StageId),
    /// Part of ZFS that serves its callers: they decide; this stage when they do not.
    Context(StageId),
    /// Not of ZFS; does this stage's work when ZFS calls it.
    Shared(StageId),
    /// As `Stage` and `Context`, for names that others use too: only in a ZFS module or below a
    /// ZFS function.
    AmbiguousStage(StageId),
    AmbiguousContext(StageId),
    /// Generic work, kept as a second label of whatever called it; index into [`Anatomy::labels`].
    Label(u8),
    Idle,
    /// Entry of an interrupt: what was running before has nothing to do with it.
    Interrupt,
    /// Entry of a system call.
    Syscall,
}

/// Whose code a module is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModuleKind {
    Zfs,
    /// The kernel itself, or not known: names decide.
    Kernel,
    /// Another module, library or program: its names never mean ZFS.
    Foreign,
}

/// All anatomy files together.
#[derive(Clone, Debug)]
pub struct Anatomy {
    stages: Vec<Stage>,
    labels: Vec<String>,
    functions: NameMap<FrameRule>,
    others: NameMap<()>,
    zfs_modules: NameMap<()>,
    kernel_modules: NameMap<()>,
    threads: Vec<ThreadStage>,
    /// Every pattern with the source file it stands for, for lint and the field guide.
    patterns: Vec<PatternSource>,
}

/// Where a pattern of the anatomy comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternSource {
    pub pattern: String,
    pub file: String,
    pub rule: FrameRule,
}

impl Anatomy {
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    pub fn patterns(&self) -> &[PatternSource] {
        &self.patterns
    }

    pub fn stage(&self, name: &str) -> Option<StageId> {
        self.stages.iter().position(|s| s.name == name).map(|i| i as StageId)
    }

    pub fn label(&self, name: &str) -> Option<u8> {
        self.labels.iter().position(|l| l == name).map(|i| i as u8)
    }

    /// Whether a function name, or the fixed part of a pattern, is written down anywhere.
    pub fn knows(&self, name: &str) -> bool {
        let fixed = name.split('*').next().unwrap_or(name);
        self.functions.get(fixed).is_some()
            || self.others.get(fixed).is_some()
            || (name.contains('*') && self.patterns.iter().any(|p| p.pattern.starts_with(fixed)))
    }

    pub fn module_kind(&self, module: &str) -> ModuleKind {
        let module = module.trim_matches(['[', ']']);
        let module = module.rsplit('/').next().unwrap_or(module);
        if self.zfs_modules.get(module).is_some() {
            ModuleKind::Zfs
        } else if module.is_empty() || self.kernel_modules.get(module).is_some() {
            ModuleKind::Kernel
        } else {
            ModuleKind::Foreign
        }
    }

    /// The rule of a printed function name in a module, and whose code it is.
    pub fn frame(&self, printed: &str, module: &str) -> (Option<FrameRule>, ModuleKind) {
        let name = bare(printed);
        let kind = self.module_kind(if name.module.is_empty() { module } else { name.module });
        let rule = self.functions.get(name.function).filter(|rule| {
            let bounds = matches!(rule, FrameRule::Idle | FrameRule::Interrupt);
            let other = matches!(rule, FrameRule::Label(_) | FrameRule::Shared(_) | FrameRule::Syscall);
            other || (kind != ModuleKind::Foreign && !(bounds && kind == ModuleKind::Zfs))
        });
        let rule = rule.or_else(|| match kind {
            ModuleKind::Zfs => self.of_neighbours(printed),
            ModuleKind::Foreign => self.of_next(printed),
            ModuleKind::Kernel => None,
        });
        (rule, kind)
    }

    /// A function without a name serves its callers; where they are not known, as below assembly that
    /// keeps no frame pointer, it has the stage that both functions next to it share: they are of one source file.
    fn of_neighbours(&self, printed: &str) -> Option<FrameRule> {
        let (before, after) = neighbours(printed)?;
        let stage = |name| match self.functions.get(name)? {
            FrameRule::Stage(stage)
            | FrameRule::Context(stage)
            | FrameRule::AmbiguousStage(stage)
            | FrameRule::AmbiguousContext(stage) => Some(stage),
            _ => None,
        };
        let shared = stage(before)?;
        (stage(after)? == shared).then_some(FrameRule::Context(shared))
    }

    /// A function without a name of a library that ZFS calls does what the next one does: a source file
    /// begins with what only itself calls, as `longest_match` of zlib's deflate.c.
    fn of_next(&self, printed: &str) -> Option<FrameRule> {
        let (_, after) = neighbours(printed)?;
        self.functions.get(after).filter(|rule| matches!(rule, FrameRule::Shared(_)))
    }
}
