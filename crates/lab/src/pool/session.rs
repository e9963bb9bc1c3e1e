//! The child's side of this engine: makes the pool and its dataset with `zpool` and `zfs`, plays on files.

use super::call::CallFile;
use super::clocks::{Disks, Measuring};
use super::commands::Tools;
use super::counters::Counters;
use super::files::Files;
use super::journal::{self, Entry, Journal};
use super::kill;
use super::parameters::{self, ADMIN_SNAPSHOT};
use crate::Bytes;
use crate::engine::clocks::PhaseClocks;
use crate::engine::protocol::{ChildPlan, PoolPlan};
use crate::engine::{Measured, Session};
use crate::failure::Failure;
use crate::io::Target;
use crate::scratch::{DISK, allocate, disk_size};
use crate::spec::{Call, CallKind, Called, Form, Fsync, Layout, Setup};
use crate::user::cures::Cure;
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Holds the secret of a pool: who has it made the pool.
pub const MARK: &str = "org.zwhy:lab";
/// Of a pool that ends with the run.
const KEY: &str = "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a";
/// Disks with sectors of 4 KiB.
const ASHIFT: &str = "ashift=12";

struct PoolSession {
    plan: PoolPlan,
    tools: Tools,
    setup: Setup,
    guid: u64,
    disks: Vec<PathBuf>,
    /// `None` while the pool is out.
    files: Option<Files>,
    measuring: Option<(Measuring, Counters)>,
    calls: Option<CallFile>,
}

/// Makes the pool. What it has made when it fails is in the journal.
///
/// # Errors
/// What the host or OpenZFS refused.
pub fn open(own: &PoolPlan, plan: &ChildPlan) -> Result<(Box<dyn Session>, Vec<Cure>), Failure> {
    let size = disk_size(plan.bytes, &plan.setup, &plan.steps);
    let session = PoolSession::make(own, &plan.setup, &plan.scratch, size, Tools::default())?;
    Ok((Box::new(session), Vec::new()))
}

/// For tests, with programs of their own.
#[cfg(test)]
pub fn made(
    own: &PoolPlan,
    setup: &Setup,
    scratch: &Path,
    size: Bytes,
    tools: Tools,
) -> Result<Box<dyn Session>, Failure> {
    Ok(Box::new(PoolSession::make(own, setup, scratch, size, tools)?))
}

impl PoolSession {
    fn make(
        own: &PoolPlan,
        setup: &Setup,
        scratch: &Path,
        size: Bytes,
        tools: Tools,
    ) -> Result<PoolSession, Failure> {
        let mut journal = Journal::go_on(&own.journal)?;
        for wanted in &own.parameters {
            parameters::set(&own.roots, &mut journal, wanted)?;
        }
        let disks = disks(own, setup, scratch, size, &mut journal)?;
        journal.note(&Entry::Pool)?;
        tools.change("zpool", &create(own, setup, &disks))?;
        let name = own.begin.pool();
        let said = tools.ask("zpool", &["get", "-Hpo", "value", "guid", &name])?;
        let guid = said.trim().parse().map_err(|_| {
            Failure::other("read the guid of the pool", format!("zpool said {:?}", said.trim()))
        })?;
        journal.note(&Entry::Made { guid })?;
        write_key(&journal::key(&own.journal))?;
        tools.change("zfs", &dataset(own, setup))?;
        let mut session = PoolSession {
            plan: own.clone(),
            tools,
            setup: setup.clone(),
            guid,
            disks,
            files: None,
            measuring: None,
            calls: None,
        };
        session.open_files()?;
        Ok(session)
    }

    fn folder(&self) -> PathBuf {
        journal::root(&self.plan.journal).join("data")
    }

    fn open_files(&mut self) -> Result<(), Failure> {
        let folder = self.folder();
        // Without the mount they would fill the folder below it.
        if !folder.is_dir() {
            return Err(Failure::other("open the dataset", format!("{} is not there", folder.display())));
        }
        let fsync = self.setup.fsync == Fsync::EachWrite;
        self.files = Some(Files::open(&folder, self.setup.threads, self.setup.io, fsync)?);
        Ok(())
    }

    fn name(&self) -> String {
        self.plan.begin.pool()
    }

    /// The folder of a snapshot, where the module takes folders for snapshots.
    fn folder_of(&self, letter: char, number: u32) -> Option<PathBuf> {
        let by_folders =
            self.plan.parameters.iter().any(|wanted| wanted.name == ADMIN_SNAPSHOT && wanted.value == "1");
        let all = journal::root(&self.plan.journal).join("data/.zfs/snapshot");
        by_folders.then(|| all.join(format!("{letter}{number:06}")))
    }

