//! `zwhy view` as browsers and others ask it: who knows the address gets pages, nobody gets anything else.

use crate::inputs;
use crate::support::{Reaped, signal, zwhy};
use rustix::process::Signal;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// A server over inputs, and what it printed.
struct View {
    child: Reaped,
    port: u16,
    token: String,
    printed: String,
}

impl View {
    fn of(folder: &Path, args: &str) -> View {
        let mut command = zwhy(folder);
        command.args(["view", "--no-open"]).args(args.split(' '));
        let mut child = Reaped(command.stdout(Stdio::piped()).spawn().expect("the program starts"));
        let mut printed = String::new();
        let out = child.0.stdout.take().expect("a pipe");
        BufReader::new(out).read_line(&mut printed).expect("it prints its address");
        let rest =
            printed.trim_end().strip_prefix("http://127.0.0.1:").expect("only this machine can reach it");
        let (port, token) = rest.trim_end_matches('/').split_once('/').expect("a token");
        View { child, port: port.parse().expect("a port"), token: token.to_owned(), printed: printed.clone() }
    }

    fn ask(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a time limit");
        // It may refuse before it has read all.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8(answer).expect("an answer in UTF-8")
    }

    /// What a browser gets that follows a path below the token.
    fn get(&self, name: &str) -> String {
        self.send("GET", &format!("/{}/{name}", self.token), &format!("127.0.0.1:{}", self.port))
    }

    fn send(&self, method: &str, path: &str, host: &str) -> String {
        self.ask(format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes())
    }

    fn ended(mut self) -> Option<i32> {
        self.child.0.wait().expect("it ends").code()
    }
}

fn status(answer: &str) -> &str {
    answer.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)).unwrap_or(answer)
}

#[test]
fn one_input_is_its_page_with_headers_that_keep_it_to_itself() {
    let folder = inputs::bare_folder();
    let view = View::of(folder.path(), "ccm.folded");
    assert!(view.token.len() == 32 && view.token.bytes().all(|b| b.is_ascii_hexdigit()), "{}", view.printed);
    let page = view.get("");
    assert_eq!(status(&page), "200", "{page:.200}");
    let (head, body) = page.split_once("\r\n\r\n").expect("a head");
    for header in [
        "Content-Security-Policy: default-src 'none'; script-src 'sha256-",
        "; frame-ancestors 'none'",
        "X-Content-Type-Options: nosniff",
        "Referrer-Policy: no-referrer",
        "Cache-Control: no-store",
    ] {
        assert!(head.contains(header), "{header}: {head}");
    }
    assert!(head.contains(&format!("Content-Length: {}", body.len())), "{head}");
    crate::support::call(folder.path(), "report ccm.folded -o page.html").ok();
    let written = std::fs::read_to_string(folder.path().join("page.html")).expect("the page");
    // A small page holds all of its data; only it may ask the server it is from.
    assert!(body.contains("connect-src 'self'; ") && !written.contains("connect-src"), "{head}");
    assert_eq!(body.replacen("connect-src 'self'; ", "", 1), written, "the page is that of zwhy report");
    let other = View::of(folder.path(), "ccm.folded");
    assert_ne!(other.token, view.token, "each run has a token of its own");
}

#[test]
fn nothing_is_told_without_the_token_or_under_another_name() {
    let folder = inputs::bare_folder();
    let view = View::of(folder.path(), "ccm.folded");
    let (here, path) = (format!("127.0.0.1:{}", view.port), format!("/{}/", view.token));
    let wrong = format!("/{}/", "0".repeat(32));
    for (path, host) in
        [("/", &here), (&*wrong, &here), ("/favicon.ico", &here), (&*path, &"evil.example".to_owned())]
    {
        let answer = view.send("GET", path, host);
        assert_eq!(status(&answer), "403", "{path} {host}: {answer:.300}");
        assert!(!answer.contains("ccm") && !answer.contains(&view.token), "{answer:.300}");
    }
    assert_eq!(status(&view.ask(b"GET / HTTP/1.1\r\n\r\n")), "403");
    assert_eq!(status(&view.send("POST", &format!("{wrong}end"), &here)), "403");
    assert_eq!(status(&view.get("")), "200", "it still runs");
}

#[test]
fn no_path_leads_to_a_file() {
    let folder = inputs::bare_folder();
    let view = View::of(folder.path(), "ccm.folded plain.folded");
    let secret = folder.path().join("plain.folded");
    for name in [
        "../../../../../../etc/passwd",
        "%2e%2e/%2e%2e/etc/passwd",
        "plain.folded",
        secret.to_str().expect("text"),
        "0",
        "3",
        "01",
        "1/",
        "1%00",
        "compare?before=1&after=9",
        "compare?before=../x&after=1",
        "compare",
    ] {
        let answer = view.get(name);
        assert_eq!(status(&answer), "404", "{name}: {answer:.300}");
    }
}

#[test]
fn requests_that_are_huge_or_no_http_are_refused_and_others_go_on() {
    let folder = inputs::bare_folder();
    let view = View::of(folder.path(), "ccm.folded");
    // A client that says nothing holds nobody up.
    let silent = TcpStream::connect(("127.0.0.1", view.port)).expect("it listens");
    let huge = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "y".repeat(1 << 20));
    assert_eq!(status(&view.ask(huge.as_bytes())), "431");
    assert_eq!(status(&view.ask(b"\x16\x03\x01\x02\x00\r\n\r\n")), "400");
    let here = format!("127.0.0.1:{}", view.port);
    assert_eq!(status(&view.send("DELETE", &format!("/{}/", view.token), &here)), "405");
    let head = view.send("HEAD", &format!("/{}/", view.token), &here);
    assert!(status(&head) == "200" && head.ends_with("\r\n\r\n"), "{head:.300}");
    assert_eq!(status(&view.get("")), "200");
    drop(silent);
}

#[test]
fn several_inputs_are_a_list_and_two_are_compared() {
    let folder = inputs::bare_folder();
    let view = View::of(folder.path(), "ccm.folded plain.folded");
    let list = view.get("");
    assert!(list.contains("<a href=\"1\"><bdi>ccm.folded</bdi></a>"), "{list}");
    assert!(list.contains("<a href=\"2\"><bdi>plain.folded</bdi></a>"), "{list}");
    assert_eq!(status(&view.get("style.css")), "200");
    assert!(view.get("2").contains("id=\"answer\""));
    let compared = view.get("compare?before=1&after=2");
    assert!(compared.contains("id=\"compare\""), "{compared:.300}");
    assert_eq!(view.get("compare?before=1&after=2"), compared, "the same when it is asked for again");
}

#[test]
fn it_ends_when_asked_and_by_ctrl_c() {
    let folder = inputs::bare_folder();
    let view = View::of(folder.path(), "ccm.folded");
    let answer = view.send("POST", &format!("/{}/end", view.token), &format!("localhost:{}", view.port));
    assert_eq!(status(&answer), "200");
    assert_eq!(view.ended(), Some(0));
    let view = View::of(folder.path(), "ccm.folded");
    signal(&view.child.0, Signal::INT);
    assert_eq!(view.ended(), Some(0));
}

#[test]
fn what_cannot_be_shown_ends_before_an_address_is_printed() {
    let folder = inputs::bare_folder();
    let call = |args| crate::support::call(folder.path(), args);
    assert!(call("view --no-open nothing.here").failed(1).contains("nothing.here"));
    let taken = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = taken.local_addr().expect("an address").port();
    let said = call(&format!("view --no-open --port {port} ccm.folded")).failed(1);
    assert!(said.contains(&port.to_string()) && said.contains("--port"), "{said}");
}
