//! The engine (DataFusion): one function makes every session of it, for queries in this process and for those that a
//! cluster of others runs (Ballista).
//!
//! Invariants: client, scheduler and executors have the same settings and functions; whatever a plan names, a session
//! reads the store and nothing else.

use crate::codec::FilesCodec;
use crate::error::FleetError;
use crate::scheduler::{Readiness, Scheduler};
use ballista_core::extension::{SessionConfigExt, SessionStateExt};
use datafusion::arrow::array::RecordBatch;
use datafusion::error::{DataFusionError, Result as EngineResult};
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::object_store::ObjectStoreRegistry;
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::execution::{SessionState, SessionStateBuilder};
use datafusion::object_store::ObjectStore;
use datafusion::prelude::{DataFrame, SessionConfig, SessionContext};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, interval_at};
use url::Url;

/// Any address does: it only names the store to the engine.
pub const STORE_URL: &str = "fleet://store/";

/// Of one process for its queries; what does not fit is sorted on disk.
pub const MOST_MEMORY: usize = 4 << 30;

/// A plan names its files: a hundred thousand fit.
pub const MOST_MESSAGE: usize = 256 << 20;

/// Parts that a query of a cluster is cut into: more than executors have CPUs wait, fewer leave some without work.
const PARTS: usize = 8;

/// Attempts at a query whose executors are lost on the way.
const ATTEMPTS: usize = 3;

/// How often a cluster is looked at while a query runs, and how often in a row it may be unfit.
const LOOK: Duration = Duration::from_secs(3);
const UNFIT_LOOKS: u32 = 4;

/// Who runs the queries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// This process.
    #[default]
    Embedded,
    /// The executors of a scheduler.
    Cluster(Scheduler),
}

impl Engine {
    /// A session over the store that `runtime` reads.
    pub(crate) fn session(&self, runtime: Arc<RuntimeEnv>) -> Result<SessionContext, FleetError> {
        let state = match self {
            Engine::Embedded => state(config(SessionConfig::new()), runtime),
            Engine::Cluster(scheduler) => {
                state(config(client_config()), runtime).upgrade_for_ballista(scheduler.url())?
            }
        };
        Ok(SessionContext::new_with_state(state))
    }

    /// All rows of a query. One that a cluster loses on the way is asked again: queries only read.
    pub(crate) async fn collect(&self, rows: DataFrame) -> Result<Vec<RecordBatch>, FleetError> {
        let Engine::Cluster(scheduler) = self else { return Ok(rows.collect().await?) };
        let mut attempt = 1;
        loop {
            scheduler.wait().await?;
            let error = match watched(scheduler, rows.clone()).await? {
                Ok(batches) => return Ok(batches),
                Err(error) => error,
            };
            log::warn!("attempt {attempt} at a query: {error}");
            match scheduler.readiness().await {
                Readiness::Ready | Readiness::NoExecutors if attempt < ATTEMPTS => attempt += 1,
                Readiness::Ready => return Err(error.into()),
                unfit => return Err(scheduler.unfit(&unfit)),
            }
        }
    }
}

/// Runs a query while its cluster can be asked; the outer error is that it no longer can.
async fn watched(
    scheduler: &Scheduler,
    rows: DataFrame,
) -> Result<EngineResult<Vec<RecordBatch>>, FleetError> {
    let mut query = std::pin::pin!(rows.collect());
    let mut looks = interval_at(Instant::now() + LOOK, LOOK);
    let mut unfit = 0;
    loop {
        tokio::select! {
            ended = &mut query => return Ok(ended),
            _ = looks.tick() => match scheduler.readiness().await {
                Readiness::Ready => unfit = 0,
                other => {
                    unfit += 1;
                    if unfit >= UNFIT_LOOKS {
                        return Err(scheduler.unfit(&other));
                    }
                }
            },
        }
    }
}

/// Settings of every session.
fn config(mut config: SessionConfig) -> SessionConfig {
    // Merged files are small and have several groups of rows: all CPUs read one of them.
    config.options_mut().optimizer.repartition_file_min_size = 1 << 20;
    config
}

/// Settings that go to the scheduler and the executors with each query.
fn client_config() -> SessionConfig {
    SessionConfig::new_with_ballista()
        .with_target_partitions(PARTS)
        .with_information_schema(false)
        .with_ballista_logical_extension_codec(Arc::new(FilesCodec::default()))
        .with_ballista_grpc_client_max_message_size(MOST_MESSAGE)
        // What an executor had is gone when it does not answer: it is made again, and waiting does not bring it back.
        .set_str("ballista.client.io_retries_times", "1")
        .set_str("ballista.client.io_retry_wait_time_ms", "200")
}

/// A runtime that reads the store and nothing else.
pub fn runtime(objects: Arc<dyn ObjectStore>) -> EngineResult<Arc<RuntimeEnv>> {
    RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::new(FairSpillPool::new(MOST_MEMORY)))
        .with_object_store_registry(Arc::new(OnlyStore(objects)))
        .build_arc()
}

/// The state of a session, the same for all roles.
pub fn state(config: SessionConfig, runtime: Arc<RuntimeEnv>) -> SessionState {
    SessionStateBuilder::new().with_default_features().with_config(config).with_runtime_env(runtime).build()
}

/// The store at its address, and no file of the machine.
#[derive(Debug)]
struct OnlyStore(Arc<dyn ObjectStore>);

impl ObjectStoreRegistry for OnlyStore {
    fn register_store(&self, _: &Url, _: Arc<dyn ObjectStore>) -> Option<Arc<dyn ObjectStore>> {
        None
    }

    fn get_store(&self, url: &Url) -> EngineResult<Arc<dyn ObjectStore>> {
        match url.as_str() == STORE_URL {
            true => Ok(Arc::clone(&self.0)),
            false => Err(DataFusionError::Plan("a plan reads the store and nothing else".to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::object_store::memory::InMemory;

    #[tokio::test]
    async fn a_session_reads_no_file_of_the_machine() {
        let session = Engine::Embedded.session(runtime(Arc::new(InMemory::new())).unwrap()).unwrap();
        for url in ["file:///", "s3://bucket/", "http://127.0.0.1:1/", "fleet://other/"] {
            assert!(
                session.runtime_env().object_store_registry.get_store(&Url::parse(url).unwrap()).is_err(),
                "{url}"
            );
        }
        assert!(
            session.runtime_env().object_store_registry.get_store(&Url::parse(STORE_URL).unwrap()).is_ok()
        );
        let sql = "CREATE EXTERNAL TABLE t STORED AS PARQUET LOCATION '/etc/'";
        assert!(session.sql(sql).await.is_err());
    }
}
