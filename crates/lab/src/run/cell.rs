//! One cell, once: one child from start to end, its steps measured and recorded.

use super::RunOptions;
use crate::Bytes;
use crate::error::LabError;
use crate::plan::PlannedRun;
use crate::recorder::{Progress, Recorder, Step as Shown};
use crate::result::{Captured, RunResult, StepResult};
use crate::spec::{Action, Experiment, Setup, Step, Variant};
use crate::store::Plan;
use crate::user::cures::Cure;
use crate::user::library::Library;
use crate::user::parent::{RunStep, RunningChild};
use crate::user::protocol::{ChildPlan, FromChild, Parameter, StepEnd};
use std::path::{Path, PathBuf};
use zwhy_evidence::{CaptureFacts, DatasetFacts, ExperimentFacts, Kind, PoolFacts, ZfsFacts};
use zwhy_profile::Nanos;

/// Parameters as the child sets them: with the size of the library's variable.
///
/// # Errors
/// The first that this library does not export.
fn parameters(setup: &Setup, library: &Library) -> Result<Vec<Parameter>, LabError> {
    let sizes = library.sizes(setup.parameters.keys().map(String::as_str))?;
    let one = |(name, value): (&String, &i128)| match sizes.get(name.as_str()) {
        Some(size @ (4 | 8)) => Ok(Parameter { name: name.clone(), size: *size, value: *value }),
        _ => {
            Err(LabError::NoParameter { name: name.clone(), library: library.info.version_text().to_owned() })
        }
    };
    setup.parameters.iter().map(one).collect()
}

/// Everything that every cell sets can be set with this library.
pub fn check_parameters(experiment: &Experiment, library: &Library) -> Result<(), LabError> {
    let variants = super::variants(experiment)?;
    variants.iter().try_for_each(|variant| parameters(&variant.setup, library).map(drop))
}

pub struct OneRun<'a> {
    pub plan: &'a Plan,
    pub options: &'a RunOptions,
    pub library: &'a Library,
    pub variant: &'a Variant,
    pub planned: PlannedRun,
    pub scratch: &'a Path,
    /// Place in the order from 0, and how many runs there are.
    pub position: (usize, usize),
    pub recorder: &'a mut dyn Recorder,
    pub progress: &'a mut dyn Progress,
}

