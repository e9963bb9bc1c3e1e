//! `--like CAPTURE`: an experiment with the settings of a recorded host.

use crate::failure::usage_about;
use crate::load::{ReadArgs, capture_path, load_told};
use anyhow::{Result, bail};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use zwhy_lab::{Engine, Experiment, Library, LikeOptions, Likeness, PoolChoice};

#[derive(clap::Args, Debug)]
pub struct LikeArgs {
    /// Take settings from a recorded host: properties, record size and I/O size of its busiest dataset, threads, the
    /// layout of its pool, and changed parameters. What --set says comes first.
    #[arg(long, value_name = "CAPTURE")]
    like: Option<PathBuf>,
    /// The dataset whose settings --like takes, instead of the busiest.
    #[arg(long, value_name = "DATASET", requires = "like")]
    like_dataset: Option<String>,
}

impl LikeArgs {
    /// Changes the experiment; what was taken, where there is a capture to take it from. `own`: what the user set.
    pub fn apply(
        &self,
        experiment: &mut Experiment,
        own: &BTreeMap<String, String>,
        library: Option<&Path>,
        pool: &PoolChoice,
    ) -> Result<Option<Likeness>> {
        let Some(path) = &self.like else { return Ok(None) };
        if capture_path(path)?.is_none() {
            let what = if path.is_dir() { "a folder" } else { "no capture of zwhy" };
            bail!(
                "--like {}: this is {what}; name a capture that zwhy record made on the host (zwhy record -o host.zwhy)",
                path.display()
            );
        }
        let imported = load_told(path, &ReadArgs::default())?;
        // A library that is missing or unknown is told where it shall run.
        let library = match experiment.engine {
            Engine::User => Library::find(library).ok(),
            _ => None,
        };
        let options = LikeOptions {
            capture: path.display().to_string(),
            dataset: self.like_dataset.as_deref(),
            own,
            library: library.as_ref(),
            pool,
        };
        let given = Likeness::give(experiment, &imported.evidence, &options);
        given.map(Some).map_err(|what| usage_about("lab", format!("--like {}: {what}", path.display())))
    }
}
