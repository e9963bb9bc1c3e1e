//! What all readers of text share: lines of hostile bytes, and numbers as people and tools write them.
//!
//! Invariant: nothing here fails on any input; what is not understood is `None`.

pub mod lines;
pub mod numbers;
