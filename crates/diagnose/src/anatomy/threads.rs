//! What a thread tells of a sample whose stack tells nothing: the rules of `threads.toml`.

use super::{Anatomy, StageId};

/// What samples of a thread count as when their stack has no stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadStage {
    /// Role of the thread, as [`zwhy_zfs::Role::name`].
    pub name: String,
    pub stage: StageId,
    pub only: Only,
}

/// Which stacks of a thread say no more than it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Only {
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

/// Whether a thread begins with this function, so that a stack that has it at its root is whole.
pub fn starts_threads(function: &str) -> bool {
    STARTS.contains(&function)
}

/// Libraries that cut stacks off at most.
pub const MOST_CUTTERS: usize = 7;

/// Libraries that cut stacks off, each once.
pub fn cutters(rules: &[ThreadStage]) -> Vec<&str> {
    let mut libraries: Vec<&str> = Vec::new();
    for rule in rules {
        if let Only::CutBy(library) = &rule.only
            && !libraries.contains(&library.as_str())
        {
            libraries.push(library);
        }
    }
    libraries
}

impl Anatomy {
    /// The rules for threads of a role, in their order: the first that holds counts.
    pub fn of_role(&self, role: &str) -> impl Iterator<Item = &ThreadStage> {
        self.threads.iter().filter(move |rule| rule.name == role)
    }

    /// Libraries that cut stacks off, as many as a stack keeps bits for.
    pub fn cutters(&self) -> Vec<&str> {
        let mut libraries = cutters(&self.threads);
        libraries.truncate(MOST_CUTTERS);
        libraries
    }
}
