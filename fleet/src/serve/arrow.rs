//! Rows as an answer: JSON, or a stream of Arrow for those who ask for it, with the same names and values.
//!
//! Invariant: the columns of a table are the same for every answer, also where there are no rows.

use crate::answers::{FunctionRow, HostRow, KstatPoint, KstatRow};
use crate::error::FleetError;
use crate::findings::Lasting;
use crate::stages::{StagePoint, StageRow};
use axum::extract::FromRequestParts;
use axum::http::header::{ACCEPT, CONTENT_TYPE, VARY};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::ipc::writer::StreamWriter;
use datafusion::arrow::json::ReaderBuilder;
use serde::Serialize;
use std::convert::Infallible;
use std::sync::Arc;

pub const ARROW: &str = "application/vnd.apache.arrow.stream";

/// What a column holds; those of `Maybe` may be absent.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Text,
    MaybeText,
    Texts,
    Whole,
    Count,
    MaybeCount,
    Number,
    MaybeNumber,
}

/// Rows whose fields are columns.
pub trait Table: Serialize {
    const COLUMNS: &'static [(&'static str, Kind)];
}

impl Table for HostRow {
    const COLUMNS: &'static [(&'static str, Kind)] = &[
        ("host", Kind::Text),
        ("begin_ms", Kind::Whole),
        ("end_ms", Kind::Whole),
        ("units", Kind::Count),
        ("cpus", Kind::MaybeCount),
        ("kernel_release", Kind::MaybeText),
        ("zfs_release", Kind::MaybeText),
        ("samples", Kind::Count),
        ("idle", Kind::Number),
        ("kernel", Kind::Number),
        ("zfs", Kind::Number),
        ("most", Kind::MaybeText),
        ("findings", Kind::Texts),
    ];
}

impl Table for StageRow {
    const COLUMNS: &'static [(&'static str, Kind)] =
        &[("stage", Kind::Text), ("samples", Kind::Count), ("share", Kind::Number)];
}

impl Table for StagePoint {
    const COLUMNS: &'static [(&'static str, Kind)] =
        &[("host", Kind::Text), ("begin_ms", Kind::Whole), ("stage", Kind::Text), ("samples", Kind::Count)];
}

impl Table for FunctionRow {
    const COLUMNS: &'static [(&'static str, Kind)] = &[
        ("function", Kind::Text),
        ("module", Kind::Text),
        ("self", Kind::Count),
        ("total", Kind::Count),
        ("self_share", Kind::Number),
        ("total_share", Kind::Number),
    ];
}

impl Table for Lasting {
    const COLUMNS: &'static [(&'static str, Kind)] = &[
        ("host", Kind::Text),
        ("class", Kind::Text),
        ("title", Kind::Text),
        ("scope", Kind::Texts),
        ("begin_ms", Kind::Whole),
        ("end_ms", Kind::Whole),
        ("units", Kind::Count),
        ("of_units", Kind::Count),
        ("confidence", Kind::Number),
        ("share", Kind::MaybeNumber),
    ];
}

impl Table for KstatRow {
    const COLUMNS: &'static [(&'static str, Kind)] = &[
        ("host", Kind::Text),
        ("source", Kind::Text),
        ("name", Kind::Text),
        ("kind", Kind::Text),
        ("readings", Kind::Whole),
        ("begin_ms", Kind::Whole),
        ("end_ms", Kind::Whole),
        ("least", Kind::Whole),
        ("most", Kind::Whole),
    ];
}

impl Table for KstatPoint {
    const COLUMNS: &'static [(&'static str, Kind)] =
        &[("host", Kind::Text), ("t_ms", Kind::Whole), ("value", Kind::Whole)];
}

/// The form that a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Json,
    Arrow,
}

impl<S: Send + Sync> FromRequestParts<S> for Form {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Form, Infallible> {
        let accepted = parts.headers.get_all(ACCEPT).iter().filter_map(|accept| accept.to_str().ok());
        Ok(Form::of(accepted.flat_map(|accept| accept.split(','))))
    }
}

