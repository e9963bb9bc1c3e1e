//! Keeping only the last seconds, and writing them when a trigger or a signal asks.
//!
//! Invariant: a capture of the last seconds looks as if the recording had begun with them: times,
//! counts, losses and cost are those of these seconds.

use super::Recording;
use crate::error::RecordError;
use crate::recent::MOST_BYTES;
use crate::sampler::Part;
use crate::scene::Scene;
use crate::triggers::Readings;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Duration;
use zwhy_capture::{CaptureError, Series, Writer};
use zwhy_host::monotonic_ns;
use zwhy_profile::{Event, Nanos, Samples};

/// After a trigger the recording goes on for this part of the span, to hold what follows, too.
const AFTER: u32 = 4;
/// Stacks or threads from which those of dropped samples are forgotten.
const MOST_NAMES: usize = 50_000;

impl Readings for Scene {
    fn reading(&self, source: &str, name: &str) -> Option<i64> {
        self.pen.reading(source, name)
    }

    fn threads(&self, name: &str) -> Vec<(i32, i64)> {
        self.cpu_of(name)
    }
}

impl Recording {
    pub(super) fn check_triggers(&mut self) -> Result<(), RecordError> {
        let now = monotonic_ns();
        let scene = &self.live.scene;
        let t = scene.since_start(now);
        let fired: Vec<String> = self.watches.iter_mut().filter_map(|w| w.check(t, scene)).collect();
        for text in fired {
            self.mark_at(now, "trigger", &text)?;
            let span = self.recent.as_ref().map_or(Duration::ZERO, |recent| recent.span);
            self.write_at.get_or_insert(self.elapsed() + span / AFTER);
        }
        Ok(())
    }

    /// Writes the last seconds when a trigger or a signal asked for them.
    pub(super) fn write_when_asked(&mut self) -> Result<(), RecordError> {
        let Some(last) = &self.options.keep_last else { return Ok(()) };
        let asked = last.write_now.swap(false, Ordering::Relaxed);
        let due = self.write_at.is_some_and(|at| self.elapsed() >= at);
        if !asked && !due {
            return Ok(());
        }
        if !last.repeat {
            self.finished = true;
            return Ok(());
        }
        self.write_at = None;
        let next = self.next_writer()?;
        self.live.look(Part::Cut);
        let (duration, lost) = self.write_recent()?;
        self.write_facts(Some((duration, &lost)))?;
        self.saved.push(std::mem::replace(&mut self.writer, next).finish()?);
        self.reset_names();
        Ok(())
    }

    /// A writer for `NAME-2.zwhy` and so on: the first name that is free.
    fn next_writer(&mut self) -> Result<Writer, RecordError> {
        let out = &self.options.out;
        let stem = out.file_stem().unwrap_or_default().to_os_string();
        loop {
            self.files += 1;
            let mut name = stem.clone();
            name.push(format!("-{}.zwhy", self.files));
            match Writer::create(&out.with_file_name(name)) {
                Err(CaptureError::Exists(_)) => {}
                other => return Ok(other?),
            }
        }
    }

    /// Moves what came since into the growing part of the last seconds, and closes that when it is
    /// full.
    pub(super) fn keep(&mut self, close: bool) {
        let now = self.elapsed();
        let counted = self.live.counted();
        let Some(recent) = &mut self.recent else { return };
        let Scene { profile, pen, .. } = &mut self.live.scene;
        if !close && !recent.full(now, profile.samples.len(), pen.series.len()) {
            return;
        }
        let samples = std::mem::take(&mut profile.samples);
        let series = std::mem::take(&mut pen.series);
        recent.push(now, samples, series, counted);
        pen.trim();
        pen.restate();
        if close || profile.stacks.len().max(profile.threads.len()) > MOST_NAMES {
            self.live.compact(recent.chunks.iter_mut().map(|c| &mut c.samples));
        }
    }

    /// Writes the last seconds as if the recording had begun with them; returns how long they were
    /// and what was lost in them.
    pub(super) fn write_recent(&mut self) -> Result<(Duration, BTreeMap<u32, u64>), RecordError> {
        self.live.name();
        self.keep(true);
        let lost = self.live.counted().lost_by_cpu;
        let Some(recent) = &mut self.recent else { return Ok((self.elapsed(), lost)) };
        let from = recent.from();
        let base = i64::try_from(from.as_nanos()).unwrap_or(i64::MAX);
        let duration = recent.begin.saturating_sub(from);
        let chunks = std::mem::take(&mut recent.chunks);
        self.window = chunks.front().map(|c| (from, c.before.clone()));
        for mut chunk in chunks {
            chunk.samples.t.iter_mut().for_each(|t| t.0 = (t.0 - base).max(0));
            within_the_window(&mut chunk.samples);
            let profile = &mut self.live.scene.profile;
            profile.samples = chunk.samples;
            self.writer.flush(profile)?;
            let mut series = Series::default();
            for row in chunk.series.iter() {
                series.push(Nanos((row.t.0 - base).max(0)), row.source, row.name, row.kind, row.value);
            }
            self.writer.append_series(&series)?;
        }
        for (_, mut mark) in std::mem::take(&mut recent.marks) {
            mark.t.0 = (mark.t.0 - base).max(0);
            self.writer.mark(mark)?;
        }
        if recent.cut_by_size {
            self.live.caveats.push(format!(
                "only the last {:.0} s are in the capture: more did not fit into {} MiB; lower the rate with \
                 -F or read counters less often with --interval",
                duration.as_secs_f64(),
                MOST_BYTES >> 20
            ));
        }
        let before = self.before().lost_by_cpu;
        let in_window = |(cpu, n): (u32, u64)| (cpu, n - before.get(&cpu).copied().unwrap_or(0).min(n));
        Ok((duration, lost.into_iter().map(in_window).filter(|(_, n)| *n > 0).collect()))
    }

    /// After a capture was written: the next one begins now.
    fn reset_names(&mut self) {
        let (now, counted) = (self.elapsed(), self.live.counted());
        if let Some(recent) = &mut self.recent {
            (recent.begin, recent.before, recent.cut_by_size) = (now, counted, false);
        }
        self.window = None;
    }
}

/// Of a wait that began before the window only the part in it counts.
fn within_the_window(samples: &mut Samples) {
    for at in 0..samples.len() {
        if samples.event[at] == Event::Wait {
            samples.weight[at] = samples.weight[at].min(samples.t[at]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zwhy_profile::{Sample, StackId, ThreadId};

    #[test]
    fn a_wait_from_before_the_window_counts_from_its_begin() {
        let mut samples = Samples::default();
        for (event, t) in [(Event::Wait, 3), (Event::Wait, 50), (Event::Cpu, 3)] {
            let (stack, thread) = (StackId::ROOT, ThreadId(0));
            samples.push(Sample { t: Nanos(t), cpu: 0, thread, stack, event, count: 1, weight: Nanos(10) });
        }
        within_the_window(&mut samples);
        assert_eq!(samples.weight, [3, 10, 10].map(Nanos));
    }
}
