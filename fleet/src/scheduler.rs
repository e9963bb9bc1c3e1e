//! Where the scheduler of a cluster is, and whether it can be asked.

use crate::error::FleetError;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

/// Until a scheduler answers whether it is ready.
const ANSWERS_WITHIN: Duration = Duration::from_secs(3);
/// So long a query waits for a first executor: all of them may be starting.
const EXECUTORS_WITHIN: Duration = Duration::from_secs(10);
/// Between looks at a scheduler that is not ready.
const PAUSE: Duration = Duration::from_millis(200);
/// Of its answer: a line, headers and a word.
const MOST_ANSWER: u64 = 8 << 10;

/// The address of a scheduler: `df://HOST:PORT`, or `HOST:PORT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scheduler {
    pub host: String,
    pub port: u16,
}

/// What an address answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    Ready,
    /// It is a scheduler, and no executor is there.
    NoExecutors,
    /// Something else answers.
    Other,
    /// Nothing answers; why not.
    Silent(String),
}

impl FromStr for Scheduler {
    type Err = String;

    fn from_str(text: &str) -> Result<Scheduler, String> {
        let hint = || format!("`{text}` is no scheduler; write df://HOST:PORT");
        let (host, port) = text.strip_prefix("df://").unwrap_or(text).rsplit_once(':').ok_or_else(hint)?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        let in_brackets = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let is_address = in_brackets.is_some_and(|host| host.parse::<std::net::Ipv6Addr>().is_ok());
        match port.parse() {
            Ok(port) if port > 0 && (is_address || (!host.is_empty() && host.chars().all(is_name))) => {
                Ok(Scheduler { host: host.to_owned(), port })
            }
            _ => Err(hint()),
        }
    }
}

impl fmt::Display for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "df://{}:{}", self.host, self.port)
    }
}

impl Scheduler {
    /// For Ballista's client.
    pub(crate) fn url(&self) -> String {
        format!("http://{}:{}", self.host, self.port)
    }

    /// Asks the address whether it is a scheduler with executors.
    pub async fn readiness(&self) -> Readiness {
        match timeout(ANSWERS_WITHIN, self.ask()).await {
            Ok(Ok(head)) => of_head(&head),
            Ok(Err(error)) => Readiness::Silent(error.to_string()),
            Err(_) => Readiness::Silent(format!("no answer within {} s", ANSWERS_WITHIN.as_secs())),
        }
    }

    async fn ask(&self) -> std::io::Result<String> {
        let host = self.host.trim_start_matches('[').trim_end_matches(']');
        let mut stream = TcpStream::connect((host, self.port)).await?;
        stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: scheduler\r\nConnection: close\r\n\r\n").await?;
        let mut answer = Vec::new();
        stream.take(MOST_ANSWER).read_to_end(&mut answer).await?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }

    /// Waits for an executor where there is none yet.
    ///
    /// # Errors
    /// When no scheduler answers at once, or no executor comes.
    pub async fn wait(&self) -> Result<(), FleetError> {
        let begun = Instant::now();
        loop {
            match self.readiness().await {
                Readiness::Ready => return Ok(()),
                Readiness::NoExecutors if begun.elapsed() < EXECUTORS_WITHIN => sleep(PAUSE).await,
                other => return Err(self.unfit(&other)),
            }
        }
    }

    /// What is wrong with the scheduler, and what to do.
    pub(crate) fn unfit(&self, readiness: &Readiness) -> FleetError {
        let (found, hint) = match readiness {
            Readiness::Silent(why) => (
                format!("does not answer: {why}"),
                "start `zwhy-fleet scheduler`, or leave out --scheduler to ask in this process",
            ),
            Readiness::Other => (
                "is none: something else answers there".to_owned(),
                "give the address that `zwhy-fleet scheduler` prints",
            ),
            Readiness::NoExecutors => (
                "has no executors".to_owned(),
                "start `zwhy-fleet executor` with the same --store on one machine or more",
            ),
            Readiness::Ready => {
                ("did not end the query".to_owned(), "ask again; the scheduler and the executors print why")
            }
        };
        FleetError::Cluster { scheduler: self.to_string(), found, hint }
    }
}

fn of_head(answer: &str) -> Readiness {
    let mut lines = answer.split("\r\n");
    let status = lines.next().and_then(|line| line.strip_prefix("HTTP/1.1 ")).and_then(|line| line.get(..3));
    let is_server = |line: &str| line.to_ascii_lowercase().starts_with("server: ballista/");
    let is_ballista = lines.take_while(|line| !line.is_empty()).any(is_server);
    match (is_ballista, status) {
        (true, Some("200")) => Readiness::Ready,
        (true, Some("503")) => Readiness::NoExecutors,
        _ => Readiness::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_a_name_and_a_port() {
        for (text, want) in [
            ("df://127.0.0.1:50050", Some(("127.0.0.1", 50050))),
            ("fleet-1.example.org:1", Some(("fleet-1.example.org", 1))),
            ("df://[::1]:50050", Some(("[::1]", 50050))),
            ("df://127.0.0.1", None),
            ("df://127.0.0.1:0", None),
            ("df://127.0.0.1:99999", None),
            ("http://x:1", None),
            ("x/y:1", None),
            (":1", None),
            ("", None),
        ] {
            let got = text.parse::<Scheduler>().ok();
            assert_eq!(got.as_ref().map(|s| (s.host.as_str(), s.port)), want, "{text}");
        }
    }

    #[test]
    fn only_a_scheduler_with_executors_is_ready() {
        let head = |status: &str, server: &str| {
            of_head(&format!("HTTP/1.1 {status}\r\nServer: {server}\r\n\r\nserver: ballista/1"))
        };
        assert_eq!(head("200 OK", "ballista/55.0.0"), Readiness::Ready);
        assert_eq!(head("503 Service Unavailable", "ballista/55.0.0"), Readiness::NoExecutors);
        assert_eq!(head("404 Not Found", "ballista/55.0.0"), Readiness::Other);
        assert_eq!(head("200 OK", "nginx"), Readiness::Other);
        assert_eq!(of_head("SSH-2.0-OpenSSH_9.9\r\n"), Readiness::Other);
    }
}
