//! A store that fails a third of its requests, and a spool that is full meanwhile: every row is in the store or counted.

use super::bucket::Bucket;
use super::store::FileStore;
use super::{S3Store, Shipper, Store};
use crate::error::AgentError;
use crate::spool::{Limits, Rows, Spool, entries};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use zwhy_capture::{Series, SeriesKind};
use zwhy_live::Slice;
use zwhy_profile::{Event, FrameKind, Nanos, Sample};

/// Fails a third of its requests: half of these after the bytes are there.
struct Flaky {
    store: FileStore,
    requests: u32,
    away: bool,
}

impl Flaky {
    fn request(&mut self) -> Result<bool, AgentError> {
        self.requests += 1;
        let failed = || AgentError::io("write", Path::new("store"))(std::io::Error::other("away"));
        match self.requests % 6 {
            _ if self.away => Err(failed()),
            1 => Err(failed()),
            4 => Ok(false),
            _ => Ok(true),
        }
    }
}

impl Store for Flaky {
    fn put(&mut self, key: &str, bytes: &[u8]) -> Result<(), AgentError> {
        let answered = self.request()?;
        self.store.put(key, bytes)?;
        match answered {
            true => Ok(()),
            false => Err(AgentError::io("write", Path::new(key))(std::io::Error::other("no answer"))),
        }
    }

    fn remove(&mut self, key: &str) -> Result<(), AgentError> {
        self.store.remove(key)
    }
}

/// Interval `n` with 10 samples numbered from `10 n` on.
pub(super) fn slice(n: i64) -> Slice {
    let s = |n: i64| Duration::from_secs(n as u64 * 5);
    let mut slice = Slice { from: s(n), to: s(n + 1), ..Slice::default() };
    let frame = slice.profile.frame("zio_execute", "zfs", FrameKind::Kernel);
    let (stack, thread) = (slice.profile.stack(&[frame]), slice.profile.thread(3, 3, "z_rd_int"));
    for at in 0..10 {
        let (t, weight) = (Nanos(s(n).as_nanos() as i64 + at), Nanos(n * 10 + at));
        slice.profile.samples.push(Sample { t, weight, ..Sample::counted(thread, stack, Event::Cpu, 1) });
    }
    let mut series = Series::default();
    series.push(Nanos(s(n + 1).as_nanos() as i64), "cpu/all", "sys_ns", SeriesKind::Counter, n);
    Slice { series, ..slice }
}

pub(super) fn files_below(folder: &Path) -> BTreeSet<PathBuf> {
    let (mut todo, mut files) = (vec![folder.to_owned()], BTreeSet::new());
    while let Some(folder) = todo.pop() {
        let paths = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path());
        let (folders, found): (Vec<PathBuf>, Vec<PathBuf>) = paths.partition(|path| path.is_dir());
        todo.extend(folders);
        files.extend(found);
    }
    files
}

/// Rows and files of a table in the store.
pub(super) fn in_store(root: &Path, table: &str) -> (u64, BTreeSet<PathBuf>) {
    let files = files_below(&root.join(table));
    let rows = |path: &PathBuf| {
        // As a folder that is recorded into: the table's name and a number.
        let folder = tempfile::tempdir().unwrap();
        std::fs::copy(path, folder.path().join(format!("{table}-000001.parquet"))).unwrap();
        zwhy_capture::row_counts(folder.path()).unwrap()[table]
    };
    (files.iter().map(rows).sum(), files)
}

/// Five agents one after the other, whose stores are made by `store` of the number of requests up to then; the store is away
/// while the second one runs. `root` is where what was put lies, `well` lets the store fail no more.
fn rows_are_in_the_store_or_counted(
    root: &Path,
    store: impl Fn(u32, bool) -> Box<dyn Store>,
    well: impl Fn(),
) {
    let dir = tempfile::tempdir().unwrap();
    let file = Duration::from_secs(20);
    let limits = Limits { age: Duration::from_secs(100), file, flush: file, ..Limits::default() };
    let never = AtomicBool::new(false);
    let (mut written, mut n, mut requests) = (Rows::default(), 0, 0);
    for life in 0..5 {
        let (mut spool, desk) = Spool::open_shipping(dir.path(), limits).unwrap();
        let mut shipper =
            Shipper::new(dir.path().to_owned(), "db7/a".into(), store(requests, life == 1), desk);
        for at in 0..80 {
            let mut slice = slice(n + at);
            (slice.from, slice.to) =
                (Duration::from_secs(at as u64 * 5), Duration::from_secs(at as u64 * 5 + 5));
            spool.push(&slice, 1e9 + (n + at + 1) as f64 * 5.0);
            // It fails now and then; what was sent before is sent again.
            let _ = shipper.send_all(&never);
            requests += 1;
        }
        n += 80;
        spool.finish();
        written.add(spool.written);
    }
    let (mut spool, desk) = Spool::open_shipping(dir.path(), limits).unwrap();
    let mut shipper = Shipper::new(dir.path().to_owned(), "db7/a".into(), store(0, false), desk);
    let tries = (0..100).take_while(|_| shipper.send_all(&never).is_err()).count();
    assert!(tries < 100 && spool.unsent_files() == 0);
    // What is to be taken out again is gone when the store answers.
    well();
    shipper.take_back().unwrap();
    spool.finish();
    let unsent = spool.state().unsent;
    assert!(unsent.files > 5 && unsent.unreadable == 0, "{unsent:?}");
    let (samples, files) = in_store(root, "samples");
    assert_eq!((samples + unsent.rows.samples, written.samples), (4000, 4000));
    let (series, _) = in_store(root, "series");
    assert_eq!(series + unsent.rows.series, written.series);
    assert!(
        files.iter().all(|path| path.extension().is_some_and(|e| e == "parquet")),
        "nothing half: {files:?}"
    );
    assert_eq!(files_below(&root.join("facts")).len(), files.len(), "facts of every file");
    assert!(entries(dir.path()).unwrap().len() <= 7, "the spool is bounded");
}

