//! A recording into a capture, from start to stop: the loop's intervals are written as segments in turn.
//!
//! Invariant: after an error of the writer the folder holds all segments written before.

mod own_facts;
mod saving;

use crate::counted::Counted;
use crate::error::RecordError;
use crate::heap;
use crate::host_facts::HostFacts;
use crate::live::{Live, Turn};
use crate::options::RecordOptions;
use crate::recent::{MOST_BYTES, Recent};
use crate::summary::{Progress, Status, Summary};
use crate::triggers::Watch;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use zwhy_capture::{Mark, Writer};
use zwhy_host::{TOOLS_PATIENCE, monotonic_ns, peak_rss, thread_cpu};

/// Longest sleep between two looks, so that stopping feels immediate.
pub(crate) const TICK: Duration = Duration::from_millis(100);
/// Segments are written every interval at first, later less often, to keep their number small.
const EARLY: Duration = Duration::from_secs(60);
const LATE_FLUSH: Duration = Duration::from_secs(5);
pub(crate) const MOST_PENDING: usize = 65_536;

/// A running recording.
pub struct Recording {
    options: RecordOptions,
    live: Live,
    writer: Writer,
    last_flush: Duration,
    facts: HostFacts,
    /// Only the last seconds are kept.
    recent: Option<Recent>,
    watches: Vec<Watch>,
    /// A trigger fired: write and, unless repeated, end at this time.
    write_at: Option<Duration>,
    /// Captures that were written while the recording went on, until they are told.
    saved: Vec<PathBuf>,
    files: u32,
    /// Of the last seconds being written: when they began and what was counted before.
    window: Option<(Duration, Counted)>,
    finished: bool,
}

impl Recording {
    /// Opens the events, starts the command where there is one, and begins to record.
    ///
    /// # Errors
    /// When options make no sense, the file cannot be made, the target does not exist or the kernel
    /// refuses; nothing is left behind then.
    pub fn start(options: RecordOptions) -> Result<Recording, RecordError> {
        options.check()?;
        let writer = Writer::create(&options.out)?;
        let folder = writer.folder().to_owned();
        let started = Recording::begin(options, writer);
        if started.is_err() {
            // Only ours: it was made a moment ago and holds nothing but perhaps first facts.
            let _ = std::fs::remove_dir_all(&folder);
        }
        started
    }

    fn begin(options: RecordOptions, writer: Writer) -> Result<Recording, RecordError> {
        let live = Live::start(&options)?;
        let cpu_before = thread_cpu();
        let kept = options.keep_last.as_ref();
        let mut recording = Recording {
            recent: kept.map(|last| Recent::new(last.span, MOST_BYTES)),
            watches: kept.iter().flat_map(|last| last.triggers.iter().cloned().map(Watch::new)).collect(),
            write_at: None,
            saved: Vec::new(),
            files: 1,
            window: None,
            facts: HostFacts::quick(),
            last_flush: Duration::ZERO,
            finished: false,
            options,
            live,
            writer,
        };
        recording.write_facts(None)?;
        if recording.options.ask_zfs {
            recording.facts.ask_tools();
        }
        // The text of the kernel's symbols and what was made of it are gone by now.
        heap::give_back();
        recording.live.cpu += thread_cpu().saturating_sub(cpu_before);
        Ok(recording)
    }

    /// Time since the start.
    pub fn elapsed(&self) -> Duration {
        self.live.elapsed()
    }

    pub fn status(&self) -> Status {
        let (samples, lost) = self.live.progress();
        Status { elapsed: self.elapsed(), samples, lost, bytes_written: self.writer.bytes_written() }
    }

    /// Names this moment.
    pub fn mark(&mut self, name: &str, text: &str) -> Result<(), RecordError> {
        self.mark_at(monotonic_ns(), name, text)
    }

    pub(crate) fn mark_at(&mut self, at_ns: u64, name: &str, text: &str) -> Result<(), RecordError> {
        let t = self.live.scene.since_start(at_ns);
        self.put_mark(Mark { t, name: name.to_owned(), text: text.to_owned() })
    }

    fn put_mark(&mut self, mark: Mark) -> Result<(), RecordError> {
        if let Some(recent) = &mut self.recent {
            recent.marks.push((Duration::from_nanos(mark.t.0.max(0) as u64), mark));
            return Ok(());
        }
        Ok(self.writer.mark(mark)?)
    }

