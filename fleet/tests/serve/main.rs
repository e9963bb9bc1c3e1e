//! The server as a stranger meets it: over a socket, byte by byte.

mod bodies;
mod recipes;
mod tls;

use datafusion::arrow::ipc::reader::StreamReader;
use datafusion::arrow::json::WriterBuilder;
use datafusion::arrow::json::writer::JsonArray;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use zwhy_fleet::serve::ROUTES;

const ARROW: &str = "application/vnd.apache.arrow.stream";
const FLEET: &str = env!("CARGO_BIN_EXE_zwhy-fleet");

fn capture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../docs/first-hour/{name}.zwhy"))
}

/// A server of its own, ended with it.
struct Served {
    child: Child,
    address: SocketAddr,
    token: String,
    folder: tempfile::TempDir,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[derive(Debug)]
struct Answered {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answered {
    fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

fn start(tokens: Option<&Path>) -> Served {
    let tokens = tokens.map(|path| path.display().to_string());
    start_with(&tokens.iter().flat_map(|path| ["--tokens", path]).collect::<Vec<_>>())
}

fn start_with(args: &[&str]) -> Served {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store").display().to_string();
    for (name, host) in [("gzip", "one"), ("program", "two/../<b>")] {
        let status = Command::new(FLEET)
            .args(["ingest", &capture(name).display().to_string(), "--store", &store, "--host", host])
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert!(status.success());
    }
    let audit = folder.path().join("audit").display().to_string();
    let mut command = Command::new(FLEET);
    command.args(["serve", "--store", &store, "--listen", "127.0.0.1:0", "--audit", &audit]);
    command.args(args);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let (address, token) = line.trim().split_once("://").unwrap().1.split_once('/').unwrap();
    let token = token.strip_prefix("#token=").unwrap_or_default().to_owned();
    Served { child, address: address.parse().unwrap(), token, folder }
}

impl Served {
    fn raw(&self, request: &[u8]) -> Answered {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // The server may answer and close before all is sent.
        let _ = stream.write_all(request);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let at = bytes.windows(4).position(|w| w == b"\r\n\r\n").unwrap_or(bytes.len());
        let head = String::from_utf8_lossy(&bytes[..at]).into_owned();
        let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
        Answered { status, head, body: bytes.get(at + 4..).unwrap_or_default().to_vec() }
    }

    fn ask(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Answered {
        let (address, length) = (self.address, body.len());
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n"
        );
        self.raw(&[head.as_bytes(), body].concat())
    }

    fn get(&self, path: &str) -> Answered {
        self.ask("GET", path, &bearer(&self.token), b"")
    }

    fn audit(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("audit")).unwrap()
    }
}

fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}\r\n")
}

#[test]
fn answers_are_those_of_the_command_line() {
    let served = start(None);
    let store = served.folder.path().join("store").display().to_string();
    for (path, args) in [
        ("hosts", vec!["hosts"]),
        ("stages?host=one", vec!["stages", "--host", "one"]),
        ("findings", vec!["findings"]),
        (
            "kstat?host=one&source=arcstats&name=size",
            vec!["kstat", "--host", "one", "--source", "arcstats", "--name", "size"],
        ),
        ("functions?host=one&most=5", vec!["functions", "--host", "one", "--most", "5"]),
        ("stages/steps?step=1m", vec!["stages", "--step", "1m"]),
    ] {
        let answer = served.get(&format!("/api/v1/{path}"));
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        let out = Command::new(FLEET)
            .arg("query")
            .args(&args)
            .args(["--store", &store, "--json"])
            .output()
            .unwrap();
        let printed: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
        assert!(printed.as_array().is_some_and(|rows| !rows.is_empty()), "{path}");
        assert_eq!(answer.json(), printed, "{path}");
    }
    let folded = served.get("/api/v1/flame?host=one");
    let out =
        Command::new(FLEET).args(["query", "flame", "--host", "one", "--store", &store]).output().unwrap();
    assert_eq!(folded.body, out.stdout);
    assert!(served.get("/api/v1/flame?format=pprof").body.starts_with(&[0x1f, 0x8b]));
    let compared = served.get("/api/v1/compare?host=one&other_host=two%2F..%2F%3Cb%3E").json();
    let sum =
        |name: &str| compared.as_array().unwrap().iter().map(|row| row[name].as_f64().unwrap()).sum::<f64>();
    assert!(
        (sum("share") - 1.0).abs() < 1e-9
            && (sum("other_share") - 1.0).abs() < 1e-9
            && sum("change").abs() < 1e-9
    );
    assert!(compared[0]["change"].as_f64().unwrap().abs() > 0.05, "the two hosts do other things");
}