#[test]
fn rows_in_the_store_and_those_dropped_unsent_are_all() {
    let root = tempfile::tempdir().unwrap();
    let store = FileStore::at(&format!("file://{}", root.path().display())).unwrap();
    let flaky =
        |requests, away| -> Box<dyn Store> { Box::new(Flaky { store: store.clone(), requests, away }) };
    rows_are_in_the_store_or_counted(root.path(), flaky, || ());
}

#[test]
fn rows_in_a_bucket_and_those_dropped_unsent_are_all() {
    let root = tempfile::tempdir().unwrap();
    let bucket = Bucket::start(root.path());
    let store = |_, away| -> Box<dyn Store> {
        bucket.away(away);
        Box::new(s3(&bucket.url))
    };
    rows_are_in_the_store_or_counted(root.path(), store, || bucket.well());
    assert!(bucket.requests() > 300, "{}", bucket.requests());
    assert_eq!(bucket.wrong(), Vec::<String>::new());
}

/// The store at the bucket `fleet` of this process.
pub(super) fn s3(url: &str) -> S3Store {
    let env = |name: &str| {
        let value = match name {
            "AWS_ENDPOINT_URL" => url,
            "AWS_REGION" => "eu-test-1",
            "AWS_ACCESS_KEY_ID" => "AKID",
            "AWS_SECRET_ACCESS_KEY" => "secret",
            _ => return None,
        };
        Some(value.to_owned())
    };
    S3Store::at("s3://fleet/a/b/", &env).unwrap()
}

/// Answers so many requests; then it does what it is asked once more, says nothing, and answers no more.
struct Tires {
    store: FileStore,
    left: u32,
}

impl Store for Tires {
    fn put(&mut self, key: &str, bytes: &[u8]) -> Result<(), AgentError> {
        let left = self.left;
        self.left = left.saturating_sub(1);
        if left > 0 {
            self.store.put(key, bytes)?;
        }
        match left {
            2.. => Ok(()),
            _ => Err(AgentError::io("write", Path::new(key))(std::io::Error::other("no answer"))),
        }
    }

    fn remove(&mut self, _: &str) -> Result<(), AgentError> {
        unreachable!("it was killed before")
    }
}

