//! A result as a table for other tools: one row for each figure of each step of each run, as Parquet.

use super::{ExperimentResult, RunResult, StepResult};
use crate::LabError;
use crate::latency::Percentile;
use crate::spec::Measure;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type};
use parquet::errors::Result as Encoded;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zwhy_place::{Place, PlaceError};

const FILE_NAME: &str = "result.parquet";
/// The columns of factors begin so: a factor may be called like another column.
const FACTOR: &str = "factor_";

/// One figure.
struct Row<'a> {
    run: &'a RunResult,
    step: &'a str,
    measure: Measure,
    value: f64,
}

/// Writes `result.parquet` into `folder`, whole or not at all.
///
/// # Errors
/// When the file cannot be written.
pub fn write(result: &ExperimentResult, folder: &Path) -> Result<PathBuf, LabError> {
    let path = folder.join(FILE_NAME);
    let mut bytes = Vec::new();
    let failed = |e| LabError::useless(&path)(format!("it cannot be made: {e}"));
    encode(result, &mut bytes).map_err(failed)?;
    Place::of(&path)?.write(|out| out.write_all(&bytes).map_err(|e| PlaceError::refused(&path, e)))?;
    Ok(path)
}

fn rows(result: &ExperimentResult) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    for run in &result.runs {
        for step in &run.steps {
            let figures = measures(step).into_iter().filter_map(|m| Some((m.of(step)?, m)));
            rows.extend(figures.map(|(value, measure)| Row { run, step: &step.name, measure, value }));
        }
    }
    rows
}

/// All that a step has; counters that did not change are left out, as in result.json.
fn measures(step: &StepResult) -> Vec<Measure> {
    let threads = step.threads.iter().map(|group| Measure::ThreadBusy(group.comm.clone()));
    let counters = step.counters.keys().map(|name| Measure::Counter(name.clone()));
    let latencies = Percentile::ALL.iter().map(|(_, percentile)| Measure::LatencyUs(*percentile));
    Measure::plain().chain(latencies).chain(threads).chain(counters).collect()
}

fn encode(result: &ExperimentResult, out: &mut (impl Write + Send)) -> Encoded<()> {
    let rows = rows(result);
    let factors: BTreeSet<&str> =
        result.runs.iter().flat_map(|run| run.factors.keys().map(String::as_str)).collect();
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by(concat!("zwhy ", env!("CARGO_PKG_VERSION")).to_owned())
        .build();
    let mut writer = SerializedFileWriter::new(out, schema(&factors)?, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    let numbers = |of: fn(&Row<'_>) -> usize| rows.iter().map(|row| of(row) as i32).collect::<Vec<i32>>();
    column::<Int32Type>(&mut group, &numbers(|row| row.run.position))?;
    texts(&mut group, rows.iter().map(|row| row.run.variant.clone()))?;
    column::<Int32Type>(&mut group, &numbers(|row| row.run.repetition as usize))?;
    texts(&mut group, rows.iter().map(|row| row.step.to_owned()))?;
    texts(&mut group, rows.iter().map(|row| row.measure.to_string()))?;
    column::<DoubleType>(&mut group, &rows.iter().map(|row| row.value).collect::<Vec<f64>>())?;
    for factor in factors {
        texts(&mut group, rows.iter().map(|row| row.run.factors.get(factor).cloned().unwrap_or_default()))?;
    }
    group.close()?;
    writer.close()?;
    Ok(())
}

fn schema(factors: &BTreeSet<&str>) -> Encoded<TypePtr> {
    let text = || (Physical::BYTE_ARRAY, Some(LogicalType::String));
    let number = || (Physical::INT32, None);
    let plain = [
        ("position", number()),
        ("cell", text()),
        ("repetition", number()),
        ("step", text()),
        ("measure", text()),
        ("value", (Physical::DOUBLE, None)),
    ];
    let plain = plain.into_iter().map(|(name, kind)| (name.to_owned(), kind));
    let of_factors = factors.iter().map(|name| (format!("{FACTOR}{name}"), text()));
    let fields: Encoded<Vec<TypePtr>> = plain
        .chain(of_factors)
        .map(|(name, (physical, logical))| {
            let column = Type::primitive_type_builder(&name, physical);
            let column = column.with_repetition(Repetition::REQUIRED).with_logical_type(logical);
            column.build().map(Arc::new)
        })
        .collect();
    Type::group_type_builder("result").with_fields(fields?).build().map(Arc::new)
}

fn column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, impl Write + Send>,
    values: &[T::T],
) -> Encoded<()> {
    let Some(mut sink) = group.next_column()? else { return Ok(()) };
    sink.typed::<T>().write_batch(values, None, None)?;
    sink.close()
}

fn texts(
    group: &mut SerializedRowGroupWriter<'_, impl Write + Send>,
    values: impl Iterator<Item = String>,
) -> Encoded<()> {
    let values: Vec<ByteArray> = values.map(|text| ByteArray::from(text.into_bytes())).collect();
    column::<ByteArrayType>(group, &values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::SerializedFileReader;
    use parquet::record::RowAccessor;

    fn sample() -> ExperimentResult {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/lab");
        ExperimentResult::read(&folder).unwrap()
    }

    #[test]
    fn every_figure_of_every_run_is_a_row() {
        let result = sample();
        let folder = tempfile::tempdir().unwrap();
        let path = write(&result, folder.path()).unwrap();
        let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
        let read: Vec<parquet::record::Row> = reader.into_iter().map(Result::unwrap).collect();
        let written = rows(&result);
        assert!(read.len() == written.len() && read.len() > 100, "{} of {}", read.len(), written.len());
        for (read, row) in read.iter().zip(&written) {
            assert_eq!(read.get_int(0).unwrap() as usize, row.run.position);
            assert_eq!(read.get_string(1).unwrap(), &row.run.variant);
            assert_eq!(read.get_string(3).unwrap(), row.step);
            let measure: Measure = read.get_string(4).unwrap().parse().unwrap();
            let step = row.run.step(row.step).unwrap();
            assert_eq!(measure.of(step), Some(read.get_double(5).unwrap()));
            let factor = row.run.factors.values().next().unwrap();
            assert_eq!(read.get_string(6).unwrap(), factor);
        }
    }

    #[test]
    fn a_result_without_runs_is_an_empty_table() {
        let result = ExperimentResult { runs: Vec::new(), ..sample() };
        let mut bytes = Vec::new();
        encode(&result, &mut bytes).unwrap();
        assert!(bytes.starts_with(b"PAR1"));
    }
}
