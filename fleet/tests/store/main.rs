//! The store against what the captures themselves say, counted without an engine.

mod answers;
mod bucket;
mod cluster;
mod cluster_failing;
mod cluster_process;
mod digests;
mod dying;
mod hostile;
mod merging;
mod program;
mod simulated;
mod source;
mod sums;
