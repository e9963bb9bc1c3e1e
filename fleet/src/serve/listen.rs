//! Connections: who may have one, how many, for how long, and what is spoken on them.
//!
//! Invariant: beyond this machine nothing is spoken but TLS, and with tokens that were made for it.

use super::audit::Line;
use super::patient::Patient;
use super::{App, Client, router};
use crate::error::FleetError;
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// Connections at a time, and of one address.
const MOST_CONNECTIONS: usize = 512;
const MOST_OF_ONE: usize = 128;
/// For a client to say who it is and what it wants; a connection that is not used ends after it, too.
const HEADER_TIME: Duration = Duration::from_secs(10);
/// For a client to take something of its answer.
const WRITE_TIME: Duration = Duration::from_secs(30);
const MOST_HEADERS: usize = 64 << 10;

/// Listens; beyond this machine only with TLS, and with tokens that were made for it.
///
/// # Errors
/// When the address is not to be had, or has to be asked for with tokens and TLS.
pub async fn listen(address: SocketAddr, has_tokens: bool, has_tls: bool) -> Result<TcpListener, FleetError> {
    let is_guarded = has_tokens && has_tls;
    if !address.ip().is_loopback() && !is_guarded {
        return Err(FleetError::Ask(format!(
            "others than this machine reach {address}; that takes --tokens (zwhy-fleet token makes them), \
             --certificate and --key"
        )));
    }
    TcpListener::bind(address).await.map_err(FleetError::io("listen at", Path::new(&address.to_string())))
}

/// Connections by address.
type Counts = Arc<Mutex<HashMap<IpAddr, usize>>>;

/// A place among the connections; given back with it.
struct Slot(Counts, IpAddr);

impl Slot {
    fn take(counts: &Counts, from: IpAddr) -> Option<Slot> {
        let mut all = counts.lock().unwrap_or_else(PoisonError::into_inner);
        let (sum, of_one) = (all.values().sum::<usize>(), all.get(&from).copied().unwrap_or(0));
        if sum >= MOST_CONNECTIONS || of_one >= MOST_OF_ONE {
            return None;
        }
        all.insert(from, of_one + 1);
        Some(Slot(Arc::clone(counts), from))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(of_one) = all.get_mut(&self.1) {
            *of_one -= 1;
            if *of_one == 0 {
                all.remove(&self.1);
            }
        }
    }
}

/// Serves until the future that holds it ends.
///
/// # Errors
/// None for now; what fails is of one connection.
pub async fn serve(listener: TcpListener, tls: Option<TlsAcceptor>, app: Arc<App>) -> Result<(), FleetError> {
    let counts = Counts::default();
    let all = router(Arc::clone(&app));
    loop {
        let (stream, from) = match listener.accept().await {
            Ok(accepted) => accepted,
            // Of one client, or of this moment: out of file descriptors.
            Err(_) => {
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let Some(slot) = Slot::take(&counts, from.ip()) else {
            note(&app, from, "CONNECT", "too many connections");
            continue;
        };
        let (all, tls, app) = (all.clone(), tls.clone(), Arc::clone(&app));
        tokio::spawn(async move {
            match tls {
                None => speak(stream, from, all).await,
                Some(tls) => speak_tls(&tls, stream, from, all, &app).await,
            }
            drop(slot);
        });
    }
}

async fn speak_tls(tls: &TlsAcceptor, stream: TcpStream, from: SocketAddr, all: Router, app: &App) {
    match tokio::time::timeout(HEADER_TIME, tls.accept(stream)).await {
        Ok(Ok(stream)) => speak(stream, from, all).await,
        Ok(Err(why)) => note(app, from, "TLS", &why.to_string()),
        Err(_) => note(app, from, "TLS", "this took too long"),
    }
}

async fn speak<S: AsyncRead + AsyncWrite + Unpin>(stream: S, from: SocketAddr, all: Router) {
    let service = TowerToHyperService::new(all.layer(axum::Extension(Client(from))));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEADER_TIME).max_buf_size(MOST_HEADERS);
    // What fails here is the client's.
    let _ = http.serve_connection(TokioIo::new(Patient::new(stream, WRITE_TIME)), service).await;
}

/// Writes down a connection that came to no request.
fn note(app: &App, from: SocketAddr, what: &str, why: &str) {
    app.audit.put(&Line { from: &from.ip().to_string(), method: what, why, ..Line::default() });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_does_not_take_all_places_and_they_are_given_back() {
        let counts = Counts::default();
        let one = IpAddr::from([10, 0, 0, 1]);
        let held: Vec<Slot> = (0..200).filter_map(|_| Slot::take(&counts, one)).collect();
        assert_eq!(held.len(), MOST_OF_ONE);
        assert!(Slot::take(&counts, IpAddr::from([10, 0, 0, 2])).is_some());
        drop(held);
        assert!(Slot::take(&counts, one).is_some() && counts.lock().unwrap().is_empty());
    }
}
