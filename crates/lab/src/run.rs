//! Runs an experiment: checks everything that can be checked first, then one child per run.
//!
//! What was finished is kept: the result is written after each run, so a crash in the last run
//! leaves the figures and captures of those before it.

use crate::PhaseKind;
use crate::answer::answer;
use crate::error::LabError;
use crate::experiment::{Experiment, Size, SizeSpec, Variant};
use crate::plan::{PlannedRun, order};
use crate::recorder::{Progress, Recorder, Step};
use crate::result::{Captured, Cpu, ExperimentResult, Mark, PhaseResult, RunResult, SCHEMA, summarise};
use crate::scratch::Scratch;
use crate::user::clocks::PhaseClocks;
use crate::user::cures::{self, Cure};
use crate::user::library::Library;
use crate::user::parent::{ChildProgram, RunStep, RunningChild};
use crate::user::protocol::{ChildPlan, Fault, FromChild};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use zwhy_evidence::{CaptureFacts, DatasetFacts, ExperimentFacts, Kind, PoolFacts, ZfsFacts};
use zwhy_profile::Nanos;

#[derive(Clone, Debug)]
pub struct RunOptions {
    pub size: Size,
    /// Overrides what the experiment says for this size.
    pub size_spec: Option<SizeSpec>,
    /// Folder for the captures and `result.json`; made if it does not exist.
    pub out: PathBuf,
    /// Folder for the pool: new or empty. `None`: `scratch` inside `out`.
    pub scratch: Option<PathBuf>,
    /// The libzpool to use; `None`: the one the dynamic linker would find.
    pub library: Option<PathBuf>,
    /// Order of the runs; `None`: by the clock.
    pub seed: Option<u64>,
    /// The command as it was given, for the result.
    pub command: Vec<String>,
    pub child: ChildProgram,
    /// A child that says nothing for so long is given up.
    pub silence: Duration,
    /// Set from elsewhere (Ctrl-C): ends the experiment in order.
    pub cancel: Arc<AtomicBool>,
    #[doc(hidden)]
    pub fault: Option<Fault>,
}

impl RunOptions {
    /// `child` is the command that calls [`crate::child_main`].
    pub fn new(out: impl Into<PathBuf>, child: ChildProgram) -> RunOptions {
        RunOptions {
            size: Size::default(),
            size_spec: None,
            out: out.into(),
            scratch: None,
            library: None,
            seed: None,
            command: Vec::new(),
            child,
            silence: Duration::from_secs(120),
            cancel: Arc::default(),
            fault: None,
        }
    }
}

/// Runs all of `experiment` and writes `result.json` and the captures into the output folder.
pub fn run(
    experiment: &Experiment,
    options: &RunOptions,
    recorder: &mut dyn Recorder,
    progress: &mut dyn Progress,
) -> Result<ExperimentResult, LabError> {
    let spec = |what| LabError::Spec { origin: experiment.name.clone(), what };
    let library = Library::find(options.library.as_deref())?;
    let variants = experiment.variants().map_err(spec)?;
    let size = options.size_spec.unwrap_or_else(|| experiment.size(options.size));
    std::fs::create_dir_all(&options.out).map_err(|source| LabError::Io {
        doing: "make the output folder",
        path: options.out.clone(),
        source,
    })?;
    let scratch_path = options.scratch.clone().unwrap_or_else(|| options.out.join("scratch"));
    let scratch = Scratch::prepare(&scratch_path, size.bytes)?;

    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seed = options.seed.unwrap_or(now.as_nanos() as u64);
    let plan = order(variants.len(), size.repetitions, seed);
    let mut result = blank(experiment, options, &library, size, seed, now.as_secs());
    let labels: Vec<String> = variants.iter().map(|v| v.label.clone()).collect();
    for (index, planned) in plan.iter().enumerate() {
        let mut one = OneRun {
            experiment,
            options,
            library: &library,
            variant: &variants[planned.variant],
            planned: *planned,
            size,
            scratch: scratch.path(),
            position: (index + 1, plan.len()),
            recorder: &mut *recorder,
            progress: &mut *progress,
        };
        let (run, cures) = one.run(seed)?;
        scratch.empty()?;
        result.distortions = cures::remaining(&cures, library.info.release);
        result.cures = cures;
        result.runs.push(run);
        result.summary = summarise(&labels, &result.runs);
        (result.answer, result.as_expected) = answer(&experiment.compare, &result.summary);
        result.write(&options.out)?;
    }
    Ok(result)
}

