//! What the child of this engine has to know of the host.

use super::host::Roots;
use super::journal::Begin;
use super::parameters::Wanted;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PoolPlan {
    /// Folder of the run's journal.
    pub journal: PathBuf,
    pub begin: Begin,
    pub roots: Roots,
    /// Empty for files in the scratch folder.
    pub devices: Vec<PathBuf>,
    pub numbers: Vec<u64>,
    pub parameters: Vec<Wanted>,
}
