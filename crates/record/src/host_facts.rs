//! What is true of the recorded host, beside the recorder's own figures: known at once, or told by the tools of
//! ZFS while recording goes on.

use crate::live::Live;
use crate::options::RecordOptions;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use zwhy_evidence::{CaptureFacts, Kind, RecorderFacts};
use zwhy_host::{Facts, ask_tools, quick, thread_cpu};

pub(crate) struct HostFacts {
    facts: Facts,
    more: Option<Receiver<(Facts, Duration)>>,
}

impl HostFacts {
    pub(crate) fn quick() -> HostFacts {
        HostFacts { facts: quick(), more: None }
    }

    /// Asks the tools of ZFS aside: they may take seconds, or for ever.
    pub(crate) fn ask_tools(&mut self) {
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

    /// Learns all anew. What the tools told last holds until they have answered again.
    pub(crate) fn look_again(&mut self, tools: bool) {
        if tools {
            let before = std::mem::replace(&mut self.facts, quick());
            self.ask_tools();
            self.facts = before;
        } else {
            self.facts = quick();
        }
    }

    /// Takes what the tools have told, if they have by then; returns the CPU time that it cost.
    pub(crate) fn take_more(&mut self, patience: Duration) -> Duration {
        let Some(Ok((facts, cpu))) = self.more.as_ref().map(|more| more.recv_timeout(patience)) else {
            return Duration::ZERO;
        };
        (self.facts, self.more) = (facts, None);
        cpu
    }

    /// The tools have not answered yet.
    pub(crate) fn waits(&self) -> bool {
        self.more.is_some()
    }

    /// Sentences on what could not be learned.
    pub(crate) fn caveats(&self) -> &[String] {
        &self.facts.limits
    }

    /// As a capture has them that begins `from` the start of the recording.
    pub(crate) fn as_recorded(&self, live: &Live, from: Duration) -> CaptureFacts {
        CaptureFacts {
            version: Some(zwhy_capture::FORMAT_VERSION),
            zwhy: Some(env!("CARGO_PKG_VERSION").to_owned()),
            kind: Some(Kind::Record),
            start_unix_s: Some(live.start_unix_s + from.as_secs_f64()),
            ..self.facts.values.clone()
        }
    }

    /// What is recorded, by whom, and what is not seen.
    pub(crate) fn put_recorder(&self, live: &Live, options: &RecordOptions, facts: &mut RecorderFacts) {
        // By it the recorder's own samples are told from the load of the host.
        facts.pid = i32::try_from(std::process::id()).ok();
        facts.target = Some(options.target.describe());
        facts.limits = Some(live.caveats.iter().chain(self.caveats()).cloned().collect());
        facts.interval_s = Some(options.interval.as_secs_f64());
    }
}
