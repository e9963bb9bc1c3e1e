//! Walking the text: header, stack, blank line, again and again.

use super::events::{EventIndex, EventNames};
use super::header::{self, Header};
use super::stacks::StackTexts;
use super::{frame, host};
use crate::interchange::frames;
use crate::periods;
use crate::text::lines;
use crate::{ImportOptions, ImportStats, Imported};
use memchr::{memchr, memmem};
use rustc_hash::FxHashMap;
use zwhy_evidence::Evidence;
use zwhy_profile::{Nanos, Profile, Sample, StackId, ThreadId};

/// Bytes between two calls of `done_with`.
const RELEASE: usize = 4 << 20;

/// Reads a whole text without carriage returns. `done_with` is told which stretch of it was read, so
/// that a large file need not stay in memory; a little of it may be looked at again.
pub fn read(text: &[u8], name: &str, options: &ImportOptions, done_with: &dyn Fn(usize, usize)) -> Imported {
    let mut reader = Reader::new(text, options);
    reader.run(done_with);
    reader.finish(name)
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    profile: Profile,
    evidence: Evidence,
    stats: ImportStats,
    stacks: StackTexts<'a>,
    threads: FxHashMap<&'a [u8], ThreadId>,
    events: EventNames,
    /// Event of each sample, until the meaning of all is known.
    sample_events: Vec<EventIndex>,
    blank_line: memmem::Finder<'static>,
    without_stack: u64,
    /// Shares are not to follow periods.
    by_samples: bool,
}

impl<'a> Reader<'a> {
    fn new(text: &'a [u8], options: &ImportOptions) -> Self {
        Reader {
            text,
            at: 0,
            profile: Profile::new(),
            evidence: Evidence::default(),
            stats: ImportStats::new("perf-script", "samples"),
            stacks: StackTexts::new(options.limits.max_depth, text.len()),
            threads: FxHashMap::default(),
            events: EventNames::default(),
            sample_events: Vec::new(),
            blank_line: memmem::Finder::new(b"\n\n"),
            without_stack: 0,
            by_samples: options.by_samples,
        }
    }

    fn run(&mut self, done_with: &dyn Fn(usize, usize)) {
        let mut done = 0;
        while let Some(line) = self.line() {
            if self.at > done + RELEASE {
                done_with(done, self.at);
                done = self.at;
            }
            match line.first() {
                None => {}
                Some(b'#') => self.comment(&lines::text_of(line)),
                // A stack whose header has no field at all (`-F ip,sym`).
                Some(b'\t') if self.threads.is_empty() || self.threads.contains_key(&b""[..]) => {
                    self.at -= line.len() + 1;
                    self.at = self.at.min(self.text.len());
                    let stack = self.stack();
                    self.push(Header::default(), stack);
                }
                Some(_) => self.sample_or_other(line),
            }
        }
    }

    fn comment(&mut self, line: &str) {
        host::take(line, &mut self.evidence.host);
        if let Some(command) = host::command(line) {
            self.evidence.facts.recorder.command = Some(command.to_owned());
        }
    }

