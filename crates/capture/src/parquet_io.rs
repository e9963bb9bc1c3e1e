//! Tables to Parquet bytes and back.
//!
//! Invariant when reading: nothing is allocated by a claim of the file alone. Row counts are
//! bounded by the size of the input and values are read in bounded batches.

use crate::column::{Column, ColumnType};
use crate::error::CaptureError;
use crate::table::{Table, TableSpec};
use bytes::Bytes;
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use zwhy_profile::StringId;

/// No honest table stays below a byte a row by more than this factor, even when well compressed.
const MAX_ROWS_PER_BYTE: u64 = 256;
const BATCH: usize = 65_536;
/// Rows that room is made for before they are read: a file may claim more than it has.
const MOST_RESERVED: usize = 1 << 20;

/// Writes one table as a Parquet file of one row group.
pub fn write_table(table: &Table, out: impl Write + Send) -> Result<(), CaptureError> {
    write_with(table, &["t_ns"], out)
}

/// As [`write_table`], for rows in order of their ids, which are small numbers: neighbours differ by little.
pub fn write_ordered_table(table: &Table, out: impl Write + Send) -> Result<(), CaptureError> {
    let own_id = table.spec.has_ids().then(|| table.spec.columns[0].0);
    write_with(table, &Vec::from_iter(own_id.into_iter().chain(["parent_id", "stack_id"])), out)
}

fn write_with(table: &Table, delta: &[&str], out: impl Write + Send) -> Result<(), CaptureError> {
    encode(table, properties(delta), out)
        .map_err(|e| CaptureError::Encode { table: table.spec.name, why: e.to_string() })
}

fn encode(
    table: &Table,
    properties: WriterProperties,
    out: impl Write + Send,
) -> parquet::errors::Result<()> {
    let mut writer = SerializedFileWriter::new(out, schema(table.spec)?, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for column in &table.columns {
        let Some(mut sink) = group.next_column()? else { break };
        match column {
            Column::I32(values) => drop(sink.typed::<Int32Type>().write_batch(values, None, None)?),
            Column::I64(values) => drop(sink.typed::<Int64Type>().write_batch(values, None, None)?),
            Column::Text(text) => {
                let distinct: Vec<ByteArray> =
                    text.strings.iter().map(|(_, s)| ByteArray::from(s.as_bytes().to_vec())).collect();
                let values: Vec<ByteArray> = text.ids.iter().map(|id| distinct[id.index()].clone()).collect();
                sink.typed::<ByteArrayType>().write_batch(&values, None, None)?;
            }
        }
        sink.close()?;
    }
    group.close()?;
    writer.close()?;
    Ok(())
}

/// `delta` are columns whose values are kept as differences.
fn properties(delta: &[&str]) -> WriterProperties {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_statistics_enabled(parquet::file::properties::EnabledStatistics::None)
        .set_created_by(concat!("zwhy ", env!("CARGO_PKG_VERSION")).to_owned());
    let as_delta = |properties: WriterPropertiesBuilder, name: &&str| {
        let column = ColumnPath::from(*name);
        properties
            .set_column_dictionary_enabled(column.clone(), false)
            .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED)
    };
    delta.iter().fold(properties, as_delta).build()
}

fn schema(spec: &TableSpec) -> parquet::errors::Result<Arc<Type>> {
    let fields = spec
        .columns
        .iter()
        .map(|(name, kind)| {
            let (physical, logical) = match kind {
                ColumnType::I32 => (Physical::INT32, None),
                ColumnType::U32 => (Physical::INT32, Some(LogicalType::integer(32, false))),
                ColumnType::I64 => (Physical::INT64, None),
                ColumnType::U64 => (Physical::INT64, Some(LogicalType::integer(64, false))),
                ColumnType::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            };
            Type::primitive_type_builder(name, physical)
                .with_repetition(Repetition::REQUIRED)
                .with_logical_type(logical)
                .build()
                .map(Arc::new)
        })
        .collect::<Result<Vec<_>, _>>()?;
    Type::group_type_builder(spec.name).with_fields(fields).build().map(Arc::new)
}

/// Reads a table; columns are found by name, missing ones are an error, further ones are ignored.
pub fn read_table(spec: &'static TableSpec, bytes: Bytes) -> Result<Table, String> {
    guarded(|| decode(spec, spec.columns.len(), bytes))
}