fn blank(
    experiment: &Experiment,
    options: &RunOptions,
    library: &Library,
    size: SizeSpec,
    seed: u64,
    started_s: u64,
) -> ExperimentResult {
    ExperimentResult {
        schema: SCHEMA,
        zwhy: env!("CARGO_PKG_VERSION").into(),
        experiment: experiment.name.clone(),
        title: experiment.title.clone(),
        question: experiment.question.clone(),
        expectation: experiment.expectation.clone(),
        answer: String::new(),
        as_expected: None,
        engine: experiment.engine,
        references: experiment.references.clone(),
        command: options.command.clone(),
        size: options.size,
        size_spec: size,
        seed,
        started_s,
        library: library.info.clone(),
        cpu: cpu(),
        cures: Vec::new(),
        distortions: Vec::new(),
        runs: Vec::new(),
        summary: Vec::new(),
    }
}

fn cpu() -> Cpu {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find(|l| l.starts_with("model name")).and_then(|l| l.split_once(':'));
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    Cpu { model: model.map_or(String::new(), |(_, name)| name.trim().to_owned()), cores }
}

/// One variant, once: one child from start to end.
struct OneRun<'a> {
    experiment: &'a Experiment,
    options: &'a RunOptions,
    library: &'a Library,
    variant: &'a Variant,
    planned: PlannedRun,
    size: SizeSpec,
    scratch: &'a Path,
    position: (usize, usize),
    recorder: &'a mut dyn Recorder,
    progress: &'a mut dyn Progress,
}