    /// Records until the target ends, the duration is over or `stop` is set.
    pub fn run(&mut self, stop: &AtomicBool, progress: &mut dyn Progress) -> Result<(), RecordError> {
        let mut told = Duration::ZERO;
        while !stop.load(Ordering::Relaxed) && self.poll(TICK)? {
            if self.elapsed().saturating_sub(told) >= Duration::from_secs(1) {
                told = self.elapsed();
                progress.update(self.status());
            }
            self.saved.drain(..).for_each(|path| progress.saved(&path));
        }
        Ok(())
    }

    /// Waits up to `timeout`, then takes in what came; `false` when the recording is over.
    pub fn poll(&mut self, timeout: Duration) -> Result<bool, RecordError> {
        if self.finished {
            return Ok(false);
        }
        let cpu_before = thread_cpu();
        let turn = self.live.turn(timeout);
        let result = self.taken_in(turn).and_then(|()| self.write_when_asked());
        self.finished = self.finished || turn.over || result.is_err();
        self.live.cpu += thread_cpu().saturating_sub(cpu_before);
        result.map(|()| !self.finished)
    }

    /// Looks at what a turn of the loop brought, and writes when it is time.
    fn taken_in(&mut self, turn: Turn) -> Result<(), RecordError> {
        for mark in std::mem::take(&mut self.live.marks) {
            self.put_mark(mark)?;
        }
        if turn.read {
            self.check_triggers()?;
            self.live.cpu += self.facts.take_more(Duration::ZERO);
        }
        let elapsed = self.elapsed();
        let pause =
            if elapsed < EARLY { self.options.interval } else { self.options.interval.max(LATE_FLUSH) };
        if elapsed >= self.last_flush + pause || self.live.pending() >= MOST_PENDING {
            self.last_flush = elapsed;
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), RecordError> {
        self.live.name();
        if self.recent.is_some() {
            self.keep(false);
            return Ok(());
        }
        let scene = &mut self.live.scene;
        self.writer.flush(&mut scene.profile)?;
        if !scene.pen.series.is_empty() {
            self.writer.append_series(&scene.pen.series)?;
            scene.pen.series.clear();
            scene.pen.trim();
        }
        if self.live.keep_small() {
            self.writer.reset_names();
        }
        Ok(())
    }

    /// Ends the recording and packs the capture.
    ///
    /// A command that still runs is left running.
    /// # Errors
    /// When the last segments or the file cannot be written; the folder then holds the rest.
    pub fn stop(mut self) -> Result<Summary, RecordError> {
        let cpu_before = thread_cpu();
        let mut duration = self.elapsed();
        self.live.end();
        self.live.cpu += self.facts.take_more(TOOLS_PATIENCE);
        if self.facts.waits() {
            let text = "zpool and zfs did not answer; pools and datasets are not recorded";
            self.live.caveats.push(text.into());
        }
        let mut lost_by_cpu = self.live.counted().lost_by_cpu;
        if self.recent.is_some() {
            (duration, lost_by_cpu) = self.write_recent()?;
        }
        let lost = lost_by_cpu.values().sum();
        let caveats = self.live.caveats_at_end(&lost_by_cpu);
        self.live.caveats.extend(caveats);
        if let Some(pid) = self.live.held.running() {
            let text = format!("the command still runs as process {pid}; the capture ends before it");
            self.live.caveats.push(text);
        }
        if self.recent.is_none() {
            self.flush()?;
        }
        self.live.cpu += thread_cpu().saturating_sub(cpu_before);
        let (before, counted) = (self.before(), self.live.counted());
        let (cpu, samples) =
            (counted.cpu.saturating_sub(before.cpu), counted.samples.saturating_sub(before.samples));
        let cpu_share = cpu.as_secs_f64() / duration.as_secs_f64().max(1e-9);
        self.write_facts(Some((duration, &lost_by_cpu)))?;
        let Recording { mut live, writer, facts, watches, .. } = self;
        let exit_status = live.held.exit_status();
        live.lower_priority();
        let mut warnings = std::mem::take(&mut live.caveats);
        warnings.extend(facts.caveats().iter().cloned());
        warnings.extend(watches.iter().map(Watch::account));
        // Packing takes memory of its own.
        drop(live);
        heap::give_back();
        let path = writer.finish()?;
        Ok(Summary {
            bytes: std::fs::metadata(&path).map_or(0, |m| m.len()),
            path,
            samples,
            lost,
            duration,
            cpu,
            cpu_share,
            peak_rss: peak_rss(),
            exit_status,
            warnings,
        })
    }

    /// What was counted before the span that is written.
    fn before(&self) -> Counted {
        self.window.as_ref().map(|(_, before)| before.clone()).unwrap_or_default()
    }
}