    /// The next line without its end.
    fn line(&mut self) -> Option<&'a [u8]> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let end = memchr(b'\n', rest).unwrap_or(rest.len());
        self.at += end + 1;
        Some(&rest[..end])
    }

    fn sample_or_other(&mut self, line: &'a [u8]) {
        let Some(header) = header::parse(line) else {
            self.stats.read += 1;
            let reason =
                if frame::is_frame_line(line) { "frame without a sample" } else { "line is no sample" };
            return self.stats.drop(reason, 1);
        };
        if header.event.starts_with(b"PERF_RECORD_") || header.rest.starts_with(b"PERF_RECORD_") {
            return self.record(header);
        }
        let followed = matches!(self.text.get(self.at), Some(b'\t' | b' ')) && self.stack_follows();
        let stack = if followed {
            self.stack()
        } else if let Some(here) = header.here {
            self.stacks.single(&mut self.profile, here)
        } else {
            self.unknown_stack()
        };
        self.push(header, stack);
    }

    /// The next line belongs to this sample: a one-line listing has another header there.
    fn stack_follows(&self) -> bool {
        let rest = &self.text[self.at..];
        rest.starts_with(b"\t") || frame::is_frame_line(&rest[..memchr(b'\n', rest).unwrap_or(rest.len())])
    }

    /// Takes the stack text at hand up to the blank line or the next header.
    fn stack(&mut self) -> StackId {
        let rest = &self.text[self.at..];
        let end = self.blank_line.find(rest).unwrap_or(rest.len());
        let taken = self.stacks.stack(&mut self.profile, &rest[..end]);
        self.at += if taken.len < end { taken.len } else { (end + 2).min(rest.len()) };
        self.stats.read += taken.strange;
        self.stats.drop("line is no sample", taken.strange);
        taken.stack
    }

    /// perf had no call chain for the sample: it still was one.
    fn unknown_stack(&mut self) -> StackId {
        self.without_stack += 1;
        let frame = frames::unknown(&mut self.profile, "perf script printed no stack");
        self.profile.stacks.child(StackId::ROOT, frame)
    }

    /// A record that is no sample (`--show-lost-events` and the like): lost samples are counted.
    fn record(&mut self, header: Header) {
        let name = if header.event.starts_with(b"PERF_RECORD_") { header.event } else { header.rest };
        self.stats.read += 1;
        if !name.starts_with(b"PERF_RECORD_LOST") {
            return self.stats.drop("record that is no sample", 1);
        }
        let text = String::from_utf8_lossy(header.rest);
        let lost = text.split_ascii_whitespace().filter_map(|word| word.parse::<u32>().ok()).next_back();
        let lost = u64::from(lost.unwrap_or(1)).max(1);
        self.stats.read += lost - 1;
        self.stats.lost += lost;
    }

    fn push(&mut self, header: Header<'a>, stack: StackId) {
        let thread = match self.threads.get(header.thread) {
            Some(&thread) => thread,
            None => {
                let (comm, pid, tid) = header::split_thread(header.thread);
                // How a thread without a name is written.
                let comm = if comm == b":-1" { b"" } else { comm };
                // Without PID/TID the only number is the thread's; a process may have many.
                let thread = self.profile.thread(pid, tid, &String::from_utf8_lossy(comm));
                self.threads.insert(header.thread, thread);
                thread
            }
        };
        let event = self.events.count(header.event, header.period);
        let weight = periods::whole(header.period.unwrap_or(0)); // until the unit is known
        self.sample_events.push(event);
        self.profile.samples.push(Sample {
            t: Nanos(header.time.unwrap_or(i64::MAX)),
            cpu: header.cpu.unwrap_or(-1),
            thread,
            stack,
            event: Default::default(),
            count: 1,
            weight: Nanos(weight),
        });
        self.stats.read += 1;
        self.stats.kept += 1;
    }

    fn finish(mut self, name: &str) -> Imported {
        // Samples of several CPUs are not quite in order: the earliest is the start.
        let samples = &mut self.profile.samples;
        let start = samples.t.iter().map(|t| t.0).filter(|t| *t != i64::MAX).min().unwrap_or(0);
        for t in &mut samples.t {
            t.0 = if t.0 == i64::MAX { 0 } else { t.0 - start };
        }
        let meanings = self.events.meanings(&mut self.stats);
        let weights = self.events.weights(&meanings, self.by_samples, &mut self.profile, &mut self.stats);
        let samples = &mut self.profile.samples;
        let columns = samples.event.iter_mut().zip(&mut samples.weight);
        for ((slot, weight), event) in columns.zip(&self.sample_events) {
            *slot = meanings.get(event.index()).copied().unwrap_or_default();
            weight.0 = weights.get(event.index()).map_or(0, |w| w.of(weight.0));
        }
        let mut warn = |count: u64, text: &str| {
            if count > 0 {
                self.stats.warnings.push(format!("{count} {text}"));
            }
        };
        warn(self.without_stack, "samples have no stack in the text: print the fields ip and sym");
        warn(
            self.stacks.cut_stacks,
            "different stacks are deeper than the limit: their frames next to the root are cut",
        );
        self.evidence.profile = self.profile;
        self.evidence.origin(name);
        Imported { evidence: self.evidence, stats: self.stats }
    }
}
