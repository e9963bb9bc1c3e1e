//! Runs an experiment: checks everything that can be checked first, then one child per run.
//!
//! What was finished is kept: each run has its own file, so a kill loses the running one at most, and
//! [`resume`] goes on with the others. A run that OpenZFS does not end is noted, and the next one begins.

mod cell;
pub mod verify;

use crate::engine::Engine;
use crate::engine::parent::ChildProgram;
use crate::engine::protocol::Fault;
use crate::error::LabError;
use crate::like::Likeness;
use crate::pool::{PoolChoice, PoolEngine};
use crate::recorder::{Progress, Recorder};
use crate::result::{Cpu, ExperimentResult, FailedRun, Figure, SCHEMA, Stopped, summarise};
use crate::sample::{self, Sampled};
use crate::scratch::Scratch;
use crate::spec::{self, Content, Experiment, Measure, Size, SizeSpec, Stop, Variant};
use crate::stats;
use crate::store::{Plan, Store, is_begun};
use crate::user::cures::Cure;
use crate::user::engine::UserEngine;
use crate::verdict::{answer, check, enough, grows, offload, saved, surfaces};
use cell::OneRun;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[derive(Clone, Debug)]
pub struct RunOptions {
    pub size: Size,
    /// Overrides what the experiment says for this size.
    pub size_spec: Option<SizeSpec>,
    /// When enough repetitions were made; those of the size are the most then.
    pub stop: Option<Stop>,
    /// Folder for the captures and the results; made if it does not exist.
    pub out: PathBuf,
    /// Folder for the pool: new or empty. `None`: `scratch` inside `out`.
    pub scratch: Option<PathBuf>,
    /// The libzpool to use; `None`: the one the dynamic linker would find.
    pub library: Option<PathBuf>,
    /// What the engine `pool` may use.
    pub pool: PoolChoice,
    /// Order of the runs; `None`: by the clock.
    pub seed: Option<u64>,
    /// Files of which a sample is written where an experiment says `data = "sample"`.
    pub data: Option<PathBuf>,
    /// What the experiment has from a recorded host; it is noted, and changes nothing here.
    pub like: Option<Likeness>,
    /// The pool of each run stays in the output folder, for [`verify`](verify::verify); engine `user` only.
    pub keep: bool,
    /// Samples a second that the recorder takes; kept for [`resume`].
    pub hz: Option<u32>,
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
            stop: None,
            out: out.into(),
            scratch: None,
            library: None,
            pool: PoolChoice::default(),
            seed: None,
            data: None,
            like: None,
            keep: false,
            hz: None,
            command: Vec::new(),
            child,
            silence: Duration::from_secs(120),
            cancel: Arc::default(),
            fault: None,
        }
    }
}

/// Runs all of `experiment` and writes the results and the captures into the output folder.
///
/// # Errors
/// What cannot work from the start, what ends the whole experiment, and the first failure when no run came
/// to its end.
pub fn run(
    experiment: &Experiment,
    options: &RunOptions,
    recorder: &mut dyn Recorder,
    progress: &mut dyn Progress,
) -> Result<ExperimentResult, LabError> {
    let mut engine = engine(experiment, options.library.as_deref(), &options.pool)?;
    let mut experiment = experiment.clone();
    if experiment.engine == spec::Engine::Pool {
        crate::pool::limits::leave_out_uncountable(&mut experiment);
    }
    let size = options.size_spec.unwrap_or_else(|| experiment.size(options.size));
    let sample = sampled(&experiment, options)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let plan = Plan {
        schema: SCHEMA,
        experiment,
        size: options.size,
        size_spec: size,
        stop: options.stop,
        seed: options.seed.unwrap_or(now.as_nanos() as u64),
        started_s: now.as_secs(),
        command: options.command.clone(),
        // Who goes on with it may be in another folder.
        scratch: absolute(options.scratch.clone().unwrap_or_else(|| options.out.join("scratch"))),
        library: engine.info().path.clone(),
        build_id: engine.info().build_id.clone(),
        pool: options.pool.clone(),
        keep: options.keep,
        sample: sample.as_ref().map(|(sampled, _)| sampled.clone()),
        like: options.like.clone(),
        hz: options.hz,
    };
    let variants = variants(&plan.experiment)?;
    engine.check(&variants, size.bytes)?;
    let store = Store::create(&options.out, &plan)?;
    if let Some((_, bytes)) = &sample {
        sample::keep(&options.out, bytes)?;
    }
    let scratch = Scratch::prepare(&plan.scratch, most_space(&*engine, &variants, size.bytes))?;
    Session { plan, options, engine, store, scratch, before: None, recorder, progress }.go()
}

