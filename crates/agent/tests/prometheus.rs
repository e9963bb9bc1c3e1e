//! Alerts and dashboard in a real Prometheus: it scrapes an agent on a host made of files, whose pool is suspended.
//!
//! `scripts/setup.sh test` unpacks Debian's prometheus; where there is none, each test says that it was skipped.

mod made_host;

use made_host::{Ends, ONLINE, options, page, write_host};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use zwhy_agent::Agent;
use zwhy_diagnose::Knowledge;

fn packaging(name: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging")).join(name).canonicalize().unwrap()
}

/// The program of that name, or the one that `variable` names; `None` where there is none.
fn program(variable: &str, name: &str) -> Option<PathBuf> {
    let program = std::env::var_os(variable).map_or_else(|| PathBuf::from(name), PathBuf::from);
    let ran = Command::new(&program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if ran.is_err() {
        let _ = writeln!(std::io::stderr(), "skipped: no {name} (scripts/setup.sh test unpacks Debian's)");
        return None;
    }
    Some(program)
}

#[test]
fn each_alert_fires_when_it_should_and_else_does_not() {
    let tests = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/alerts.yml"));
    let rules = std::fs::read_to_string(packaging("prometheus.rules")).unwrap();
    let tested = std::fs::read_to_string(tests).unwrap();
    // One that fires and one that does not.
    for alert in rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")) {
        let fires = format!("\n        alertname: {alert}\n        exp_alerts:\n          - exp_labels");
        let silent = format!("alertname: {alert}, exp_alerts: []");
        assert!(tested.contains(&fires) && tested.contains(&silent), "{alert} is not in alerts.yml");
    }
    let Some(promtool) = program("ZWHY_PROMTOOL", "promtool") else { return };
    let done = Command::new(promtool).args(["test", "rules"]).arg(tests).output().unwrap();
    let text = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && text.contains("SUCCESS"), "{text}");
}

/// A Prometheus that scrapes every second; ended with its test.
struct Prometheus {
    child: Child,
    port: u16,
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Prometheus {
    fn start(program: &Path, folder: &Path, target: &str) -> Prometheus {
        let config = format!(
            "global: {{ scrape_interval: 1s, evaluation_interval: 1s }}\nrule_files: [{:?}]\nscrape_configs:\n  - job_name: \
             zwhy\n    static_configs: [{{ targets: [{target:?}] }}]\n",
            packaging("prometheus.rules")
        );
        std::fs::write(folder.join("prometheus.yml"), config).unwrap();
        // Free a moment ago.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new(program);
        command.current_dir(folder).args(["--config.file=prometheus.yml", "--storage.tsdb.path=data"]);
        command.arg(format!("--web.listen-address=127.0.0.1:{port}"));
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        Prometheus { child, port }
    }

    /// What it answers; `null` where it does not listen yet.
    fn get(&self, path: &str) -> Value {
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) else { return Value::Null };
        // Of this version nobody answers in chunks.
        let request = format!("GET {path} HTTP/1.0\r\nHost: 127.0.0.1:{}\r\n\r\n", self.port);
        let mut text = String::new();
        let asked = stream.write_all(request.as_bytes()).and_then(|()| stream.read_to_string(&mut text));
        let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        asked.map_or(Value::Null, |_| serde_json::from_str(body).unwrap_or_default())
    }

    fn query(&self, query: &str) -> Value {
        let encoded: String = query.bytes().map(|byte| format!("%{byte:02X}")).collect();
        self.get(&format!("/api/v1/query?query={encoded}"))
    }

    /// Alerts that fire.
    fn firing(&self) -> Vec<Value> {
        let alerts = self.get("/api/v1/alerts")["data"]["alerts"].as_array().cloned().unwrap_or_default();
        alerts.into_iter().filter(|alert| alert["state"] == "firing").collect()
    }
}

/// Asks until there is an answer.
fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(start.elapsed() < Duration::from_secs(120), "never: {what}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Queries of the dashboard, of all hosts and half a minute.
fn dashboard() -> Vec<String> {
    let text = std::fs::read_to_string(packaging("grafana-dashboard.json")).unwrap();
    let board: Value = serde_json::from_str(&text).unwrap();
    let panels = board["panels"].as_array().unwrap().iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().cloned().unwrap_or_default());
    let queries = targets.filter_map(|target| target["expr"].as_str().map(str::to_owned));
    queries.map(|query| query.replace("$host", ".*").replace("$__rate_interval", "30s")).collect()
}

/// Every query is understood, and shows something where the agent serves what it asks for.
fn check_dashboard(prometheus: &Prometheus, page: &str) {
    let served: BTreeSet<&str> =
        page.lines().filter_map(|line| line.split(['{', ' ']).next()).filter(|n| *n != "#").collect();
    let mut shown = 0;
    for query in dashboard() {
        let words = query.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let is_served = words.filter(|word| word.starts_with("zwhy_")).all(|name| served.contains(name));
        until(&query, || {
            let answer = prometheus.query(&query);
            assert_ne!(answer["status"], "error", "{query}: {answer}");
            let rows = answer["data"]["result"].as_array()?.len();
            (rows > 0 || !is_served).then_some(())
        });
        shown += usize::from(is_served);
    }
    assert!(shown >= 15, "{shown} queries of what this host has");
}

#[test]
fn a_suspended_pool_is_an_alert_until_it_is_back() {
    let Some(program) = program("ZWHY_PROMETHEUS", "prometheus") else { return };
    let dir = tempfile::tempdir().unwrap();
    let (proc, stop) = (dir.path().join("proc"), AtomicBool::new(false));
    write_host(&proc, 1, Some(ONLINE));
    let mut agent = Agent::start(options(dir.path()), Knowledge::embedded()).unwrap();
    let url = agent.listens().unwrap().to_owned();
    let target = url.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/metrics")).unwrap();
    let prometheus = Prometheus::start(&program, dir.path(), target);
    let (steps, suspended) = (AtomicU64::new(1), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let _ends = Ends(&stop);
        scope.spawn(|| agent.run(&stop));
        // The host works all the time.
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let state = if suspended.load(Ordering::Relaxed) { "SUSPENDED" } else { ONLINE };
                write_host(&proc, steps.fetch_add(1, Ordering::Relaxed) + 1, Some(state));
                std::thread::sleep(Duration::from_millis(100));
            }
        });
        let of_pool = || {
            let fire = prometheus.firing().into_iter();
            fire.filter(|alert| alert["labels"]["alertname"] == "ZfsPoolSuspended").collect::<Vec<_>>()
        };
        until("it scrapes", || {
            let rows = prometheus.query("zwhy_pool_suspended == 0")["data"]["result"].as_array()?.len();
            (rows == 1).then_some(())
        });
        assert_eq!(of_pool(), Vec::<Value>::new());
        check_dashboard(&prometheus, &page(&url));
        suspended.store(true, Ordering::Relaxed);
        let alerts = until("the alert", || Some(of_pool()).filter(|alerts| !alerts.is_empty()));
        let labels = &alerts[0]["labels"];
        assert_eq!(
            (&labels["pool"], &labels["severity"]),
            (&"tank".into(), &"critical".into()),
            "{alerts:?}"
        );
        let summary = alerts[0]["annotations"]["summary"].as_str().unwrap();
        assert_eq!(summary, format!("Pool tank on {target} is suspended: nothing is read or written."));
        suspended.store(false, Ordering::Relaxed);
        until("it is over", || of_pool().is_empty().then_some(()));
    });
}
