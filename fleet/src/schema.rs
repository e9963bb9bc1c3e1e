//! Columns of the files in the store, and what is known of all rows of a file.

use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use datafusion::datasource::table_schema::TableSchema;
use std::sync::Arc;

/// Columns of a table of the agent's files, as `zwhy-capture` writes them.
pub fn of_file(table: &str) -> SchemaRef {
    use DataType::{Int32, Int64, UInt32, UInt64, Utf8};
    let columns: &[(&str, DataType)] = match table {
        "samples" => &[
            ("t_ns", Int64),
            ("cpu", Int32),
            ("thread_id", UInt64),
            ("stack_id", UInt64),
            ("event", Utf8),
            ("count", UInt32),
            ("weight_ns", Int64),
        ],
        "stacks" => &[("stack_id", UInt64), ("parent_id", UInt64), ("frame_id", UInt64), ("depth", UInt32)],
        "frames" => &[
            ("frame_id", UInt64),
            ("function", Utf8),
            ("module", Utf8),
            ("kind", Utf8),
            ("file", Utf8),
            ("line", UInt32),
            ("reason", Utf8),
        ],
        "threads" => &[("thread_id", UInt64), ("tid", Int32), ("pid", Int32), ("comm", Utf8)],
        "series" => &[("t_ns", Int64), ("source", Utf8), ("name", Utf8), ("kind", Utf8), ("value", Int64)],
        "marks" => &[("t_ns", Int64), ("name", Utf8), ("text", Utf8)],
        _ => &[],
    };
    schema(columns)
}

/// A table of the agent's files as it is read: its columns, and of which unit a row is.
pub fn of_unit(table: &str) -> TableSchema {
    TableSchema::builder(as_views(&of_file(table))).with_table_partition_cols(of_all_rows()).build()
}

/// A table of merged files as it is read.
pub fn of_merged(table: &str) -> TableSchema {
    TableSchema::builder(as_views(&of_merged_file(table))).build()
}

/// Columns of a table of merged files.
pub fn of_merged_file(table: &str) -> SchemaRef {
    use DataType::{Boolean, Int32, Int64, UInt64, Utf8};
    let columns: &[(&str, DataType)] = match table {
        "samples" => &[
            ("host", Utf8),
            ("t_ms", Int64),
            ("pid", Int32),
            ("tid", Int32),
            ("comm", Utf8),
            ("cpu", Int32),
            ("stack_id", UInt64),
            ("event", Utf8),
            ("count", UInt64),
            ("weight_ns", Int64),
            ("own", Boolean),
        ],
        "stacks" => &[("stack_id", UInt64), ("parent_id", UInt64), ("frame_id", UInt64)],
        "sums" | "totals" => &[
            ("host", Utf8),
            ("t_ms", Int64),
            ("comm", Utf8),
            ("stack_id", UInt64),
            ("event", Utf8),
            ("count", UInt64),
            ("weight_ns", Int64),
            ("own", Boolean),
        ],
        "series" => &[
            ("host", Utf8),
            ("t_ms", Int64),
            ("source", Utf8),
            ("name", Utf8),
            ("kind", Utf8),
            ("value", Int64),
        ],
        "marks" => &[("host", Utf8), ("t_ms", Int64), ("name", Utf8), ("text", Utf8)],
        other => return of_file(other),
    };
    schema(columns)
}

/// What is the same for all rows of a file of an agent's.
fn of_all_rows() -> Vec<FieldRef> {
    use DataType::{Int32, Int64, UInt32, Utf8View};
    let columns = [("host", Utf8View), ("start_ms", Int64), ("unit", UInt32), ("recorder", Int32)];
    columns.into_iter().map(|(name, kind)| Arc::new(Field::new(name, kind, false))).collect()
}

/// Texts as the engine groups them fastest: short ones lie in the column itself.
fn as_views(schema: &Schema) -> SchemaRef {
    let field = |field: &FieldRef| match field.data_type() {
        DataType::Utf8 => Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8View)),
        _ => Arc::clone(field),
    };
    Arc::new(Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>()))
}

fn schema(columns: &[(&str, DataType)]) -> SchemaRef {
    let field = |(name, kind): &(&str, DataType)| Field::new(*name, kind.clone(), false);
    Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()))
}
