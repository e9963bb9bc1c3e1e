//! The server over TLS: its certificate is checked by clients, and what is no TLS comes to nothing.

use crate::{Served, bearer, start_with};
use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use std::path::Path;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// A server with a certificate that ends at the first day of a year, and the certificate.
fn start_until(folder: &Path, year: i32) -> (Served, rcgen::Certificate) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(year, 1, 1));
    let certificate = params.self_signed(&key).unwrap();
    let (at, key_at) = (folder.join("certificate.pem"), folder.join("key.pem"));
    std::fs::write(&at, certificate.pem()).unwrap();
    std::fs::write(&key_at, key.serialize_pem()).unwrap();
    let served = start_with(&["--certificate", at.to_str().unwrap(), "--key", key_at.to_str().unwrap()]);
    (served, certificate)
}

/// Asks for the hosts as a client that trusts this certificate alone.
async fn ask(served: &Served, trusted: &rcgen::Certificate) -> std::io::Result<String> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.der().clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(served.address).await?;
    let name = ServerName::try_from("localhost").unwrap();
    let mut stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await?;
    let token = bearer(&served.token);
    let request =
        format!("GET /api/v1/hosts HTTP/1.1\r\nHost: localhost\r\n{token}Connection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes).await;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Waits until so many connections are written down that came to nothing.
async fn refused(served: &Served, count: usize) {
    for _ in 0..200 {
        if served.audit().matches("\"method\":\"TLS\"").count() == count {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("{}", served.audit());
}

#[tokio::test]
async fn clients_that_trust_the_certificate_are_answered_and_plain_text_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let (served, certificate) = start_until(folder.path(), 2100);
    let answer = ask(&served, &certificate).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("\"host\":\"one\""), "{answer}");
    assert_eq!(served.get("/api/v1/hosts").status, 0, "plain text");
    let other = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    assert!(ask(&served, &other.cert).await.is_err(), "a certificate of somebody else");
    assert!(ask(&served, &certificate).await.unwrap().starts_with("HTTP/1.1 200"));
    refused(&served, 2).await;
}

#[tokio::test]
async fn an_expired_certificate_is_refused_by_clients() {
    let folder = tempfile::tempdir().unwrap();
    let (served, certificate) = start_until(folder.path(), 2021);
    let error = ask(&served, &certificate).await.unwrap_err().to_string();
    assert!(error.to_lowercase().contains("expired"), "{error}");
    refused(&served, 1).await;
}
