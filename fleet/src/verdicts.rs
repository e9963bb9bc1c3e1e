//! Findings of merged units: one file an hour in place of one a unit, named by the manifest of the hour.

use crate::columns::{numbers, texts};
use crate::error::FleetError;
use crate::findings::Found;
use crate::layout::UnitKey;
use crate::manifest::Manifest;
use crate::store::Store;
use datafusion::arrow::array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, Float64Type, Int64Type, Schema};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::errors::ParquetError;
use datafusion::parquet::file::properties::WriterProperties;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Name of the table in a manifest.
pub const VERDICTS: &str = "findings";

/// What was found in each unit that was judged, which may be nothing.
pub type Verdicts = BTreeMap<UnitKey, Vec<Found>>;

/// A row a finding, and one without a class for a unit in which nothing was found.
///
/// # Errors
/// When it cannot be encoded.
pub fn encode(verdicts: &Verdicts) -> Result<Vec<u8>, ParquetError> {
    let nothing = Found::default();
    let rows: Vec<(&UnitKey, &Found)> = verdicts
        .iter()
        .flat_map(|(unit, found)| {
            let none = found.is_empty().then_some(&nothing);
            found.iter().chain(none).map(move |found| (unit, found))
        })
        .collect();
    let text = |of: &dyn Fn(&(&UnitKey, &Found)) -> String| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(rows.iter().map(of)))
    };
    let field = |name: &str, kind, absent| Field::new(name, kind, absent);
    let schema = Arc::new(Schema::new(vec![
        field("host", DataType::Utf8, false),
        field("start_ms", DataType::Int64, false),
        field("name", DataType::Utf8, false),
        field("class", DataType::Utf8, false),
        field("title", DataType::Utf8, false),
        field("scope", DataType::Utf8, false),
        field("confidence", DataType::Float64, false),
        field("share", DataType::Float64, true),
    ]));
    let columns: Vec<ArrayRef> = vec![
        text(&|(unit, _)| unit.host.clone()),
        Arc::new(Int64Array::from_iter_values(rows.iter().map(|(unit, _)| unit.start_ms))),
        text(&|(unit, _)| unit.name.clone()),
        text(&|(_, found)| found.class.clone()),
        text(&|(_, found)| found.title.clone()),
        text(&|(_, found)| found.scope.clone()),
        Arc::new(Float64Array::from_iter_values(rows.iter().map(|(_, found)| found.confidence))),
        Arc::new(Float64Array::from_iter(rows.iter().map(|(_, found)| found.share))),
    ];
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns)?;
    let level = ZstdLevel::try_new(3).unwrap_or_default();
    let properties = WriterProperties::builder().set_compression(Compression::ZSTD(level)).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), schema, Some(properties))?;
    writer.write(&batch)?;
    writer.into_inner()
}

fn decode(bytes: Vec<u8>) -> Result<Verdicts, FleetError> {
    let unreadable = |why: String| FleetError::Encode { what: "what was read of findings", why };
    let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes));
    let reader = reader.and_then(|builder| builder.build()).map_err(|e| unreadable(e.to_string()))?;
    let mut out = Verdicts::new();
    for batch in reader {
        let batch = batch.map_err(|e| unreadable(e.to_string()))?;
        let text = |name| texts(&batch, name);
        let (hosts, names, starts) =
            (text("host")?, text("name")?, numbers::<Int64Type>(&batch, "start_ms")?);
        let (classes, titles, scopes) = (text("class")?, text("title")?, text("scope")?);
        let confidences = numbers::<Float64Type>(&batch, "confidence")?;
        let shares = numbers::<Float64Type>(&batch, "share")?;
        for row in 0..batch.num_rows() {
            let (host, name) = (hosts.value(row).to_owned(), names.value(row).to_owned());
            let found = out.entry(UnitKey { host, start_ms: starts.value(row), name }).or_default();
            if !classes.value(row).is_empty() {
                found.push(Found {
                    class: classes.value(row).to_owned(),
                    title: titles.value(row).to_owned(),
                    scope: scopes.value(row).to_owned(),
                    confidence: confidences.value(row),
                    share: shares.is_valid(row).then(|| shares.value(row)),
                });
            }
        }
    }
    Ok(out)
}

/// What was found in the units of a manifest; `None` where their findings lie beside them still.
///
/// # Errors
/// When the store cannot be read, or a file that the manifest names is missing or damaged.
pub async fn read(store: &Store, manifest: &Manifest) -> Result<Option<Verdicts>, FleetError> {
    let Some(file) = manifest.files.iter().find(|file| file.table == VERDICTS) else { return Ok(None) };
    let missing =
        || FleetError::Encode { what: "what was read of findings", why: format!("no {}", file.key) };
    decode(store.get(&file.key).await?.ok_or_else(missing)?).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_and_units_without_any_come_back() {
        let unit = |host: &str, start_ms| UnitKey { host: host.into(), start_ms, name: "00000001".into() };
        let found = |class: &str, share| Found {
            class: class.into(),
            title: "a\n\u{202e}".into(),
            scope: "dataset a\npool b".into(),
            confidence: 0.1 + 0.2,
            share,
        };
        let verdicts = Verdicts::from([
            (unit("a/../b", -5), vec![found("x", Some(0.25)), found("y", None)]),
            (unit("c", 7), Vec::new()),
        ]);
        assert_eq!(decode(encode(&verdicts).unwrap()).unwrap(), verdicts);
        assert!(decode(encode(&Verdicts::new()).unwrap()).unwrap().is_empty());
        assert!(decode(b"PAR1".to_vec()).is_err());
    }
}