    /// Whoever looks at new file systems may have it open for a moment.
    fn export(&self) -> Result<(), Failure> {
        const TRIES: u32 = 5;
        let mut result = Ok(());
        for _ in 0..TRIES {
            result = self.tools.change("zpool", &["export", &self.name()]).map(drop);
            match &result {
                Err(failure) if failure.found.contains("busy") => std::thread::sleep(Duration::from_secs(1)),
                _ => break,
            }
        }
        result
    }

    fn import(&self) -> Result<(), Failure> {
        let root = journal::root(&self.plan.journal);
        let mut args = words(&["import", "-l", "-o", "cachefile=none", "-R"]);
        args.push(root.display().to_string());
        for disk in &self.disks {
            args.extend(["-d".to_owned(), disk.display().to_string()]);
        }
        args.push(self.guid.to_string());
        self.tools.change("zpool", &args).map(drop)
    }
}

/// The disks of the pool: devices as they are, files with all their space.
fn disks(
    own: &PoolPlan,
    setup: &Setup,
    scratch: &Path,
    size: Bytes,
    journal: &mut Journal,
) -> Result<Vec<PathBuf>, Failure> {
    let (devices, numbers) = (own.devices.clone(), own.numbers.clone());
    if !devices.is_empty() {
        journal.note(&Entry::Disks { files: Vec::new(), devices: devices.clone(), numbers })?;
        return Ok(devices);
    }
    let files: Vec<PathBuf> = (0..setup.all_disks()).map(|n| scratch.join(format!("{DISK}{n}"))).collect();
    journal.note(&Entry::Disks { files: files.clone(), devices, numbers })?;
    for file in &files {
        allocate(file, size)?;
        kill::point()?;
    }
    Ok(files)
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Not with `-f`: `zpool` looks at the disks once more.
fn create(own: &PoolPlan, setup: &Setup, disks: &[PathBuf]) -> Vec<String> {
    let mut args = words(&["create", "-o", ASHIFT, "-o", "cachefile=none", "-o", "failmode=continue", "-R"]);
    args.push(journal::root(&own.journal).display().to_string());
    args.extend(words(&["-O", "mountpoint=none", "-O", "canmount=off", "-O", "atime=off", "-O"]));
    args.push(format!("{MARK}={}", own.begin.mark));
    args.push(own.begin.pool());
    let group = match setup.layout {
        Layout::Stripe => None,
        Layout::Mirror => Some("mirror"),
        Layout::Raidz1 => Some("raidz1"),
        Layout::Raidz2 => Some("raidz2"),
        Layout::Raidz3 => Some("raidz3"),
        Layout::Draid1 => Some("draid1"),
        Layout::Draid2 => Some("draid2"),
        Layout::Draid3 => Some("draid3"),
    };
    args.extend(group.map(str::to_owned));
    // The data's disks, then those of the special class, of the log, and of the cache.
    let mut left = disks.iter().map(|disk| disk.display().to_string());
    args.extend(left.by_ref().take(setup.disks as usize));
    let classes = [("special", setup.special_disks), ("log", setup.log_disks), ("cache", setup.cache_disks)];
    for (class, count) in classes {
        args.extend((count > 0).then(|| class.to_owned()));
        args.extend(left.by_ref().take(count as usize));
    }
    args
}

/// `zfs create` with the properties of the cell.
fn dataset(own: &PoolPlan, setup: &Setup) -> Vec<String> {
    let mut args = words(&["create", "-o", "mountpoint=/data", "-o", "canmount=on"]);
    if setup.is_encrypted() {
        let key = journal::key(&own.journal);
        args.extend(words(&["-o", "keyformat=hex", "-o"]));
        args.push(format!("keylocation=file://{}", key.display()));
    }
    for (name, value) in &setup.properties {
        args.extend(["-o".to_owned(), format!("{name}={value}")]);
    }
    args.push(format!("{}/data", own.begin.pool()));
    args
}

fn write_key(path: &Path) -> Result<(), Failure> {
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path);
    file.and_then(|mut file| file.write_all(KEY.as_bytes()))
        .map_err(|e| Failure::other("write the key of the dataset", e))
}

impl Session for PoolSession {
    fn objects(&self) -> Vec<u64> {
        (0..u64::from(self.setup.threads)).collect()
    }

    fn disks(&self) -> Vec<PathBuf> {
        self.disks[..self.setup.disks as usize].to_vec()
    }