impl OneRun<'_> {
    pub fn run(&mut self) -> Result<(RunResult, Vec<Cure>), LabError> {
        let plan = ChildPlan {
            library: self.library.clone(),
            scratch: self.scratch.to_owned(),
            setup: self.variant.setup.clone(),
            parameters: parameters(&self.variant.setup, self.library)?,
            bytes: self.plan.size_spec.bytes,
            seed: self.plan.seed,
            steps: self.variant.steps.clone(),
            fault: self.options.fault,
        };
        let mut place = RunStep { variant: self.variant.label.clone(), phase: "set-up".into() };
        self.show(&place.phase);
        let mut child = RunningChild::start(&self.options.child, &plan)?;
        let cures = match self.hear(&mut child, &place)? {
            FromChild::Hello { cures } => cures,
            other => return Err(child.protocol(&place, format!("{other:?} instead of a greeting"))),
        };
        let mut steps = Vec::new();
        for step in &self.variant.steps {
            place.phase.clone_from(&step.name);
            self.show(&place.phase);
            steps.push(self.step(&mut child, &place, step)?);
        }
        place.phase = "clean-up".into();
        match self.hear(&mut child, &place)? {
            FromChild::Done => child.finish(&place, self.options.silence)?,
            other => return Err(child.protocol(&place, format!("{other:?} instead of the end"))),
        }
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
        self.progress.step(&Shown { run: position + 1, runs, variant: &self.variant.label, phase });
    }

    fn hear(&self, child: &mut RunningChild, place: &RunStep) -> Result<FromChild, LabError> {
        child.hear(place, self.options.silence, &self.options.cancel)
    }

    fn step(
        &mut self,
        child: &mut RunningChild,
        place: &RunStep,
        step: &Step,
    ) -> Result<StepResult, LabError> {
        match self.hear(child, place)? {
            FromChild::Ready { step: ready } if ready == step.name => {}
            other => return Err(child.protocol(place, format!("{other:?} instead of being ready"))),
        }
        let failed = |source| LabError::Record { place: Box::new(place.clone()), source };
        let recording = match step.record {
            true => {
                let file = self.capture_file(step)?;
                let name = format!("{} {}", self.variant.label, step.name);
                Some(self.recorder.start(child.pid(), &file, &name, &self.facts(step)).map_err(failed)?)
            }
            false => None,
        };
        child.go();
        let mut marks = Vec::new();
        let end = loop {
            match self.hear(child, place)? {
                FromChild::Mark(mark) => marks.push(mark),
                FromChild::Progress { done, total } => self.progress.bytes(done, total),
                FromChild::End(end) if end.step == step.name => break end,
                other => return Err(child.protocol(place, format!("{other:?} inside a step"))),
            }
        };
        let capture = match recording {
            None => None,
            Some(mut recording) => {
                for mark in &marks {
                    recording.mark(Nanos(mark.t_ns), &mark.name, &mark.text);
                }
                recording.mark(Nanos(end.clocks.end_ns), "end", &step.name);
                let recorded = recording.stop().map_err(failed)?;
                recorded.path.map(|path| Captured {
                    path: path.strip_prefix(&self.options.out).map_or(path.clone(), Path::to_owned),
                    samples: recorded.samples,
                    lost: recorded.lost,
                })
            }
        };
        Ok(StepResult { marks, capture, ..step_result(end) })
    }

    /// `aes-256-ccm-read.zwhy`; with repetitions `aes-256-ccm-2-read.zwhy`. What an interrupted run left in
    /// its place is removed.
    fn capture_file(&self, step: &Step) -> Result<PathBuf, LabError> {
        let safe = |c: char| if c.is_ascii_alphanumeric() || "-._".contains(c) { c } else { '-' };
        let plain = |text: &str| text.chars().map(safe).collect::<String>();
        let repetition = match self.plan.size_spec.repetitions {
            1 => String::new(),
            _ => format!("-{}", self.planned.repetition),
        };
        let stem = format!("{}{repetition}-{}", plain(&self.variant.label), plain(&step.name));
        let file = self.options.out.join(format!("{stem}.zwhy"));
        let part = self.options.out.join(format!("{stem}.zwhy.part"));
        let gone = |path: &Path, outcome: std::io::Result<()>| match outcome {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(LabError::Io {
                doing: "remove what an interrupted run left,",
                path: path.to_owned(),
                source: e,
            }),
            _ => Ok(()),
        };
        gone(&file, std::fs::remove_file(&file))?;
        gone(&part, std::fs::remove_dir_all(&part))?;
        Ok(file)
    }

    /// What a capture should know of where it comes from.
    fn facts(&self, step: &Step) -> CaptureFacts {
        let dataset = DatasetFacts {
            name: Some(format!("{}/data", crate::user::pool::POOL)),
            properties: Some(self.variant.setup.properties.clone().into_iter().collect()),
            ..DatasetFacts::default()
        };
        let pool = PoolFacts { name: Some(crate::user::pool::POOL.to_owned()), ..PoolFacts::default() };
        CaptureFacts {
            kind: Some(Kind::Lab),
            experiment: Some(ExperimentFacts {
                name: Some(self.plan.experiment.name.clone()),
                variant: Some(self.variant.label.clone()),
                phase: Some(step.name.clone()),
                // How much is moved; by it what the CPU did is told for each GB.
                bytes: Some(moved(&step.action, self.plan.size_spec.bytes)),
                repetition: Some(u64::from(self.planned.repetition)),
                ..ExperimentFacts::default()
            }),
            zfs: ZfsFacts {
                version: Some(self.library.info.version_number()),
                library: Some(self.library.info.version_text().to_owned()),
                in_use: Some(true),
                in_user_space: Some(true),
                ..ZfsFacts::default()
            },
            pools: Some(vec![pool]),
            datasets: Some(vec![dataset]),
            ..CaptureFacts::default()
        }
    }
}

/// Bytes that the application moves in a step.
fn moved(action: &Action, all: Bytes) -> u64 {
    match action {
        Action::Write | Action::Verify => all.0,
        Action::Read { bytes, .. } => bytes.unwrap_or(all).0,
        Action::Overwrite { bytes, .. } => bytes.0,
        Action::Snapshot { count, bytes } => u64::from(*count) * bytes.0,
        Action::Reimport | Action::Destroy { .. } | Action::Idle { .. } => 0,
    }
}

fn step_result(end: StepEnd) -> StepResult {
    let StepEnd { step, bytes, blocks, operations, clocks, counters } = end;
    let moved = bytes > 0;
    StepResult {
        name: step,
        bytes,
        blocks,
        operations,
        wall_s: clocks.wall_s(),
        user_s: clocks.user_s,
        system_s: clocks.system_s,
        mb_per_s: moved.then(|| bytes as f64 / 1e6 / clocks.wall_s()),
        cpu_s_per_gb: moved.then(|| clocks.cpu_s() / (bytes as f64 / 1e9)),
        device_read_bytes: clocks.read_bytes,
        device_written_bytes: clocks.written_bytes,
        threads: clocks.threads,
        counters,
        marks: Vec::new(),
        capture: None,
    }
}
