//! Engine `pool`: a pool of the lab's own on the OpenZFS in this host's kernel.
//!
//! What is changed on the host is in a journal before it is changed ([`journal`]), and one way takes it back
//! after a run, a kill or a crash: [`cleanup`]. Devices in use and devices with anything on them are refused
//! ([`guard`]). The child makes the pool and plays the steps ([`session`]).

mod call;
pub mod cleanup;
mod clocks;
mod commands;
mod counters;
mod devices;
mod engine;
mod files;
mod guard;
pub mod host;
pub mod journal;
mod kill;
mod labels;
pub mod limits;
pub mod parameters;
pub mod session;
#[cfg(test)]
mod tests;

pub use engine::PoolEngine;

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What the engine may use and change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolChoice {
    /// Block devices to make pools of; files in the scratch folder when there are none.
    pub devices: Vec<PathBuf>,
    /// Folder of the journals.
    pub journals: PathBuf,
    /// Parameters of the module may be set for a run; they are put back after it.
    pub allow_parameters: bool,
}

impl Default for PoolChoice {
    fn default() -> Self {
        PoolChoice { devices: Vec::new(), journals: journal::FOLDER.into(), allow_parameters: false }
    }
}
