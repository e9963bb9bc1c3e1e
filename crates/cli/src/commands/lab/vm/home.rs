//! How results leave the VM: all at its end, and what was finished where it dies; and how they go into the next one.
//!
//! The plan of the machine is kept under another name: paths and devices in it are those of the VM, and only a VM goes on
//! with it.

use super::INSIDE;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use zwhy_lab::{ExperimentResult, Likeness, Plan, gather, missing};

/// The plan of the machine, in the output folder.
const PLAN: &str = "vm-plan.json";
/// What a machine that goes on is given.
pub const BEGUN: &str = "begun.tar";
const CELLS: &str = "cells";

/// An experiment was begun in a VM: its plan came home, or lies where a killed program left it.
pub fn has_begun(out: &Path) -> bool {
    out.join(PLAN).is_file() || out.join(INSIDE).join("plan.json").is_file()
}

/// Moves what came back one folder up and says what is missing; `ended` is how the machine did.
///
/// # Errors
/// The machine's, where no run was finished, and files that cannot be moved.
pub fn bring(out: &Path, ended: Result<()>) -> Result<ExperimentResult> {
    // Of an earlier machine, where this one went on.
    let before = ExperimentResult::read(out).ok().filter(is_of_a_vm);
    let alive = out.join(".exit").is_file();
    move_up(out)?;
    let _ = fs::remove_file(out.join(".exit"));
    let mut result = match ended {
        Err(error) if !out.join("result.json").is_file() => return Err(error),
        // Where some runs failed, the others are there all the same.
        Err(error) if !alive && out.join(PLAN).is_file() => {
            gather(out, &out.join(PLAN), &format!("{error:#}"))?
        }
        _ => ExperimentResult::read(out).context("the VM left no results")?,
    };
    result.distortions.retain(|known| known != OF_A_VM);
    result.distortions.insert(0, OF_A_VM.into());
    result.command = std::env::args().collect();
    if let Some(before) = before {
        // The machine knows neither the command on this host nor where settings came from.
        result.command = before.command;
        before.like.iter().for_each(|like| note_likeness(&mut result, like));
    }
    result.write(out)?;
    Ok(result)
}

const OF_A_VM: &str = "the machine is a VM of two processors; where it is emulated (no KVM) instructions cost other than on a CPU, \
                       vector instructions most of all: compare its cells with each other only";

fn is_of_a_vm(result: &ExperimentResult) -> bool {
    result.distortions.iter().any(|known| known == OF_A_VM)
}

/// In the VM these settings are the user's own; with them the experiment expects nothing.
pub fn note_likeness(result: &mut ExperimentResult, like: &Likeness) {
    result.like = Some(like.clone());
    result.expected.clear();
    result.checks.clear();
}

/// Files of the folder of the machine take their place in the folder of this host.
fn move_up(out: &Path) -> Result<()> {
    let inside = out.join(INSIDE);
    if !inside.is_dir() {
        return Ok(());
    }
    let moved = || -> std::io::Result<()> {
        for entry in fs::read_dir(&inside)? {
            let entry = entry?;
            let name = entry.file_name();
            if !entry.file_type()?.is_dir() {
                let name = if name == "plan.json" { PLAN.into() } else { name };
                fs::rename(entry.path(), out.join(name))?;
                continue;
            }
            // A folder that is there already takes what is in this one.
            fs::create_dir_all(out.join(&name))?;
            for file in fs::read_dir(entry.path())? {
                let file = file?;
                fs::rename(file.path(), out.join(&name).join(file.file_name()))?;
            }
        }
        fs::remove_dir_all(&inside)
    };
    moved().context("cannot move the results that the VM left")
}

/// What is finished of an experiment.
pub struct Begun {
    pub plan: Plan,
    /// Of OpenZFS, as `--vm-zfs` takes it.
    pub zfs: String,
    /// Plan and finished runs, for the machine.
    pub archive: PathBuf,
    _folder: TempDir,
}

/// The result of this folder where nothing of it is missing, so that no machine is needed.
///
/// # Errors
/// When plan or result cannot be read.
pub fn complete(out: &Path) -> Result<Option<ExperimentResult>> {
    move_up(out)?;
    if !out.join("result.json").is_file() {
        return Ok(None);
    }
    let result = ExperimentResult::read(out)?;
    let is_complete = result.failed.is_empty() && missing(out, &Plan::read(&out.join(PLAN))?)? == 0;
    Ok(Some(result).filter(|result| is_complete && is_of_a_vm(result)))
}

/// Gets the experiment of this folder ready for another machine.
///
/// # Errors
/// When no run of it was finished, and files that cannot be read or written.
pub fn begun(out: &Path) -> Result<Begun> {
    move_up(out)?;
    let plan = Plan::read(&out.join(PLAN))?;
    if !out.join("result.json").is_file() {
        bail!(
            "no run was finished in {}; begin again in another folder: zwhy lab run {} --engine vm -o …",
            out.display(),
            plan.experiment.name
        );
    }
    let result = ExperimentResult::read(out)?;
    let version = result.library.version_number();
    let zfs = ["2.1", "2.4"].into_iter().find(|zfs| version.starts_with(zfs)).unwrap_or("2.3").to_owned();
    let folder = tempfile::tempdir().context("cannot make a folder for what the VM is given")?;
    let inside = folder.path().join(INSIDE);
    let staged = || -> std::io::Result<()> {
        fs::create_dir_all(inside.join(CELLS))?;
        fs::copy(out.join(PLAN), inside.join("plan.json"))?;
        // What is known of the finished runs; it is made again from them.
        fs::copy(out.join("result.json"), inside.join("result.json"))?;
        for cell in fs::read_dir(out.join(CELLS))? {
            let cell = cell?;
            fs::copy(cell.path(), inside.join(CELLS).join(cell.file_name()))?;
        }
        Ok(())
    };
    staged().context("cannot copy what is finished")?;
    let archive = folder.path().join(BEGUN);
    let mut tar = Command::new("tar");
    tar.arg("-c").arg("-f").arg(&archive).arg("-C").arg(folder.path()).arg(INSIDE);
    let packed = tar.output().context("cannot run tar")?;
    if !packed.status.success() {
        bail!("cannot pack what is finished: {}", String::from_utf8_lossy(&packed.stderr).trim());
    }
    Ok(Begun { plan, zfs, archive, _folder: folder })
}
