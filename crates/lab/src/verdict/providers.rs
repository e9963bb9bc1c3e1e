//! The runs of a provider, and their figures beside those of another one.

use crate::result::RunResult;
use crate::spec::Provider;
use crate::stats::{Ratio, paired_at};

pub fn of<'a>(runs: &[&'a RunResult], provider: Provider) -> Vec<&'a RunResult> {
    runs.iter().copied().filter(|run| run.setup.offload.provider == provider).collect()
}

/// Run by run, as they were made one beside the other; the interval misses with the probability `outside`.
pub fn pairs(
    of: &[&RunResult],
    to: &[&RunResult],
    outside: f64,
    figure: impl Fn(&RunResult) -> Option<f64>,
) -> Option<Ratio> {
    let pair = |run: &&RunResult| {
        let other = to.iter().find(|other| other.repetition == run.repetition)?;
        Some((figure(run)?, figure(other)?))
    };
    paired_at(&of.iter().filter_map(pair).collect::<Vec<_>>(), outside)
}
