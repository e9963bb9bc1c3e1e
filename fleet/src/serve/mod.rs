//! `zwhy-fleet serve`: the answers of a store over HTTP, and a page that shows them.
//!
//! Invariants: nobody gets anything of the store without a token; what a client sends is bounded in size and time, is
//! never a path, and never reaches SQL as text; every request is in the audit log, or counted there.

mod api;
mod arrow;
mod audit;
mod auth;
mod check;
mod guard;
mod limits;
mod listen;
mod params;
mod patient;
mod segments;
mod tls;

pub use api::{ROUTES, router};
pub use audit::Audit;
pub use auth::{Role, Token, draw, hash, read_tokens};
pub use listen::{listen, serve};
pub use tls::acceptor;

use crate::store::Store;
use limits::Limits;
use std::net::SocketAddr;
use tokio::sync::Semaphore;
use zwhy_diagnose::Knowledge;

/// Requests of one token at once, and a second after that.
const BURST: u32 = 200;
const A_SECOND: u32 = 50;
/// The same of one address that shows no token.
const STRANGERS_BURST: u32 = 50;
const STRANGERS_A_SECOND: u32 = 5;
/// Queries at a time: each takes memory.
const MOST_QUERIES: usize = 4;
/// Of bodies that are being received, in KiB.
const MOST_KIB: usize = 512 << 10;

/// What is served.
pub struct App {
    pub(crate) store: Store,
    pub(crate) knowledge: Knowledge,
    pub(crate) tokens: Vec<Token>,
    /// Names that clients may call this server by.
    pub(crate) names: Vec<String>,
    pub(crate) limits: Limits,
    pub(crate) strangers: Limits,
    pub(crate) audit: Audit,
    pub(crate) queries: Semaphore,
    pub(crate) bodies: Semaphore,
}

impl App {
    pub fn new(
        store: Store,
        knowledge: Knowledge,
        tokens: Vec<Token>,
        names: Vec<String>,
        audit: Audit,
    ) -> App {
        App {
            store,
            knowledge,
            tokens,
            names,
            limits: Limits::new(BURST, A_SECOND),
            strangers: Limits::new(STRANGERS_BURST, STRANGERS_A_SECOND),
            audit,
            queries: Semaphore::new(MOST_QUERIES),
            bodies: Semaphore::new(MOST_KIB),
        }
    }
}

/// Where a connection comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Client(pub SocketAddr);