/// A stream of Arrow as the rows of JSON that it stands for.
fn of_arrow(bytes: &[u8]) -> serde_json::Value {
    let reader = StreamReader::try_new(bytes, None).unwrap();
    let mut writer = WriterBuilder::new().with_explicit_nulls(true).build::<_, JsonArray>(Vec::new());
    for batch in reader {
        writer.write(&batch.unwrap()).unwrap();
    }
    writer.finish().unwrap();
    serde_json::from_slice(&writer.into_inner()).unwrap()
}

#[test]
fn arrow_says_what_json_says() {
    let served = start(None);
    let arrow = |path: &str| {
        let headers = format!("{}Accept: {ARROW}\r\n", bearer(&served.token));
        let answer = served.ask("GET", &format!("/api/v1/{path}"), &headers, b"");
        assert_eq!(answer.status, 200, "{path}");
        of_arrow(&answer.body)
    };
    for path in [
        "hosts",
        "stages?host=one",
        "stages/steps?step=5m",
        "functions?most=20",
        "findings",
        "kstat?host=one",
        "kstat?host=one&source=arcstats&name=size",
        "compare?host=one&other_host=two%2F..%2F%3Cb%3E",
    ] {
        let json = served.get(&format!("/api/v1/{path}")).json();
        assert!(json.as_array().is_some_and(|rows| !rows.is_empty()), "{path}");
        assert_eq!(arrow(path), json, "{path}");
    }
    assert_eq!(arrow("stages?host=nobody"), serde_json::json!([]));
    let folded = served.get("/api/v1/flame?host=one");
    let line = |row: &serde_json::Value| {
        let stack: Vec<&str> = row["stack"].as_array().unwrap().iter().map(|f| f.as_str().unwrap()).collect();
        format!("{} {}\n", stack.join(";"), row["samples"])
    };
    let rows = arrow("flame?host=one");
    assert_eq!(rows.as_array().unwrap().iter().map(line).collect::<String>().as_bytes(), folded.body);
}

#[test]
fn every_address_is_in_the_file_that_tells_them() {
    let served = start(None);
    let told = served.get("/api/v1/openapi.json").json();
    let mut paths: Vec<(String, String)> = Vec::new();
    for (path, methods) in told["paths"].as_object().unwrap() {
        paths.extend(methods.as_object().unwrap().keys().map(|method| (method.clone(), path.clone())));
    }
    let mut ours: Vec<(String, String)> =
        ROUTES.iter().map(|(m, p)| ((*m).to_owned(), (*p).to_owned())).collect();
    paths.sort();
    ours.sort();
    assert_eq!(paths, ours);
    for (method, path) in ROUTES {
        if method == "get" {
            assert_eq!(served.get(path).status, 200, "{path}");
            let kinds = told["paths"][path]["get"]["responses"]["200"]["content"].as_object().unwrap();
            let answer =
                served.ask("GET", path, &format!("{}Accept: {ARROW}\r\n", bearer(&served.token)), b"");
            let is_arrow = answer.head.to_lowercase().contains(&format!("content-type: {ARROW}"));
            assert_eq!(is_arrow, kinds.contains_key(ARROW), "{path}: {}", answer.head);
        }
    }
    assert_eq!(served.get("/api/v1/nothing").status, 404);
}

