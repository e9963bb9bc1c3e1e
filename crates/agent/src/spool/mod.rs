//! The spool: the last hours of a host as a folder of captures, bounded in time and bytes.
//!
//! Invariants: what was flushed is read again whatever ends the agent; rows that are not kept are counted, with the
//! reason, before they are gone; an error of the disk ends nothing. Only one agent writes a spool.

mod growing;
mod names;
mod old;
mod salvage;
pub(crate) mod slots;
mod state;

pub use names::{Entry, entries};
pub(crate) use names::{entry_of, sums as sums_name};
pub(crate) use salvage::{replace, seconds_of, sync_folder};
pub use state::{Dropped, Reason, Rows, State};

use crate::error::AgentError;
use crate::ship::{Desk, sent_up_to};
use growing::Growing;
use rustix::fs::{FlockOperation, flock};
use salvage::Salvaged;
use std::collections::{BTreeSet, VecDeque};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use zwhy_capture::recorded_rows;
use zwhy_evidence::CaptureFacts;
use zwhy_live::{Readings, Slice};

/// How much is kept, and how often it is written.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Time that was recorded; gaps are no part of it, and a clock that is set drops nothing.
    pub age: Duration,
    pub bytes: u64,
    /// Time that is kept as it was recorded; what is older becomes sums.
    pub detail: Duration,
    /// Length of what becomes one file of sums.
    pub sums: Duration,
    /// Length of a file.
    pub file: Duration,
    /// Between two writes to disk: what a kill can lose.
    pub flush: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        let (file, flush) = (Duration::from_secs(300), Duration::from_secs(15));
        let hours = |n: u64| Duration::from_secs(n * 3600);
        Limits { age: hours(24), bytes: 1 << 30, detail: hours(2), sums: hours(1), file, flush }
    }
}

/// Differences of the host's clock from here on are no slow correction.
const CLOCK_SET_S: f64 = 1.0;

pub struct Spool {
    folder: PathBuf,
    limits: Limits,
    state: State,
    /// The state differs from that on disk.
    unsaved: bool,
    /// Finished files, and folders that could not be packed yet; the oldest first.
    kept: VecDeque<Entry>,
    /// Files that stay as they are, though they are old.
    damaged: BTreeSet<u64>,
    growing: Option<Growing>,
    readings: Readings,
    facts: CaptureFacts,
    /// Rows since the agent began.
    pub written: Rows,
    pub not_written: Rows,
    /// Why the last write failed, while it does.
    pub problem: Option<String>,
    /// Writes that failed since the agent began.
    pub failures: u64,
    /// Not told by a mark yet, as that could not be written either.
    owed: Rows,
    /// Who sends the files, where they are sent.
    desk: Option<Arc<Desk>>,
    /// Up to when the agent recorded, by the host's clock, before this one began.
    before: Option<f64>,
    _lock: File,
}

impl Spool {
    /// Takes `folder`, makes it where it is not there, and finishes what an earlier agent left.
    ///
    /// # Errors
    /// When the folder cannot be made or read, or another agent has it.
    pub fn open(folder: &Path, limits: Limits) -> Result<Spool, AgentError> {
        Spool::open_as(folder, limits, false)
    }

    /// As [`Spool::open`]; its files are sent by somebody who sits at the desk, from the begin on: what has to go now is
    /// counted as not sent.
    pub(crate) fn open_shipping(folder: &Path, limits: Limits) -> Result<(Spool, Arc<Desk>), AgentError> {
        let mut spool = Spool::open_as(folder, limits, true)?;
        let desk = spool.desk();
        Ok((spool, desk))
    }

