//! Columns of what the engine returns, in the types that are asked for.

use crate::error::FleetError;
use datafusion::arrow::array::{Array, AsArray, PrimitiveArray, RecordBatch, StringArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{ArrowPrimitiveType, DataType};
use datafusion::error::DataFusionError;

/// A column of numbers; what is absent is 0.
pub fn numbers<T: ArrowPrimitiveType>(
    batch: &RecordBatch,
    name: &str,
) -> Result<PrimitiveArray<T>, FleetError> {
    Ok(as_type(batch, name, &T::DATA_TYPE)?.as_primitive::<T>().clone())
}

/// A column of texts.
pub fn texts(batch: &RecordBatch, name: &str) -> Result<StringArray, FleetError> {
    Ok(as_type(batch, name, &DataType::Utf8)?.as_string::<i32>().clone())
}

fn as_type(
    batch: &RecordBatch,
    name: &str,
    kind: &DataType,
) -> Result<std::sync::Arc<dyn Array>, FleetError> {
    let column = batch.column_by_name(name);
    let column = column.ok_or_else(|| DataFusionError::Internal(format!("there is no column {name}")))?;
    Ok(cast(column, kind).map_err(DataFusionError::from)?)
}
