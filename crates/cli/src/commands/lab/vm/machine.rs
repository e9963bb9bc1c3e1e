//! The machine in which an experiment runs: how large it is, and its life from the call of vm/run to its end.
//!
//! Invariant: it holds this program's end of a pipe, and ends when that does, so a kill of this program leaves no machine.

use super::scripts::CACHE;
use crate::commands::lab::line::Line;
use crate::commands::lab::shown::Shown;
use anyhow::{Context, Result, bail};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;
use zwhy_lab::{Estimate, Variant};

const MIB: u64 = 1 << 20;
/// For the kernel, the programs, and what they write down.
const BASE_MIB: u64 = 1536;
/// Memory that is enough for most, and costs the host only what is used of it.
const USUAL_MIB: u64 = 4096;
/// OpenZFS takes no limit of the ARC below this part of the memory.
const ARC_LEAST: u64 = 32;
/// More disks than these are files in the machine's memory.
const MOST_DISKS: u32 = 8;
/// Of a disk, for its partition table.
const TABLE_MIB: u64 = 16;
/// Seconds until OpenZFS is loaded, emulated on a busy host.
const BOOT_S: f64 = 30.0;
/// A host busy with something else takes so many times longer than estimated; then the machine is ended.
const PATIENCE: f64 = 4.0;
const LEAST_S: f64 = 1800.0;
/// Characters of a line of the console that is told.
const LONGEST: usize = 300;
/// Lines of the console in an error.
const LAST_LINES: usize = 12;

/// How large it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Disks that make the pool; with none the pool is of files in the machine's memory.
    pub disks: u32,
    pub disk_mib: u64,
    pub memory_mib: u64,
    /// Seconds.
    pub limit: u64,
}

impl Machine {
    /// For these cells; `estimate` is that of an emulated machine.
    pub fn of(variants: &[Variant], estimate: &Estimate) -> Machine {
        let disks_of = |v: &Variant| v.setup.all_disks();
        let disks = variants.iter().map(disks_of).max().unwrap_or(1);
        // Each disk becomes one of the pool's in every cell.
        let real = disks <= MOST_DISKS && variants.iter().all(|v| disks_of(v) == disks);
        let arcs = || variants.iter().map(|v| v.setup.arc_max.0 / MIB);
        let pool_mib = estimate.disk.0.div_ceil(MIB);
        // Files in memory may take half of it.
        let files_mib = if real { 0 } else { pool_mib * 2 };
        let wanted = (BASE_MIB + arcs().max().unwrap_or(0) + files_mib).max(USUAL_MIB);
        let least_arc = arcs().min().unwrap_or(u64::MAX / ARC_LEAST);
        let memory_mib = if files_mib > 0 { wanted } else { wanted.min(least_arc * ARC_LEAST) };
        Machine {
            disks: if real { disks } else { 0 },
            disk_mib: if real { pool_mib / u64::from(disks) + TABLE_MIB } else { 0 },
            memory_mib,
            limit: (seconds(estimate) * PATIENCE).max(LEAST_S) as u64,
        }
    }

    /// Partitions in it, as they are called there.
    pub fn devices(&self) -> impl Iterator<Item = String> {
        (0..self.disks).map(|n| format!("/dev/nvme{n}n1p1"))
    }
}

/// The whole experiment in an emulated machine.
pub fn seconds(estimate: &Estimate) -> f64 {
    BOOT_S + estimate.seconds
}

/// What it runs, and where its results go.
pub struct Job {
    /// The folder with vm/run.
    pub vm: PathBuf,
    pub cache: PathBuf,
    pub zfs: String,
    /// This program.
    pub program: PathBuf,
    pub files: Vec<PathBuf>,
    pub out: PathBuf,
    /// The command in the machine.
    pub words: Vec<String>,
}

/// Boots it and shows what it says of the experiment.
///
/// # Errors
/// When it does not boot, the job fails in it, or somebody wants it to end.
pub fn boot(machine: &Machine, job: &Job, cancel: &AtomicBool, shown: &mut Shown) -> Result<()> {
    let mut command = command(machine, job);
    let mut child = Running(
        command.spawn().with_context(|| format!("cannot start {}", command.get_program().display()))?,
    );
    let lines = child.lines();
    shown.waits("booting the VM");
    let last = watch(&lines, cancel, shown).inspect_err(|_| child.end())?;
    let status = child.0.wait().context("cannot wait for the VM")?;
    if status.success() { Ok(()) } else { bail!(failure(status, machine, last)) }
}

