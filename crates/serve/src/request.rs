//! One request: its head is read within bounds, and checked before anything is done with it.
//!
//! A body is never read: no page takes one.

use http::StatusCode;
use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Bytes of a head; browsers send about 1 KiB.
pub const MOST_BYTES: usize = 16 * 1024;
const MOST_HEADERS: usize = 64;
/// How long a client may take to send its head.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often the wait for it looks at the stop flag.
const SLICE: Duration = Duration::from_millis(200);

/// What a client must know and say.
pub struct Rules<'a> {
    /// Absent where everybody who reaches the server may read its pages.
    pub token: Option<&'a str>,
    pub port: u16,
    /// It is reached under any name, as it does not listen on this machine alone.
    pub any_name: bool,
}

/// A request that may be answered: a page, or the wish to end.
#[derive(Debug, PartialEq, Eq)]
pub enum Asked {
    /// Name below the token, and what follows the question mark; whether only the head of the answer is wanted.
    Page {
        name: String,
        query: String,
        head: bool,
    },
    End,
}

/// Reads a head from `stream`; `None` where the client went away without a word, or the server ends.
pub fn read(stream: &mut TcpStream, rules: &Rules, stop: &AtomicBool) -> Option<Result<Asked, StatusCode>> {
    stream.set_read_timeout(Some(SLICE)).ok()?;
    let start = Instant::now();
    let mut bytes = Vec::new();
    let mut piece = [0; 2048];
    loop {
        match stream.read(&mut piece) {
            Ok(0) => return (!bytes.is_empty()).then_some(Err(StatusCode::BAD_REQUEST)),
            Ok(n) => bytes.extend_from_slice(&piece[..n]),
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
        if let Some(asked) = check(&bytes, rules) {
            return Some(asked);
        }
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        if start.elapsed() > PATIENCE {
            return Some(Err(StatusCode::REQUEST_TIMEOUT));
        }
    }
}

/// What the bytes so far ask for; `None` while more must follow.
pub fn check(bytes: &[u8], rules: &Rules) -> Option<Result<Asked, StatusCode>> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(bytes) {
        _ if bytes.len() > MOST_BYTES => Some(Err(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE)),
        Ok(httparse::Status::Partial) => None,
        Ok(httparse::Status::Complete(_)) => Some(decide(&request, rules)),
        Err(httparse::Error::TooManyHeaders) => Some(Err(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE)),
        Err(_) => Some(Err(StatusCode::BAD_REQUEST)),
    }
}

fn decide(request: &httparse::Request, rules: &Rules) -> Result<Asked, StatusCode> {
    if !(rules.any_name || is_our_name(request, rules.port)) {
        return Err(StatusCode::FORBIDDEN);
    }
    let (path, query) =
        request.path.unwrap_or("").split_once('?').unwrap_or((request.path.unwrap_or(""), ""));
    let rest = path.strip_prefix('/').ok_or(StatusCode::FORBIDDEN)?;
    let name = match rules.token {
        None => rest,
        Some(token) => {
            let (given, name) = rest.split_once('/').ok_or(StatusCode::FORBIDDEN)?;
            same(given, token).then_some(name).ok_or(StatusCode::FORBIDDEN)?
        }
    };
    let page = |head| Asked::Page { name: name.to_owned(), query: query.to_owned(), head };
    match (request.method.unwrap_or(""), name) {
        ("POST", "end") if rules.token.is_some() => Ok(Asked::End),
        ("GET", _) => Ok(page(false)),
        ("HEAD", _) => Ok(page(true)),
        _ => Err(StatusCode::METHOD_NOT_ALLOWED),
    }
}

/// Whether the one `Host` header has the name under which the server is reached from this machine.
fn is_our_name(request: &httparse::Request, port: u16) -> bool {
    let mut hosts = request.headers.iter().filter(|header| header.name.eq_ignore_ascii_case("host"));
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    ["127.0.0.1", "localhost", "[::1]"].iter().any(|name| {
        let full = format!("{name}:{port}");
        // Browsers leave out the port where it is the usual one.
        host.value.eq_ignore_ascii_case(full.as_bytes())
            || port == 80 && host.value.eq_ignore_ascii_case(name.as_bytes())
    })
}

