//! What an experiment will take before anything runs: runs, data, disk, memory and time.

use crate::scratch::space;
use crate::spec::{Action, Experiment, Setup, SizeSpec, State, Variant};
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
    /// That one run moves where nothing slower is in its way.
    bytes_per_s: f64,
    /// The same where the ARC has the data already: each pass of a read but the first.
    cached_bytes_per_s: f64,
    /// Codes take their own time.
    codes: bool,
    /// Seconds. Taking or destroying a snapshot: at least one transaction group.
    snapshot_s: f64,
    /// Seconds. Starting and ending a run.
    run_s: f64,
}

impl Pace {
    /// In user space on two cores: about half of what two idle ones did.
    pub const NATIVE: Pace =
        Pace { bytes_per_s: 500e6, cached_bytes_per_s: 2e9, codes: true, snapshot_s: 0.012, run_s: 1.0 };
    /// In a VM of two processors that is emulated, instruction by instruction.
    pub const EMULATED: Pace =
        Pace { bytes_per_s: 8e6, cached_bytes_per_s: 8e6, codes: false, snapshot_s: 0.2, run_s: 6.0 };

    /// Bytes a second of data that is written, or read from the disks.
    fn of(self, setup: &Setup, writes: bool) -> f64 {
        let slow = |(property, begins, only_writes, pace): &(&str, &str, bool, f64)| {
            let is_own = setup.properties.get(*property).is_some_and(|value| value.starts_with(begins));
            (is_own && (writes || !only_writes)).then_some(*pace)
        };
        let codes = CODES.iter().filter(|_| self.codes).filter_map(slow);
        codes.fold(self.bytes_per_s, f64::min)
    }
}

/// Codes that are slower than everything else: property, what its value begins with, whether reading is not concerned, and
/// bytes a second on two cores, as measured.
const CODES: [(&str, &str, bool, f64); 7] = [
    ("compression", "gzip", true, 140e6),
    ("compression", "gzip-7", true, 80e6),
    ("compression", "gzip-8", true, 80e6),
    ("compression", "gzip-9", true, 80e6),
    ("compression", "zstd", true, 300e6),
    ("encryption", "aes-256-ccm", false, 300e6),
    ("encryption", "aes-128-ccm", false, 300e6),
];

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
    let variants = experiment.variants().map_err(|what| experiment.wrong(what))?;
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
    let (mut written, mut read, mut cached) = (0, 0, 0);
    let (mut seconds, mut snapshots) = (pace.run_s, 0);
    for step in &variant.steps {
        match step.action {
            Action::Write | Action::Receive => written += all.0,
            Action::Verify | Action::Raw | Action::Send { .. } => read += all.0,
            Action::Read { bytes, count, .. } => {
                let (once, again) = (bytes.unwrap_or(all), u64::from(count.saturating_sub(1)));
                read += once.0;
                *(if once <= variant.setup.arc_max { &mut cached } else { &mut read }) += once.0 * again;
            }
            Action::Overwrite { bytes, .. } => written += bytes.unwrap_or(all).0,
            Action::Rename => seconds += 2.0 * f64::from(snapshots) * pace.snapshot_s,
            Action::Snapshot { count, .. } => {
                snapshots = count;
                seconds += f64::from(count) * pace.snapshot_s;
            }
            Action::Destroy { .. } => seconds += f64::from(snapshots) * pace.snapshot_s,
            Action::Idle { seconds: idle, .. } => seconds += f64::from(idle),
            Action::Cache { state: State::Warm } => read += all.0,
            _ => {}
        }
    }
    let moved = written + read + cached;
    let modelled = variant.setup.device.filter(|device| device.mb_per_s > 0.0);
    // Of a slow disk each thread waits for each of its I/O; what is prefetched or gathered takes less.
    let latency = variant.setup.device.map_or(0.0, |d| d.ms / 1e3);
    seconds += latency * moved as f64 / variant.setup.io_size.0 as f64 / f64::from(variant.setup.threads);
    let disks = modelled.map_or(f64::INFINITY, |d| d.mb_per_s * 1e6 * f64::from(variant.setup.disks));
    seconds += written as f64 / pace.of(&variant.setup, true).min(disks);
    seconds += read as f64 / pace.of(&variant.setup, false).min(disks);
    (moved, seconds + cached as f64 / pace.cached_bytes_per_s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Size;

    fn seconds(name: &str, set: &[(&str, &str)]) -> f64 {
        let mut experiment = Experiment::builtin(name).unwrap();
        experiment.set_all(set.iter().copied()).unwrap();
        estimate(&experiment, experiment.size(Size::Full)).unwrap().seconds
    }

    /// Seconds that all steps took on two idle cores. Starting and ending runs comes on top.
    #[test]
    fn estimates_are_neither_below_what_was_measured_nor_far_above() {
        let grown = [("n", "100,200,400,800")];
        for (name, set, measured) in [
            ("encryption", &[][..], 124.0),
            ("arc-cached-read", &[], 27.0),
            ("direct-io", &[], 118.0),
            ("idle-arc-pressure", &[], 100.0),
            ("snapshot-destroy", &grown[..], 198.0),
        ] {
            let estimated = seconds(name, set);
            assert!((measured..measured * 4.0).contains(&estimated), "{name}: {estimated}, was {measured}");
        }
    }

    #[test]
    fn slow_codes_take_longer() {
        let of = |value| seconds("compression", &[("compression", value)]);
        assert!(of("gzip-9") > of("gzip-6") && of("gzip-6") > of("zstd-3") && of("zstd-3") > of("lz4"));
        assert_eq!(of("lz4"), of("off"));
    }
}
