//! A bucket of S3, or of what speaks its language (MinIO, Ceph, Garage, SeaweedFS).
//!
//! Where it is and who asks is told as to the tools of AWS: `AWS_ENDPOINT_URL`, `AWS_REGION`, `AWS_ACCESS_KEY_ID`,
//! `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_CA_BUNDLE`. A key of the store is put whole or not at all.

mod sign;

use super::Store;
use crate::error::AgentError;
pub(super) use sign::sha256;
use sign::{Keys, Request, authorization, encoded};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, RequestBuilder};

/// Where systems keep the certificates that they trust.
const TRUSTED: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];
const CONNECT: Duration = Duration::from_secs(10);
/// A file of the spool has some megabytes.
const WHOLE: Duration = Duration::from_secs(120);
/// Of an answer that is an error.
const MOST_OF_AN_ERROR: u64 = 4096;

#[derive(Clone)]
pub struct S3Store {
    agent: Agent,
    /// `https://s3.eu-central-1.amazonaws.com`, without a path.
    origin: String,
    host: String,
    /// `/BUCKET/` with what stands before all keys.
    root: String,
    region: String,
    keys: Keys,
}

impl std::fmt::Debug for S3Store {
    /// Without the keys.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "S3Store({}{})", self.origin, self.root)
    }
}

impl S3Store {
    /// The store at `s3://BUCKET/PREFIX`; `env` reads a variable of the environment.
    ///
    /// # Errors
    /// A sentence on what is missing or cannot be used.
    pub fn at(url: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<S3Store, String> {
        let rest = url.strip_prefix("s3://").ok_or_else(|| format!("`{url}` is no address of a bucket"))?;
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'.';
        if !(3..=63).contains(&bucket.len()) || !bucket.bytes().all(plain) || bucket.contains("..") {
            return Err(format!(
                "`{bucket}` is no name of a bucket; write s3://BUCKET or s3://BUCKET/PREFIX"
            ));
        }
        let told = |name: &str| env(name).filter(|value| !value.is_empty());
        let key = |name: &str| {
            told(name).ok_or_else(|| format!("{name} is not set; s3:// needs the keys of the store"))
        };
        let keys = Keys {
            id: key("AWS_ACCESS_KEY_ID")?,
            secret: key("AWS_SECRET_ACCESS_KEY")?,
            token: told("AWS_SESSION_TOKEN"),
        };
        let region = told("AWS_REGION").or_else(|| told("AWS_DEFAULT_REGION"));
        let region = region.unwrap_or_else(|| "us-east-1".to_owned());
        let endpoint = told("AWS_ENDPOINT_URL_S3").or_else(|| told("AWS_ENDPOINT_URL"));
        let origin = endpoint.unwrap_or_else(|| format!("https://s3.{region}.amazonaws.com"));
        let origin = origin.trim_end_matches('/').to_owned();
        let host = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
        let odd = || format!("`{origin}` is no address of a store; write https://HOST or http://HOST:PORT");
        let host = host
            .filter(|host| !host.is_empty() && !host.contains(['/', '@', '?']))
            .ok_or_else(odd)?
            .to_owned();
        let agent = agent(&origin, told("AWS_CA_BUNDLE").as_deref())?;
        let prefix = prefix.trim_matches('/');
        let root = if prefix.is_empty() { format!("/{bucket}/") } else { format!("/{bucket}/{prefix}/") };
        Ok(S3Store { agent, origin, host, root, region, keys })
    }

    /// Asks the store; returns the status and, of an error, what it says.
    fn ask(&self, method: &str, key: &str, body: &[u8]) -> Result<(u16, String), ureq::Error> {
        let (path, hash) = (encoded(&format!("{}{key}", self.root)), sha256(body));
        let when = format!("{}Z", zwhy_live::stamp(zwhy_live::unix_now()).replace('-', "T"));
        let mut headers =
            vec![("host", self.host.as_str()), ("x-amz-content-sha256", &hash), ("x-amz-date", &when)];
        headers.extend(self.keys.token.as_deref().map(|token| ("x-amz-security-token", token)));
        let request = Request { method, path: &path, headers: &headers, hash: &hash };
        let signed = authorization(&self.keys, &self.region, &when, &request);
        let url = format!("{}{path}", self.origin);
        // The client tells the host by itself.
        headers[0] = ("authorization", &signed);
        let answer = match method {
            "DELETE" => with(self.agent.delete(&url), &headers).call()?,
            _ => with(self.agent.put(&url), &headers).send(body)?,
        };
        let status = answer.status().as_u16();
        let text = if status < 300 {
            String::new()
        } else {
            answer.into_body().into_with_config().limit(MOST_OF_AN_ERROR).read_to_string().unwrap_or_default()
        };
        Ok((status, text))
    }

    /// Asks it to do something with a key, which is well where the status is one of these.
    fn tell(&self, method: &str, key: &str, body: &[u8], well: fn(u16) -> bool) -> Result<(), AgentError> {
        let why = match self.ask(method, key, body) {
            Ok((status, _)) if well(status) => return Ok(()),
            Ok((status, text)) => refusal(status, &text),
            Err(error) => error.to_string(),
        };
        Err(AgentError::Store { place: format!("{}{}{key}", self.origin, self.root), why })
    }
}

fn with<B>(request: RequestBuilder<B>, headers: &[(&str, &str)]) -> RequestBuilder<B> {
    headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))
}

impl Store for S3Store {
    fn put(&mut self, key: &str, bytes: &[u8]) -> Result<(), AgentError> {
        self.tell("PUT", key, bytes, |status| matches!(status, 200..=299))
    }

    fn remove(&mut self, key: &str) -> Result<(), AgentError> {
        self.tell("DELETE", key, b"", |status| matches!(status, 200..=299 | 404))
    }
}

/// `403 SignatureDoesNotMatch`: the store's own word where it has one.
fn refusal(status: u16, text: &str) -> String {
    let code = text.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>"));
    let code = code.map(|(code, _)| code).filter(|code| code.bytes().all(|b| b.is_ascii_alphanumeric()));
    code.map_or_else(|| format!("it answers {status}"), |code| format!("it answers {status} {code}"))
}

fn agent(origin: &str, bundle: Option<&str>) -> Result<Agent, String> {
    let mut config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .timeout_connect(Some(CONNECT))
        .timeout_global(Some(WHOLE))
        .user_agent(concat!("zwhy/", env!("CARGO_PKG_VERSION")));
    if origin.starts_with("https://") {
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::Specific(Arc::new(trusted(bundle)?)))
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()));
        config = config.tls_config(tls.build());
    }
    Ok(config.build().into())
}

/// Certificates of those that may speak for a store.
fn trusted(bundle: Option<&str>) -> Result<Vec<Certificate<'static>>, String> {
    let known = || TRUSTED.into_iter().find(|path| Path::new(path).exists());
    let path = bundle
        .or_else(known)
        .ok_or("no certificates are installed; install ca-certificates or set AWS_CA_BUNDLE")?;
    let text = std::fs::read(path).map_err(|e| format!("cannot read {path}: {e}"))?;
    let certificate = |item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        _ => None,
    };
    let found: Vec<_> = parse_pem(&text).filter_map(certificate).collect();
    if found.is_empty() { Err(format!("{path} holds no certificate")) } else { Ok(found) }
}