#[test]
fn nobody_gets_anything_without_a_token_and_everything_is_written_down() {
    let served = start(None);
    let wrong = "0".repeat(64);
    for headers in [
        String::new(),
        bearer(&wrong),
        bearer(""),
        "Authorization: Basic eDp4\r\n".into(),
        format!("Cookie: token={}\r\n", served.token),
    ] {
        for path in
            ["/api/v1/hosts", "/api/v1/openapi.json", &format!("/api/v1/hosts?token={}", served.token)]
        {
            let answer = served.ask("GET", path, &headers, b"");
            assert_eq!(answer.status, 401, "{path} {headers}");
            assert!(!String::from_utf8_lossy(&answer.body).contains("one"));
        }
    }
    let page = served.ask("GET", "/", "", b"");
    assert!(page.status == 200 && page.head.contains("default-src 'none'"), "{}", page.head);
    let put = served.ask("PUT", "/api/v1/units/x/1/a/facts/0", "", b"{}");
    assert_eq!(put.status, 401);
    for host in ["evil.example", "127.0.0.1.evil.example:80", "[::1]:9935", ""] {
        let request = format!(
            "GET /api/v1/hosts HTTP/1.1\r\nHost: {host}\r\n{}Connection: close\r\n\r\n",
            bearer(&served.token)
        );
        assert_eq!(served.raw(request.as_bytes()).status, 421, "`{host}` is no name of ours");
    }
    for path in [
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/page/index.html",
        "/api/v1/hosts?path=/etc/passwd",
        "/api/v1/flame?format=/etc/passwd",
        "/api/v1/hosts?from=x",
        "/api/v1/hosts?from=999999999-01-01",
        "/api/v1/hosts?to=-9223372036854775808",
        "/api/v1/stages/steps?from=0&step=1s",
        "/api/v1/units/..%2F..%2Fetc/1/a/samples/0",
    ] {
        let answer = served.get(path);
        assert!((400..500).contains(&answer.status), "{path}: {}", answer.status);
    }
    assert_eq!(served.get("/api/v1/stages?host=..%2F..%2Fetc").json(), serde_json::json!([]));
    assert_eq!(served.get("/api/v1/stages?host=%27%20OR%201%3D1%20--").json(), serde_json::json!([]));
    let audit = served.audit();
    assert!(audit.lines().filter(|line| line.contains("\"status\":401")).count() > 15, "{audit}");
    assert!(audit.contains("/../../etc/passwd") && !audit.contains(&served.token));
    assert!(audit.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
}

#[test]
fn hosts_send_their_files_and_only_theirs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens");
    let make = |args: &[&str]| {
        let out = Command::new(FLEET).args(["token", "--tokens"]).arg(&file).args(args).output().unwrap();
        assert!(out.status.success());
        String::from_utf8(out.stdout).unwrap().trim().to_owned()
    };
    let ingest = make(&["--name", "db7", "--role", "ingest", "--host", "db7"]);
    let read = make(&["--name", "people", "--role", "read"]);
    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(!kept.contains(&ingest) && !kept.contains(&read));
    let served = start(Some(&file));
    // The parts of a capture, as its agent would send them.
    let path = capture("sync");
    let mut sent = 0;
    zwhy_capture::each_entry(&path, |table, part, bytes| -> Result<(), zwhy_capture::CaptureError> {
        let at = format!("/api/v1/units/db7/1795375919043/00000042/{table}/{part}");
        assert_eq!(served.ask("PUT", &at, &bearer(&ingest), bytes).status, 201, "{at}");
        assert_eq!(served.ask("PUT", &at, &bearer(&ingest), bytes).status, 200, "again: {at}");
        sent += 1;
        Ok(())
    })
    .unwrap();
    assert!(sent >= 6);
    let answer = served.ask("GET", "/api/v1/stages?host=db7", &bearer(&read), b"");
    let samples: u64 =
        answer.json().as_array().unwrap().iter().map(|row| row["samples"].as_u64().unwrap()).sum();
    let mut want = zwhy_capture::Capture::open(&path).unwrap().into_imported("sync").evidence;
    want.set_recorder_aside();
    assert_eq!(samples, want.profile.samples.total(zwhy_profile::Event::Cpu));

    let facts = "/api/v1/units/db7/1795375919043/00000042/facts/0";
    for (path, token, body, want) in [
        (facts, &ingest, &b"{\"other\":1}"[..], 409),
        (facts, &read, b"{}", 403),
        ("/api/v1/units/db8/1795375919043/00000042/facts/0", &ingest, b"{}", 403),
        ("/api/v1/units/db7/1795375919043/..%2F..%2Fx/facts/0", &ingest, b"{}", 400),
        ("/api/v1/units/db7/1795375919043/1/..%2Fsamples/0", &ingest, b"{}", 400),
        ("/api/v1/units/db7/-5/1/facts/0", &ingest, b"{}", 400),
        ("/api/v1/units/db7/1/1/facts/0", &ingest, b"[]", 400),
        ("/api/v1/units/db7/1/1/samples/0", &ingest, b"rubbish", 400),
        ("/api/v1/units/db7/1/1/samples/x", &ingest, b"PAR1", 400),
    ] {
        assert_eq!(served.ask("PUT", path, &bearer(token), body).status, want, "{path}");
    }
    assert_eq!(
        served.ask("GET", "/api/v1/hosts", &bearer(&ingest), b"").status,
        403,
        "who writes does not read"
    );
    let chunked = format!(
        "PUT {facts} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n{}\r\n2\r\n{{}}\r\n0\r\n\r\n",
        served.address,
        bearer(&ingest)
    );
    assert_eq!(served.raw(chunked.as_bytes()).status, 411, "a body says how long it is");
    poison_is_refused(&served, &ingest, &path);
    assert!(served.audit().contains("\"who\":\"db7\""));
}

