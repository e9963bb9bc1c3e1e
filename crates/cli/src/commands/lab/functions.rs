//! Which functions make the cost of an experiment grow, read from the captures of its steps.

use crate::load::{ReadArgs, load};
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::path::Path;
use zwhy_lab::{Captured, ExperimentResult};
use zwhy_profile::{Event, FunctionTotals};

/// Adds the curves of the functions that grow, and judges the expectations again, which may ask for them.
pub fn add_functions(result: &mut ExperimentResult, folder: &Path) -> Result<()> {
    if result.growth.is_empty() {
        return Ok(());
    }
    let found = zwhy_lab::functions_grow(result, |capture| shares(capture, folder))?;
    // An experiment that goes on has them already.
    result.growth.retain(|growth| growth.function.is_none());
    result.growth.extend(found);
    result.checks = zwhy_lab::check(result);
    result.write(folder)?;
    Ok(())
}

/// The part of the CPU below each function of OpenZFS.
fn shares(capture: &Captured, folder: &Path) -> Result<Option<BTreeMap<String, f64>>> {
    let path = folder.join(&capture.path);
    if !path.exists() {
        return Ok(None);
    }
    let imported =
        load(&path, &ReadArgs::default()).with_context(|| format!("cannot read {}", path.display()))?;
    let profile = &imported.evidence.profile;
    let totals = FunctionTotals::of(profile, Event::Cpu);
    let all = totals.samples.max(1) as f64;
    let own = totals.rows.iter().filter(|row| {
        // Code without a name says nothing about where to look.
        is_openzfs(profile.strings.get(row.module)) && !profile.strings.get(row.function).contains("+0x")
    });
    let share = |row: &zwhy_profile::FunctionCounts| {
        (profile.strings.get(row.function).to_owned(), row.total as f64 / all)
    };
    Ok(Some(own.map(share).collect()))
}

fn is_openzfs(module: &str) -> bool {
    let name = module.rsplit('/').next().unwrap_or(module).trim_matches(['[', ']']);
    name == "zfs" || name.starts_with("libzpool")
}
