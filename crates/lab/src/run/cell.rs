//! One cell, once: one child from start to end, its steps measured and recorded.

use super::Session;
use crate::Bytes;
use crate::engine::parent::{Patience, RunStep, RunningChild};
use crate::engine::protocol::{ChildPlan, FromChild};
use crate::error::LabError;
use crate::plan::PlannedRun;
use crate::recorder::Step as Shown;
use crate::result::{Captured, RunResult, StepResult};
use crate::sample;
use crate::spec::{Action, Step, Variant};
use crate::user::cures::Cure;
use std::path::{Path, PathBuf};
use zwhy_evidence::{CaptureFacts, ExperimentFacts, Kind};
use zwhy_profile::Nanos;

pub struct OneRun<'s, 'a> {
    pub session: &'s mut Session<'a>,
    pub variant: &'s Variant,
    pub planned: PlannedRun,
    /// Place in the order from 0, and how many runs there are.
    pub position: (usize, usize),
}

impl OneRun<'_, '_> {
    pub fn run(&mut self) -> Result<(RunResult, Vec<Cure>), LabError> {
        let plan = ChildPlan {
            engine: self.session.engine.begin(&self.variant.setup, self.session.scratch.path())?,
            scratch: self.session.scratch.path().to_owned(),
            setup: self.variant.setup.clone(),
            bytes: self.session.plan.size_spec.bytes,
            seed: self.session.plan.seed,
            steps: self.variant.steps.clone(),
            sample: self.session.plan.sample.is_some().then(|| sample::path(&self.session.options.out)),
            keep: self.session.plan.keep,
            fault: self.session.options.fault,
        };
        let place = RunStep { variant: self.variant.label.clone(), phase: "set-up".into() };
        self.show(&place.phase);
        let patience =
            Patience { silence: self.session.options.silence, cancel: self.session.options.cancel.clone() };
        let mut child =
            RunningChild::start(&self.session.options.child, &plan, &*self.session.engine, place, patience)?;
        let cures = match child.hear()? {
            FromChild::Hello { cures } => cures,
            other => return Err(child.protocol(format!("{other:?} instead of a greeting"))),
        };
        let mut steps = Vec::new();
        for step in &self.variant.steps {
            child.place.phase.clone_from(&step.name);
            self.show(&step.name);
            steps.push(self.step(&mut child, step)?);
        }
        child.place.phase = "clean-up".into();
        child.finish()?;
        let run = RunResult {
            position: self.position.0,
            variant: self.variant.label.clone(),
            factors: self.variant.factors.clone(),
            setup: self.variant.setup.clone(),
            repetition: self.planned.repetition,
            steps,
        };
        Ok((run, cures))
    }

    fn show(&mut self, phase: &str) {
        let (position, runs) = self.position;
        self.session.progress.step(&Shown { run: position + 1, runs, variant: &self.variant.label, phase });
    }

    fn step(&mut self, child: &mut RunningChild, step: &Step) -> Result<StepResult, LabError> {
        match child.hear()? {
            FromChild::Ready { step: ready } if ready == step.name => {}
            other => return Err(child.protocol(format!("{other:?} instead of being ready"))),
        }
        let place = child.at();
        let failed = |source| LabError::Record { place: place.clone(), source };
        let recording = match step.record {
            true => {
                let file = self.capture_file(step)?;
                let name = format!("{} {}", self.variant.label, step.name);
                let whom = self.session.engine.whom(child.pid());
                Some(self.session.recorder.start(whom, &file, &name, &self.facts(step)).map_err(failed)?)
            }
            false => None,
        };
        child.go();
        let mut marks = Vec::new();
        let end = loop {
            match child.hear()? {
                FromChild::Mark(mark) => marks.push(mark),
                FromChild::Progress { done, total } => self.session.progress.bytes(done, total),
                FromChild::End(end) if end.result.name == step.name => break end,
                other => return Err(child.protocol(format!("{other:?} inside a step"))),
            }
        };
        let capture = match recording {
            None => None,
            Some(mut recording) => {
                for mark in &marks {
                    recording.mark(Nanos(mark.t_ns), &mark.name, &mark.text);
                }
                recording.mark(Nanos(end.end_ns), "end", &step.name);
                let recorded = recording.stop().map_err(failed)?;
                recorded.path.map(|path| Captured {
                    path: path.strip_prefix(&self.session.options.out).map_or(path.clone(), Path::to_owned),
                    samples: recorded.samples,
                    lost: recorded.lost,
                })
            }
        };
        Ok(StepResult { marks, capture, ..end.result })
    }

    /// `aes-256-ccm-read.zwhy`; with repetitions `aes-256-ccm-2-read.zwhy`. What an interrupted run left in
    /// its place is removed.
    fn capture_file(&self, step: &Step) -> Result<PathBuf, LabError> {
        let safe = |c: char| if c.is_ascii_alphanumeric() || "-._".contains(c) { c } else { '-' };
        let plain = |text: &str| text.chars().map(safe).collect::<String>();
        let repetition = match self.session.plan.size_spec.repetitions {
            1 => String::new(),
            _ => format!("-{}", self.planned.repetition),
        };
        let stem = format!("{}{repetition}-{}", plain(&self.variant.label), plain(&step.name));
        let file = self.session.options.out.join(format!("{stem}.zwhy"));
        let part = self.session.options.out.join(format!("{stem}.zwhy.part"));
        let gone = |path: &Path, removed: std::io::Result<()>| match removed {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                Err(LabError::io("remove what an interrupted run left,", path)(e))
            }
            _ => Ok(()),
        };
        gone(&file, std::fs::remove_file(&file))?;
        gone(&part, std::fs::remove_dir_all(&part))?;
        Ok(file)
    }

    /// What a capture should know of where it comes from.
    fn facts(&self, step: &Step) -> CaptureFacts {
        CaptureFacts {
            kind: Some(Kind::Lab),
            experiment: Some(ExperimentFacts {
                name: Some(self.session.plan.experiment.name.clone()),
                variant: Some(self.variant.label.clone()),
                phase: Some(step.name.clone()),
                // How much is moved; by it what the CPU did is told for each GB.
                bytes: Some(moved(&step.action, self.session.plan.size_spec.bytes)),
                repetition: Some(u64::from(self.planned.repetition)),
                ..ExperimentFacts::default()
            }),
            ..self.session.engine.facts(&self.variant.setup)
        }
    }
}

/// Bytes that the application moves in a step.
fn moved(action: &Action, all: Bytes) -> u64 {
    match action {
        Action::Write | Action::Verify | Action::Raw | Action::Send { .. } | Action::Receive => all.0,
        Action::Read { bytes, count, .. } => bytes.unwrap_or(all).0 * u64::from(*count),
        Action::Overwrite { bytes, .. } => bytes.unwrap_or(all).0,
        Action::Snapshot { count, bytes } => u64::from(*count) * bytes.0,
        _ => 0,
    }
}
