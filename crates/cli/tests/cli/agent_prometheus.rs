//! A real Prometheus scrapes `zwhy agent`, and takes its alerts.

use crate::support::{Reaped, run, skip, wait_until, zwhy};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};

/// What Prometheus answers to a GET; empty where it does not listen yet.
fn get(port: u16, path: &str) -> String {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return String::new() };
    let request = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
    let mut bytes = Vec::new();
    let asked = stream.write_all(request.as_bytes()).and_then(|()| stream.read_to_end(&mut bytes));
    asked.map_or_else(|_| String::new(), |_| String::from_utf8_lossy(&bytes).into_owned())
}

#[test]
fn a_real_prometheus_scrapes_it_and_takes_the_alerts() {
    let program = std::env::var_os("ZWHY_PROMETHEUS").unwrap_or_else(|| "prometheus".into());
    let is_there =
        Command::new(&program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if is_there.is_err() {
        skip(
            "a_real_prometheus_scrapes_it_and_takes_the_alerts",
            "no prometheus (Debian has a package of it)",
        );
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let spool = folder.path().join("spool");
    let mut command = zwhy(folder.path());
    command.args(["agent", "--spool", "spool", "-i", "1", "--listen", "127.0.0.1:0"]).stderr(Stdio::null());
    let mut agent = Reaped(command.spawn().unwrap());
    assert!(wait_until(&mut agent.0, || spool.join("status.json").exists()));
    let look = run(folder.path(), ["agent", "status", "--json", "--spool", "spool"]).json();
    let listens = look["agent"]["listens"].as_str().unwrap().to_owned();
    let target = listens.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/metrics")).unwrap();
    let rules = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/prometheus.rules"));
    let config = format!(
        "global: {{ scrape_interval: 1s, evaluation_interval: 1s }}\nrule_files: [{:?}]\nscrape_configs:\n  - job_name: zwhy\n    \
         static_configs: [{{ targets: [{target:?}] }}]\n",
        rules.canonicalize().unwrap()
    );
    std::fs::write(folder.path().join("prometheus.yml"), config).unwrap();
    // Free a moment ago.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut command = Command::new(&program);
    command.current_dir(folder.path()).args(["--config.file=prometheus.yml", "--storage.tsdb.path=data"]);
    command.arg(format!("--web.listen-address=127.0.0.1:{port}"));
    let mut prometheus = Reaped(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let has = |query: &str| get(port, &format!("/api/v1/query?query={query}")).contains("\"value\":[");
    let queries =
        ["zwhy_build_info", "zwhy_host_cpu_seconds_total%7Bmode=%22sys%22%7D", "zwhy_agent_resident_bytes"];
    for query in queries {
        assert!(wait_until(&mut prometheus.0, || has(query)), "{query}");
    }
    assert!(wait_until(&mut prometheus.0, || get(port, "/api/v1/query?query=up").contains(",\"1\"]")));
    let alerts = get(port, "/api/v1/rules");
    assert!(alerts.contains("ZfsPoolSuspended") && alerts.contains("ZwhyAgentCannotWrite"), "{alerts}");
    assert!(!alerts.contains("\"health\":\"err\""), "{alerts}");
}
