//! The store against what the captures themselves say, counted without an engine.

mod answers;
mod bucket;
mod digests;
mod dying;
mod hostile;
mod merging;
mod program;
mod simulated;
mod source;
mod sums;
