//! Tables of a store as they go to a scheduler: which table, and which files.
//!
//! Invariant: what is read is a table that a store has, of files that lie where that table's files lie; all else is refused.

use crate::layout::{Place, TABLES};
use crate::manifest::MERGED_TABLES;
use crate::table::{FileOf, FilesTable, Form};
use ballista_core::serde::BallistaLogicalExtensionCodec;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::common::TableReference;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{Extension, LogicalPlan};
use datafusion_proto::logical_plan::LogicalExtensionCodec;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A table, as it is written down.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    merged: bool,
    table: String,
    files: Vec<WrittenFile>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenFile {
    key: String,
    bytes: u64,
    /// Number of the unit and process of its recorder; host and begin are those of the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unit: Option<(u32, i32)>,
}

/// Ballista's own codec, and tables of a store.
#[derive(Debug, Default)]
pub struct FilesCodec(BallistaLogicalExtensionCodec);

impl LogicalExtensionCodec for FilesCodec {
    fn try_decode(&self, buf: &[u8], inputs: &[LogicalPlan], ctx: &TaskContext) -> Result<Extension> {
        self.0.try_decode(buf, inputs, ctx)
    }

    fn try_encode(&self, node: &Extension, buf: &mut Vec<u8>) -> Result<()> {
        self.0.try_encode(node, buf)
    }

    fn try_decode_table_provider(
        &self,
        buf: &[u8],
        _: &TableReference,
        schema: SchemaRef,
        _: &TaskContext,
    ) -> Result<Arc<dyn TableProvider>> {
        let table = read(buf)?;
        match table.schema() == schema {
            true => Ok(Arc::new(table)),
            false => Err(refused("its columns are those of another version")),
        }
    }

    fn try_encode_table_provider(
        &self,
        name: &TableReference,
        node: Arc<dyn TableProvider>,
        buf: &mut Vec<u8>,
    ) -> Result<()> {
        let Some(table) = node.downcast_ref::<FilesTable>() else {
            return Err(refused(&format!("{name} is none of a store")));
        };
        serde_json::to_writer(buf, &written(table)).map_err(|e| refused(&e.to_string()))
    }
}

fn refused(why: &str) -> DataFusionError {
    DataFusionError::Plan(format!("a table of a plan: {why}"))
}

fn written(table: &FilesTable) -> Written {
    let file = |(key, bytes, of): (String, u64, Option<FileOf>)| WrittenFile {
        key,
        bytes,
        unit: of.map(|of| (of.unit, of.recorder)),
    };
    Written {
        merged: table.form == Form::Merged,
        table: table.table.clone(),
        files: table.listed().map(file).collect(),
    }
}

fn read(buf: &[u8]) -> Result<FilesTable> {
    let written: Written = serde_json::from_slice(buf).map_err(|e| refused(&e.to_string()))?;
    let name = written.table.as_str();
    let (form, is_known) = match written.merged {
        true => (Form::Merged, MERGED_TABLES.contains(&name)),
        false => (Form::Unit, TABLES.contains(&name)),
    };
    if !is_known {
        return Err(refused("no store has it"));
    }
    let mut table = FilesTable::new(form, name);
    for WrittenFile { key, bytes, unit } in &written.files {
        let of = match (form, unit, Place::of(name, key)) {
            (Form::Unit, Some((unit, recorder)), Some(place)) => {
                Some(FileOf { host: place.host, start_ms: place.start_ms, unit: *unit, recorder: *recorder })
            }
            (Form::Merged, None, _) if is_merged(name, key) => None,
            _ => return Err(refused("it has a file that is none of it")),
        };
        table.add(key, *bytes, of).map_err(|e| refused(&e.to_string()))?;
    }
    Ok(table)
}

/// `merged/TABLE/tier=N/day=DATE/hour=NN/NAME.parquet`.
fn is_merged(table: &str, key: &str) -> bool {
    let rest = key.strip_prefix("merged/").and_then(|key| key.strip_prefix(table));
    rest.is_some_and(|rest| rest.starts_with("/tier=") && rest.ends_with(".parquet"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use zwhy_capture::shipped_key;

    const MERGED: &str = "merged/sums/tier=1/day=2026-11-22/hour=19/00000001-5f0c.parquet";

    fn unit_table() -> FilesTable {
        let host = "db7/../'); --\u{202e}";
        let mut table = FilesTable::new(Form::Unit, "samples");
        for part in 0..2 {
            let key = shipped_key("samples", host, 1_795_375_953_123, "00000042", part);
            let of = FileOf { host: host.to_owned(), start_ms: 1_795_375_953_123, unit: 7, recorder: -1 };
            table.add(&key, 4096 + u64::from(part), Some(of)).unwrap();
        }
        table
    }

    #[test]
    fn a_table_comes_back_with_its_files() {
        let mut merged = FilesTable::new(Form::Merged, "sums");
        merged.add(MERGED, 17, None).unwrap();
        for table in [unit_table(), merged, FilesTable::new(Form::Merged, "marks")] {
            let mut bytes = Vec::new();
            let (name, codec) = (TableReference::bare("t"), FilesCodec::default());
            let (schema, ctx) = (table.schema(), TaskContext::default());
            let listed: Vec<_> = table.listed().collect();
            codec.try_encode_table_provider(&name, Arc::new(table), &mut bytes).unwrap();
            let back = codec.try_decode_table_provider(&bytes, &name, schema, &ctx).unwrap();
            let back = back.downcast_ref::<FilesTable>().unwrap();
            assert_eq!(back.listed().collect::<Vec<_>>(), listed);
            let other = FilesTable::new(Form::Unit, "marks").schema();
            assert!(codec.try_decode_table_provider(&bytes, &name, other, &ctx).is_err());
        }
    }

    #[test]
    fn what_no_store_has_is_refused() {
        let good = serde_json::to_string(&written(&unit_table())).unwrap();
        assert!(read(good.as_bytes()).is_ok());
        let swapped = |from: &str, to: &str| {
            assert!(good.contains(from), "{from}");
            good.replace(from, to)
        };
        let merged =
            |key: &str| format!(r#"{{"merged":true,"table":"sums","files":[{{"key":"{key}","bytes":1}}]}}"#);
        assert!(read(merged(MERGED).as_bytes()).is_ok());
        for odd in [
            String::new(),
            swapped("\"samples\"", "\"passwd\""),
            swapped("\"samples\"", "\"marks\""),
            swapped("samples/host=", "facts/host="),
            swapped("-000001.parquet", "-000001.json"),
            swapped("\"merged\":false", "\"merged\":true"),
            swapped(",\"unit\":[7,-1]", ""),
            swapped("\"merged\"", "\"also\":1,\"merged\""),
            merged("merged/sums/tier=1/../../../etc/x.parquet"),
            merged("merged/samples/tier=1/x.parquet"),
            merged("/etc/x.parquet"),
            merged(MERGED).replace("sums", "findings"),
        ] {
            assert!(read(odd.as_bytes()).is_err(), "{odd}");
        }
    }
}
