//! What parent and child say to each other: one JSON value a line.
//!
//! The child is silent until it has its [`ChildPlan`] (first line of its input). Before each step
//! it says `Ready` and waits for one line, the gate: the recorder is started meanwhile. Times are
//! the monotonic clock.

use crate::Bytes;
use crate::failure::Failure;
use crate::pool::host::Roots;
use crate::pool::journal::Begin;
use crate::pool::parameters::Wanted;
use crate::result::{Mark, StepResult};
use crate::spec::{Setup, Step};
use crate::user::cures::Cure;
use crate::user::kept::Kept;
use crate::user::library::Library;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The line that opens the gate.
pub const GO: &str = "go";

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ChildPlan {
    pub engine: EnginePlan,
    pub scratch: PathBuf,
    pub setup: Setup,
    pub bytes: Bytes,
    pub seed: u64,
    pub steps: Vec<Step>,
    /// What is written, where that is a sample of the user's own files.
    #[serde(default)]
    pub sample: Option<PathBuf>,
    /// What is needed to open the pool again is left beside it.
    #[serde(default)]
    pub keep: bool,
    pub fault: Option<Fault>,
}

/// What the session of an engine has to know on top.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EnginePlan {
    User(UserPlan),
    Pool(PoolPlan),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UserPlan {
    pub library: Library,
    pub parameters: Vec<Parameter>,
    /// The pool is there already, and is only read.
    #[serde(default)]
    pub existing: Option<Kept>,
}

/// What the child of the engine `pool` has to know of the host.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PoolPlan {
    /// Folder of the run's journal.
    pub journal: PathBuf,
    pub begin: Begin,
    pub roots: Roots,
    /// Empty for files in the scratch folder.
    pub devices: Vec<PathBuf>,
    pub numbers: Vec<u64>,
    pub parameters: Vec<Wanted>,
}

/// A variable of the library.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    pub name: String,
    /// In bytes: 4 or 8.
    pub size: u64,
    pub value: i128,
}

/// Misbehaviour on demand, for tests of what happens then. It strikes inside the first read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// OpenZFS panics (`cmn_err`).
    Crash,
    /// Nothing happens any more.
    Hang,
    /// A byte of the data is not what was written.
    WrongByte,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "snake_case")]
pub enum FromChild {
    /// The library is open and the pool is made.
    Hello {
        cures: Vec<Cure>,
    },
    Ready {
        step: String,
    },
    Mark(Mark),
    Progress {
        done: u64,
        total: u64,
    },
    End(Box<StepEnd>),
    Failed {
        failure: Failure,
    },
    Done,
}

/// A step is over.
#[derive(Debug, Serialize, Deserialize)]
pub struct StepEnd {
    /// Without marks and captures, which are the parent's.
    pub result: StepResult,
    /// When it was over.
    pub end_ns: i64,
}