/// Every number of requests after which the agent is gone, and with it all that it had in memory.
#[test]
fn what_an_agent_had_half_sent_and_the_next_one_drops_is_not_in_the_store() {
    let file = Duration::from_secs(20);
    let limits = Limits { file, flush: file, ..Limits::default() };
    for requests in 1.. {
        let (dir, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let store = FileStore::at(&format!("file://{}", root.path().display())).unwrap();
        let never = AtomicBool::new(false);
        let (mut spool, desk) = Spool::open_shipping(dir.path(), limits).unwrap();
        (0..12).for_each(|n| spool.push(&slice(n), 1e9 + (n + 1) as f64 * 5.0));
        let tires = Box::new(Tires { store: store.clone(), left: requests });
        let sent = Shipper::new(dir.path().to_owned(), "db7".into(), tires, desk).send_all(&never);
        if sent.is_ok() {
            assert!(requests > 12, "{requests} requests for three files");
            return;
        }
        assert!(!files_below(root.path()).is_empty(), "{requests}");
        let written = spool.written;
        drop(spool);
        // There is room for one file only.
        let limits = Limits { age: file, ..limits };
        let (mut spool, desk) = Spool::open_shipping(dir.path(), limits).unwrap();
        let mut shipper = Shipper::new(dir.path().to_owned(), "db7".into(), Box::new(store), desk);
        shipper.send_all(&never).unwrap();
        spool.finish();
        let unsent = spool.state().unsent;
        let (samples, _) = in_store(root.path(), "samples");
        let (series, _) = in_store(root.path(), "series");
        assert_eq!(samples + unsent.rows.samples, written.samples, "{requests}: {unsent:?}");
        assert_eq!(series + unsent.rows.series, written.series, "{requests}: {unsent:?}");
        assert!(unsent.files <= 2 && unsent.unreadable == 0, "{requests}: {unsent:?}");
    }
}

#[test]
fn a_bucket_says_why_it_refuses_and_no_key_is_told() {
    let root = tempfile::tempdir().unwrap();
    let bucket = Bucket::start(root.path());
    let mut store = s3(&bucket.url);
    store.put("samples/host=a%2Fb/1.parquet", b"rows").unwrap();
    assert_eq!(std::fs::read(root.path().join("samples/host=a%2Fb/1.parquet")).unwrap(), b"rows");
    let refused = store.put("x", b"rows").unwrap_err().to_string();
    assert!(refused.contains("503 SlowDown") && refused.contains("/fleet/a/b/x"), "{refused}");
    assert!(!format!("{store:?} {refused}").contains("secret"));
    store.remove("samples/host=a%2Fb/1.parquet").unwrap();
    assert!(!root.path().join("samples/host=a%2Fb/1.parquet").exists());
    let at = |url: &str, known: &[(&str, &str)]| {
        let env = |name: &str| known.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned());
        S3Store::at(url, &env).unwrap_err()
    };
    let keys = [("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b")];
    assert!(at("s3://fleet", &[]).contains("AWS_ACCESS_KEY_ID"));
    for odd in ["s3://", "s3://../x", "s3://Fleet", "s3:///x", "s3://a?b"] {
        assert!(at(odd, &keys).contains("bucket"), "{odd}");
    }
    let with = |endpoint: &'static str| at("s3://fleet", &[keys[0], keys[1], ("AWS_ENDPOINT_URL", endpoint)]);
    for odd in ["ftp://x", "http://", "http://a@b", "http://a/b"] {
        assert!(with(odd).contains("address of a store"), "{odd}: {}", with(odd));
    }
}

/// A certificate of this host and its key; `None` where there is no tool to make them.
fn certificate(folder: &Path) -> Option<Arc<ServerConfig>> {
    let mut openssl = Command::new("openssl");
    openssl.current_dir(folder).args([
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
    ]);
    openssl.args(["-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-days", "2", "-subj", "/CN=store"]);
    openssl.args(["-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE"]);
    openssl.output().ok().filter(|made| made.status.success())?;
    let key = PrivateKeyDer::from_pem_file(folder.join("key.pem")).unwrap();
    let chain = vec![CertificateDer::from_pem_file(folder.join("cert.pem")).unwrap()];
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    Some(Arc::new(config.with_no_client_auth().with_single_cert(chain, key).unwrap()))
}

/// Takes all that is put, over TLS.
fn serve_tls(listener: &TcpListener, config: &Arc<ServerConfig>) {
    for stream in listener.incoming().flatten() {
        let connection = ServerConnection::new(Arc::clone(config)).unwrap();
        let mut stream = StreamOwned::new(connection, stream);
        let mut asked = Vec::new();
        let mut part = [0; 1024];
        while !asked.ends_with(b"rows") {
            match stream.read(&mut part) {
                Ok(read) if read > 0 => asked.extend_from_slice(&part[..read]),
                _ => break, // Whoever does not trust us leaves.
            }
        }
        let _ =
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").and_then(|()| stream.flush());
    }
}

#[test]
fn a_bucket_behind_tls_is_trusted_when_its_certificate_is() {
    let folder = tempfile::tempdir().unwrap();
    let Some(config) = certificate(folder.path()) else {
        let _ = writeln!(std::io::stderr(), "skipped: there is no `openssl` command");
        return;
    };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || serve_tls(&listener, &config));
    let bundle = folder.path().join("cert.pem").display().to_string();
    let at = |bundle: Option<&str>| {
        let env = |name: &str| match name {
            "AWS_ENDPOINT_URL" => Some(url.clone()),
            "AWS_ACCESS_KEY_ID" | "AWS_SECRET_ACCESS_KEY" => Some("x".to_owned()),
            "AWS_CA_BUNDLE" => bundle.map(str::to_owned),
            _ => None,
        };
        S3Store::at("s3://fleet", &env)
    };
    at(Some(&bundle)).unwrap().put("a", b"rows").unwrap();
    // Another certificate is trusted, this one is not.
    let other = tempfile::tempdir().unwrap();
    certificate(other.path()).unwrap();
    let other = other.path().join("cert.pem").display().to_string();
    let refused = at(Some(&other)).unwrap().put("a", b"rows").unwrap_err().to_string();
    assert!(refused.contains("cannot send to https://127.0.0.1"), "{refused}");
    assert!(refused.to_lowercase().contains("certificate"), "{refused}");
    assert!(at(Some("/nonexistent")).unwrap_err().contains("cannot read /nonexistent"));
    let empty = folder.path().join("key.pem").display().to_string();
    assert!(at(Some(&empty)).unwrap_err().contains("holds no certificate"));
}
