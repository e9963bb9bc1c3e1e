//! Files that are old enough become the sums of an hour.
//!
//! The sums are written under a name of their own, whole or not at all, and then the files are removed. Whatever ends the
//! agent in between, each row is in one of the two: files whose sums are there are passed over, and removed by the next
//! start.

use super::{Entry, Rows, Spool, names, remove};
use crate::compact::{Made, compact};
use zwhy_capture::recorded_rows;

/// Files follow each other when no more lies between them; names have whole seconds.
const PAUSE_S: f64 = 2.5;

impl Spool {
    /// Makes sums of the oldest files that are old enough: one file of sums in one call, as the recorder goes on
    /// meanwhile. It is called for every file that is finished.
    pub fn make_sums(&mut self) {
        let files = self.old_files();
        if files.is_empty() {
            return;
        }
        match compact(&files, &self.folder) {
            Ok(Some(Made::Sums(sums))) => self.put_sums(sums),
            Ok(Some(Made::Damaged(number))) => drop(self.damaged.insert(number)),
            Ok(None) => {}
            Err(error) => self.note(Err(error)),
        }
        zwhy_record::give_back_memory();
    }

    /// The oldest files as recorded that follow each other and are long enough, or all before a gap, where all of them
    /// are old enough.
    fn old_files(&self) -> Vec<Entry> {
        let (limit, most) = (self.limits.detail.as_secs_f64(), self.limits.sums.as_secs_f64());
        let sent = self.desk.as_ref().map_or(u64::MAX, |desk| desk.sent());
        let mut newer = self.seconds();
        let (mut files, mut seconds): (Vec<Entry>, f64) = (Vec::new(), 0.0);
        for entry in &self.kept {
            let Some(own) = entry.seconds else { break };
            newer -= own;
            let stays = |number| self.damaged.contains(number) || self.state.passed.contains(number);
            if entry.is_sums() || stays(&entry.number) {
                if files.is_empty() {
                    continue;
                }
                return files;
            }
            if newer < limit || entry.number >= sent || !entry.is_finished() {
                break;
            }
            // What was sent and what was not never become one.
            if files.last().is_some_and(|last| !follows(last, entry) || entry.number == self.state.sent) {
                return files;
            }
            files.push(entry.clone());
            seconds += own;
            if seconds >= most - 1.0 {
                return files;
            }
        }
        Vec::new()
    }

    /// The sums are on disk: the files that they are of go.
    fn put_sums(&mut self, sums: Entry) {
        let (of_sums, mut kept): (Vec<Entry>, Vec<Entry>) =
            self.kept.drain(..).partition(|entry| sums.has(entry.number));
        let at = kept.iter().position(|entry| entry.number > sums.number).unwrap_or(kept.len());
        kept.insert(at, sums);
        self.kept = kept.into();
        of_sums.iter().for_each(|entry| self.note(remove(&entry.path)));
    }

    /// Only what was recorded is sent: what became sums before anybody asked for it is counted as not sent.
    pub(super) fn leave_sums_unsent(&mut self) {
        let sent = self.state.sent;
        let sums = self.kept.iter().filter(|entry| entry.is_sums() && entry.last >= sent);
        let Some(last) = sums.map(|entry| entry.last).max() else { return };
        for entry in self.kept.iter().filter(|entry| entry.last >= sent && entry.number <= last) {
            let rows = recorded_rows(&entry.path).ok().map(|tables| Rows::of(&tables));
            self.state.unsent.add_file(rows);
        }
        // Both in one write: after a crash before it they are counted again, and once.
        self.state.sent = last + 1;
        self.save();
    }

    /// Removes files whose sums were on disk when an agent was killed.
    pub(super) fn remove_covered(&mut self) {
        match names::with_covered(&self.folder) {
            Ok((_, covered)) => covered.iter().for_each(|entry| self.note(remove(&entry.path))),
            Err(error) => self.note(Err(error)),
        }
    }
}

fn follows(before: &Entry, entry: &Entry) -> bool {
    let end = before.start_unix_s + before.seconds.unwrap_or(0.0);
    (entry.start_unix_s - end).abs() <= PAUSE_S
}