/// Goes on with an experiment that was cut off: what is finished stays as it is.
///
/// # Errors
/// Those of [`run`], and when the folder holds no plan or the OpenZFS is another one by now.
pub fn resume(
    options: &RunOptions,
    recorder: &mut dyn Recorder,
    progress: &mut dyn Progress,
) -> Result<ExperimentResult, LabError> {
    let (store, plan) = Store::open(&options.out)?;
    let mut engine = engine(&plan.experiment, Some(&plan.library), &plan.pool)?;
    if engine.info().build_id != plan.build_id {
        let found = engine.info().version_text().to_owned();
        return Err(LabError::OtherLibrary { path: plan.library, found });
    }
    if plan.experiment.engine == spec::Engine::Pool {
        crate::pool::cleanup::of_scratch(&plan.pool.journals, &plan.scratch)?;
    }
    let variants = variants(&plan.experiment)?;
    engine.check(&variants, plan.size_spec.bytes)?;
    Scratch::reclaim(&plan.scratch)?;
    let scratch = Scratch::prepare(&plan.scratch, most_space(&*engine, &variants, plan.size_spec.bytes))?;
    // Without one, what is known of this OpenZFS is all that can be told.
    let before = ExperimentResult::read(&options.out).ok();
    Session { plan, options, engine, store, scratch, before, recorder, progress }.go()
}

/// What the finished runs in a folder come to; those that are missing did not end, because of `why`.
///
/// `plan` is the file of their plan. The result of one run at least must be there.
///
/// # Errors
/// When plan or result cannot be read, or the new result not be written.
pub fn gather(folder: &Path, plan: &Path, why: &str) -> Result<ExperimentResult, LabError> {
    let (plan, store) = (Plan::read(plan)?, Store::at(folder));
    let mut result = ExperimentResult::read(folder)?;
    let labels: Vec<String> = variants(&plan.experiment)?.into_iter().map(|v| v.label).collect();
    let order = plan.order()?;
    (result.runs, result.failed) = (Vec::new(), Vec::new());
    for (position, planned) in order.iter().enumerate() {
        match store.finished(position) {
            Some(run) => result.runs.push(run),
            None => result.failed.push(FailedRun {
                position,
                variant: labels[planned.variant].clone(),
                repetition: planned.repetition,
                error: why.to_owned(),
            }),
        }
    }
    conclude(&plan, &mut result, &labels);
    result.write(folder)?;
    result.write_rows(folder)?;
    Ok(result)
}

/// Where there is no current folder a path stays as it is, and is not found.
fn absolute(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}

/// The sample that cells write, with its bytes; `None` where all write made-up data.
fn sampled(experiment: &Experiment, options: &RunOptions) -> Result<Option<(Sampled, Vec<u8>)>, LabError> {
    let wanted = variants(experiment)?.iter().any(|variant| variant.setup.data == Content::Sample);
    match &options.data {
        Some(folder) if wanted => sample::take(folder, options.seed.unwrap_or(0)).map(Some),
        None if wanted => {
            Err(experiment.wrong("data = \"sample\" needs the folder of the data: --data DIR".into()))
        }
        _ => Ok(None),
    }
}

/// `library` is for the engine in user space, `pool` for the other.
fn engine(
    experiment: &Experiment,
    library: Option<&Path>,
    pool: &PoolChoice,
) -> Result<Box<dyn Engine>, LabError> {
    Ok(match experiment.engine {
        spec::Engine::User => Box::new(UserEngine::find(library)?),
        spec::Engine::Pool => Box::new(PoolEngine::of_this_host(pool, experiment)?),
    })
}

/// How often a recording of this plan samples: what [`resume`] needs a recorder for.
///
/// # Errors
/// When the folder holds no plan.
pub fn planned_hz(folder: &Path) -> Result<Option<u32>, LabError> {
    Ok(Store::open(folder)?.1.hz)
}