impl Form {
    fn of<'a>(mut accepted: impl Iterator<Item = &'a str>) -> Form {
        let is_arrow = |kind: &str| {
            let mut parts = kind.split(';').map(str::trim);
            let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(ARROW));
            named && !parts.any(|part| part == "q=0")
        };
        if accepted.any(is_arrow) { Form::Arrow } else { Form::Json }
    }

    /// Rows in this form.
    ///
    /// # Errors
    /// When a row has other fields than its table.
    pub fn answer<T: Table>(self, rows: &[T]) -> Result<Response, FleetError> {
        let vary = [(VARY, "accept")];
        Ok(match self {
            Form::Json => (vary, axum::Json(rows)).into_response(),
            Form::Arrow => {
                let bytes = stream(rows).map_err(FleetError::encode("an answer as Arrow"))?;
                (vary, [(CONTENT_TYPE, ARROW)], bytes).into_response()
            }
        })
    }
}

fn schema<T: Table>() -> SchemaRef {
    let texts = || DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true)));
    let field = |(name, kind): &(&str, Kind)| {
        let (kind, absent) = match kind {
            Kind::Text => (DataType::Utf8, false),
            Kind::MaybeText => (DataType::Utf8, true),
            Kind::Texts => (texts(), false),
            Kind::Whole => (DataType::Int64, false),
            Kind::Count => (DataType::UInt64, false),
            Kind::MaybeCount => (DataType::UInt64, true),
            Kind::Number => (DataType::Float64, false),
            Kind::MaybeNumber => (DataType::Float64, true),
        };
        Field::new(*name, kind, absent)
    };
    Arc::new(Schema::new(T::COLUMNS.iter().map(field).collect::<Vec<_>>()))
}

fn stream<T: Table>(rows: &[T]) -> Result<Vec<u8>, ArrowError> {
    let schema = schema::<T>();
    let mut decoder = ReaderBuilder::new(Arc::clone(&schema)).with_strict_mode(true).build_decoder()?;
    decoder.serialize(rows)?;
    let batch: Option<RecordBatch> = decoder.flush()?;
    let mut writer = StreamWriter::try_new(Vec::new(), &schema)?;
    if let Some(batch) = batch {
        writer.write(&batch)?;
    }
    writer.into_inner()
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::array::{Array, AsArray};
    use datafusion::arrow::datatypes::{Float64Type, UInt64Type};
    use datafusion::arrow::ipc::reader::StreamReader;

    #[test]
    fn arrow_is_answered_to_those_who_ask_for_it() {
        let of = |accept: &str| Form::of(accept.split(','));
        for accept in
            [ARROW, "text/html, Application/Vnd.Apache.Arrow.Stream;q=0.9", &format!("{ARROW}; v=1")]
        {
            assert_eq!(of(accept), Form::Arrow, "{accept}");
        }
        for accept in
            ["", "*/*", "application/json", "application/vnd.apache.arrow.file", &format!("{ARROW};q=0")]
        {
            assert_eq!(of(accept), Form::Json, "{accept}");
        }
    }

    #[test]
    fn values_are_kept_to_the_bit_and_no_rows_have_columns() {
        let rows = vec![
            StageRow { stage: "a\u{0}\"\u{202e}".into(), samples: u64::MAX, share: 0.1 + 0.2 },
            StageRow { stage: String::new(), samples: 0, share: 1.0 / 3.0 },
        ];
        let batches = |bytes: Vec<u8>| -> Vec<RecordBatch> {
            StreamReader::try_new(bytes.as_slice(), None).unwrap().map(Result::unwrap).collect()
        };
        let read = batches(stream(&rows).unwrap());
        let column = |at: usize| read[0].column(at);
        for (at, row) in rows.iter().enumerate() {
            assert_eq!(column(0).as_string::<i32>().value(at), row.stage);
            assert_eq!(column(1).as_primitive::<UInt64Type>().value(at), row.samples);
            assert_eq!(column(2).as_primitive::<Float64Type>().value(at).to_bits(), row.share.to_bits());
        }
        assert_eq!((read.len(), read[0].num_rows()), (1, 2));
        assert!(column(0).nulls().is_none());
        let none = stream::<StageRow>(&[]).unwrap();
        let reader = StreamReader::try_new(none.as_slice(), None).unwrap();
        assert_eq!(reader.schema().fields().len(), 3);
        assert!(batches(none).is_empty());
    }
}
