//! What all text importers share: lines of hostile bytes, numbers as tools write them, names and counts.
//!
//! Invariant: nothing here fails on any input; what is not understood is `None`.

pub mod blocks;
pub mod counts;
pub mod names;
pub mod roots;

pub use zwhy_paste::text::{lines, numbers};
