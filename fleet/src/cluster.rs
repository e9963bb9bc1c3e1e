//! The processes of a cluster (Ballista): one scheduler, which plans, and executors, which read the store.
//!
//! Ballista has no authentication and no encryption of its own: whoever reaches these ports can ask for anything that
//! the executors can read. Executors write nothing but their temporary files, and read nothing but the store.

use crate::codec::FilesCodec;
use crate::engine::{MOST_MEMORY, MOST_MESSAGE, runtime, state};
use crate::error::FleetError;
use crate::scheduler::Scheduler;
use crate::store::Store;
use ballista_core::error::BallistaError;
use ballista_core::extension::SessionConfigExt;
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_executor::health::ExecutorHealth;
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::{SchedulerConfig, TaskDistributionPolicy};
use ballista_scheduler::scheduler_process::{create_scheduler, start_grpc_service_with_listener};
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::object_store::memory::InMemory;
use datafusion::prelude::SessionConfig;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

/// An executor tells that it is there every two seconds, and is lost after six: a query that it was part of is right
/// within ten.
const HEARTBEAT_S: u64 = 2;
const LOST_AFTER_S: u64 = 6;
const LOOK_FOR_LOST_S: u64 = 1;
/// Without executors, queries end after so long.
const ALONE_S: u64 = 10;
/// Parts of results that are kept for clients that fetch them late.
const RESULTS_S: u64 = 300;
/// Executors may start before their scheduler.
const SCHEDULER_WITHIN_S: u16 = 10;

/// Plans queries and gives them to executors, until it fails; `name` is what executors call this machine.
///
/// # Errors
/// When it cannot serve.
pub async fn schedule(listener: TcpListener, name: &str) -> Result<(), FleetError> {
    let port = listener.local_addr().map_err(FleetError::io("listen at", Path::new(name)))?.port();
    // Plans are made of what they name: the scheduler itself reads no file.
    let nothing = runtime(Arc::new(InMemory::new()))?;
    let config = SchedulerConfig {
        external_host: name.to_owned(),
        bind_port: port,
        task_distribution: TaskDistributionPolicy::RoundRobin,
        finished_job_data_clean_up_interval_seconds: RESULTS_S,
        finished_job_state_clean_up_interval_seconds: RESULTS_S,
        executor_timeout_seconds: LOST_AFTER_S,
        expire_dead_executor_interval_seconds: LOOK_FOR_LOST_S,
        no_executors_grace_period_seconds: ALONE_S,
        grpc_server_max_decoding_message_size: MOST_MESSAGE as u32,
        grpc_server_max_encoding_message_size: MOST_MESSAGE as u32,
        grpc_client_max_message_size: MOST_MESSAGE as u32,
        override_logical_codec: Some(Arc::new(FilesCodec::default())),
        override_session_builder: Some(Arc::new(move |config| Ok(state(config, Arc::clone(&nothing))))),
        ..SchedulerConfig::default()
    };
    let told = |e: BallistaError| FleetError::Process { what: "scheduler", why: e.to_string() };
    let cluster = BallistaCluster::new_from_config(&config).await.map_err(told)?;
    let server = create_scheduler::<LogicalPlanNode, PhysicalPlanNode>(cluster, Arc::new(config));
    start_grpc_service_with_listener(listener, server.await.map_err(told)?).await.map_err(told)
}

/// What an executor is told.
#[derive(Clone, Debug)]
pub struct ExecutorOptions {
    /// Parts of results are fetched here, and tasks are taken at the port after it; port 0 takes two that are free.
    pub listen: SocketAddr,
    pub scheduler: Scheduler,
    /// Tasks at a time.
    pub cpus: usize,
}

