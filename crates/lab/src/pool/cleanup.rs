//! Takes back what the lab changed on this host, as far as its journal goes: after each run, and after a kill.
//!
//! A pool is destroyed only when its name and its guid are those of the journal; where a kill came before the
//! guid was noted, when it carries the journal's secret. Everything here can be done twice.

use super::commands::Tools;
use super::devices;
use super::host::Roots;
use super::journal::{self, Begin, Entry, OldValue};
use super::parameters;
use super::session::{MARK, remove_files};
use crate::LabError;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What became of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// Name of its pool.
    pub pool: String,
    /// What was taken back.
    pub done: Vec<String>,
    /// What stays, and why.
    pub left: Vec<String>,
}

/// Commands of a killed run may still be at work.
const PATIENCE: Duration = Duration::from_secs(60);

/// Takes back what all ended experiments left, by the journals in `journals`.
///
/// # Errors
/// When there may be journals and they cannot be read.
pub fn cleanup(journals: &Path) -> Result<Vec<Cleaned>, LabError> {
    let host = Host::this();
    Ok(journal::all(journals)?.iter().map(|folder| host.clean(folder)).collect())
}

/// The same for the experiment that had this scratch folder.
///
/// # Errors
/// When something stays.
pub fn of_scratch(journals: &Path, scratch: &Path) -> Result<(), LabError> {
    let host = Host::this();
    let scratch = scratch.canonicalize().unwrap_or_else(|_| scratch.to_owned());
    let mut left = Vec::new();
    for folder in journal::all(journals)? {
        if matches!(journal::read(&folder).first(), Some(Entry::Begin(begin)) if begin.scratch == scratch) {
            left.extend(host.clean(&folder).left);
        }
    }
    if left.is_empty() { Ok(()) } else { Err(LabError::LeftBehind { left, journals: journals.to_owned() }) }
}

/// What has to be asked and told.
pub struct Host {
    pub roots: Roots,
    pub tools: Tools,
    pub patience: Duration,
}

/// What a journal comes to.
#[derive(Default)]
struct Noted {
    begin: Option<Begin>,
    /// The first value of each parameter.
    parameters: Vec<OldValue>,
    files: Vec<PathBuf>,
    devices: Vec<(PathBuf, u64)>,
    pool: bool,
    guid: Option<u64>,
}

impl Noted {
    fn read(folder: &Path) -> Noted {
        let mut noted = Noted::default();
        for entry in journal::read(folder) {
            match entry {
                Entry::Begin(begin) => noted.begin = Some(begin),
                Entry::Parameter(old) if noted.parameters.iter().any(|p| p.file == old.file) => {}
                Entry::Parameter(old) => noted.parameters.push(old),
                Entry::Disks { files, devices, numbers } => {
                    noted.files = files;
                    noted.devices = devices.into_iter().zip(numbers).collect();
                }
                Entry::Pool => noted.pool = true,
                Entry::Made { guid } => noted.guid = Some(guid),
            }
        }
        noted
    }
}

impl Host {
    pub fn this() -> Host {
        Host { roots: Roots::default(), tools: Tools::default(), patience: PATIENCE }
    }

    /// Takes back one run, and removes its journal when nothing stays.
    pub fn clean(&self, folder: &Path) -> Cleaned {
        let noted = Noted::read(folder);
        let mut cleaned = Cleaned::default();
        if let Some(begin) = &noted.begin {
            cleaned.pool = begin.pool();
            if let Some(why) = self.at_work(begin) {
                cleaned.left.push(why);
                return cleaned;
            }
            self.take_back(&noted, begin, &mut cleaned);
        }
        if cleaned.left.is_empty()
            && let Err(e) = journal::remove(folder)
        {
            cleaned.left.push(format!("{} cannot be removed ({e})", folder.display()));
        }
        cleaned
    }

    /// The experiment runs, or a command of it does.
    fn at_work(&self, begin: &Begin) -> Option<String> {
        let own = begin.pid == std::process::id();
        if !own && begin.started.is_some() && self.roots.started(begin.pid) == begin.started {
            return Some(format!("the experiment of {} still runs (process {})", begin.pool(), begin.pid));
        }
        let until = Instant::now() + self.patience;
        loop {
            let pids = self.roots.processes_with(&begin.pool());
            match pids.first() {
                None => return None,
                Some(pid) if Instant::now() >= until => {
                    return Some(format!("process {pid} still works on {}", begin.pool()));
                }
                Some(_) => std::thread::sleep(Duration::from_millis(100)),
            }
        }
    }

    fn take_back(&self, noted: &Noted, begin: &Begin, cleaned: &mut Cleaned) {
        let mut note = |what: Result<Option<String>, String>| match what {
            Ok(done) => cleaned.done.extend(done),
            Err(left) => cleaned.left.push(left),
        };
        for old in noted.parameters.iter().rev() {
            note(match old.file.exists() {
                true => parameters::put_back(old)
                    .map(|()| Some(format!("{} is {} again", old.file.display(), old.value))),
                // The module is not loaded any more: neither is the value.
                false => Ok(None),
            });
        }
        if noted.pool {
            let gone = self.destroy(begin, noted.guid);
            let stays = gone.is_err();
            note(gone);
            if stays {
                return;
            }
        }
        for (path, number) in &noted.devices {
            let cleared = devices::clear(path, *number, &begin.pool(), noted.guid);
            note(cleared.map(|yes| yes.then(|| format!("{} is blank again", path.display()))));
        }
        note(match remove_files(&noted.files) {
            Ok(()) => Ok(None),
            Err(e) => Err(format!("files of {} cannot be removed ({e})", begin.scratch.display())),
        });
    }

    fn destroy(&self, begin: &Begin, guid: Option<u64>) -> Result<Option<String>, String> {
        if !self.roots.has_module() {
            // Without the module no pool is in.
            return Ok(None);
        }
        let name = begin.pool();
        let ask = |args: &[&str]| self.tools.ask("zpool", args).map_err(|e| e.to_string());
        let list = ask(&["list", "-Hpo", "name,guid"])?;
        let pools = list.lines().filter_map(|line| line.split_once('\t'));
        let found: Vec<(&str, Option<u64>)> =
            pools.map(|(name, guid)| (name, guid.trim().parse().ok())).collect();
        let Some((_, own)) = found.iter().find(|(pool, _)| *pool == name) else {
            return match found.iter().find(|(_, own)| own.is_some() && *own == guid) {
                Some((other, _)) => {
                    Err(format!("the pool {name} is called {other} now; it is not destroyed"))
                }
                None => Ok(None),
            };
        };
        let ours = match guid {
            Some(guid) => *own == Some(guid),
            None => {
                let args = ["get", "-Hpo", "value", MARK, name.as_str()];
                self.tools.ask("zfs", &args).map_err(|e| e.to_string())?.trim() == begin.mark
            }
        };
        if !ours {
            return Err(format!("there is a pool {name} that is not the lab's; it is not destroyed"));
        }
        self.destroy_when_free(&name)?;
        Ok(Some(format!("the pool {name} is destroyed")))
    }

    /// A process that was killed is no longer seen to work on the pool, and keeps it busy until the kernel has closed
    /// its files.
    fn destroy_when_free(&self, name: &str) -> Result<(), String> {
        let until = Instant::now() + self.patience;
        loop {
            match self.tools.change("zpool", &["destroy", "-f", name]).map_err(|e| e.to_string()) {
                Err(said) if said.contains("is busy") && Instant::now() < until => {
                    std::thread::sleep(Duration::from_millis(100));
                }
                other => return other.map(drop),
            }
        }
    }
}
