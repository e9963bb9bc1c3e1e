//! What an experiment will take before anything runs: runs, data, disk, memory and time.

use crate::scratch::space;
use crate::spec::{Action, Experiment, SizeSpec, State, Variant};
use crate::{Bytes, LabError};

/// What all runs together take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub cells: usize,
    pub runs: usize,
    /// Bytes that the application writes and reads in all runs.
    pub moved: u64,
    /// Free space that the scratch folder needs; each run gives it back.
    pub disk: Bytes,
    /// Memory of the process that runs OpenZFS.
    pub memory: Bytes,
    /// Seconds. A CPU twice as fast takes half of it, a slow cell several times as much.
    pub seconds: f64,
}

/// How fast the machine is that runs OpenZFS.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// That one run moves, typically: encryption and compression are slower, cached reads faster.
    bytes_per_s: f64,
    /// Seconds. Taking or destroying a snapshot: at least one transaction group.
    snapshot_s: f64,
    /// Seconds. Starting and ending a run.
    run_s: f64,
}

impl Pace {
    /// In user space on two cores.
    pub const NATIVE: Pace = Pace { bytes_per_s: 250e6, snapshot_s: 0.06, run_s: 1.0 };
    /// In a VM of two processors that is emulated, instruction by instruction.
    pub const EMULATED: Pace = Pace { bytes_per_s: 8e6, snapshot_s: 0.2, run_s: 6.0 };
}

/// In user space.
///
/// # Errors
/// When the experiment has no cells to run.
pub fn estimate(experiment: &Experiment, size: SizeSpec) -> Result<Estimate, LabError> {
    estimate_at(experiment, size, Pace::NATIVE)
}

/// # Errors
/// When the experiment has no cells to run.
pub fn estimate_at(experiment: &Experiment, size: SizeSpec, pace: Pace) -> Result<Estimate, LabError> {
    let variants =
        experiment.variants().map_err(|what| LabError::Spec { origin: experiment.name.clone(), what })?;
    let repetitions = size.repetitions as usize;
    let (mut moved, mut seconds) = (0, 0.0);
    for variant in &variants {
        let (bytes, own) = of_cell(variant, size.bytes, pace);
        moved += bytes * u64::from(size.repetitions);
        seconds += own * f64::from(size.repetitions);
    }
    let largest = |of: &dyn Fn(&Variant) -> u64| Bytes(variants.iter().map(of).max().unwrap_or(0));
    Ok(Estimate {
        cells: variants.len(),
        runs: variants.len() * repetitions,
        moved,
        disk: largest(&|v| space(size.bytes, &v.setup, &v.steps).0),
        memory: largest(&|v| {
            v.setup.arc_max.0.min(size.bytes.0 * 2)
                + size.bytes.0.min(v.setup.memory.0 / 10) * 2
                + (256 << 20)
        }),
        seconds,
    })
}

/// Bytes that one run moves, and the seconds that it takes.
fn of_cell(variant: &Variant, all: Bytes, pace: Pace) -> (u64, f64) {
    let (mut moved, mut seconds) = (0, pace.run_s);
    let mut snapshots = 0;
    for step in &variant.steps {
        match step.action {
            Action::Write | Action::Verify | Action::Raw => moved += all.0,
            Action::Read { bytes, count, .. } => moved += bytes.unwrap_or(all).0 * u64::from(count),
            Action::Overwrite { bytes, .. } => moved += bytes.unwrap_or(all).0,
            Action::Send { .. } | Action::Receive => moved += all.0,
            Action::Rename => seconds += 2.0 * f64::from(snapshots) * pace.snapshot_s,
            Action::Snapshot { count, .. } => {
                snapshots = count;
                seconds += f64::from(count) * pace.snapshot_s;
            }
            Action::Destroy { .. } => seconds += f64::from(snapshots) * pace.snapshot_s,
            Action::Idle { seconds: idle, .. } => seconds += f64::from(idle),
            Action::Cache { state: State::Warm } => moved += all.0,
            Action::Cache { state: State::Cold }
            | Action::Reimport
            | Action::Lose { .. }
            | Action::Regain
            | Action::Call(_) => {}
        }
    }
    let modelled = variant.setup.device.filter(|device| device.mb_per_s > 0.0);
    // Of a slow disk each thread waits for each of its I/O; what is prefetched or gathered takes less.
    let latency = variant.setup.device.map_or(0.0, |d| d.ms / 1e3);
    seconds += latency * moved as f64 / variant.setup.io_size.0 as f64 / f64::from(variant.setup.threads);
    let disks = modelled.map_or(f64::INFINITY, |d| d.mb_per_s * 1e6 * f64::from(variant.setup.disks));
    (moved, seconds + moved as f64 / pace.bytes_per_s.min(disks))
}
