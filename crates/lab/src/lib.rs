//! Experiments on real OpenZFS: a specification becomes a plan, each run of the plan is measured
//! (and recorded as a capture), and the runs become one result with an answer.
//!
//! Engine `user` opens the host's libzpool at run time and drives it in a child process, which is
//! the program itself executed again: see [`child_main`]. Nothing of OpenZFS is compiled in.

mod answer;
mod bytes;
mod error;
mod experiment;
mod plan;
mod recorder;
mod result;
mod run;
mod scratch;
mod settings;
mod table;
mod user;

pub use bytes::Bytes;
pub use error::LabError;
pub use experiment::{Compare, Engine, Experiment, Measure, PhaseKind, PhaseSpec, Size, SizeSpec, Variant};
pub use plan::PlannedRun;
pub use recorder::{NullRecorder, Progress, RecordError, RecordedPhase, Recorder, Recording, Silent, Step};
pub use result::{
    Captured, Cpu, ExperimentResult, Mark, PhaseResult, RunResult, Spread, Summary, SummaryPhase, ThreadGroup,
};
pub use run::{RunOptions, run};
pub use settings::{Checksum, Compression, Encryption, Settings};
pub use table::table;
pub use user::child::child_main;
pub use user::cures::Cure;
pub use user::library::{Library, LibraryError, LibraryInfo};
pub use user::parent::{ChildProgram, RunStep};
pub use user::protocol::{Failure, Fault};
