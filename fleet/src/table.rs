//! A table for the engine: a list of Parquet files, each with values that are the same for all of its rows.
//!
//! The list is fixed when the table is made. What a query sees is therefore one state of the store, whatever is written
//! meanwhile.

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DFSchema, Result};
use datafusion::datasource::TableType;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::object_store::ObjectStoreUrl;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use std::sync::Arc;

/// Files of one form.
#[derive(Debug)]
pub struct FilesTable {
    pub schema: TableSchema,
    pub url: ObjectStoreUrl,
    pub files: Vec<PartitionedFile>,
}

impl FilesTable {
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
        let mut source = ParquetSource::new(self.schema.clone());
        if let Some(filter) = conjunction(filters.to_vec()) {
            let schema = DFSchema::try_from(self.schema())?;
            source = source.with_predicate(state.create_physical_expr(filter, &schema)?);
        }
        let groups = self.groups(state.config().target_partitions());
        let config = FileScanConfigBuilder::new(self.url.clone(), Arc::new(source))
            .with_file_groups(groups)
            .with_projection_indices(projection.cloned())?
            .with_limit(limit)
            .build();
        Ok(DataSourceExec::from_data_source(config))
    }
}