/// Runs of the plan in a folder that have neither ended nor failed: 0 of an experiment that is done, and where there is
/// no plan, as of what a VM brought.
///
/// # Errors
/// When the plan or the result cannot be read.
pub fn runs_to_come(folder: &Path) -> Result<usize, LabError> {
    if !is_begun(folder) {
        return Ok(0);
    }
    missing(folder, &Store::open(folder)?.1)
}

/// The same of an experiment whose plan lies elsewhere, as that of one that ran in a VM.
///
/// # Errors
/// When the result cannot be read.
pub fn missing(folder: &Path, plan: &Plan) -> Result<usize, LabError> {
    let store = Store::at(folder);
    let result = ExperimentResult::read(folder)?;
    let cells = variants(&plan.experiment)?.len();
    // Where a rule ended them, the result has the repetitions that were made.
    let made = result.stop.and_then(|stopped| stopped.after).unwrap_or(plan.size_spec.repetitions);
    let failed = |at: &usize| result.failed.iter().any(|run| run.position == *at);
    Ok((0..cells * made as usize).filter(|at| store.finished(*at).is_none() && !failed(at)).count())
}

fn most_space(engine: &dyn Engine, variants: &[Variant], bytes: crate::Bytes) -> crate::Bytes {
    crate::Bytes(variants.iter().map(|v| engine.space(bytes, v).0).max().unwrap_or(0))
}

fn variants(experiment: &Experiment) -> Result<Vec<Variant>, LabError> {
    experiment.variants().map_err(|what| experiment.wrong(what))
}

/// All runs of one plan.
struct Session<'a> {
    plan: Plan,
    options: &'a RunOptions,
    engine: Box<dyn Engine>,
    store: Store,
    scratch: Scratch,
    /// What was known when the experiment was cut off.
    before: Option<ExperimentResult>,
    recorder: &'a mut dyn Recorder,
    progress: &'a mut dyn Progress,
}