    fn open_as(folder: &Path, limits: Limits, ships: bool) -> Result<Spool, AgentError> {
        fs::create_dir_all(folder).map_err(AgentError::io("make the folder", folder))?;
        let lock = lock(folder)?;
        let mut spool = Spool {
            state: State::load(folder),
            unsaved: false,
            kept: entries(folder)?.into(),
            damaged: BTreeSet::new(),
            growing: None,
            readings: Readings::default(),
            facts: CaptureFacts::default(),
            written: Rows::default(),
            not_written: Rows::default(),
            problem: None,
            failures: 0,
            owed: Rows::default(),
            desk: None,
            before: None,
            folder: folder.to_owned(),
            limits,
            _lock: lock,
        };
        remove_leftovers(folder);
        spool.remove_covered();
        spool.remove_counted();
        spool.pack_parts();
        let newest = spool.kept.back();
        spool.before = newest.map(|entry| entry.start_unix_s + entry.seconds.unwrap_or(0.0));
        spool.state.next = spool.state.next.max(newest.map_or(0, |entry| entry.last + 1));
        if ships {
            spool.desk();
        }
        spool.keep_within();
        spool.save();
        Ok(spool)
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What it shares with who sends its files.
    fn desk(&mut self) -> Arc<Desk> {
        if let Some(desk) = &self.desk {
            return Arc::clone(desk);
        }
        // The one who sends knows of newer ones than the spool when both were killed.
        self.state.sent = self.state.sent.max(sent_up_to(&self.folder));
        self.leave_sums_unsent();
        let desk = Arc::new(Desk::new(self.state.sent, self.state.first));
        self.desk = Some(Arc::clone(&desk));
        desk
    }

    /// What the recorder says of the host.
    pub fn set_facts(&mut self, facts: CaptureFacts) {
        self.facts = facts;
    }

    /// Up to when an earlier agent recorded, by the host's clock; until the first file of this one begins.
    pub fn ended_before(&self) -> Option<f64> {
        self.before
    }

    pub fn state(&self) -> &State {
        &self.state
    }

    /// The newest readings of the host's counters.
    pub fn readings(&self) -> &Readings {
        &self.readings
    }

    /// Rows that wait to be written.
    pub fn waiting(&self) -> Rows {
        self.growing.as_ref().map_or(Rows::default(), Growing::waiting)
    }

    /// Files with the growing one, and their bytes on disk.
    pub fn size(&self) -> (usize, u64) {
        let growing = self.growing.as_ref().map(|growing| names::bytes(&growing.folder()));
        let kept: u64 = self.kept.iter().map(|entry| entry.bytes).sum();
        (self.kept.len() + growing.iter().count(), kept + growing.unwrap_or(0))
    }

    /// Finished files that were not sent to the store yet.
    pub fn unsent_files(&self) -> usize {
        let sent = self.desk.as_ref().map_or(self.state.sent, |desk| desk.sent());
        self.kept.iter().filter(|entry| entry.last >= sent).count()
    }

    /// Seconds that are kept.
    pub fn seconds(&self) -> f64 {
        let growing = self.growing.as_ref().map_or(0.0, Growing::seconds);
        self.kept.iter().filter_map(|entry| entry.seconds).sum::<f64>() + growing
    }

    /// Takes in an interval that ended at `unix_s` by the host's clock. What the disk refuses is counted.
    pub fn push(&mut self, slice: &Slice, unix_s: f64) {
        let began = unix_s - slice.seconds();
        if self.growing.as_ref().is_some_and(|growing| !follows(growing, slice, began)) {
            self.finish();
        }
        if self.growing.is_none() {
            self.begin(slice, began);
        }
        self.readings.apply(slice);
        let Some(growing) = &mut self.growing else { return };
        growing.take(slice);
        if growing.to.saturating_sub(growing.from) >= self.limits.file {
            self.finish();
        } else if growing.to.saturating_sub(growing.flushed) >= self.limits.flush {
            self.flush();
        }
    }

    fn begin(&mut self, slice: &Slice, began: f64) {
        let number = self.state.next;
        self.state.next += 1;
        self.unsaved = true;
        let out = names::growing(&self.folder, number, began);
        let mut growing = Growing::new(number, began, slice.from, out);
        growing.restate(&self.readings);
        if let Some(before) = self.before.take() {
            self.state.gaps += 1;
            growing.mark_begin("gap", gap_text(began - before));
        }
        self.growing = Some(growing);
    }

    /// Writes what waits.
    pub fn flush(&mut self) {
        let Some(growing) = &mut self.growing else { return };
        let owed = self.owed;
        if owed.samples + owed.series > 0 {
            let Rows { samples, series, .. } = owed;
            let text = format!("{samples} samples and {series} readings before this could not be written");
            growing.mark_begin("gap", text);
        }
        let done = growing.flush(&self.facts);
        if done.not_written.marks == 0 {
            self.owed = Rows::default();
        }
        self.written.add(done.written);
        match done.error {
            None => self.problem = None,
            Some(error) => {
                self.failures += 1;
                self.problem = Some(error.to_string());
            }
        }
        if done.not_written.total() > 0 {
            self.not_written.add(done.not_written);
            self.owed.add(done.not_written);
            self.state.drop_rows(Reason::NotWritten, done.not_written);
            self.unsaved = true;
        }
        self.note_passed();
        if self.unsaved {
            self.save();
        }
    }

    /// Notes the file that cannot be read for sending: when that is on disk, the next ones are sent.
    fn note_passed(&mut self) {
        let Some(desk) = self.desk.clone() else { return };
        let Some(number) = desk.passing() else { return };
        self.state.passed.insert(number);
        self.save();
        if !self.unsaved {
            desk.passed(number);
        }
    }

    /// Finishes the growing file, and drops what is older or more than the limits.
    pub fn finish(&mut self) {
        if let Some(growing) = &mut self.growing {
            growing.restate(&self.readings);
        }
        self.flush();
        let Some(growing) = self.growing.take() else { return };
        let (number, start_unix_s, path) = (growing.number, growing.start_unix_s, growing.folder());
        let seconds = growing.seconds();
        let (is_there, told) = growing.close(&self.facts);
        self.note(told.map_err(AgentError::from));
        if is_there {
            let out = names::finished(&self.folder, number, start_unix_s, seconds);
            let packed = salvage::pack(&path, &out);
            let done = packed.is_ok();
            let path = if done { out } else { path };
            let (seconds, bytes) = (Some(seconds), names::bytes(&path));
            let entry = Entry { number, last: number, start_unix_s, seconds, bytes, path };
            self.kept.push_back(entry);
            self.note(packed.map(drop));
            if done {
                self.pack_parts();
            }
        }
        self.make_sums();
        self.keep_within();
        self.save();
    }

    /// Folders left by an earlier agent, or by a full disk, become files.
    fn pack_parts(&mut self) {
        let is_part = |entry: &Entry| entry.path.extension().is_some_and(|e| e == "part");
        let parts: Vec<Entry> = self.kept.iter().filter(|entry| is_part(entry)).cloned().collect();
        if parts.is_empty() {
            return;
        }
        for entry in parts {
            let is_packed = |other: &&Entry| other.number == entry.number && !is_part(other);
            let result = match self.kept.iter().find(is_packed) {
                // It was packed, and only removing it did not come to its end.
                Some(_) => fs::remove_dir_all(&entry.path).map_err(AgentError::io("remove", &entry.path)),
                None => salvage::salvage(&entry, &self.folder).map(|made| match made {
                    Salvaged::File { unreadable } if unreadable > 0 => {
                        self.state.dropped.entry(Reason::NotWritten).or_default().unreadable +=
                            unreadable as u64;
                        self.unsaved = true;
                    }
                    Salvaged::File { .. } | Salvaged::Nothing => {}
                }),
            };
            self.note(result);
        }
        match entries(&self.folder) {
            Ok(found) => self.kept = found.into(),
            Err(error) => self.note(Err(error)),
        }
    }

    /// Removes files that were counted as dropped before a crash.
    fn remove_counted(&mut self) {
        let first = self.state.first;
        let (gone, kept): (VecDeque<_>, _) = self.kept.drain(..).partition(|entry| entry.last < first);
        self.kept = kept;
        for entry in gone {
            self.note(remove(&entry.path));
        }
    }

    /// Drops the oldest files until the limits are kept.
    fn keep_within(&mut self) {
        while let Some(reason) = self.over() {
            let Some(oldest) = self.kept.front().cloned() else { return };
            let rows = recorded_rows(&oldest.path).ok().map(|tables| Rows::of(&tables));
            self.state.dropped.entry(reason).or_default().add_file(rows);
            let unsent = self.desk.as_ref().is_some_and(|desk| desk.drop_unsent(oldest.last));
            if self.state.passed.remove(&oldest.number) || unsent {
                self.state.unsent.add_file(rows);
            }
            self.state.first = oldest.last + 1;
            self.state.passed = self.state.passed.split_off(&self.state.first);
            // Counted first: a crash before it is gone must not count it twice.
            self.save();
            self.note(remove(&oldest.path));
            self.kept.pop_front();
        }
    }

    /// Why the oldest file has to go, if it has.
    fn over(&self) -> Option<Reason> {
        let (_, bytes) = self.size();
        let newer: f64 = self.seconds() - self.kept.front()?.seconds.unwrap_or(0.0);
        match () {
            () if newer >= self.limits.age.as_secs_f64() => Some(Reason::Age),
            () if bytes > self.limits.bytes => Some(Reason::Bytes),
            () => None,
        }
    }

    fn save(&mut self) {
        if let Some(desk) = &self.desk {
            let passed = self.state.passed.last().map_or(0, |number| number + 1);
            self.state.sent = self.state.sent.max(desk.sent()).max(passed);
        }
        let saved = self.state.save(&self.folder);
        self.unsaved = saved.is_err();
        self.note(saved);
    }

    fn note(&mut self, result: Result<(), AgentError>) {
        if let Err(error) = result {
            self.failures += 1;
            self.problem = Some(error.to_string());
        }
    }
}

impl Drop for Spool {
    /// What waits is written.
    fn drop(&mut self) {
        self.finish();
    }
}

/// Whether an interval goes on where the file ends, by the recording's time and by the host's clock.
fn follows(growing: &Growing, slice: &Slice, began: f64) -> bool {
    let by_clock = growing.start_unix_s + growing.seconds();
    slice.from == growing.to && (began - by_clock).abs() < CLOCK_SET_S
}

fn gap_text(seconds: f64) -> String {
    if seconds >= 0.0 {
        format!("the agent did not run for {seconds:.0} s before this")
    } else {
        "the agent did not run for a while before this; the clock was set back meanwhile".to_owned()
    }
}

fn remove(path: &Path) -> Result<(), AgentError> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        // Somebody else did.
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
        other => other.map_err(AgentError::io("remove", path)),
    }
}