/// Compares without telling by its time how far the two are alike.
fn same(given: &str, token: &str) -> bool {
    given.len() == token.len() && given.bytes().zip(token.bytes()).fold(0, |acc, (a, b)| acc | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = Rules { token: Some("0123abcd"), port: 4000, any_name: false };

    fn asked(head: &str) -> Option<Result<Asked, StatusCode>> {
        check(head.replace('\n', "\r\n").as_bytes(), &RULES)
    }

    fn get(path: &str) -> Option<Result<Asked, StatusCode>> {
        asked(&format!("GET {path} HTTP/1.1\nHost: 127.0.0.1:4000\n\n"))
    }

    fn page(name: &str, query: &str) -> Option<Result<Asked, StatusCode>> {
        Some(Ok(Asked::Page { name: name.to_owned(), query: query.to_owned(), head: false }))
    }

    #[test]
    fn a_page_is_asked_for_below_the_token() {
        assert_eq!(get("/0123abcd/"), page("", ""));
        assert_eq!(get("/0123abcd/compare?a=1&b=2"), page("compare", "a=1&b=2"));
        assert_eq!(
            asked("POST /0123abcd/end HTTP/1.1\nHost: localhost:4000\nContent-Length: 9\n\n"),
            Some(Ok(Asked::End))
        );
    }

    #[test]
    fn who_does_not_know_the_token_is_told_nothing() {
        for path in
            ["/", "/0123abcd", "/0123abce/", "/0123abcdd/", "/0123ABCD/", "//", "*", "/x/../0123abcd/"]
        {
            assert_eq!(get(path), Some(Err(StatusCode::FORBIDDEN)), "{path}");
        }
        let end = "POST /0123abce/end HTTP/1.1\nHost: 127.0.0.1:4000\n\n";
        assert_eq!(asked(end), Some(Err(StatusCode::FORBIDDEN)));
    }

    #[test]
    fn only_its_own_name_reaches_the_server() {
        for hosts in [
            "Host: evil.example:4000\n",
            "Host: 127.0.0.1\n",
            "Host: 127.0.0.1:4001\n",
            "Host: 127.0.0.1:4000\nHost: evil.example\n",
            "X: y\n",
            "",
        ] {
            let head = format!("GET /0123abcd/ HTTP/1.1\n{hosts}\n");
            assert_eq!(asked(&head), Some(Err(StatusCode::FORBIDDEN)), "{hosts}");
        }
        let at_80 = Rules { port: 80, ..RULES };
        let head = b"GET /0123abcd/ HTTP/1.1\r\nhost: LOCALHOST\r\n\r\n";
        assert_eq!(check(head, &at_80), page("", ""));
    }

    #[test]
    fn without_a_token_pages_are_read_and_nothing_is_ended() {
        let open = Rules { token: None, ..RULES };
        let ask = |rules: &Rules, method: &str, host: &str| {
            check(format!("{method} /metrics?a HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes(), rules)
        };
        assert_eq!(ask(&open, "GET", "localhost:4000"), page("metrics", "a"));
        assert_eq!(ask(&open, "GET", "evil.example:4000"), Some(Err(StatusCode::FORBIDDEN)));
        let anywhere = Rules { any_name: true, ..open };
        assert_eq!(ask(&anywhere, "GET", "db7.example:4000"), page("metrics", "a"));
        let end = b"POST /end HTTP/1.1\r\nHost: localhost:4000\r\n\r\n";
        assert_eq!(check(end, &anywhere), Some(Err(StatusCode::METHOD_NOT_ALLOWED)));
    }

    #[test]
    fn tricks_with_paths_stay_names() {
        assert_eq!(get("/0123abcd/../../etc/passwd"), page("../../etc/passwd", ""));
        assert_eq!(get("/0123abcd/%2e%2e/x"), page("%2e%2e/x", ""));
    }

    #[test]
    fn only_reading_is_allowed() {
        for method in ["PUT", "DELETE", "POST", "OPTIONS", "TRACE"] {
            let head = format!("{method} /0123abcd/ HTTP/1.1\nHost: 127.0.0.1:4000\n\n");
            assert_eq!(asked(&head), Some(Err(StatusCode::METHOD_NOT_ALLOWED)), "{method}");
        }
        assert_eq!(get("/0123abcd/end"), page("end", ""));
    }

    #[test]
    fn a_head_that_is_cut_huge_or_no_http_is_refused() {
        assert_eq!(asked("GET /0123abcd/ HTTP/1.1\nHost: 127.0.0.1:4000\n"), None);
        let long = format!("GET /0123abcd/ HTTP/1.1\nX: {}", "y".repeat(MOST_BYTES));
        assert_eq!(asked(&long), Some(Err(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE)));
        let many = format!("GET / HTTP/1.1\n{}\n", "X: y\n".repeat(MOST_HEADERS + 1));
        assert_eq!(asked(&many), Some(Err(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE)));
        for head in ["\u{16}\u{3}\u{1}", "GET  HTTP/1.1\n\n", "hello\n\n", "GET / HTTP/9.9\n\n"] {
            assert_eq!(asked(head), Some(Err(StatusCode::BAD_REQUEST)), "{head:?}");
        }
    }
}
