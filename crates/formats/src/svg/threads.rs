//! What zwhy says on its own drawings: names are as they were, with nothing put behind them, and the lowest
//! boxes, `[fio]`, may be names of threads and no frames.

use zwhy_profile::{FrameId, Profile};

/// What zwhy writes on the `svg` element of a drawing.
const OURS: &str = "data-by=\"zwhy\"";
const THREADS: &str = "data-roots=\"threads\"";

/// Bytes at the start that hold the element.
const HEAD: usize = 1024;

/// Whether names are as they were.
pub fn is_ours(text: &str) -> bool {
    head(text).contains(OURS)
}

/// Whether the lowest boxes are threads.
pub fn are_roots(text: &str) -> bool {
    is_ours(text) && head(text).contains(THREADS)
}

fn head(text: &str) -> &str {
    let end = text.char_indices().map(|(at, _)| at).find(|at| *at >= HEAD).unwrap_or(text.len());
    &text[..end]
}

/// Makes the first frame of each stack its thread.
pub fn take(profile: &mut Profile) {
    for row in 0..profile.samples.len() {
        let mut frames: Vec<FrameId> = profile.stacks.leaf_to_root(profile.samples.stack[row]).collect();
        let Some(root) = frames.pop() else { continue };
        let name = profile.function_of(root);
        let comm = name.strip_prefix('[').and_then(|n| n.strip_suffix(']')).unwrap_or(name).to_owned();
        frames.reverse();
        profile.samples.thread[row] = profile.thread(-1, -1, &comm);
        profile.samples.stack[row] = profile.stack(&frames);
    }
}
