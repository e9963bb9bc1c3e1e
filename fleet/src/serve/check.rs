//! Is a part that a host sends what it says: one bad file must not spoil the answers about all other hosts.

use crate::layout::{FACTS, TABLES};
use crate::schema::of_file;
use axum::body::Bytes;
use datafusion::arrow::array::Array;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use zwhy_evidence::CaptureFacts;

const MOST_NAME: usize = 16;
const MOST_HOST: usize = 253;
/// The year 2100, in milliseconds since 1970.
const LAST_MS: i64 = 4_102_444_800_000;
/// Of one part, before it was packed.
const MOST_UNPACKED: i64 = 1 << 30;
const MOST_ROWS: i64 = 50_000_000;

/// Is this a name of a part?
///
/// # Errors
/// What is wrong with it.
pub fn check_name(host: &str, start_ms: i64, name: &str, table: &str, part: u32) -> Result<(), &'static str> {
    if host.is_empty() || host.len() > MOST_HOST {
        return Err("the name of the host is empty or too long");
    }
    if !(0..LAST_MS).contains(&start_ms) {
        return Err("the begin is not within 1970 and 2100");
    }
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric());
    if name.is_empty() || name.len() > MOST_NAME || !plain {
        return Err("the name is none of 1 to 16 letters and digits");
    }
    if table == FACTS && part != 0 {
        return Err("facts are part 0");
    }
    if table == FACTS || TABLES.contains(&table) { Ok(()) } else { Err("there is no such table") }
}

/// Is this a part of this table, to its last row? Takes as long as reading it.
///
/// # Errors
/// What is wrong with it.
pub fn check_body(table: &str, body: Bytes) -> Result<(), String> {
    if table == FACTS {
        return match CaptureFacts::from_slice(&body) {
            Ok(_) => Ok(()),
            Err(_) => Err("these are no facts of a capture".to_owned()),
        };
    }
    let unfit = |why: &dyn std::fmt::Display| format!("this is no Parquet file of the table: {why}");
    let builder = ParquetRecordBatchReaderBuilder::try_new(body).map_err(|e| unfit(&e))?;
    let groups = builder.metadata().row_groups();
    let rows: i64 = groups.iter().map(|group| group.num_rows().max(0)).fold(0, i64::saturating_add);
    let unpacked = groups.iter().map(|group| group.total_byte_size().max(0)).fold(0, i64::saturating_add);
    if rows > MOST_ROWS || unpacked > MOST_UNPACKED {
        return Err(unfit(&"it is too large when it is unpacked"));
    }
    for wanted in of_file(table).fields() {
        let found = builder.schema().field_with_name(wanted.name()).map_err(|e| unfit(&e))?;
        if found.data_type() != wanted.data_type() {
            return Err(unfit(&format!("{} is {}", wanted.name(), found.data_type())));
        }
    }
    for batch in builder.build().map_err(|e| unfit(&e))? {
        let batch = batch.map_err(|e| unfit(&e))?;
        if batch.columns().iter().any(|column| column.null_count() > 0) {
            return Err(unfit(&"a value is absent"));
        }
    }
    Ok(())
}
