//! The server: one socket on the loopback address, a thread for each connection, all of them bounded.

use crate::request::{self, Asked, Rules};
use crate::response::{Page, page_of, write};
use http::StatusCode;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::rand::{GetRandomFlags, getrandom};
use std::io::{self, ErrorKind, Read};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Connections at a time; a browser opens up to six.
const MOST_CONNECTIONS: usize = 32;
/// How long a client may take for a piece of the answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often the wait for a connection looks at the stop flag.
const SLICE: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };
/// What of an unread request is taken in before its connection ends, and for how long: a client that is still
/// sending would not see the answer otherwise.
const REST_BYTES: usize = 256 * 1024;
const REST_TIME: Duration = Duration::from_secs(1);

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("cannot listen on 127.0.0.1 port {port}: {source}; choose another with --port, or leave it out")]
    Listen { port: u16, source: io::Error },
    #[error("cannot listen on {address}: {source}; name another address and port with --listen")]
    Address { address: SocketAddr, source: io::Error },
    #[error("cannot draw a random token: {0}")]
    Token(io::Error),
    #[error("cannot take connections: {0}")]
    Accept(io::Error),
}

/// The pages that are there. Called from several threads at a time.
pub trait Site: Sync {
    /// The page of this name, as it is written in the address behind the token, with what follows its question mark.
    /// Both are whatever a client sent: compare them, nothing else. `Ok(None)` where there is none; `Err` is a
    /// sentence for the reader on why it cannot be made.
    fn page(&self, name: &str, query: &str) -> Result<Option<Page>, String>;
}

/// A socket that listens, and the token that its clients must know.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    /// Absent where everybody who reaches it may read.
    token: Option<String>,
}

impl Server {
    /// Listens on 127.0.0.1 at `port`, or at a free one for 0.
    pub fn bind(port: u16) -> Result<Server, ServeError> {
        let server = Server::listen(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        let server = server.map_err(|source| ServeError::Listen { port, source })?;
        Ok(Server { token: Some(token().map_err(ServeError::Token)?), ..server })
    }

    /// Listens on `address`, or at a free port of it for port 0, for everybody who reaches it: for pages that hold no
    /// secrets. On the loopback address it must be called by its own name.
    pub fn open(address: SocketAddr) -> Result<Server, ServeError> {
        Server::listen(address).map_err(|source| ServeError::Address { address, source })
    }

    fn listen(address: SocketAddr) -> io::Result<Server> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Server { address: listener.local_addr()?, listener, token: None })
    }

    /// The address of the page with the empty name.
    pub fn url(&self) -> String {
        match &self.token {
            Some(token) => format!("http://{}/{token}/", self.address),
            None => format!("http://{}/", self.address),
        }
    }

    /// Answers until `stop` is set, or until a client that knows the token posts to `end`.
    pub fn run(&self, site: &dyn Site, stop: &AtomicBool) -> Result<(), ServeError> {
        let open = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            while !stop.load(Ordering::Relaxed) {
                let Some(mut stream) = self.next()? else { continue };
                if open.fetch_add(1, Ordering::Relaxed) >= MOST_CONNECTIONS {
                    open.fetch_sub(1, Ordering::Relaxed);
                    let _ = write(
                        &mut stream,
                        StatusCode::SERVICE_UNAVAILABLE,
                        &page_of(StatusCode::SERVICE_UNAVAILABLE),
                        false,
                    );
                    continue;
                }
                let open = &open;
                scope.spawn(move || {
                    // A client that goes away is no error of ours.
                    let _ = self.answer(stream, site, stop);
                    open.fetch_sub(1, Ordering::Relaxed);
                });
            }
            Ok(())
        })
    }

    /// The next connection; `None` where none came for a moment, or it was gone already.
    fn next(&self) -> Result<Option<TcpStream>, ServeError> {
        let mut waiting = [PollFd::new(&self.listener, PollFlags::IN)];
        match poll(&mut waiting, Some(&SLICE)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(None),
            Ok(_) => {}
            Err(e) => return Err(ServeError::Accept(e.into())),
        }
        match self.listener.accept() {
            Ok((stream, _)) => Ok(Some(stream)),
            // Out of descriptors: others will end.
            Err(e) if e.raw_os_error() == Some(rustix::io::Errno::MFILE.raw_os_error()) => {
                std::thread::sleep(REST_TIME);
                Ok(None)
            }
            Err(e) if is_passing(&e) => Ok(None),
            Err(e) => Err(ServeError::Accept(e)),
        }
    }

    fn answer(&self, mut stream: TcpStream, site: &dyn Site, stop: &AtomicBool) -> io::Result<()> {
        stream.set_nonblocking(false)?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let any_name = !self.address.ip().is_loopback();
        let rules = Rules { token: self.token.as_deref(), port: self.address.port(), any_name };
        let Some(asked) = request::read(&mut stream, &rules, stop) else { return Ok(()) };
        let (status, page, head) = match asked {
            Ok(Asked::End) => {
                stop.store(true, Ordering::Relaxed);
                (StatusCode::OK, page_of(StatusCode::OK), false)
            }
            Ok(Asked::Page { name, query, head }) => match site.page(&name, &query) {
                Ok(Some(page)) => (StatusCode::OK, page, head),
                Ok(None) => (StatusCode::NOT_FOUND, page_of(StatusCode::NOT_FOUND), head),
                Err(why) => (StatusCode::INTERNAL_SERVER_ERROR, Page::text(why), head),
            },
            Err(status) => (status, page_of(status), false),
        };
        write(&mut stream, status, &page, head)?;
        stream.shutdown(Shutdown::Write)?;
        take_rest(&mut stream)
    }
}

/// Reads what a client still sends, within bounds, so that it gets the answer.
fn take_rest(stream: &mut TcpStream) -> io::Result<()> {
    let start = Instant::now();
    let (mut piece, mut taken) = ([0; 4096], 0);
    stream.set_read_timeout(Some(REST_TIME))?;
    while taken < REST_BYTES && start.elapsed() < REST_TIME {
        match stream.read(&mut piece)? {
            0 => break,
            n => taken += n,
        }
    }
    Ok(())
}

/// A connection that ended before it was taken, not the end of the socket.
fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock
            | ErrorKind::Interrupted
            | ErrorKind::ConnectionAborted
            | ErrorKind::ConnectionReset
    )
}

/// 128 random bits as text.
fn token() -> io::Result<String> {
    let mut bytes = [0; 16];
    let mut filled = 0;
    while filled < bytes.len() {
        filled += getrandom(&mut bytes[filled..], GetRandomFlags::empty())?;
    }
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
