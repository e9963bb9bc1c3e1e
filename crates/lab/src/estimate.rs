//! What an experiment will take before anything runs: runs, data, disk, memory and time.

use crate::scratch::space;
use crate::spec::{Action, Experiment, SizeSpec, Variant};
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

/// Bytes a second that one run moves, typically, in user space on two cores: encryption and compression are
/// slower, cached reads faster.
const PACE: f64 = 250e6;
/// Taking or destroying a snapshot: at least one transaction group.
const SNAPSHOT_S: f64 = 0.06;
/// Starting and ending a run.
const RUN_S: f64 = 1.0;

/// # Errors
/// When the experiment has no cells to run.
pub fn estimate(experiment: &Experiment, size: SizeSpec) -> Result<Estimate, LabError> {
    let variants =
        experiment.variants().map_err(|what| LabError::Spec { origin: experiment.name.clone(), what })?;
    let repetitions = size.repetitions as usize;
    let (mut moved, mut seconds) = (0, 0.0);
    for variant in &variants {
        let (bytes, own) = of_cell(variant, size.bytes);
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
fn of_cell(variant: &Variant, all: Bytes) -> (u64, f64) {
    let (mut moved, mut seconds) = (0, RUN_S);
    let mut snapshots = 0;
    for step in &variant.steps {
        match step.action {
            Action::Write | Action::Verify => moved += all.0,
            Action::Read { bytes, count, .. } => moved += bytes.unwrap_or(all).0 * u64::from(count),
            Action::Overwrite { bytes, .. } => moved += bytes.unwrap_or(all).0,
            Action::Send { .. } => moved += all.0,
            Action::Rename => seconds += 2.0 * f64::from(snapshots) * SNAPSHOT_S,
            Action::Snapshot { count, .. } => {
                snapshots = count;
                seconds += f64::from(count) * SNAPSHOT_S;
            }
            Action::Destroy { .. } => seconds += f64::from(snapshots) * SNAPSHOT_S,
            Action::Idle { seconds: idle, .. } => seconds += f64::from(idle),
            Action::Reimport | Action::Lose { .. } | Action::Regain => {}
        }
    }
    let modelled = variant.setup.device.filter(|device| device.mb_per_s > 0.0);
    // Of a slow disk each thread waits for each of its I/O; what is prefetched or gathered takes less.
    let latency = variant.setup.device.map_or(0.0, |d| d.ms / 1e3);
    seconds += latency * moved as f64 / variant.setup.io_size.0 as f64 / f64::from(variant.setup.threads);
    let pace = modelled.map_or(PACE, |d| PACE.min(d.mb_per_s * 1e6 * f64::from(variant.setup.disks)));
    (moved, seconds + moved as f64 / pace)
}
