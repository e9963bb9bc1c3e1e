//! What tests of the real kernel module share: one boot of the VM, and reading what it left.
//!
//! Invariants: a boot runs one script and ends by its own time limit; tests look at files only, so
//! one boot serves many of them.

pub mod answers;
pub mod gains;
pub mod scenario;

use serde_json::Value;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use zwhy_capture::Capture;
use zwhy_diagnose::{Answer, Knowledge, Options, explain};
use zwhy_evidence::{Evidence, Imported};
use zwhy_profile::{Event, FunctionTotals, Nanos, Sample};

/// What a boot of the VM left.
pub struct Boot {
    /// Deleted with the boot, unless ZWHY_KERNEL_OUT names a folder to keep.
    _temporary: Option<TempDir>,
    pub folder: PathBuf,
    /// Of OpenZFS in the VM: `2.3`, `2.1`.
    pub version: String,
}

/// A machine for [`Boot::run`].
pub struct Machine<'a> {
    pub disks: u32,
    pub disk_mib: u32,
    /// Disks that are slow or bad, in the words of `vm/run -d`.
    pub special_disks: &'a [String],
    /// Time limit of the whole boot, in seconds.
    pub limit: u32,
    /// Words for its kernel.
    pub kernel: &'a str,
    /// It has the debug information of the modules.
    pub debug: bool,
    /// Files beside the script, from the repository's root.
    pub files: &'a [PathBuf],
}

/// Exit status of vm/run when the machine had to be stopped. Rarely an emulated one stands still
/// with both processors busy and says nothing; the same again is no accident.
const TIME_WAS_UP: i32 = 124;

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

impl Boot {
    /// Runs `script` with its words in the VM of the OpenZFS version in ZWHY_KERNEL_VERSION (2.3
    /// when there is none). ZWHY_KERNEL_OUT keeps what it leaves in a folder of that name; with
    /// ZWHY_KERNEL_AGAIN nothing is booted, and what such a folder has is looked at again.
    ///
    /// A machine that has not ended in its time is booted once more.
    ///
    /// # Panics
    /// When the VM cannot be built or booted, or the script fails: there is nothing to test then.
    pub fn run(name: &str, script: &Path, words: &[String], machine: &Machine) -> Boot {
        let version = std::env::var("ZWHY_KERNEL_VERSION").unwrap_or_else(|_| "2.3".to_owned());
        let (temporary, folder) = match std::env::var_os("ZWHY_KERNEL_OUT") {
            Some(kept) => (None, PathBuf::from(kept).join(format!("{name}-{version}"))),
            None => {
                let folder = tempfile::tempdir().expect("a folder for results");
                let path = folder.path().to_owned();
                (Some(folder), path)
            }
        };
        if std::env::var_os("ZWHY_KERNEL_AGAIN").is_some() && folder.join(".exit").exists() {
            return Boot { _temporary: temporary, folder, version };
        }
        let mut command = Command::new(root().join("vm/run"));
        command
            .args(["-v", &version, "-n", &machine.disks.to_string(), "-s", &machine.disk_mib.to_string()])
            .args(["-t", &machine.limit.to_string(), "-k", machine.kernel, "-o"])
            .arg(&folder);
        for disk in machine.special_disks {
            command.arg("-d").arg(disk);
        }
        if machine.debug {
            command.arg("-g");
        }
        for file in machine.files {
            command.arg("-f").arg(root().join(file));
        }
        let load =
            std::env::var_os("ZWHY_LOAD").expect("ZWHY_LOAD names the built zwhy-load; use make kernel-test");
        command.arg("-f").arg(load).arg(root().join(script)).args(words);
        let mut status = command.status().expect("vm/run is there");
        if status.code() == Some(TIME_WAS_UP) {
            let _ =
                writeln!(io::stderr(), "{} did not end in the VM: booting it once more", script.display());
            status = command.status().expect("vm/run is there");
        }
        assert!(status.success(), "{} in the VM with OpenZFS {version}: {status}", script.display());
        Boot { _temporary: temporary, folder, version }
    }

    /// Where it left its files.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A text file of the boot; empty when it was not left.
    pub fn text(&self, name: &str) -> String {
        let bytes = std::fs::read(self.folder.join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).trim().to_owned()
    }

    /// A capture, or the folder of one that did not end.
    pub fn capture(&self, name: &str) -> Recorded {
        capture_of(&self.folder.join(name), name)
    }

