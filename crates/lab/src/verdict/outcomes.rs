//! What became of single calls: a table of steps and cells, and who answers how.

use crate::result::ExperimentResult;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Counters that prove an outcome, by the word that is shown.
const PROOFS: [(&str, &str); 6] = [
    ("direct_read_bytes", "iostats.direct_read_bytes"),
    ("direct_write_bytes", "iostats.direct_write_bytes"),
    ("arc_read_bytes", "iostats.arc_read_bytes"),
    ("arc_write_bytes", "iostats.arc_write_bytes"),
    ("dio_verify_errors", "lab.dio_verify_errors"),
    ("dio_verify_events", "lab.dio_verify_events"),
];

/// The outcome of a step in the runs of a cell: `direct`, or `direct, buffered` where they differ; `None` without calls.
fn of(result: &ExperimentResult, cell: &str, step: &str) -> Option<String> {
    let mut words: Vec<&str> =
        result.runs_of(cell).filter_map(|run| run.step(step)?.outcome.as_deref()).collect();
    words.sort_unstable();
    words.dedup();
    (!words.is_empty()).then(|| words.join(", "))
}

/// What OpenZFS counted in the first run of a cell: `direct_read_bytes 131072`; of what it did not count nothing.
pub fn proof(result: &ExperimentResult, cell: &str, step: &str) -> String {
    let Some(step) = result.runs_of(cell).next().and_then(|run| run.step(step)) else { return String::new() };
    let grown = PROOFS.iter().filter_map(|(word, name)| {
        let change = step.counters.get(*name).filter(|change| **change != 0)?;
        Some(format!("{word} {change}"))
    });
    grown.collect::<Vec<_>>().join(", ")
}

/// Steps as rows, cells as columns, below each row what OpenZFS counted in each cell; empty where no step is a call.
pub fn outcomes(result: &ExperimentResult) -> String {
    let cells: Vec<&str> = result.labels().collect();
    let Some(first) = result.runs.first() else { return String::new() };
    let called = |name: &&str| cells.iter().any(|cell| of(result, cell, name).is_some());
    let steps: Vec<&str> = first.steps.iter().map(|step| step.name.as_str()).filter(called).collect();
    if steps.is_empty() {
        return String::new();
    }
    let wide = |words: &mut dyn Iterator<Item = usize>| words.max().unwrap_or(0);
    let name = wide(&mut steps.iter().map(|step| step.chars().count())).max(4);
    let column = wide(&mut cells.iter().map(|cell| cell.chars().count())).max(14);
    let mut out = format!("{:name$}", "call");
    for cell in &cells {
        let _ = write!(out, "  {cell:column$}");
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    for step in steps {
        let mut row = format!("{step:name$}");
        for cell in &cells {
            let _ = write!(row, "  {:column$}", of(result, cell, step).unwrap_or_else(|| "-".to_owned()));
        }
        let _ = writeln!(out, "{}", row.trim_end());
        // Cells of which the same was counted are told together.
        let mut counted: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for cell in &cells {
            counted.entry(proof(result, cell, step)).or_default().push(cell);
        }
        for (proof, cells) in counted.into_iter().filter(|(proof, _)| !proof.is_empty()) {
            let _ = writeln!(out, "  {proof}: {}", cells.join("; "));
        }
    }
    out
}

/// `read of a record: direct in standard direct and always buffered; buffered in disabled direct.`
pub fn sentence(result: &ExperimentResult, step: &str) -> String {
    let mut by: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for cell in result.labels() {
        if let Some(outcome) = of(result, cell, step) {
            by.entry(outcome).or_default().push(cell);
        }
    }
    if by.is_empty() {
        return "No call was made.".into();
    }
    let told = by.iter().rev().map(|(outcome, cells)| format!("{outcome} with {}", cells.join(", ")));
    format!("{step}: {}.", told.collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// Two cells; a call was direct in one, and an error in the other.
    fn result() -> ExperimentResult {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/lab");
        let mut result = ExperimentResult::read(&folder).unwrap();
        result.runs.truncate(2);
        result.summary.truncate(2);
        for (index, (cell, outcome)) in [("standard", "direct"), ("always", "EINVAL")].into_iter().enumerate()
        {
            result.summary[index].variant = cell.to_owned();
            result.runs[index].variant = cell.to_owned();
            let step = &mut result.runs[index].steps[0];
            step.name = "a read".to_owned();
            step.outcome = Some(outcome.to_owned());
            step.counters = [("iostats.direct_read_bytes".to_owned(), 4096 * (1 - index as i64))].into();
        }
        result
    }

    #[test]
    fn every_call_is_a_row_with_the_counters_that_prove_it() {
        let table = outcomes(&result());
        let rows: Vec<String> =
            table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(
            rows,
            ["call standard always", "a read direct EINVAL", "direct_read_bytes 4096: standard"]
        );
        assert_eq!(sentence(&result(), "a read"), "a read: direct with standard; EINVAL with always.");
    }

    #[test]
    fn an_experiment_without_calls_has_no_such_table() {
        let mut other = result();
        other.runs.iter_mut().flat_map(|run| &mut run.steps).for_each(|step| step.outcome = None);
        assert_eq!(outcomes(&other), "");
    }
}