    fn target(&self) -> Box<dyn Target + '_> {
        match &self.files {
            Some(files) => Box::new(files),
            None => Box::new(Out),
        }
    }

    fn sync(&self) -> Result<(), Failure> {
        self.tools.ask("zpool", &["sync", &self.name()]).map(drop)
    }

    fn reimport(&mut self, mark: &mut dyn FnMut(&str, &str)) -> Result<(), Failure> {
        self.files = None;
        self.calls.iter_mut().for_each(CallFile::close);
        mark("export", "export the pool");
        self.export()?;
        mark("import", "import it again, load the key");
        self.import()?;
        self.open_files()
    }

    fn snapshot(&self, number: u32) -> Result<(), Failure> {
        match self.folder_of('s', number) {
            Some(folder) => by_folder("take a snapshot", &folder, || fs::create_dir(&folder)),
            None => self
                .tools
                .change("zfs", &["snapshot", &format!("{}/data@s{number:06}", self.name())])
                .map(drop),
        }
    }

    fn destroy(&self, numbers: &[u32]) -> Result<(), Failure> {
        let (Some(first), Some(last)) = (numbers.iter().min(), numbers.iter().max()) else { return Ok(()) };
        let dataset = format!("{}/data", self.name());
        let range = match first == last {
            true => match self.folder_of('s', *first) {
                Some(folder) => {
                    return by_folder("destroy a snapshot", &folder, || fs::remove_dir(&folder));
                }
                None => format!("{dataset}@s{first:06}"),
            },
            false => format!("{dataset}@s{first:06}%s{last:06}"),
        };
        self.tools.change("zfs", &["destroy", &range]).map(drop)
    }

    fn rename(&self, number: u32) -> Result<(), Failure> {
        if let (Some(own), Some(other)) = (self.folder_of('s', number), self.folder_of('r', number)) {
            by_folder("rename a snapshot", &own, || fs::rename(&own, &other))?;
            return by_folder("rename a snapshot", &other, || fs::rename(&other, &own));
        }
        let snapshot = |letter: char| format!("{}/data@{letter}{number:06}", self.name());
        self.tools.change("zfs", &["rename", &snapshot('s'), &snapshot('r')])?;
        self.tools.change("zfs", &["rename", &snapshot('r'), &snapshot('s')]).map(drop)
    }

    fn send(&self, _number: u32, _form: Form, _keep: bool) -> Result<u64, Failure> {
        Err(Failure::other("send a snapshot", super::limits::NO_SEND))
    }

    fn call(&mut self, call: &Call) -> Result<Called, Failure> {
        if call.kind == CallKind::Make {
            self.calls = Some(CallFile::make(&self.folder(), self.setup.recordsize())?);
        }
        match &mut self.calls {
            Some(calls) => calls.call(call),
            None => Err(Failure::other("call the file system", "no file was made for it")),
        }
    }

    fn caught(&self) -> Result<BTreeMap<String, i64>, Failure> {
        let status = self.tools.ask("zpool", &["status", "-dp", &self.name()])?;
        let events = self.tools.ask("zpool", &["events", "-H", &self.name()])?;
        Ok(super::counters::caught(&status, &events))
    }

    fn memory_left(&self, _bytes: Option<i64>) {
        // Refused before anything began: a host's memory is not the lab's.
    }

    fn begin(&mut self) {
        let disks = match self.plan.devices.is_empty() {
            true => Disks::Files,
            false => Disks::Devices(self.plan.numbers.clone()),
        };
        let counters = Counters::read(&self.plan.roots, &self.name());
        self.measuring = Some((Measuring::begin(&self.plan.roots, &disks), counters));
    }

    fn end(&mut self) -> Measured {
        let counters = Counters::read(&self.plan.roots, &self.name());
        let not_counted = counters.missing();
        match self.measuring.take() {
            Some((measuring, before)) => {
                Measured { clocks: measuring.end(), counters: before.until(&counters), not_counted }
            }
            None => Measured { clocks: PhaseClocks::default(), counters: Default::default(), not_counted },
        }
    }

    fn panic(&self) {
        // The kernel is everybody's: the process aborts without it.
    }

    /// The parent takes the pool away, as after a kill: one way for both.
    fn close(mut self: Box<Self>) -> Result<(), Failure> {
        self.files = None;
        self.calls = None;
        Ok(())
    }
}

/// A change that the kernel makes when a folder of `.zfs/snapshot` is changed.
fn by_folder(
    doing: &str,
    folder: &Path,
    change: impl FnOnce() -> std::io::Result<()>,
) -> Result<(), Failure> {
    kill::point()?;
    change().map_err(|e| Failure::other(doing, format!("{}: {e}", folder.display())))?;
    kill::point()
}

/// The pool is out.
struct Out;

impl Target for Out {
    fn write_at(&self, _: crate::spec::Way, _: u64, _: u64, _: &[u8]) -> Result<(), Failure> {
        Err(Failure::other("write", "the pool is exported"))
    }

    fn read_at(&self, _: crate::spec::Way, _: u64, _: u64, _: &mut [u8]) -> Result<(), Failure> {
        Err(Failure::other("read", "the pool is exported"))
    }
}

/// Removes the files that played disks.
///
/// # Errors
/// The first that stays.
pub fn remove_files(files: &[PathBuf]) -> std::io::Result<()> {
    for file in files {
        match fs::remove_file(file) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
    }
    Ok(())
}
