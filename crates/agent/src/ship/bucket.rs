//! A bucket in this process, for tests: it answers as a store of objects does, keeps what is put in a folder, and fails a
//! third of its requests, half of these after it has done what was asked.

use super::s3::sha256;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

pub(crate) struct Bucket {
    pub url: String,
    shared: Arc<Shared>,
}

struct Shared {
    root: PathBuf,
    /// Nothing is answered.
    away: AtomicBool,
    /// A third of the requests fails.
    flaky: AtomicBool,
    requests: AtomicU64,
    /// What no store would take: that is a fault of whoever asks.
    wrong: Mutex<Vec<String>>,
}

struct Asked {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Bucket {
    pub(crate) fn start(root: &Path) -> Bucket {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::new(Shared {
            root: root.to_owned(),
            away: AtomicBool::new(false),
            flaky: AtomicBool::new(true),
            requests: AtomicU64::new(0),
            wrong: Mutex::default(),
        });
        let of_thread = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&of_thread);
                std::thread::spawn(move || shared.serve(&stream));
            }
        });
        Bucket { url, shared }
    }

    pub(crate) fn away(&self, away: bool) {
        self.shared.away.store(away, Ordering::SeqCst);
    }

    pub(crate) fn well(&self) {
        self.shared.flaky.store(false, Ordering::SeqCst);
    }

    pub(crate) fn requests(&self) -> u64 {
        self.shared.requests.load(Ordering::SeqCst)
    }

    pub(crate) fn wrong(&self) -> Vec<String> {
        self.shared.wrong.lock().unwrap().clone()
    }
}

impl Shared {
    /// Answers the requests of a connection.
    fn serve(&self, stream: &TcpStream) {
        let mut reader = BufReader::new(stream);
        while let Some(asked) = read(&mut reader) {
            if self.away.load(Ordering::SeqCst) {
                return;
            }
            let n = self.requests.fetch_add(1, Ordering::SeqCst);
            let flaky = self.flaky.load(Ordering::SeqCst);
            if flaky && n % 6 == 1 {
                let text = "<?xml version=\"1.0\"?><Error><Code>SlowDown</Code></Error>";
                answer(stream, "503 Slow Down", text);
                continue;
            }
            let status = self.take(&asked);
            if flaky && n % 6 == 4 {
                return; // It was done, and nobody is told.
            }
            answer(stream, status, "");
        }
    }

    fn take(&self, asked: &Asked) -> &'static str {
        let header =
            |name: &str| asked.headers.iter().find(|(n, _)| n == name).map_or("", |(_, value)| value);
        let signed = header("authorization");
        let wanted = [
            "Credential=AKID/",
            "/eu-test-1/s3/aws4_request",
            "SignedHeaders=host;x-amz-content-sha256;x-amz-date",
        ];
        if wanted.iter().any(|part| !signed.contains(part))
            || header("x-amz-content-sha256") != sha256(&asked.body)
        {
            self.wrong.lock().unwrap().push(format!("{} {} {:?}", asked.method, asked.path, asked.headers));
            return "403 Forbidden";
        }
        let Some(key) = decoded(&asked.path).strip_prefix("/fleet/a/b/").map(PathBuf::from) else {
            self.wrong.lock().unwrap().push(asked.path.clone());
            return "404 Not Found";
        };
        let path = self.root.join(key);
        match asked.method.as_str() {
            "PUT" => {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, &asked.body).unwrap();
                "200 OK"
            }
            "DELETE" => {
                let _ = fs::remove_file(path);
                "204 No Content"
            }
            _ => "405 Method Not Allowed",
        }
    }
}

fn read(reader: &mut BufReader<&TcpStream>) -> Option<Asked> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let mut words = line.split(' ').map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Asked { method, path, headers, body })
}

fn answer(mut stream: &TcpStream, status: &str, text: &str) {
    let length =
        if status.starts_with("204") { String::new() } else { format!("Content-Length: {}\r\n", text.len()) };
    let _ = write!(stream, "HTTP/1.1 {status}\r\n{length}\r\n{text}");
}

/// As the address was before it was sent by number.
fn decoded(path: &str) -> String {
    let mut bytes = path.bytes();
    let mut out = Vec::new();
    while let Some(byte) = bytes.next() {
        let digit = |b: Option<u8>| b.and_then(|b| char::from(b).to_digit(16)).unwrap() as u8;
        out.push(if byte == b'%' { digit(bytes.next()) << 4 | digit(bytes.next()) } else { byte });
    }
    String::from_utf8(out).unwrap()
}
