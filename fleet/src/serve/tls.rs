//! TLS, as rustls speaks it: certificates and a key from PEM files.

use crate::error::FleetError;
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// What takes connections over TLS 1.2 and 1.3.
///
/// # Errors
/// When a file cannot be read, holds no certificate or no key, or the two do not belong together.
pub fn acceptor(certificates: &Path, key: &Path) -> Result<TlsAcceptor, FleetError> {
    let unfit = |path: &Path, found: String| FleetError::Unfit {
        path: path.to_owned(),
        found,
        hint: "PEM files of a chain of certificates, the server's first, and of its key are needed",
    };
    let chain = CertificateDer::pem_file_iter(certificates).and_then(Iterator::collect);
    let chain: Vec<CertificateDer<'static>> = chain.map_err(|e| unfit(certificates, e.to_string()))?;
    if chain.is_empty() {
        return Err(unfit(certificates, "has no certificate".to_owned()));
    }
    let of_key = PrivateKeyDer::from_pem_file(key).map_err(|e| unfit(key, e.to_string()))?;
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, of_key));
    let mut config = config.map_err(|e| unfit(certificates, e.to_string()))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
