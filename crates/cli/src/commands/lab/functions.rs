//! Which functions make the cost of an experiment grow, read from the captures of its steps.

use crate::load::{ReadArgs, load};
use crate::output;
use anyhow::{Context, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use zwhy_diagnose::{Knowledge, ModuleKind};
use zwhy_lab::{Captured, ExperimentResult};
use zwhy_profile::{Event, FunctionTotals};

/// Adds the curves of the functions that grow, and judges the expectations again, which may ask for them.
pub fn add_functions(result: &mut ExperimentResult, folder: &Path) -> Result<()> {
    if result.growth.is_empty() {
        return Ok(());
    }
    let knowledge = Knowledge::embedded();
    let mut gone = BTreeSet::new();
    let found = zwhy_lab::functions_grow(result, |capture| {
        let read = shares(capture, folder, &knowledge)?;
        if read.is_none() {
            gone.insert(capture.path.display().to_string());
        }
        anyhow::Ok(read)
    })?;
    if !gone.is_empty() {
        output::note(&format!(
            "Which functions grow was read without {} captures that are gone from {}: {}",
            gone.len(),
            folder.display(),
            gone.into_iter().collect::<Vec<_>>().join(", ")
        ));
    }
    // An experiment that goes on has them already.
    result.growth.retain(|growth| growth.function.is_none());
    result.growth.extend(found);
    result.checks = zwhy_lab::check(result);
    result.write(folder)?;
    Ok(())
}

/// The part of the CPU below each function of OpenZFS; `None` where the capture is gone.
fn shares(capture: &Captured, folder: &Path, knowledge: &Knowledge) -> Result<Option<BTreeMap<String, f64>>> {
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
        let module = knowledge.anatomy.module_kind(profile.strings.get(row.module));
        module == ModuleKind::Zfs && !profile.strings.get(row.function).contains("+0x")
    });
    let share = |row: &zwhy_profile::FunctionCounts| {
        (profile.strings.get(row.function).to_owned(), row.total as f64 / all)
    };
    Ok(Some(own.map(share).collect()))
}