impl OneRun<'_> {
    fn run(&mut self, seed: u64) -> Result<(RunResult, Vec<Cure>), LabError> {
        let plan = ChildPlan {
            library: self.library.clone(),
            scratch: self.scratch.to_owned(),
            settings: self.variant.settings.clone(),
            bytes: self.size.bytes,
            seed,
            phases: self.experiment.phases.iter().map(|p| p.kind).collect(),
            fault: self.options.fault,
        };
        let mut place = RunStep { variant: self.variant.label.clone(), phase: "set-up".into() };
        self.show(&place.phase);
        let mut child = RunningChild::start(&self.options.child, &plan)?;
        let cures = match self.hear(&mut child, &place)? {
            FromChild::Hello { cures } => cures,
            other => return Err(child.protocol(&place, format!("{other:?} instead of a greeting"))),
        };
        let mut phases = Vec::new();
        for phase in &self.experiment.phases {
            place.phase = phase.kind.name().into();
            self.show(&place.phase);
            phases.push(self.phase(&mut child, &place, phase.kind, phase.record)?);
        }
        place.phase = "clean-up".into();
        match self.hear(&mut child, &place)? {
            FromChild::Done => child.finish(&place, self.options.silence)?,
            other => return Err(child.protocol(&place, format!("{other:?} instead of the end"))),
        }
        let run = RunResult {
            variant: self.variant.label.clone(),
            axes: self.variant.axes.clone(),
            settings: self.variant.settings.clone(),
            repetition: self.planned.repetition,
            phases,
        };
        Ok((run, cures))
    }

    fn show(&mut self, phase: &str) {
        let (run, runs) = self.position;
        self.progress.step(&Step { run, runs, variant: &self.variant.label, phase });
    }

    fn hear(&self, child: &mut RunningChild, place: &RunStep) -> Result<FromChild, LabError> {
        child.hear(place, self.options.silence, &self.options.cancel)
    }

    fn phase(
        &mut self,
        child: &mut RunningChild,
        place: &RunStep,
        kind: PhaseKind,
        record: bool,
    ) -> Result<PhaseResult, LabError> {
        match self.hear(child, place)? {
            FromChild::Ready { phase } if phase == kind => {}
            other => return Err(child.protocol(place, format!("{other:?} instead of being ready"))),
        }
        let failed = |source| LabError::Record { place: Box::new(place.clone()), source };
        let recording = match record {
            true => {
                let file = self.options.out.join(self.capture_name(kind));
                let name = format!("{} {}", self.variant.label, kind.name());
                let facts = self.facts(kind);
                Some(self.recorder.start(child.pid(), &file, &name, &facts).map_err(failed)?)
            }
            false => None,
        };
        child.go();
        let mut marks = Vec::new();
        let (bytes, clocks) = loop {
            match self.hear(child, place)? {
                FromChild::Mark(mark) => marks.push(mark),
                FromChild::Progress { done, total } => self.progress.bytes(done, total),
                FromChild::End { phase, bytes, clocks } if phase == kind => break (bytes, clocks),
                other => return Err(child.protocol(place, format!("{other:?} inside a phase"))),
            }
        };
        let capture = match recording {
            None => None,
            Some(mut recording) => {
                for mark in &marks {
                    recording.mark(Nanos(mark.t_ns), &mark.name, &mark.text);
                }
                recording.mark(Nanos(clocks.end_ns), "end", kind.name());
                let recorded = recording.stop().map_err(failed)?;
                recorded.path.map(|path| Captured {
                    path: path.strip_prefix(&self.options.out).map_or(path.clone(), Path::to_owned),
                    samples: recorded.samples,
                    lost: recorded.lost,
                })
            }
        };
        Ok(phase_result(kind, bytes, &clocks, marks, capture))
    }

    /// `aes-256-ccm-read.zwhy`; with repetitions `aes-256-ccm-2-read.zwhy`.
    fn capture_name(&self, kind: PhaseKind) -> String {
        let safe = |c: char| if c.is_ascii_alphanumeric() || "-._".contains(c) { c } else { '-' };
        let label: String = self.variant.label.chars().map(safe).collect();
        let repetition = match self.size.repetitions {
            1 => String::new(),
            _ => format!("-{}", self.planned.repetition),
        };
        format!("{label}{repetition}-{}.zwhy", kind.name())
    }

    /// What a capture should know of where it comes from.
    fn facts(&self, kind: PhaseKind) -> CaptureFacts {
        let settings = &self.variant.settings;
        let set = [
            ("encryption", settings.encryption.name().to_owned()),
            ("compression", settings.compression.name().to_owned()),
            ("checksum", settings.checksum.name().to_owned()),
            ("recordsize", settings.recordsize.to_string()),
        ];
        let properties = set.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let dataset = DatasetFacts {
            name: Some(format!("{}/data", crate::user::pool::POOL)),
            properties: Some(properties),
            ..DatasetFacts::default()
        };
        let pool = PoolFacts { name: Some(crate::user::pool::POOL.to_owned()), ..PoolFacts::default() };
        CaptureFacts {
            kind: Some(Kind::Lab),
            experiment: Some(ExperimentFacts {
                name: Some(self.experiment.name.clone()),
                variant: Some(self.variant.label.clone()),
                phase: Some(kind.name().to_owned()),
                // How much is moved; by it what the CPU did is told for each GB.
                bytes: Some(if kind == PhaseKind::Reimport { 0 } else { self.size.bytes.0 }),
                repetition: Some(self.planned.repetition as u64),
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

fn phase_result(
    phase: PhaseKind,
    bytes: u64,
    clocks: &PhaseClocks,
    marks: Vec<Mark>,
    capture: Option<Captured>,
) -> PhaseResult {
    let moved = bytes > 0;
    PhaseResult {
        phase,
        bytes,
        wall_s: clocks.wall_s(),
        user_s: clocks.user_s,
        system_s: clocks.system_s,
        mb_per_s: moved.then(|| bytes as f64 / 1e6 / clocks.wall_s()),
        cpu_s_per_gb: moved.then(|| clocks.cpu_s() / (bytes as f64 / 1e9)),
        device_read_bytes: clocks.read_bytes,
        device_written_bytes: clocks.written_bytes,
        threads: clocks.threads.clone(),
        marks,
        capture,
    }
}
