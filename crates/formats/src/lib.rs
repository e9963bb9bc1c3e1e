//! Foreign profile formats, in and out: one importer a format, one list of them, content decides.
//!
//! Invariants: every importer returns [`Imported`] whose stats balance (read = kept + dropped +
//! lost); input is hostile: no panic, memory bounded by [`Limits`]; nothing here prints, exits,
//! reads a clock or touches the network.
//!
//! A new format is one folder with an [`Importer`] in its `mod.rs` and one line in `registry/mod.rs`.

mod bpftrace;
mod drawn;
mod dtrace;
mod error;
mod evidence_json;
mod export;
mod firefox;
mod folded;
mod gperftools;
mod importer;
mod input;
mod interchange;
mod kernel_stacks;
mod options;
mod otlp;
mod pasted;
mod perf_bundle;
mod perf_data;
mod perf_report;
mod perf_script;
mod periods;
mod pprof;
mod registry;
mod speedscope;
mod svg;
mod text;

pub use drawn::{Drawn, drawn, with_drawn};
pub use error::{ErrorKind, FormatError, Position};
pub use export::{ExportOptions, Exporter, Ids, export, exporters};
pub use importer::{Confidence, HEAD_BYTES, Importer};
pub use input::Input;
pub use options::{ImportOptions, Limits};
pub use perf_bundle::pack_perf_data;
pub use periods::WEIGHED;
pub use registry::{import, import_bytes, import_path, importers};
pub use zwhy_evidence::{ImportStats, Imported};
