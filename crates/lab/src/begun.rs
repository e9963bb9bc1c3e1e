//! Whether an experiment has begun in a folder: its plan is there before its first run.

use std::path::Path;

/// The plan, in the output folder.
pub const PLAN: &str = "plan.json";

/// Whether an experiment has begun in this folder.
pub fn is_begun(folder: &Path) -> bool {
    folder.join(PLAN).exists()
}
