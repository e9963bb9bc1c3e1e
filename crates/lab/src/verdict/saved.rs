//! What goes to the disks of the user's own files, by cell.

use super::number;
use crate::result::ExperimentResult;
use crate::spec::Measure;
use crate::stats::median;

/// `For each byte of these files 0.41 bytes went to the disks with zstd-3, 1.01 with off.` Empty without a sample, and
/// where nothing is written.
pub fn saved(result: &ExperimentResult) -> Option<String> {
    let data = result.data.as_ref()?;
    let step =
        result.runs.first()?.steps.iter().find(|step| step.device_written_bytes > 0 && step.bytes > 0)?;
    let of_cell = |label: &str| {
        let middle = median(&result.figures(label, &step.name, &Measure::WriteAmplification))?;
        Some(format!("{} with {label}", number(middle)))
    };
    let cells: Vec<String> = result.labels().filter_map(of_cell).collect();
    (!cells.is_empty()).then(|| {
        format!(
            "For each byte of the files below {} so many went to the disks: {}.",
            data.place(),
            cells.join(", ")
        )
    })
}
