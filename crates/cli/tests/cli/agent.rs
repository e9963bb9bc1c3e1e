//! `zwhy agent`: what it records is told by `status` and opened by every other command.

use crate::support::{Reaped, call, run, signal, wait_until, zwhy};
use rustix::process::Signal;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Stdio;
use zwhy_capture::Capture;

#[test]
fn the_host_is_recorded_until_a_signal_and_explained_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let spool = folder.path().join("spool");
    let mut command = zwhy(folder.path());
    command.args(["agent", "--spool", "spool", "-i", "1", "--listen", "127.0.0.1:0"]).stderr(Stdio::null());
    let mut agent = Reaped(command.spawn().unwrap());
    assert!(wait_until(&mut agent.0, || spool.join("status.json").exists()), "it runs until it is ended");
    let look = run(folder.path(), ["agent", "status", "--json", "--spool", "spool"]).json();
    assert_eq!(look["running"], agent.0.id().to_string());
    let error = call(folder.path(), "agent --spool spool").failed(1);
    assert!(error.contains("belongs to an agent that runs"), "{error}");
    // The growing file is on disk after a few seconds.
    let in_part = || {
        std::fs::read_dir(&spool).unwrap().flatten().any(|f| f.path().join("series-000002.parquet").exists())
    };
    assert!(wait_until(&mut agent.0, in_part));
    call(folder.path(), "agent capture --spool spool -o now.zwhy").ok();
    metrics(look["agent"]["listens"].as_str().expect("it serves metrics"));
    signal(&agent.0, Signal::TERM);
    assert!(agent.0.wait().unwrap().success());
    let look = run(folder.path(), ["agent", "status", "--json", "--spool", "spool"]).json();
    assert_eq!((&look["running"], &look["files"]), (&serde_json::Value::Null, &1.into()), "{look}");
    let text = call(folder.path(), "agent status --spool spool").ok();
    assert!(text.starts_with("AGENT    does not run") && text.contains("SPOOL"), "{text}");
    let out = call(folder.path(), "agent capture --last 1h --spool spool -o all.zwhy").ok();
    assert_eq!(out, "all.zwhy\n");
    let capture = Capture::open(&folder.path().join("all.zwhy")).unwrap();
    assert!(capture.damage.is_empty() && capture.series.len() > 10);
    let written = &look["agent"]["written"];
    assert_eq!(
        (written["samples"].as_u64(), written["series"].as_u64()),
        (Some(capture.profile.samples.len() as u64), Some(capture.series.len() as u64)),
        "all that was written is in it"
    );
    let answer = run(folder.path(), ["explain", "--json", "all.zwhy"]).json();
    assert!(answer["why"].as_str().is_some_and(|why| !why.is_empty()), "{answer}");
    let lines = call(folder.path(), "top --json now.zwhy").ok();
    assert!(lines.lines().count() >= 5, "{lines}");
}

/// What one request to `address` comes to: status line and body.
fn ask(address: &str, request: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{text}"));
    (head.lines().next().unwrap().to_owned(), body.to_owned())
}

/// The page is served to who asks for it as it must be asked for, and nothing else is.
fn metrics(url: &str) {
    let address = url.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/metrics")).unwrap();
    let get = |path: &str, host: &str| ask(address, &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    let (status, body) = get("/metrics", address);
    assert_eq!(status, "HTTP/1.1 200 OK");
    for row in [
        "zwhy_build_info{version=\"",
        "zwhy_host_cpu_seconds_total{mode=\"sys\"}",
        "zwhy_agent_spool_files 1",
    ] {
        assert!(body.contains(row), "{row}: {body}");
    }
    for path in ["/../../etc/passwd", "/metrics/", "/spool", "//etc/passwd", "/metrics%00"] {
        assert_eq!(get(path, address).0, "HTTP/1.1 404 Not Found", "{path}");
    }
    assert_eq!(
        get("/metrics", "evil.example").0,
        "HTTP/1.1 403 Forbidden",
        "a web site under a name of its own"
    );
    let post = format!("POST /metrics HTTP/1.1\r\nHost: {address}\r\nContent-Length: 9\r\n\r\nnonsense!");
    assert_eq!(ask(address, &post).0, "HTTP/1.1 405 Method Not Allowed");
    let long = format!("GET /metrics HTTP/1.1\r\nHost: {address}\r\nX: {}\r\n\r\n", "y".repeat(17 << 10));
    assert_eq!(ask(address, &long).0, "HTTP/1.1 431 Request Header Fields Too Large");
}

#[test]
fn what_is_no_spool_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let error = call(folder.path(), "agent status --spool missing").failed(1);
    assert!(error.contains("missing") && error.contains("--spool"), "{error}");
    let error = call(folder.path(), "agent capture --spool . -o x.zwhy").failed(1);
    assert!(error.contains("holds nothing that was recorded"), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
    call(folder.path(), "agent --spool . --keep 1y").failed(2);
    call(folder.path(), "agent --spool . --max-bytes 1M").failed(2);
    call(folder.path(), "agent --spool . --listen nowhere").failed(2);
}
