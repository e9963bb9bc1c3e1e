//! What can go wrong with a store: what was done, to what, and what was found.

use datafusion::error::DataFusionError;
use datafusion::object_store;
use std::net::SocketAddr;
use std::path::PathBuf;
use thiserror::Error;
use zwhy_capture::CaptureError;

#[derive(Debug, Error)]
pub enum FleetError {
    #[error("`{0}` is no store; write a folder, file:///PATH or s3://BUCKET/PREFIX")]
    NoStore(String),
    #[error("cannot {deed} {key}: {source}")]
    Store { deed: &'static str, key: String, source: object_store::Error },
    #[error("cannot {deed} {}: {source}", path.display())]
    Io { deed: &'static str, path: PathBuf, source: std::io::Error },
    #[error(transparent)]
    Capture(#[from] CaptureError),
    #[error("{}: {found}; {hint}", path.display())]
    Unfit { path: PathBuf, found: String, hint: &'static str },
    #[error("the query failed: {0}")]
    Query(#[from] DataFusionError),
    #[error("the scheduler at {scheduler} {found}; {hint}")]
    Cluster { scheduler: String, found: String, hint: &'static str },
    #[error("the {what} ended: {why}")]
    Process { what: &'static str, why: String },
    #[error("cannot listen at {at}: {source}")]
    Listen { at: SocketAddr, source: std::io::Error },
    #[error("cannot write {what}: {why}")]
    Encode { what: &'static str, why: String },
    #[error("{0}")]
    Ask(String),
}

impl FleetError {
    pub(crate) fn store(deed: &'static str, key: &str) -> impl FnOnce(object_store::Error) -> FleetError {
        move |source| FleetError::Store { deed, key: key.to_owned(), source }
    }

    pub(crate) fn io(
        deed: &'static str,
        path: &std::path::Path,
    ) -> impl FnOnce(std::io::Error) -> FleetError {
        move |source| FleetError::Io { deed, path: path.to_owned(), source }
    }

    pub(crate) fn encode<E: std::fmt::Display>(what: &'static str) -> impl FnOnce(E) -> FleetError {
        move |error| FleetError::Encode { what, why: error.to_string() }
    }
}
