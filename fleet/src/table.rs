//! A table for the engine: a list of Parquet files, each with values that are the same for all of its rows.
//!
//! The list is fixed when the table is made. What a query sees is therefore one state of the store, whatever is written
//! meanwhile.

use crate::engine::STORE_URL;
use crate::error::FleetError;
use crate::schema;
use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DFSchema, Result};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::object_store::ObjectStoreUrl;
use datafusion::datasource::physical_plan::parquet::CachedParquetFileReaderFactory;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::datasource::{TableType, ViewTable};
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{EmptyRelation, Expr, LogicalPlan, TableProviderFilterPushDown};
use datafusion::object_store::ObjectMeta;
use datafusion::object_store::path::Path as Key;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::prelude::SessionContext;
use datafusion::scalar::ScalarValue;
use std::sync::Arc;

/// Who wrote a file, and so what its columns are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// An agent; every row is of one unit.
    Unit,
    /// A compactor.
    Merged,
}

/// What is the same for all rows of a file of an agent's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileOf {
    pub host: String,
    pub start_ms: i64,
    /// Number of the unit in its snapshot.
    pub unit: u32,
    pub recorder: i32,
}

/// Files of one form.
#[derive(Debug)]
pub struct FilesTable {
    pub form: Form,
    pub table: String,
    schema: TableSchema,
    files: Vec<PartitionedFile>,
}

impl FilesTable {
    /// A table without files; one that no store has is without columns.
    pub fn new(form: Form, table: &str) -> FilesTable {
        let schema = match form {
            Form::Unit => schema::of_unit(table),
            Form::Merged => schema::of_merged(table),
        };
        FilesTable { form, table: table.to_owned(), schema, files: Vec::new() }
    }

    /// Adds a file; `of` is known where an agent wrote it.
    ///
    /// # Errors
    /// When the key is none.
    pub fn add(&mut self, key: &str, bytes: u64, of: Option<FileOf>) -> Result<(), FleetError> {
        let location = Key::parse(key).map_err(|e| FleetError::store("use the key", key)(e.into()))?;
        let last_modified = Default::default();
        let meta = ObjectMeta { location, last_modified, size: bytes, e_tag: None, version: None };
        let values = of.map(|of| of.values()).unwrap_or_default();
        self.files.push(PartitionedFile::new_from_meta(meta).with_partition_values(values));
        Ok(())
    }

    /// Makes it a table of a session. One without files is a plan without rows, of which nothing is left in a query.
    ///
    /// # Errors
    /// When there is one of this name.
    pub fn register(self, session: &SessionContext, name: &str) -> Result<()> {
        if !self.files.is_empty() {
            session.register_table(name, Arc::new(self))?;
            return Ok(());
        }
        let schema = DFSchema::try_from(self.schema())?.into();
        let none = LogicalPlan::EmptyRelation(EmptyRelation { produce_one_row: false, schema });
        session.register_table(name, Arc::new(ViewTable::new(none, None)))?;
        Ok(())
    }

    /// Key, bytes and what all rows are of, of each file.
    pub fn listed(&self) -> impl Iterator<Item = (String, u64, Option<FileOf>)> + '_ {
        self.files.iter().map(|file| {
            let meta = &file.object_meta;
            (meta.location.to_string(), meta.size, FileOf::of(&file.partition_values))
        })
    }

    /// The files in as many groups as are read at once, of about the same size.
    fn groups(&self, wanted: usize) -> Vec<FileGroup> {
        let mut groups: Vec<(u64, Vec<PartitionedFile>)> = vec![(0, Vec::new()); wanted.max(1)];
        let mut files = self.files.clone();
        files.sort_by_key(|file| std::cmp::Reverse(file.object_meta.size));
        for file in files {
            if let Some((size, group)) = groups.iter_mut().min_by_key(|(size, _)| *size) {
                *size += file.object_meta.size.max(1);
                group.push(file);
            }
        }
        groups
            .into_iter()
            .filter(|(_, files)| !files.is_empty())
            .map(|(_, files)| FileGroup::new(files))
            .collect()
    }
}

impl FileOf {
    /// In the order of the columns that are the same for all rows of a unit.
    fn values(self) -> Vec<ScalarValue> {
        vec![
            ScalarValue::Utf8View(Some(self.host)),
            ScalarValue::Int64(Some(self.start_ms)),
            ScalarValue::UInt32(Some(self.unit)),
            ScalarValue::Int32(Some(self.recorder)),
        ]
    }

    fn of(values: &[ScalarValue]) -> Option<FileOf> {
        match values {
            [
                ScalarValue::Utf8View(Some(host)),
                ScalarValue::Int64(Some(start_ms)),
                ScalarValue::UInt32(Some(unit)),
                ScalarValue::Int32(Some(recorder)),
            ] => Some(FileOf { host: host.clone(), start_ms: *start_ms, unit: *unit, recorder: *recorder }),
            _ => None,
        }
    }
}

#[async_trait]
impl TableProvider for FilesTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(self.schema.table_schema())
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        // They leave out groups of rows and pages; what is left is filtered again.
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if self.files.is_empty() {
            let schema = match projection {
                Some(columns) => Arc::new(self.schema().project(columns)?),
                None => self.schema(),
            };
            return Ok(Arc::new(EmptyExec::new(schema)));
        }
        let url = ObjectStoreUrl::parse(STORE_URL)?;
        let runtime = state.runtime_env();
        // The end of a file is read once: under a key is always the same file.
        let ends = runtime.cache_manager.get_file_metadata_cache();
        let reader = CachedParquetFileReaderFactory::new(runtime.object_store(&url)?, ends);
        let source = ParquetSource::new(self.schema.clone());
        let mut source = source.with_parquet_file_reader_factory(Arc::new(reader));
        if let Some(filter) = conjunction(filters.to_vec()) {
            let schema = DFSchema::try_from(self.schema())?;
            source = source.with_predicate(state.create_physical_expr(filter, &schema)?);
        }
        let groups = self.groups(state.config().target_partitions());
        let config = FileScanConfigBuilder::new(url, Arc::new(source))
            .with_file_groups(groups)
            .with_projection_indices(projection.cloned())?
            .with_limit(limit)
            .build();
        Ok(DataSourceExec::from_data_source(config))
    }
}
