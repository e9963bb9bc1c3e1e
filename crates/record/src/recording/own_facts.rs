//! facts.json of a recording: what is true of the host, and the recorder's own figures.

use super::Recording;
use crate::counted::Counted;
use crate::error::RecordError;
use crate::proc_stat;
use crate::sampler::Ended;
use std::collections::BTreeMap;
use std::time::Duration;
use zwhy_evidence::RecorderFacts;
use zwhy_host::peak_rss;

impl Recording {
    /// Writes facts.json; with the end's figures when they are known.
    pub(super) fn write_facts(
        &mut self,
        end: Option<(Duration, &BTreeMap<u32, u64>)>,
    ) -> Result<(), RecordError> {
        let (from, before) = self.window.clone().unwrap_or_default();
        let mut facts = self.facts.as_recorded(&self.live, from);
        let counted = self.live.counted();
        if let (Some(first), Some(last)) = (before.host_cpu.or(self.live.first.host_cpu), counted.host_cpu) {
            facts.cpu_time = proc_stat::shares(&first, &last);
        }
        facts.recorder = self.recorder_facts(end, &before);
        facts.put(self.options.facts.clone());
        Ok(self.writer.set_facts(&facts)?)
    }

    fn recorder_facts(
        &self,
        end: Option<(Duration, &BTreeMap<u32, u64>)>,
        before: &Counted,
    ) -> RecorderFacts {
        let ended = end.map(|(_, lost)| Ended { before, last_seconds: self.window.is_some(), lost });
        let mut facts = self.live.facts(ended.as_ref());
        self.facts.put_recorder(&self.live, &self.options, &mut facts);
        if let Some((duration, _)) = end {
            let (cpu_s, seconds) =
                (self.live.cpu.saturating_sub(before.cpu).as_secs_f64(), duration.as_secs_f64());
            facts.duration_s = Some(seconds);
            facts.cpu_s = Some(cpu_s);
            facts.cpu_share = Some(cpu_s / seconds.max(1e-9));
            facts.nice = self.live.nice().map(i64::from);
            facts.peak_rss_bytes = peak_rss();
        }
        facts
    }
}