/// Runs tasks of a scheduler over a store, until it is told to end or its scheduler is gone for some seconds.
///
/// # Errors
/// When it cannot serve, or no scheduler takes it.
pub async fn execute(
    store: &Store,
    options: &ExecutorOptions,
    ready: impl FnOnce(SocketAddr) + Send,
) -> Result<(), FleetError> {
    let work = tempfile::tempdir().map_err(FleetError::io("make", Path::new("a temporary folder")))?;
    let listen = with_ports(options.listen)?;
    let health = ExecutorHealth::new();
    let config = executor(store, options, listen, work.path(), health.clone())?;
    let mut running = std::pin::pin!(start_executor_process(Arc::new(config)));
    let mut ready = Some(ready);
    loop {
        tokio::select! {
            ended = &mut running => {
                let told = |e: BallistaError| FleetError::Cluster {
                    scheduler: options.scheduler.to_string(),
                    found: format!("does not take this executor: {e}"),
                    hint: "start `zwhy-fleet scheduler` of the same version first, and let it reach this machine",
                };
                return ended.map_err(told);
            }
            () = tokio::time::sleep(Duration::from_millis(50)), if ready.is_some() => {
                if health.is_ready() && let Some(ready) = ready.take() {
                    ready(listen);
                }
            }
        }
    }
}

fn executor(
    store: &Store,
    options: &ExecutorOptions,
    listen: SocketAddr,
    work: &Path,
    health: ExecutorHealth,
) -> Result<ExecutorProcessConfig, FleetError> {
    let shared: Arc<RuntimeEnv> = store.runtime()?;
    let functions = BallistaFunctionRegistry::from(&state(SessionConfig::new(), Arc::clone(&shared)));
    Ok(ExecutorProcessConfig {
        bind_host: written(listen.ip()),
        // Where it is unset, the scheduler takes the address that it sees.
        external_host: None,
        port: listen.port(),
        grpc_port: listen.port() + 1,
        scheduler_host: options.scheduler.host.clone(),
        scheduler_port: options.scheduler.port,
        scheduler_connect_timeout_seconds: SCHEDULER_WITHIN_S,
        vcores: options.cpus,
        work_dir: Some(work.display().to_string()),
        job_data_ttl_seconds: 2 * RESULTS_S,
        job_data_clean_up_interval_seconds: RESULTS_S,
        grpc_max_decoding_message_size: MOST_MESSAGE as u32,
        grpc_max_encoding_message_size: MOST_MESSAGE as u32,
        executor_heartbeat_interval_seconds: HEARTBEAT_S,
        memory_pool_size: Some(MOST_MEMORY as u64),
        override_function_registry: Some(Arc::new(functions)),
        override_runtime_producer: Some(Arc::new(move |_| Ok(Arc::clone(&shared)))),
        override_config_producer: Some(Arc::new(|| {
            SessionConfig::new_with_ballista().with_ballista_grpc_client_max_message_size(MOST_MESSAGE)
        })),
        health,
        ..ExecutorProcessConfig::default()
    })
}

fn written(ip: IpAddr) -> String {
    match ip {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    }
}

/// A port and the one after it, both free where none is asked for.
fn with_ports(listen: SocketAddr) -> Result<SocketAddr, FleetError> {
    let cannot = |source| FleetError::Listen { at: listen, source };
    if listen.port() != 0 {
        for port in [Some(listen.port()), listen.port().checked_add(1)] {
            let port = port.ok_or_else(|| cannot(std::io::Error::other("no port is after it")))?;
            std::net::TcpListener::bind((listen.ip(), port)).map_err(cannot)?;
        }
        return Ok(listen);
    }
    loop {
        let first = std::net::TcpListener::bind(listen).map_err(cannot)?;
        let address = first.local_addr().map_err(cannot)?;
        let Some(next) = address.port().checked_add(1) else { continue };
        if std::net::TcpListener::bind((listen.ip(), next)).is_ok() {
            return Ok(address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_executor_takes_two_ports_that_are_free() {
        let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
        let got = with_ports(any).unwrap();
        let _held = std::net::TcpListener::bind((got.ip(), got.port() + 1)).unwrap();
        assert!(with_ports(got).is_err(), "the second one is taken");
        assert!(with_ports("127.0.0.1:65535".parse().unwrap()).is_err(), "no port is after the last one");
    }
}