/// Files that are no parts of a capture, each a little less so, spoil nothing.
fn poison_is_refused(served: &Served, token: &str, path: &Path) {
    let before = served.ask("GET", "/api/v1/hosts", "", b"").status;
    assert_eq!(before, 401);
    let mut samples = Vec::new();
    zwhy_capture::each_entry(path, |table, _, bytes| -> Result<(), zwhy_capture::CaptureError> {
        if table == "samples" {
            samples = bytes.to_vec();
        }
        Ok(())
    })
    .unwrap();
    let at = |table: &str| format!("/api/v1/units/db7/1795375920043/00000043/{table}/0");
    // A table under the name of another one.
    assert_eq!(served.ask("PUT", &at("frames"), &bearer(token), &samples).status, 400);
    // Every eighth of it is rubbish in turn; the footer is as it was.
    let part = samples.len() / 8;
    let mut refused = 0;
    for turn in 0..8 {
        let mut bad = samples.clone();
        bad[turn * part + 4..(turn + 1) * part - 4].iter_mut().for_each(|byte| *byte ^= 0x5a);
        let status = served.ask("PUT", &at("samples"), &bearer(token), &bad).status;
        // What is rubbish and still a table has other values, and is its sender's.
        assert!(status == 400 || status == 201 || status == 409, "{status}");
        refused += u32::from(status == 400);
    }
    assert!(refused >= 4, "{refused} of 8 were refused");
}

fn tokens(folder: &Path, names: &[&str]) -> (PathBuf, Vec<String>) {
    let file = folder.join("tokens");
    let make = |name: &&str| {
        let mut command = Command::new(FLEET);
        command.args(["token", "--tokens"]).arg(&file).args(["--name", name, "--role", "read"]);
        String::from_utf8(command.output().unwrap().stdout).unwrap().trim().to_owned()
    };
    let made = names.iter().map(make).collect();
    (file, made)
}

#[test]
fn ten_thousand_requests_are_answered_or_refused_and_others_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let (file, made) = tokens(folder.path(), &["greedy", "patient"]);
    let served = start(Some(&file));
    // Clients that never say what they want keep their connections for a while, and nobody else's.
    let mut slow: Vec<TcpStream> = (0..100)
        .map(|_| {
            let mut stream = TcpStream::connect(served.address).unwrap();
            stream.write_all(b"GET / HT").unwrap();
            stream
        })
        .collect();
    let begun = std::time::Instant::now();
    let mut all = String::new();
    // Each thousand in one breath.
    let one = format!("GET /page.css HTTP/1.1\r\nHost: {}\r\n{}\r\n", served.address, bearer(&made[0]));
    let last = one.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    let thousand = one.repeat(999) + &last;
    for _ in 0..10 {
        let mut stream = TcpStream::connect(served.address).unwrap();
        let mut writer = stream.try_clone().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| writer.write_all(thousand.as_bytes()).unwrap());
            let mut bytes = Vec::new();
            stream.read_to_end(&mut bytes).unwrap();
            all.push_str(&String::from_utf8_lossy(&bytes));
        });
    }
    let count = |status: &str| all.matches(&format!("HTTP/1.1 {status}")).count();
    let seconds = begun.elapsed().as_secs_f64();
    assert_eq!(count("200") + count("429"), 10_000);
    assert!(count("200") >= 200 && (count("200") as f64) < 201.0 + 50.0 * seconds, "{}", count("200"));
    assert_eq!(served.ask("GET", "/api/v1/hosts", &bearer(&made[1]), b"").status, 200);
    assert_eq!(served.audit().lines().filter(|line| line.contains("\"who\":\"greedy\"")).count(), 10_000);
    // The slow ones were let go.
    for stream in &mut slow {
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let ended = stream.read_to_end(&mut Vec::new());
        assert!(ended.is_ok() || ended.unwrap_err().kind() == std::io::ErrorKind::ConnectionReset);
    }
    assert!(begun.elapsed() >= Duration::from_secs(9));
    let guesses = (0..300).map(|_| served.ask("GET", "/api/v1/hosts", &bearer("guess"), b"").status);
    assert!(guesses.filter(|status| *status == 429).count() > 0, "guesses are counted");
    assert_eq!(served.ask("GET", "/api/v1/hosts", &bearer(&made[1]), b"").status, 200);
}

#[test]
fn beyond_this_machine_it_listens_only_with_tokens_and_tls() {
    let folder = tempfile::tempdir().unwrap();
    let (file, _) = tokens(folder.path(), &["people"]);
    for args in [vec![], vec!["--tokens", file.to_str().unwrap()]] {
        let mut command = Command::new(FLEET);
        command.args(["serve", "--listen", "0.0.0.0:0", "--store"]).arg(folder.path()).args(args);
        let out = command.output().unwrap();
        assert!(!out.status.success());
        assert!(String::from_utf8_lossy(&out.stderr).contains("--certificate"));
    }
}
