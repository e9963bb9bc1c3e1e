//! What an experiment keeps on disk while it runs, so that a kill loses the running cell at most.
//!
//! `plan.json` is written before the first run and never again; `cells/NNN.json` is one finished run each,
//! written whole or not at all; `result.json` is made of these and can be made again.

use crate::error::LabError;
use crate::like::Likeness;
use crate::plan::{PlannedRun, order};
use crate::pool::PoolChoice;
use crate::result::RunResult;
use crate::sample::Sampled;
use crate::spec::{Experiment, Size, SizeSpec, Stop};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use zwhy_place::{Place, PlaceError};

/// The plan, in the output folder.
const PLAN: &str = "plan.json";
const CELLS: &str = "cells";
const POOLS: &str = "pool";

/// Whether an experiment has begun in this folder: its plan is there before its first run.
pub fn is_begun(folder: &Path) -> bool {
    folder.join(PLAN).exists()
}

/// Everything that decides what runs, and in which order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    pub schema: u32,
    pub experiment: Experiment,
    pub size: Size,
    pub size_spec: SizeSpec,
    pub seed: u64,
    /// Unix time.
    pub started_s: u64,
    /// The command as it was given.
    pub command: Vec<String>,
    pub scratch: PathBuf,
    /// The libzpool, or the kernel's module.
    pub library: PathBuf,
    pub build_id: Option<String>,
    #[serde(default)]
    pub pool: PoolChoice,
    /// The pool of each run is kept.
    #[serde(default)]
    pub keep: bool,
    /// Files of the user that are written, in a sample beside the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<Sampled>,
    /// When enough repetitions were made; those of `size_spec` are the most then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Stop>,
    /// The recorded host that settings were taken from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub like: Option<Likeness>,
    /// Samples a second of the captures; `None`: nothing is recorded.
    pub hz: Option<u32>,
}

impl Plan {
    /// The plan in that file.
    ///
    /// # Errors
    /// When it is not there, or this version cannot read it.
    pub fn read(path: &Path) -> Result<Plan, LabError> {
        let folder = path.parent().unwrap_or(path);
        let text = fs::read_to_string(path).map_err(|source| {
            LabError::unread("read the plan of an experiment,", folder, path.to_owned(), source)
        })?;
        serde_json::from_str(&text).map_err(LabError::useless(path))
    }

    pub fn order(&self) -> Result<Vec<PlannedRun>, LabError> {
        let variants = self.experiment.variants().map_err(|what| self.experiment.wrong(what))?;
        Ok(order(variants.len(), self.size_spec.repetitions, self.seed))
    }
}

/// The output folder of one experiment.
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// Makes the folder and writes the plan.
    pub fn create(folder: &Path, plan: &Plan) -> Result<Store, LabError> {
        let cells = folder.join(CELLS);
        fs::create_dir_all(&cells).map_err(LabError::io("make the output folder", &cells))?;
        let store = Store::at(folder);
        store.write(&folder.join(PLAN), plan)?;
        Ok(store)
    }

    /// Opens the folder of an experiment that was begun.
    ///
    /// # Errors
    /// When it holds no plan, or one that this version cannot read.
    pub fn open(folder: &Path) -> Result<(Store, Plan), LabError> {
        let plan = Plan::read(&folder.join(PLAN))?;
        Ok((Store::at(folder), plan))
    }

    /// The folder of an experiment whose plan lies elsewhere.
    pub fn at(folder: &Path) -> Store {
        Store { folder: folder.to_owned() }
    }

    /// The finished run at a place of the order; `None` when it is not there, or damaged.
    pub fn finished(&self, position: usize) -> Option<RunResult> {
        let run: RunResult = serde_json::from_str(&fs::read_to_string(self.cell(position)).ok()?).ok()?;
        (run.position == position).then_some(run)
    }

    pub fn keep(&self, run: &RunResult) -> Result<(), LabError> {
        self.write(&self.cell(run.position), run)
    }

    /// The folder that the pool of a run is kept in.
    pub fn kept_pool(&self, position: usize) -> PathBuf {
        self.folder.join(POOLS).join(format!("{position:04}"))
    }

    /// Moves the pool of a finished run out of the scratch folder, over what an interrupted one left.
    pub fn keep_pool(&self, position: usize, scratch: &Path) -> Result<(), LabError> {
        let kept = self.kept_pool(position);
        let doing = "keep the pool (the scratch folder must be on the file system of the output folder) in";
        let io = LabError::io(doing, &kept);
        fs::create_dir_all(&kept).map_err(&io)?;
        for entry in fs::read_dir(scratch).map_err(&io)? {
            let entry = entry.map_err(&io)?;
            fs::rename(entry.path(), kept.join(entry.file_name())).map_err(&io)?;
        }
        Ok(())
    }

    fn cell(&self, position: usize) -> PathBuf {
        self.folder.join(CELLS).join(format!("{position:04}.json"))
    }

    fn write(&self, path: &Path, value: &impl Serialize) -> Result<(), LabError> {
        let text =
            serde_json::to_string_pretty(value).map_err(|e| PlaceError::refused(path, e.into()))? + "\n";
        Place::of(path)?
            .write(|out| out.write_all(text.as_bytes()).map_err(|e| PlaceError::refused(path, e)))?;
        Ok(())
    }
}
