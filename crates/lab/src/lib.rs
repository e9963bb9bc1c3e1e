//! Experiments on real OpenZFS: a specification becomes a plan, each run of the plan is measured
//! (and recorded as a capture), and the runs become one result with an answer.
//!
//! Engine `user` opens the host's libzpool at run time and drives it in a child process, which is
//! the program itself executed again: see [`child_main`]. Nothing of OpenZFS is compiled in.

mod bytes;
mod error;
mod estimate;
mod plan;
mod recorder;
mod result;
mod run;
mod scratch;
mod spec;
mod stats;
mod store;
mod user;
mod verdict;

pub use bytes::Bytes;
pub use error::LabError;
pub use estimate::{Estimate, estimate};
pub use plan::PlannedRun;
pub use recorder::{NullRecorder, Progress, RecordError, RecordedPhase, Recorder, Recording, Silent, Step};
pub use result::{
    Captured, Cpu, ExperimentResult, FailedRun, GrowthResult, Mark, RunResult, StepResult, Summary,
    SummaryStep, ThreadGroup,
};
pub use run::{RunOptions, planned_hz, resume, run};
pub use spec::{
    Action, Check, Compare, Engine, Experiment, Measure, Setup, Size, SizeSpec, StepSpec, Variant, Verb,
};
pub use stats::{Growth, Interval, Model, Ratio};
pub use user::child::child_main;
pub use user::cures::Cure;
pub use user::library::{Library, LibraryError, LibraryInfo};
pub use user::parent::{ChildProgram, RunStep};
pub use user::protocol::{Failure, Fault};
pub use verdict::{CheckResult, Compared, Outcome, check, compare, table};