/// The first column of a table alone, which holds its ids where it has any.
pub fn read_first_column(spec: &'static TableSpec, bytes: Bytes) -> Result<Column, String> {
    let table = guarded(|| decode(spec, 1, bytes))?;
    table.columns.into_iter().next().ok_or_else(|| "has no column".to_owned())
}

/// Number of rows that a table claims to have, which its size can hold.
pub fn count_rows(bytes: Bytes) -> Result<u64, String> {
    guarded(|| open(bytes).map(|(_, rows)| rows))
}

/// The decoder is not ours and may panic on crafted input; a stranger's file must not end us.
fn guarded<T>(read: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err("the Parquet decoder failed on it".to_owned()))
}

fn open(bytes: Bytes) -> Result<(SerializedFileReader<Bytes>, u64), String> {
    let max_rows = bytes.len() as u64 * MAX_ROWS_PER_BYTE;
    let reader = SerializedFileReader::new(bytes).map_err(|e| e.to_string())?;
    let rows = u64::try_from(reader.metadata().file_metadata().num_rows()).unwrap_or(u64::MAX);
    if rows > max_rows {
        return Err(format!("claims {rows} rows, more than its size can hold"));
    }
    Ok((reader, rows))
}

/// Reads the first `columns` of a table.
fn decode(spec: &'static TableSpec, columns: usize, bytes: Bytes) -> Result<Table, String> {
    let (reader, rows) = open(bytes)?;
    let mut table = Table::new(spec);
    table.columns.truncate(columns);
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(|e| e.to_string())?;
        let names: Vec<String> =
            group.metadata().columns().iter().map(|c| c.column_path().string()).collect();
        for (slot, (name, _)) in table.columns.iter_mut().zip(spec.columns) {
            let at = names.iter().position(|n| n == name).ok_or_else(|| format!("has no column {name}"))?;
            let column = group.get_column_reader(at).map_err(|e| e.to_string())?;
            read_column(column, slot, rows as usize).map_err(|e| format!("column {name}: {e}"))?;
        }
    }
    if table.columns.iter().any(|c| c.len() as u64 != rows) {
        return Err(format!("columns do not all have the {rows} rows that it claims"));
    }
    Ok(table)
}

/// Appends a column chunk; stops with an error when it holds more than `max` values in all.
fn read_column(reader: ColumnReader, slot: &mut Column, max: usize) -> Result<(), String> {
    match (reader, slot) {
        (ColumnReader::Int32ColumnReader(r), Column::I32(out)) => read_numbers(r, out, max)?,
        (ColumnReader::Int64ColumnReader(r), Column::I64(out)) => read_numbers(r, out, max)?,
        (ColumnReader::ByteArrayColumnReader(mut r), Column::Text(out)) => {
            let mut batch: Vec<ByteArray> = Vec::new();
            out.ids.reserve(max.min(MOST_RESERVED).saturating_sub(out.ids.len()));
            loop {
                batch.clear();
                if r.read_records(BATCH, None, None, &mut batch).map_err(|e| e.to_string())?.0 == 0 {
                    break;
                }
                let mut last: Option<(&[u8], StringId)> = None;
                for value in batch.iter().map(ByteArray::data) {
                    // Neighbours are equal more often than not.
                    let id = match last {
                        Some((same, id)) if same == value => id,
                        _ => out.strings.intern(&String::from_utf8_lossy(value)),
                    };
                    last = Some((value, id));
                    out.ids.push(id);
                }
                check(out.ids.len(), max)?;
            }
        }
        _ => return Err("has another type".to_owned()),
    }
    Ok(())
}

fn read_numbers<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    out: &mut Vec<T::T>,
    max: usize,
) -> Result<(), String> {
    // A row group adds to what there is; growing by doubling would copy it over and over.
    out.reserve(max.min(MOST_RESERVED).saturating_sub(out.len()));
    while reader.read_records(BATCH, None, None, out).map_err(|e| e.to_string())?.0 > 0 {
        check(out.len(), max)?;
    }
    Ok(())
}

fn check(len: usize, max: usize) -> Result<(), String> {
    if len > max { Err("holds more values than rows".to_owned()) } else { Ok(()) }
}