    /// A JSON file of the boot.
    pub fn json(&self, name: &str) -> Value {
        let text = self.text(name);
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}: {text}"))
    }

    /// Seconds that a command of the script took, by the clock of the machine it ran in.
    pub fn seconds(&self, name: &str) -> u64 {
        let text = self.text(&format!("{name}.seconds"));
        text.parse().unwrap_or_else(|e| panic!("{name}.seconds: {e}: {text}"))
    }

    pub fn has(&self, name: &str) -> bool {
        self.folder.join(name).exists()
    }
}

/// A capture, or the folder of one that did not end, as it was recorded.
///
/// # Panics
/// When it cannot be read: there is nothing to test then.
pub fn capture_of(path: &Path, name: &str) -> Recorded {
    let capture = Capture::open(path).unwrap_or_else(|e| panic!("{name}: {e}"));
    let mut marks: Vec<_> = capture.marks.iter().map(|m| (m.t, format!("{}: {}", m.name, m.text))).collect();
    marks.sort();
    let mut imported = capture.into_imported(name);
    imported.evidence.set_recorder_aside();
    Recorded { name: name.to_owned(), marks, imported }
}

/// A capture made in the VM.
pub struct Recorded {
    name: String,
    /// `NAME: TEXT` of each mark and when it was set, in order of time.
    pub marks: Vec<(Nanos, String)>,
    pub imported: Imported,
}

impl Recorded {
    pub fn evidence(&self) -> &Evidence {
        &self.imported.evidence
    }

    /// CPU samples with that function anywhere on the stack; the name may end in `*`.
    pub fn samples(&self, function: &str, module: &str) -> u64 {
        let profile = &self.evidence().profile;
        let wanted = |name: &str| match function.strip_suffix('*') {
            Some(head) => name.starts_with(head),
            None => name == function,
        };
        let totals = FunctionTotals::of(profile, Event::Cpu);
        let rows = totals.rows.iter().filter(|row| {
            wanted(profile.strings.get(row.function)) && profile.strings.get(row.module).contains(module)
        });
        rows.map(|row| row.total).sum()
    }

    /// Samples of an event whose stack has each of these functions, in this order from the root.
    pub fn through(&self, event: Event, functions: &[&str]) -> Vec<Sample> {
        let profile = &self.evidence().profile;
        let of_event = profile.samples.iter().filter(|sample| sample.event == event);
        let through = of_event.filter(|sample| {
            let names = profile.function_names(sample.stack);
            let mut names = names.iter();
            functions.iter().all(|wanted| names.any(|name| name == wanted))
        });
        through.collect()
    }

    /// How many samples [`Recorded::through`] finds.
    pub fn samples_through(&self, event: Event, functions: &[&str]) -> u64 {
        self.through(event, functions).iter().map(|sample| u64::from(sample.count)).sum()
    }

    /// The name of the thread of a sample.
    pub fn comm(&self, sample: &Sample) -> &str {
        let profile = &self.evidence().profile;
        profile.strings.get(profile.threads.get(sample.thread).comm)
    }

    /// Seconds that the threads of this name waited, all together.
    pub fn waited(&self, comm: &str) -> f64 {
        let waits = self.through(Event::Wait, &[]);
        waits
            .iter()
            .filter(|sample| self.comm(sample) == comm)
            .map(|sample| sample.weight.as_secs_f64())
            .sum()
    }

    /// CPU seconds of the threads of this name, all together, in a recording of so many seconds.
    pub fn on_cpu(&self, comm: &str, seconds: f64) -> f64 {
        let threads = self.evidence().threads.iter().filter(|t| t.comm == comm);
        threads.filter_map(|t| t.cpu_pct).sum::<f64>() / 100.0 * seconds
    }

    /// Growth of a counter while it was recorded, a second.
    pub fn rate(&self, source: &str, name: &str) -> Option<f64> {
        self.evidence().kstat(source, name).and_then(|k| k.rate)
    }

    /// A fact by its JSON pointer.
    pub fn fact(&self, pointer: &str) -> Value {
        self.evidence().facts.pointer(pointer).unwrap_or(Value::Null)
    }

    pub fn threads(&self) -> Vec<&str> {
        self.evidence().threads.iter().map(|t| t.comm.as_str()).collect()
    }

    pub fn explain(&self, knowledge: &Knowledge) -> Answer {
        let options = Options {
            name: self.name.clone(),
            stats: Some(self.imported.stats.clone()),
            ..Options::default()
        };
        explain(self.evidence(), knowledge, &options)
    }
}
