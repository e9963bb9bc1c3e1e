//! Two results of the same experiment: which cells differ, and which runs do not tell.

use super::{number, range};
use crate::result::ExperimentResult;
use crate::stats::{Ratio, unpaired};
use serde::{Deserialize, Serialize};

/// One cell in both results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    pub variant: String,
    pub step: String,
    /// The second result's figure over the first one's; `None` where a run is missing on one side.
    pub ratio: Option<Ratio>,
    /// In a sentence.
    pub verdict: String,
}

/// Runs below which a difference cannot be shown.
const ENOUGH: usize = 3;

/// Compares the figure that answers the question, in every cell that both have; and in every step the CPU.
///
/// # Errors
/// When the two are not of the same experiment, in words.
pub fn compare(first: &ExperimentResult, second: &ExperimentResult) -> Result<Vec<Compared>, String> {
    if first.experiment != second.experiment {
        return Err(format!(
            "these are two experiments, {} and {}; only results of the same one can be compared",
            first.experiment, second.experiment
        ));
    }
    let figure = &first.figure;
    let common: Vec<&str> = first.labels().filter(|label| second.labels().any(|l| l == *label)).collect();
    if common.is_empty() {
        return Err(format!(
            "the results have no cell in common: {} and {}",
            first.labels().collect::<Vec<_>>().join(", "),
            second.labels().collect::<Vec<_>>().join(", ")
        ));
    }
    let one = |label: &str| {
        let values = |result: &ExperimentResult| result.figures(label, &figure.step, &figure.measure);
        let ratio = unpaired(&values(second), &values(first), common.len());
        Compared {
            variant: label.to_owned(),
            step: figure.step.clone(),
            ratio,
            verdict: verdict(ratio, figure.measure.noun()),
        }
    };
    Ok(common.iter().map(|label| one(label)).collect())
}

fn verdict(ratio: Option<Ratio>, noun: &str) -> String {
    let Some(Ratio { times, runs, is_shown }) = ratio else {
        return "not measured on both sides".into();
    };
    if runs < ENOUGH {
        return format!(
            "{} times the {noun}; {runs} run{} on one side cannot show a difference, use --repeats 5",
            number(times.value),
            if runs == 1 { "" } else { "s" }
        );
    }
    let told = format!("{} times the {noun} {}", number(times.value), range(&times));
    if is_shown { told } else { format!("no difference shown: {told}") }
}