/// Files that were being written when an agent was killed.
fn remove_leftovers(folder: &Path) {
    let is_ours = |name: &str| name.starts_with(".zwhy-") && name.ends_with(".tmp");
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    for file in files.filter(|file| file.file_name().to_str().is_some_and(is_ours)) {
        // What stays takes room, nothing else.
        let _ = fs::remove_file(file.path());
    }
}

const LOCK: &str = "lock";

fn lock(folder: &Path) -> Result<File, AgentError> {
    let path = folder.join(LOCK);
    let mut options = File::options();
    let file = options.read(true).write(true).create(true).truncate(false).open(&path);
    let mut file = file.map_err(AgentError::io("open", &path))?;
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        let mut pid = String::new();
        let _ = file.read_to_string(&mut pid);
        return Err(AgentError::Locked { path: folder.to_owned(), pid: pid.trim().to_owned() });
    }
    // On a full disk the number is missing, the lock holds.
    let _ = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
    Ok(file)
}

/// Number of the process that writes the spool now.
pub fn writer_of(folder: &Path) -> Option<String> {
    let mut file = File::open(folder.join(LOCK)).ok()?;
    if flock(&file, FlockOperation::NonBlockingLockShared).is_ok() {
        return None;
    }
    let mut pid = String::new();
    file.read_to_string(&mut pid).ok()?;
    Some(pid.trim().to_owned())
}
