//! Foreign profile formats, in and out: one importer a format, one list of them, content decides.
//!
//! Invariants: every importer returns [`Imported`] whose stats balance (read = kept + dropped +
//! lost); input is hostile: no panic, memory bounded by [`Limits`]; nothing here prints, exits,
//! reads a clock or touches the network.
//!
//! A new format is one file (or folder) with an [`Importer`] and one line in `registry.rs`.

mod blocks;
mod bpftrace;
mod contest;
mod drawn;
mod dtrace;
mod error;
mod evidence_json;
mod export;
mod firefox;
mod folded;
mod folded_lines;
mod gperftools;
mod input;
mod interchange;
mod kernel_stacks;
mod options;
mod otlp;
mod outer;
mod pasted;
mod perf_bundle;
mod perf_data;
mod perf_report;
mod perf_script;
mod periods;
mod pprof;
mod registry;
mod speedscope;
mod spill;
mod stack_list;
mod svg;
mod text;
mod unknown;

pub use drawn::{Drawn, drawn};
pub use error::{ErrorKind, FormatError, Position};
pub use export::{ExportOptions, Exporter, Ids, export, exporters};
pub use input::Input;
pub use options::{ImportOptions, Limits};
pub use perf_bundle::pack_perf_data;
pub use periods::WEIGHED;
pub use registry::{Confidence, HEAD_BYTES, Importer, import, import_bytes, import_path, importers};
pub use zwhy_evidence::{ImportStats, Imported};
