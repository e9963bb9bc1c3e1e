//! What all text importers share: lines of hostile bytes, and numbers as people and tools write them.
//!
//! Invariant: nothing here fails on any input; what is not understood is `None`.

pub mod counts;
pub mod encoding;
pub mod lines;
pub mod names;
pub mod numbers;
pub mod roots;
