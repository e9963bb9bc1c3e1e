//! The fleet: what the agents of many hosts sent to one store, asked as one.
//!
//! A store is a folder of Parquet files under keys that depend on nothing but the host and the recording ([`layout`]).
//! A [`Snapshot`] is one state of it as tables of an engine (DataFusion, in this process or in those of a cluster); every answer is a plan over these
//! tables, folded into a profile, which the engine of `zwhy explain` then classifies. Nothing here prints.

mod answers;
mod cluster;
mod codec;
mod columns;
mod engine;
mod error;
mod findings;
mod groups;
mod ingest;
mod layout;
mod listings;
mod manifest;
mod merge;
mod names;
mod s3;
mod scheduler;
mod schema;
mod scope;
pub mod serve;
mod simulate;
mod snapshot;
mod stages;
mod store;
mod sums;
mod table;
mod unit;
mod verdicts;

pub use answers::{
    FunctionRow, HostRow, KstatPoint, KstatRow, Picture, hosts, kstat_points, kstats, stages_over_time,
};
pub use cluster::{ExecutorOptions, execute, schedule};
pub use engine::Engine;
pub use error::FleetError;
pub use findings::{Found, Lasting, capture_of, findings, judge, judge_capture, put_findings};
pub use groups::Apart;
pub use ingest::{IngestOptions, Ingested, ingest, put_capture};
pub use layout::{FACTS, LONGEST_MS, Place, TABLES, UnitKey};
pub use manifest::{Hour, Manifest, manifests};
pub use merge::{MergeOptions, Merged, compact};
pub use scheduler::{Readiness, Scheduler};
pub use scope::{Scope, moment_ms, moment_text, span_ms};
pub use simulate::{Simulated, Simulation, simulate};
pub use snapshot::{Contents, Snapshot};
pub use stages::{HostCpu, StagePoint, StageRow, Staged};
pub use store::Store;
pub use unit::{Unit, units};