impl Session<'_> {
    fn go(mut self) -> Result<ExperimentResult, LabError> {
        let plan = self.plan.clone();
        let variants = variants(&plan.experiment)?;
        let order = plan.order()?;
        let mut result = self.blank();
        let labels: Vec<String> = variants.iter().map(|v| v.label.clone()).collect();
        let mut first_failure = None;
        for (position, planned) in order.iter().enumerate() {
            if self.is_enough(&mut result, &labels, position) {
                break;
            }
            if let Some(run) = self.store.finished(position) {
                result.runs.push(run);
                continue;
            }
            let variant = &variants[planned.variant];
            let place = (position, order.len());
            let ended = OneRun { session: &mut self, variant, planned: *planned, position: place }.run();
            if plan.keep && ended.is_ok() && plan.experiment.engine == spec::Engine::User {
                self.store.keep_pool(position, self.scratch.path())?;
            }
            if let Err(left) = self.engine.end() {
                // A pool may still use what is in it.
                self.scratch.leave();
                return Err(left);
            }
            self.scratch.empty()?;
            match ended {
                Ok((run, cures)) => {
                    self.store.keep(&run)?;
                    result.distortions = self.distortions(&cures);
                    result.cures = cures;
                    result.runs.push(run);
                }
                Err(error) if error.is_of_one_run() => {
                    result.failed.push(FailedRun {
                        position,
                        variant: variant.label.clone(),
                        repetition: planned.repetition,
                        error: error.to_string(),
                    });
                    first_failure.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
            conclude(&plan, &mut result, &labels);
            result.write(&self.options.out)?;
        }
        match first_failure {
            Some(error) if result.runs.is_empty() => Err(error),
            _ => {
                self.is_enough(&mut result, &labels, order.len());
                conclude(&plan, &mut result, &labels);
                result.write(&self.options.out)?;
                result.write_rows(&self.options.out)?;
                if result.failed.is_empty() && !plan.keep {
                    sample::forget(&self.options.out)?;
                }
                Ok(result)
            }
        }
    }

    /// Looks whether the repetitions that are complete before the run at `position` are enough, where a rule wants a look
    /// there; notes it in the result. Finished runs decide as they did, so that an experiment that goes on ends alike.
    fn is_enough(&self, result: &mut ExperimentResult, labels: &[String], position: usize) -> bool {
        let Some(Stopped { rule, after: None }) = result.stop else { return false };
        let made = (position / labels.len()) as u32;
        if !position.is_multiple_of(labels.len()) || !rule.looks().contains(&made) {
            return false;
        }
        result.summary = summarise(labels, &result.runs);
        let is_enough = enough(&self.plan.experiment.compare, &rule, result);
        if is_enough {
            result.stop = Some(Stopped { rule, after: Some(made) });
            result.size_spec.repetitions = made;
        }
        is_enough
    }

    /// Where figures differ from those of a kernel: here, and what was known of the runs that were finished before.
    fn distortions(&self, cures: &[Cure]) -> Vec<String> {
        let mut list = self.engine.distortions(cures);
        let known = self.before.iter().flat_map(|before| before.distortions.iter().cloned());
        let more: Vec<String> = known.filter(|one| !list.contains(one)).collect();
        list.extend(more);
        list
    }

    fn blank(&self) -> ExperimentResult {
        let experiment = &self.plan.experiment;
        let cures = self.before.as_ref().map_or(Vec::new(), |before| before.cures.clone());
        ExperimentResult {
            schema: SCHEMA,
            zwhy: env!("CARGO_PKG_VERSION").into(),
            experiment: experiment.name.clone(),
            title: experiment.title.clone(),
            question: experiment.question.clone(),
            expectation: experiment.expectation.clone(),
            meaning: experiment.meaning.clone(),
            answer: String::new(),
            as_expected: None,
            engine: experiment.engine,
            references: experiment.references.clone(),
            command: self.plan.command.clone(),
            size: self.plan.size,
            size_spec: self.plan.size_spec,
            data: self.plan.sample.clone(),
            like: self.plan.like.clone(),
            stop: self.plan.stop.map(|rule| Stopped { rule, after: None }),
            seed: self.plan.seed,
            started_s: self.plan.started_s,
            library: self.engine.info().clone(),
            cpu: cpu(),
            distortions: self.distortions(&cures),
            cures,
            figure: Figure {
                step: experiment.compare.step.clone(),
                measure: experiment.compare.measure.clone(),
            },
            runs: Vec::new(),
            failed: Vec::new(),
            summary: Vec::new(),
            noise: None,
            drift: None,
            warm_up: None,
            stage: experiment.compare.stage.clone(),
            growth: Vec::new(),
            surfaces: Vec::new(),
            expected: experiment.checks.clone(),
            checks: Vec::new(),
        }
    }
}

/// Everything that is computed from the runs.
fn conclude(plan: &Plan, result: &mut ExperimentResult, labels: &[String]) {
    result.summary = summarise(labels, &result.runs);
    result.noise = noise(result);
    let times = times(result, labels);
    result.drift = stats::drifts(&times);
    result.warm_up = stats::warms_up(stats::by_cell(&times).iter().map(Vec::as_slice));
    result.growth = grows(result);
    result.surfaces = surfaces(&plan.experiment.grow, result);
    (result.answer, result.as_expected) = answer(&plan.experiment.compare, result);
    for sentence in offload(result).into_iter().chain(saved(result)) {
        result.answer += &format!(" {sentence}");
    }
    result.checks = check(result);
}

/// Typical difference between runs of one cell: the middle one of the cells.
fn noise(result: &ExperimentResult) -> Option<f64> {
    let Figure { step, measure } = &result.figure;
    let of_cell = |label: &str| stats::noise(&result.figures(label, step, measure));
    stats::median(&result.labels().filter_map(of_cell).collect::<Vec<f64>>())
}

/// The cell and the time of each run, in the order they were made. Speed falls where time grows; what changes is told as
/// the time that runs take.
fn times(result: &ExperimentResult, labels: &[String]) -> Vec<(usize, f64)> {
    let mut runs: Vec<(usize, usize, f64)> = Vec::new();
    for run in &result.runs {
        let cell = labels.iter().position(|label| *label == run.variant);
        let time = run.step(&result.figure.step).and_then(|step| Measure::WallS.of(step));
        if let (Some(cell), Some(time)) = (cell, time) {
            runs.push((run.position, cell, time));
        }
    }
    runs.sort_by_key(|run| run.0);
    runs.into_iter().map(|(_, cell, time)| (cell, time)).collect()
}

fn cpu() -> Cpu {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find(|l| l.starts_with("model name")).and_then(|l| l.split_once(':'));
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    Cpu { model: model.map_or(String::new(), |(_, name)| name.trim().to_owned()), cores }
}
