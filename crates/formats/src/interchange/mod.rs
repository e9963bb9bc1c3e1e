//! What the interchange formats (pprof, OTLP, speedscope, Firefox) share: wire and JSON reading, foreign
//! tables to frames and stacks, foreign values to sample counts.
//!
//! Invariants: every index of a file is checked before use; memory stays within a small multiple of the
//! input (see `stacks.rs`); text of the file reaches warnings only through [`shown`].

pub mod frames;
pub mod json;
pub mod meaning;
pub mod protobuf;
pub mod rows;
mod stacks;
mod taken;

pub use taken::Taken;

/// Bytes of a name that are looked at: many small entries of a file may point to one very long name.
pub const MAX_NAME: usize = 1 << 16;

/// Text of a file for a warning: short and without control characters.
pub fn shown(text: &str) -> String {
    const MAX: usize = 60;
    let mut out: String = text.chars().map(|c| if c.is_control() { '?' } else { c }).take(MAX).collect();
    if text.chars().nth(MAX).is_some() {
        out.push('…');
    }
    out
}
