//! One file a command: what it takes, and what it prints.

pub mod compact;
pub mod executor;
pub mod ingest;
pub mod judge;
pub mod query;
pub mod scheduler;
pub mod serve;
pub mod simulate;
pub mod token;

use anyhow::{Result, bail};
use std::net::SocketAddr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use zwhy_fleet::{Engine, Scheduler, Scope, Store, moment_ms, span_ms};

/// Which hosts and which time; the same options on every command that asks.
#[derive(clap::Args, Debug, Default)]
pub struct ScopeArgs {
    /// Only this host; may be given several times.
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// Begin: 2026-11-22T19:12, @SECONDS since 1970, or -2h, seen from now. UTC.
    #[arg(long, value_name = "TIME", value_parser = moment, allow_hyphen_values = true)]
    from: Option<i64>,
    /// End, in the same forms; it is not part of the range.
    #[arg(long, value_name = "TIME", value_parser = moment, allow_hyphen_values = true)]
    to: Option<i64>,
}

impl ScopeArgs {
    pub fn scope(&self) -> Scope {
        let all = Scope::default();
        Scope {
            hosts: self.host.clone(),
            from_ms: self.from.unwrap_or(all.from_ms),
            to_ms: self.to.unwrap_or(all.to_ms),
        }
    }
}

/// Refuses what anybody beyond this machine could ask, unless that is wanted.
pub fn private(listen: SocketAddr, wanted: bool) -> Result<()> {
    if listen.ip().is_loopback() || wanted {
        return Ok(());
    }
    bail!(
        "{listen} can be reached from beyond this machine, and whoever reaches it reads the whole store without a \
         password; --private-network says that this is wanted"
    )
}

/// The store, asked by the executors of a scheduler where one is given.
pub fn open(store: &str, scheduler: Option<&Scheduler>) -> Result<Store> {
    let engine = scheduler.cloned().map_or(Engine::Embedded, Engine::Cluster);
    Ok(Store::open(store)?.asked_by(engine))
}

/// Milliseconds since 1970.
pub fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as i64)
}

/// A length of time on the command line.
pub fn span(text: &str) -> Result<Duration, String> {
    let ms = span_ms(text).and_then(|ms| u64::try_from(ms).ok());
    ms.map(Duration::from_millis).ok_or_else(|| format!("`{text}` is no time; write 90s, 15m, 2h or 14d"))
}

/// A moment on the command line.
pub fn moment(text: &str) -> Result<i64, String> {
    let now = now_ms();
    let hint = || format!("`{text}` is no time; write 2026-11-22T19:12, @1795375953 or -2h");
    moment_ms(text, now).ok_or_else(hint)
}
