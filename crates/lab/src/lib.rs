//! Experiments on real OpenZFS: a specification becomes a plan, each run of the plan is measured
//! (and recorded as a capture), and the runs become one result with an answer.
//!
//! Each run is played in a child process, which is the program itself executed again: see [`child_main`].
//! Engine `user` opens the host's libzpool there at run time, engine `pool` makes a pool of its own on the
//! OpenZFS in the host's kernel. Nothing of OpenZFS is compiled in.

mod bytes;
mod engine;
mod error;
mod estimate;
mod failure;
mod io;
mod latency;
mod like;
mod page;
mod plan;
mod pool;
mod prose;
mod raw;
mod recorder;
mod result;
mod run;
mod sample;
mod scratch;
mod spec;
mod stats;
mod store;
mod user;
mod verdict;
mod workers;

pub use bytes::Bytes;
pub use engine::child::child_main;
pub use engine::parent::{ChildProgram, RunStep};
pub use engine::protocol::Fault;
pub use error::LabError;
pub use estimate::{Estimate, Pace, estimate, estimate_at};
pub use failure::Failure;
pub use latency::{Latency, Percentile};
pub use like::{LeftOut, LikeOptions, Likeness, Taken};
pub use page::{
    Dot, LabPage, PageCapture, PageCell, PageCommand, PageFigure, StageBar, StagePart, StageShare,
};
pub use plan::PlannedRun;
pub use pool::PoolChoice;
pub use pool::cleanup::{Cleaned, cleanup};
pub use pool::journal::FOLDER as JOURNALS;
pub use pool::limits::{Remark, remarks};
pub use recorder::{
    NullRecorder, Progress, RecordError, RecordedPhase, Recorder, Recording, Silent, Step, Whom,
};
pub use result::{
    Captured, Cpu, ExperimentResult, FailedRun, GrowthResult, Mark, RunResult, StepResult, Stopped, Summary,
    SummaryStep, SurfaceResult, ThreadGroup,
};
pub use run::verify::{Verified, VerifyOptions, verify};
pub use run::{RunOptions, gather, missing, planned_hz, resume, run, runs_to_come};
pub use sample::Sampled;
pub use spec::{
    Accelerator, AcceleratorFigure, Action, Call, CallKind, Check, Compare, Destination, Engine, Experiment,
    Form, Measure, Setup, Size, SizeSpec, State, StepSpec, Stop, Variant, Verb, Way, accelerators,
};
pub use stats::{Growth, Interval, Law, Model, Ratio, Surface, median, paired};
pub use store::Plan;
pub use user::cures::Cure;
pub use user::library::{Library, LibraryError, LibraryInfo};
pub use user::limits::{refusals as user_refusals, unknown as user_unknown};
pub use verdict::{CheckResult, Compared, Outcome, check, compare, functions_grow, predict, table};
