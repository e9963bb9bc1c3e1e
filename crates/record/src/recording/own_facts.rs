//! facts.json: what is true of the host, and the recorder's own figures.

use super::Recording;
use crate::error::RecordError;
use crate::live::Counted;
use crate::proc_stat;
use crate::sampler::Ended;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use zwhy_evidence::{CaptureFacts, Kind, RecorderFacts};
use zwhy_host::{Facts, ask_tools, peak_rss, quick, thread_cpu};

/// What is true of the host; what its tools tell comes later.
pub(super) struct HostFacts {
    facts: Facts,
    more: Option<Receiver<(Facts, Duration)>>,
}

impl HostFacts {
    pub(super) fn quick() -> HostFacts {
        HostFacts { facts: quick(), more: None }
    }

    /// Asks the tools of ZFS aside: they may take seconds, or for ever.
    pub(super) fn ask_tools(&mut self) {
        let (send, receive) = channel();
        let mut facts = self.facts.clone();
        std::thread::spawn(move || {
            let before = thread_cpu();
            ask_tools(&mut facts);
            // The recording may have ended already.
            let _ = send.send((facts, thread_cpu().saturating_sub(before)));
        });
        self.more = Some(receive);
    }

    /// Takes what the tools have told, if they have by then; returns the CPU time that it cost.
    pub(super) fn take_more(&mut self, patience: Duration) -> Duration {
        let Some(Ok((facts, cpu))) = self.more.as_ref().map(|more| more.recv_timeout(patience)) else {
            return Duration::ZERO;
        };
        (self.facts, self.more) = (facts, None);
        cpu
    }

    /// The tools have not answered yet.
    pub(super) fn waits(&self) -> bool {
        self.more.is_some()
    }

    pub(super) fn caveats(self) -> Vec<String> {
        self.facts.limits
    }
}

impl Recording {
    /// Writes facts.json; with the end's figures when they are known.
    pub(super) fn write_facts(
        &mut self,
        end: Option<(Duration, &BTreeMap<u32, u64>)>,
    ) -> Result<(), RecordError> {
        let (from, before) = self.window.clone().unwrap_or_default();
        let mut facts = CaptureFacts {
            version: Some(zwhy_capture::FORMAT_VERSION),
            zwhy: Some(env!("CARGO_PKG_VERSION").to_owned()),
            kind: Some(Kind::Record),
            start_unix_s: Some(self.live.start_unix_s + from.as_secs_f64()),
            ..self.facts.facts.values.clone()
        };
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
        let limits = self.live.caveats.iter().chain(&self.facts.facts.limits);
        // By it the recorder's own samples are told from the load of the host.
        facts.pid = i32::try_from(std::process::id()).ok();
        facts.target = Some(self.options.target.describe());
        facts.limits = Some(limits.cloned().collect());
        facts.interval_s = Some(self.options.interval.as_secs_f64());
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
