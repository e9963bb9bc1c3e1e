//! Pools that a run kept (`--keep`) are read back, every byte, and their blocks walked by zdb where that is at hand.

use crate::engine::Engine;
use crate::engine::parent::{ChildProgram, Patience, RunStep, RunningChild};
use crate::engine::protocol::{ChildPlan, EnginePlan, FromChild, UserPlan};
use crate::error::LabError;
use crate::result::RunResult;
use crate::sample;
use crate::spec::{Action, Order, Step};
use crate::store::{Plan, Store};
use crate::user::engine::UserEngine;
use crate::user::kept::{self, Kept};
use crate::user::pool::POOL;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

pub struct VerifyOptions {
    /// By OpenZFS alone, without the lab's interposers; otherwise through the provider that wrote the data too.
    pub stock: bool,
    /// The libzpool that reads; `None`: the one that wrote.
    pub library: Option<PathBuf>,
    pub child: ChildProgram,
    /// A child that says nothing for so long is given up.
    pub silence: Duration,
    pub cancel: Arc<AtomicBool>,
}

/// One kept pool.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Verified {
    pub variant: String,
    pub repetition: u32,
    pub folder: PathBuf,
    /// Bytes that were compared; an error where one was wrong or the pool could not be read.
    pub bytes: Result<u64, String>,
    /// What zdb says of the blocks: `None` without zdb, an error with its last lines where it is not content.
    pub zdb: Option<Result<(), String>>,
}

impl Verified {
    pub fn is_good(&self) -> bool {
        self.bytes.is_ok() && !matches!(self.zdb, Some(Err(_)))
    }
}

/// Reads back all pools that the experiment in `folder` kept.
///
/// # Errors
/// When there is none, or no libzpool; what is found in the pools is in the results.
pub fn verify(folder: &Path, options: &VerifyOptions) -> Result<Vec<Verified>, LabError> {
    let (store, plan) = Store::open(folder)?;
    let library = options.library.as_deref().unwrap_or(&plan.library);
    let engine = UserEngine::find(Some(library))?.without_interposers(options.stock);
    let zdb = find_zdb();
    let mut verified = Vec::new();
    for position in 0.. {
        let Some(run) = store.finished(position) else { break };
        let pool = store.kept_pool(position);
        if !pool.exists() {
            continue;
        }
        let pool = pool.canonicalize().unwrap_or(pool);
        verified.push(Verified {
            variant: run.variant.clone(),
            repetition: run.repetition,
            bytes: read_back((folder, &pool), &run, &plan, &engine, options).map_err(|e| e.to_string()),
            zdb: zdb.as_deref().map(|zdb| walk(zdb, &pool)),
            folder: pool,
        });
    }
    if verified.is_empty() {
        return Err(LabError::useless(folder)("it holds no pools; zwhy lab run --keep keeps them"));
    }
    Ok(verified)
}

/// `place`: the folder of the experiment, and of the pool in it.
fn read_back(
    place: (&Path, &Path),
    run: &RunResult,
    plan: &Plan,
    engine: &UserEngine,
    options: &VerifyOptions,
) -> Result<u64, LabError> {
    let (folder, pool) = place;
    let path = pool.join(kept::FILE);
    let text = std::fs::read_to_string(&path)
        .map_err(LabError::io("read what is known of the kept pool,", &path))?;
    let existing: Kept = serde_json::from_str(&text).map_err(LabError::useless(path))?;
    let mut setup = run.setup.clone();
    let mut steps = vec![step("verify", Action::Verify)];
    if options.stock {
        setup.offload = Default::default();
    } else {
        steps.insert(0, step("read", Action::Read { bytes: None, order: Order::Sequential, count: 1 }));
    }
    let (library, parameters) = (engine.library().clone(), Vec::new());
    let own = UserPlan { library, parameters, existing: Some(existing) };
    let child_plan = ChildPlan {
        engine: EnginePlan::User(own),
        scratch: pool.to_owned(),
        setup,
        bytes: plan.size_spec.bytes,
        seed: plan.seed,
        steps: steps.clone(),
        sample: plan.sample.is_some().then(|| sample::path(folder)),
        keep: false,
        fault: None,
    };
    let place = RunStep { variant: run.variant.clone(), phase: "verify".into() };
    let patience = Patience { silence: options.silence, cancel: options.cancel.clone() };
    let child = RunningChild::start(&options.child, &child_plan, engine as &dyn Engine, place, patience)?;
    play(child, steps.len())
}

fn step(name: &str, action: Action) -> Step {
    Step { name: name.into(), record: false, action }
}

/// Bytes of the last of so many steps.
fn play(mut child: RunningChild, steps: usize) -> Result<u64, LabError> {
    let (mut compared, mut left) = (0, steps);
    while left > 0 {
        match child.hear()? {
            FromChild::Ready { .. } => child.go(),
            FromChild::End(end) => {
                compared = end.result.bytes;
                left -= 1;
            }
            FromChild::Hello { .. } | FromChild::Mark(_) | FromChild::Progress { .. } => {}
            other => return Err(child.protocol(format!("{other:?} while it reads"))),
        }
    }
    child.finish().map(|()| compared)
}

/// Where packages put it, which is not in everybody's PATH.
fn find_zdb() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    folders.map(|folder| folder.join("zdb")).find(|program| program.is_file())
}

/// All blocks of the pool: their checksums, and that none is lost or used twice.
fn walk(zdb: &Path, pool: &Path) -> Result<(), String> {
    const LINES: usize = 5;
    let output = Command::new(zdb).args(["-e", "-p"]).arg(pool).args(["-bcc", POOL]).output();
    let output = output.map_err(|e| format!("cannot run {}: {e}", zdb.display()))?;
    if output.status.success() {
        return Ok(());
    }
    let text =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines[lines.len().saturating_sub(LINES)..].join("; ");
    Err(format!("{}: {}", output.status, last.replace(char::is_control, " ")))
}