fn command(machine: &Machine, job: &Job) -> Command {
    let mut command = Command::new(job.vm.join("run"));
    let number = |n: u64| n.to_string();
    command.args([
        "-w",
        "-v",
        &job.zfs,
        "-n",
        &machine.disks.to_string(),
        "-s",
        &number(machine.disk_mib.max(1)),
    ]);
    command.args(["-m", &number(machine.memory_mib), "-t", &number(machine.limit)]);
    for file in std::iter::once(&job.program).chain(&job.files) {
        command.arg("-f").arg(file);
    }
    // As often as one more run is finished, what is there comes home.
    command.args(["-p", "lab/cells/*.json"]);
    command.arg("-o").arg(&job.out).args(&job.words);
    let mut path = std::env::var_os("PATH").unwrap_or_default();
    // Programs for partitions are often not in the path of a user.
    path.push(":/usr/sbin:/sbin");
    // It takes a first word that names a file for a script: none here is called so.
    command.current_dir(&job.vm).env("PATH", path).env("ZWHY_STATIC", &job.program).env(CACHE, &job.cache);
    // Ctrl-C ends it through this program alone, which then waits until it has tidied up.
    command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Ends with its variable.
struct Running(Child);

impl Running {
    /// What it and the machine say, a line at a time.
    fn lines(&mut self) -> Receiver<String> {
        let (send, lines) = channel();
        self.0.stdout.take().into_iter().for_each(|out| listen(out, send.clone()));
        self.0.stderr.take().into_iter().for_each(|err| listen(err, send.clone()));
        lines
    }

    /// It ends when its standard input does.
    fn end(&mut self) {
        drop(self.0.stdin.take());
        // There is nothing to be done about one that does not.
        let _ = self.0.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

fn listen(from: impl Read + Send + 'static, send: Sender<String>) {
    thread::spawn(move || {
        for line in BufReader::new(from).split(b'\n').map_while(Result::ok) {
            if send.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                return;
            }
        }
    });
}

/// The last lines that are not for the progress bar.
fn watch(lines: &Receiver<String>, cancel: &AtomicBool, shown: &mut Shown) -> Result<VecDeque<String>> {
    const LOOK: Duration = Duration::from_millis(200);
    let mut last = VecDeque::new();
    loop {
        if cancel.load(Ordering::Relaxed) {
            bail!("the experiment was cancelled; the VM has ended, and nothing of it is left");
        }
        let line = match lines.recv_timeout(LOOK) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => return Ok(last),
        };
        match Line::heard(&line) {
            Some(line) => shown.heard(&line),
            None => {
                let line = printable(&line);
                if line.starts_with("vm: ") || line.starts_with("setup: ") {
                    shown.say(&line);
                }
                last.push_back(line);
                last.drain(..last.len().saturating_sub(LAST_LINES));
            }
        }
    }
}

/// A line of a console as a terminal would leave it: without what moves its cursor, and of what was written over only the
/// last.
fn printable(line: &str) -> String {
    let mut rest = line.trim().rsplit('\r').next().unwrap_or_default();
    let mut out = String::new();
    while let Some((head, tail)) = rest.split_once('\u{1b}') {
        out.push_str(head);
        // An escape sequence ends with its first letter.
        rest = tail.find(|c: char| c.is_ascii_alphabetic()).map_or("", |end| &tail[end + 1..]);
    }
    out.push_str(rest);
    out.retain(|c| !c.is_control());
    zwhy_report::plain(&out).chars().take(LONGEST).collect()
}

fn failure(status: ExitStatus, machine: &Machine, mut last: VecDeque<String>) -> String {
    const TIME_WAS_UP: i32 = 124;
    // What vm/run says of the end of the machine itself.
    const ENDED: &str = "error: the VM ended after ";
    let ended = last.iter().rposition(|line| line.starts_with(ENDED)).and_then(|at| last.remove(at));
    let ended = ended.as_deref().and_then(|line| line.strip_prefix("error: "));
    let lines: Vec<String> =
        last.into_iter().filter(|line| !line.is_empty()).map(|line| format!("\n  {line}")).collect();
    let what = match status.code() {
        Some(TIME_WAS_UP) => {
            format!("it had not ended after {} s; --bytes and fewer cells make it shorter", machine.limit)
        }
        _ => ended.map_or(status.to_string(), str::to_owned),
    };
    let console = match lines.is_empty() {
        true => "It said nothing on its console.".to_owned(),
        false => format!("Its console ended with:{}", lines.concat()),
    };
    format!("the experiment failed in the VM: {what}. {console}")
}

/// A path that holds wherever it is used.
pub fn whole(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).with_context(|| format!("cannot find {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::lab::plan::QUICK_IN_VM;
    use zwhy_lab::{Experiment, Pace, SizeSpec, estimate_at};

    fn machine(name: &str, set: &[(&str, &str)]) -> Machine {
        let mut experiment = Experiment::builtin(name).unwrap();
        experiment.set_all(set.iter().copied()).unwrap();
        let size = SizeSpec { bytes: QUICK_IN_VM, repetitions: 1 };
        let estimate = estimate_at(&experiment, size, Pace::EMULATED).unwrap();
        Machine::of(&experiment.variants().unwrap(), &estimate)
    }

    #[test]
    fn the_pool_is_of_disks_where_all_cells_have_as_many() {
        let direct = machine("direct-io", &[]);
        assert_eq!((direct.disks, direct.devices().last().unwrap().as_str()), (4, "/dev/nvme3n1p1"));
        assert!(direct.disk_mib > 256, "{direct:?}");
        let widths = machine("direct-io", &[("disks", "3,8")]);
        assert_eq!((widths.disks, widths.devices().count()), (0, 0));
        assert!(widths.memory_mib > USUAL_MIB + 1024, "files in memory need it: {widths:?}");
    }

    #[test]
    fn openzfs_takes_every_limit_of_the_arc_with_that_memory() {
        let cached = machine("arc-cached-read", &[]);
        assert!(cached.memory_mib > 4096 + 1024 && cached.memory_mib < 256 * ARC_LEAST, "{cached:?}");
        assert_eq!(machine("snapshot-destroy", &[]).memory_mib, USUAL_MIB);
        assert_eq!(machine("encryption", &[("arc_max", "64M")]).memory_mib, 64 * ARC_LEAST);
    }

    #[test]
    fn lines_of_a_console_are_told_without_its_escapes() {
        assert_eq!(printable("\u{1b}[2J\u{1b}[0mSeaBIOS\r"), "SeaBIOS");
        assert_eq!(printable("plain \u{7}line"), "plain line");
        assert_eq!(printable("a bar\ra longer bar\rdone\r\r"), "done");
        assert_eq!(printable(&"x".repeat(1000)).len(), LONGEST);
    }
}
