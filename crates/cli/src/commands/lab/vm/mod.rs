//! `lab run --engine vm`: the engine pool on the OpenZFS of a kernel of its own, in a VM that ends by itself.
//!
//! Scripts of this program build kernel and modules once from packages of Debian, and boot them in QEMU. This program is
//! copied into it, plays the experiment there as root, and says on the serial line how far it is; the results come back on
//! a disk.

mod home;
mod machine;
mod scripts;

pub use home::{has_begun, note_likeness};
pub use machine::{Machine, seconds};

use super::line::LINES;
use super::plan::{Chosen, Wanted};
use super::shown::Shown;
use crate::failure::usage;
use crate::stop;
use anyhow::{Context, Result, bail};
use machine::{Job, whole};
use std::path::{Path, PathBuf};
use zwhy_lab::{ExperimentResult, Pace, Remark, estimate_at, remarks};

#[derive(clap::Args, Debug)]
pub struct VmArgs {
    /// Folder with other scripts for the VM, with --engine vm: vm/ of zwhy's sources. Default: those of this program.
    #[arg(long = "vm", value_name = "DIR")]
    folder: Option<PathBuf>,
    /// OpenZFS in the VM, with --engine vm.
    #[arg(long = "vm-zfs", value_name = "VERSION", default_value = "2.3", value_parser = ["2.4", "2.3", "2.1"])]
    zfs: String,
}

/// Everything else that the call in the VM is given.
pub struct Call<'a> {
    pub chosen: &'a Chosen,
    pub seed: Option<u64>,
    /// `None`: nothing is recorded.
    pub hz: Option<u32>,
}

/// Folder of the results in the VM.
const INSIDE: &str = "lab";

/// # Errors
/// What the engine pool cannot do of it, a VM that is not there or does not boot, and what failed inside.
pub fn run(
    wanted: &Wanted,
    args: &VmArgs,
    call: &Call<'_>,
    out: &Path,
    shown: &mut Shown,
) -> Result<ExperimentResult> {
    refuse_what_cannot_run(wanted)?;
    // From here on Ctrl-C ends the machine first.
    let cancel = stop::flag()?;
    let mut job = ready(args, out)?;
    let estimate = estimate_at(&wanted.experiment, wanted.size_spec, Pace::EMULATED)?;
    let machine = Machine::of(&wanted.experiment.variants().map_err(usage)?, &estimate);
    job.words = call.words(wanted, &machine, &job.program)?;
    job.files.extend(call.chosen.file().map(whole).transpose()?);
    home::bring(out, machine::boot(&machine, &job, &cancel, shown))
}

/// Goes on with the experiment of this folder in a new machine: what is finished goes in with it. Where nothing is missing
/// none is booted.
///
/// # Errors
/// As [`run`], and a folder in which no run was finished.
pub fn resume(out: &Path, folder: Option<&Path>, shown: &mut Shown) -> Result<ExperimentResult> {
    if let Some(result) = home::complete(out)? {
        return Ok(result);
    }
    let cancel = stop::flag()?;
    let begun = home::begun(out)?;
    let args = VmArgs { folder: folder.map(Path::to_owned), zfs: begun.zfs.clone() };
    let mut job = ready(&args, out)?;
    let estimate = estimate_at(&begun.plan.experiment, begun.plan.size_spec, Pace::EMULATED)?;
    let machine = Machine::of(&begun.plan.experiment.variants().map_err(usage)?, &estimate);
    let unpack = format!("tar -x -f /job/{} -C /out && exec \"$@\" >/dev/null", home::BEGUN);
    job.words = in_vm(&unpack, &job.program)?;
    job.words.extend(["lab", "resume", &format!("/out/{INSIDE}"), "--json"].map(String::from));
    job.files.push(begun.archive.clone());
    home::bring(out, machine::boot(&machine, &job, &cancel, shown))
}

/// A job without its command: what this host has for it.
fn ready(args: &VmArgs, out: &Path) -> Result<Job> {
    let cache = scripts::cache()?;
    let vm = folder(args, &cache)?;
    scripts::check_needs(&vm)?;
    let program = std::env::current_exe().and_then(|program| program.canonicalize());
    let program = program.context("cannot find this program")?;
    let (files, words) = (Vec::new(), Vec::new());
    Ok(Job { vm, cache, zfs: args.zfs.clone(), program, files, out: whole(out)?, words })
}

/// A command of this program in the VM, run by a script that gets it as its words.
fn in_vm(script: &str, program: &Path) -> Result<Vec<String>> {
    let name = program.file_name().context("this program has no name")?;
    let (lines, program) = (format!("{LINES}=1"), format!("/job/{}", name.display()));
    Ok(["sh", "-c", script, "sh", "env", &lines, &program].map(String::from).to_vec())
}

fn refuse_what_cannot_run(wanted: &Wanted) -> Result<()> {
    let all = remarks(&wanted.experiment, &wanted.pool).map_err(usage)?;
    let why: Vec<String> =
        all.into_iter().filter_map(|r| if let Remark::Refused(why) = r { Some(why) } else { None }).collect();
    if why.is_empty() { Ok(()) } else { bail!("the engine vm cannot run this: {}", why.join("; ")) }
}

/// The folder with `run`.
fn folder(args: &VmArgs, cache: &Path) -> Result<PathBuf> {
    match &args.folder {
        None => scripts::unpack(cache),
        Some(folder) if folder.join("run").is_file() => whole(folder),
        Some(folder) => Err(usage(format!(
            "--vm: {} has no program run that boots a VM; leave --vm out, or name the folder vm/ of zwhy's sources",
            folder.display()
        ))),
    }
}

impl Call<'_> {
    /// The command in the VM. What it prints is thrown away: the host prints the result.
    fn words(&self, wanted: &Wanted, machine: &Machine, program: &Path) -> Result<Vec<String>> {
        let mut words = in_vm("exec \"$@\" >/dev/null", program)?;
        words.extend(self.chosen.words(wanted)?);
        let fixed = ["--engine", "pool", "--allow-parameters", "--json", "--scratch", "/tmp/scratch", "-o"];
        words.extend(fixed.map(String::from));
        words.push(format!("/out/{INSIDE}"));
        words.extend(machine.devices().flat_map(|device| ["--device".to_owned(), device]));
        words.extend(self.seed.iter().flat_map(|seed| ["--seed".to_owned(), seed.to_string()]));
        words.extend(match self.hz {
            Some(hz) => vec!["-F".to_owned(), hz.to_string()],
            None => vec!["--no-record".to_owned()],
        });
        Ok(words)
    }
}
