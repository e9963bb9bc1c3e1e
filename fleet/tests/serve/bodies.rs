//! Bodies that are too large, or do not come: refused, written down, and others are served meanwhile.

use crate::{FLEET, Served, bearer, start};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

const FACTS: &str = "/api/v1/units/db7/1795375919043/00000042/facts/0";

/// A server and a token that may write.
fn writer() -> (tempfile::TempDir, Served, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens");
    let make = |name: &str, role: &str| {
        let mut command = Command::new(FLEET);
        command.args(["token", "--tokens"]).arg(&file).args(["--name", name, "--role", role]);
        String::from_utf8(command.output().unwrap().stdout).unwrap().trim().to_owned()
    };
    let (ingest, read) = (make("writer", "ingest"), make("people", "read"));
    let served = start(Some(&file));
    (folder, served, ingest, read)
}

/// Lines of the audit log with this status.
fn lines(served: &Served, status: u16) -> Vec<serde_json::Value> {
    let audit = served.audit();
    let lines = audit.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    lines.filter(|line| line["status"] == status).collect()
}

#[test]
fn a_huge_body_is_refused_before_it_comes_and_written_down() {
    let (_folder, served, ingest, read) = writer();
    for length in ["67108865", "99999999999", "18446744073709551000"] {
        let head = format!(
            "PUT {FACTS} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {length}\r\n{}\r\n",
            served.address,
            bearer(&ingest)
        );
        assert_eq!(served.raw(head.as_bytes()).status, 413, "{length}");
    }
    let told = lines(&served, 413);
    assert!(
        told.len() == 3 && told.iter().all(|line| line["who"] == "writer" && line["path"] == FACTS),
        "{told:?}"
    );
    assert_eq!(served.ask("GET", "/api/v1/hosts", &bearer(&read), b"").status, 200);
}

#[test]
fn bodies_that_never_come_are_given_up_and_others_go_on() {
    let (_folder, served, ingest, read) = writer();
    let head = |length: usize| {
        format!(
            "PUT {FACTS} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {length}\r\n{}\r\n{{",
            served.address,
            bearer(&ingest)
        )
    };
    // All the memory that bodies may take, announced and never filled.
    let mut slow: Vec<TcpStream> = (0..8)
        .map(|_| {
            let mut stream = TcpStream::connect(served.address).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(100))).unwrap();
            stream.write_all(head((64 << 20) - 1024).as_bytes()).unwrap();
            stream
        })
        .collect();
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(served.ask("GET", "/api/v1/hosts", &bearer(&read), b"").status, 200);
    // Its turn comes when the others are given up.
    assert_eq!(served.ask("PUT", FACTS, &bearer(&ingest), b"{}").status, 201);
    for stream in &mut slow {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        assert!(bytes.starts_with(b"HTTP/1.1 408"), "{}", String::from_utf8_lossy(&bytes));
    }
    assert_eq!(lines(&served, 408).len(), 8);
    assert_eq!(served.ask("GET", "/api/v1/hosts", &bearer(&read), b"").status, 200);
}
