//! `lab run --engine vm`: the engine pool on the OpenZFS of a kernel of its own, in a VM that ends by itself.
//!
//! Scripts of this program build kernel and modules once from packages of Debian, and boot them in QEMU. This program is
//! copied into it, plays the experiment there as root, and says on the serial line how far it is; the results come back on
//! a disk.

mod line;
mod machine;
mod scripts;

pub use line::{LINES, Line};
pub use machine::{Machine, QUICK, seconds};

use super::plan::{Chosen, Wanted};
use super::runs::Shown;
use crate::failure::usage;
use crate::stop;
use anyhow::{Context, Result, bail};
use machine::{Job, whole};
use std::fs;
use std::path::{Path, PathBuf};
use zwhy_lab::{ExperimentResult, Pace, Remark, estimate_at, remarks};

#[derive(clap::Args, Debug)]
pub struct VmArgs {
    /// Folder with other scripts for the VM, with --engine vm: vm/ of zwhy's sources. Default: those of this program.
    #[arg(long = "vm", value_name = "DIR")]
    folder: Option<PathBuf>,
    /// OpenZFS in the VM, with --engine vm.
    #[arg(long = "vm-zfs", value_name = "VERSION", default_value = "2.3", value_parser = ["2.3", "2.1"])]
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
    let cache = scripts::cache()?;
    let vm = folder(args, &cache)?;
    scripts::check_needs(&vm)?;
    let program = std::env::current_exe().context("cannot find this program")?;
    let program = program.canonicalize().context("cannot find this program")?;
    let estimate = estimate_at(&wanted.experiment, wanted.size_spec, Pace::EMULATED)?;
    let machine = Machine::of(&wanted.experiment.variants().map_err(usage)?, &estimate);
    let words = call.words(wanted, &machine, &program)?;
    let files = call.chosen.file().map(whole).transpose()?.into_iter().collect();
    let job = Job { vm, cache, zfs: args.zfs.clone(), program, files, out: whole(out)?, words };
    let booted = machine::boot(&machine, &job, &cancel, shown);
    // Where some runs failed, the others are there all the same.
    match booted {
        Err(error) if !out.join(INSIDE).join("result.json").is_file() => Err(error),
        _ => bring_home(out),
    }
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
        let name = program.file_name().context("this program has no name")?;
        let quiet = ["sh", "-c", "exec \"$@\" >/dev/null", "sh", "env"].map(String::from);
        let mut words = Vec::from(quiet);
        words.extend([format!("{LINES}=1"), format!("/job/{}", name.display())]);
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

/// Moves what came back one folder up. The plan stays out: paths and devices in it are those of the VM, and nobody
/// shall go on with it on this host.
fn bring_home(out: &Path) -> Result<ExperimentResult> {
    let inside = out.join(INSIDE);
    for entry in fs::read_dir(&inside).context("the VM left no results")? {
        let entry = entry.context("cannot look into the results")?;
        if entry.file_name() != "plan.json" {
            fs::rename(entry.path(), out.join(entry.file_name())).context("cannot move the results")?;
        }
    }
    fs::remove_dir_all(&inside).context("cannot tidy up after the VM")?;
    let _ = fs::remove_file(out.join(".exit"));
    let mut result = ExperimentResult::read(out)?;
    result.command = std::env::args().collect();
    result.distortions.insert(
        0,
        "the machine is a VM of two processors; where it is emulated (no KVM) instructions cost other than on a CPU, \
         vector instructions most of all: compare its cells with each other only"
            .into(),
    );
    result.write(out)?;
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_home_without_the_plan() {
        let out = tempfile::tempdir().unwrap();
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lab/result.json");
        fs::create_dir_all(out.path().join("lab/cells")).unwrap();
        fs::copy(sample, out.path().join("lab/result.json")).unwrap();
        fs::write(out.path().join("lab/plan.json"), "{}").unwrap();
        let result = bring_home(out.path()).unwrap();
        assert!(result.distortions[0].contains("VM"));
        assert!(out.path().join("cells").is_dir() && !out.path().join("lab").exists());
        assert!(!out.path().join("plan.json").exists());
    }
}
