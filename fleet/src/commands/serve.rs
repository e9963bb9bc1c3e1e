//! `zwhy-fleet serve`: the page and the API, to this machine unless told otherwise.

use super::now_ms;
use crate::text::print;
use anyhow::{Result, bail};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use zwhy_diagnose::Knowledge;
use zwhy_fleet::Scheduler;
use zwhy_fleet::serve::{App, Audit, Role, Token, acceptor, draw, hash, listen, read_tokens, serve};

/// Agents finish a file every five minutes; a page asks several questions within a second.
const LISTED_EVERY: Duration = Duration::from_secs(1);

#[derive(clap::Args, Debug)]
pub struct Args {
    /// The store: a folder, file:///PATH or s3://BUCKET/PREFIX.
    #[arg(long, value_name = "STORE")]
    store: String,
    /// Let the executors of this scheduler run the queries; see `zwhy-fleet scheduler`.
    #[arg(long, value_name = "df://HOST:PORT")]
    scheduler: Option<Scheduler>,
    /// Where to listen; beyond this machine only with --tokens, --certificate and --key.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:9935")]
    listen: SocketAddr,
    /// Tokens that may ask, made by `zwhy-fleet token`; without it one is drawn that ends with the server.
    #[arg(long, value_name = "FILE")]
    tokens: Option<PathBuf>,
    /// Speak TLS with this chain of certificates (PEM).
    #[arg(long, value_name = "FILE", requires = "key")]
    certificate: Option<PathBuf>,
    /// Key of the certificate (PEM).
    #[arg(long, value_name = "FILE", requires = "certificate")]
    key: Option<PathBuf>,
    /// A name that clients may call this server by, besides localhost and the address it listens at.
    #[arg(long, value_name = "NAME")]
    name: Vec<String>,
    /// Append a line of JSON for every request.
    #[arg(long, value_name = "FILE")]
    audit: Option<PathBuf>,
}

pub async fn run(args: &Args) -> Result<()> {
    let store = super::open(&args.store, args.scheduler.as_ref())?.listed_every(LISTED_EVERY);
    let tls = args.certificate.as_deref().zip(args.key.as_deref());
    let tls = tls.map(|(certificate, key)| acceptor(certificate, key)).transpose()?;
    let listener = listen(args.listen, args.tokens.is_some(), tls.is_some()).await?;
    let address = listener.local_addr()?;
    let audit = args.audit.as_deref().map(Audit::to).transpose()?.unwrap_or_default();
    let mut names = vec!["localhost".to_owned(), address.ip().to_string()];
    names.extend(args.name.iter().cloned());
    let scheme = if tls.is_some() { "https" } else { "http" };
    let (tokens, told) = match &args.tokens {
        Some(file) => (read_tokens(file)?, String::new()),
        None => {
            let token = draw()?;
            let (name, role) = (format!("drawn at {}", now_ms()), Role::Admin);
            let told = format!("#token={token}");
            (vec![Token { name, role, host: None, sha256: hash(&token) }], told)
        }
    };
    if tokens.is_empty() {
        bail!("the file of tokens is empty; zwhy-fleet token makes one");
    }
    print(&format!("{scheme}://{address}/{told}\n"))?;
    let app = Arc::new(App::new(store, Knowledge::embedded(), tokens, names, audit));
    tokio::select! {
        ended = serve(listener, tls, app) => Ok(ended?),
        _ = tokio::signal::ctrl_c() => Ok(()),
    }
}
