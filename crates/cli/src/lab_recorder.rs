//! The recorder as the lab wants it: one capture a phase, sampled beside the experiment.

use std::path::Path;
use zwhy_evidence::CaptureFacts;
use zwhy_lab::{RecordError, RecordedPhase, Whom};
use zwhy_profile::Nanos;
use zwhy_record::{Background, RecordOptions, Target};

pub struct LabRecorder {
    hz: u32,
}

impl LabRecorder {
    pub fn new(hz: u32) -> LabRecorder {
        LabRecorder { hz }
    }
}

impl zwhy_lab::Recorder for LabRecorder {
    fn start(
        &mut self,
        whom: Whom,
        out: &Path,
        _name: &str,
        facts: &CaptureFacts,
    ) -> Result<Box<dyn zwhy_lab::Recording>, RecordError> {
        let target = match whom {
            Whom::Process(pid) => Target::Pid(vec![i32::try_from(pid)?]),
            Whom::Host => Target::System,
        };
        let mut options = RecordOptions::new(target, out);
        options.hz = self.hz;
        // What sampling costs must not be charged to the cells that it compares.
        options.by_cpu = true;
        // The host's pools have no part in an experiment that brings its own OpenZFS.
        options.ask_zfs = whom == Whom::Host;
        options.facts.clone_from(facts);
        options.facts.limits = crate::commands::limits::fact();
        Ok(Box::new(Phase(Background::start(options)?)))
    }
}

struct Phase(Background);

impl zwhy_lab::Recording for Phase {
    fn mark(&mut self, t: Nanos, name: &str, text: &str) {
        self.0.mark_at(t, name, text);
    }

    fn stop(self: Box<Self>) -> Result<RecordedPhase, RecordError> {
        let summary = self.0.stop()?;
        Ok(RecordedPhase { path: Some(summary.path), samples: summary.samples, lost: summary.lost })
    }
}
