//! The agent on a host made of files: its counters move, its pool is exported, its module unloaded and loaded again.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use zwhy_agent::{Agent, AgentError, AgentOptions, entries};
use zwhy_diagnose::Knowledge;
use zwhy_record::{RecordOptions, Target};

/// A kstat with names and values.
fn named(values: &[(&str, u64)]) -> String {
    let lines: String = values.iter().map(|(name, value)| format!("{name:<31} 4    {value}\n")).collect();
    format!("9 1 0x01 4 1088 5077712498 103811234573\nname type data\n{lines}")
}

/// The host after `n` steps of work.
fn write_host(proc: &Path, n: u64, pool: bool) {
    let zfs = proc.join("spl/kstat/zfs");
    fs::create_dir_all(zfs.join("tank")).unwrap();
    let user = 100 + n * 10;
    fs::write(
        proc.join("stat"),
        format!("cpu  {user} 0 50 900 0 0 0 0 0 0\ncpu0 {user} 0 50 900 0 0 0 0 0 0\n"),
    )
    .unwrap();
    fs::write(zfs.join("arcstats"), named(&[("hits", n * 1000), ("size", 9 << 20), ("c", 8 << 20)])).unwrap();
    if pool {
        fs::write(zfs.join("tank/state"), "ONLINE\n").unwrap();
        fs::write(zfs.join("tank/iostats"), named(&[("arc_read_bytes", n << 20)])).unwrap();
        let objset = format!(
            "{}dataset_name                    7    tank/home\n",
            named(&[("writes", 0), ("nwritten", 0), ("reads", n * 4), ("nread", n << 20)])
        );
        fs::write(zfs.join("tank/objset-0x36"), objset).unwrap();
    }
}

fn options(root: &Path) -> AgentOptions {
    let mut record = RecordOptions::without_file(Target::System);
    (record.sample_cpu, record.proc_root) = (false, root.join("proc"));
    record.interval = Duration::from_millis(100);
    let mut options = AgentOptions::new(root.join("spool"), record);
    options.listen = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
    (options.limits.file, options.limits.flush) = (Duration::from_secs(1), Duration::from_millis(300));
    (options.verdict_every, options.verdict_span) = (Duration::from_millis(500), Duration::from_secs(1));
    options
}

fn page(url: &str) -> String {
    let address = url.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/metrics")).unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /metrics HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// Works on the host until the page says `row`.
fn until(proc: &Path, url: &str, n: &mut u64, pool: bool, row: impl Fn(&str) -> bool) {
    let start = Instant::now();
    while !row(&page(url)) {
        assert!(start.elapsed() < Duration::from_secs(60), "{}", page(url));
        if proc.join("spl").exists() {
            *n += 1;
            write_host(proc, *n, pool);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Ends the agent when the test ends, however it does.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn it_goes_on_whatever_becomes_of_the_pool_and_the_module() {
    let dir = tempfile::tempdir().unwrap();
    let (proc, stop) = (dir.path().join("proc"), AtomicBool::new(false));
    let mut n = 1;
    write_host(&proc, n, true);
    let mut agent = Agent::start(options(dir.path()), Knowledge::embedded()).unwrap();
    let url = agent.listens().unwrap().to_owned();
    std::thread::scope(|scope| {
        let _ends = Ends(&stop);
        let running = scope.spawn(|| agent.run(&stop));
        let has = |text: &'static str| move |page: &str| page.contains(text);
        until(
            &proc,
            &url,
            &mut n,
            true,
            has("zwhy_pool_io_bytes_total{pool=\"tank\",path=\"arc\",op=\"read\"}"),
        );
        until(&proc, &url, &mut n, true, has("zwhy_dataset_operations_total{dataset="));
        until(&proc, &url, &mut n, true, has("zwhy_verdict_timestamp_seconds"));
        // The pool is exported.
        fs::remove_dir_all(proc.join("spl/kstat/zfs/tank")).unwrap();
        until(&proc, &url, &mut n, false, |page| {
            !page.contains("pool=\"tank\"") && page.contains("zwhy_arc_size_bytes")
        });
        // The module is unloaded, and loaded again.
        fs::remove_dir_all(proc.join("spl")).unwrap();
        until(&proc, &url, &mut n, false, |page| !page.contains("zwhy_arc_size_bytes"));
        n = 1;
        write_host(&proc, n, true);
        until(&proc, &url, &mut n, true, |page| {
            page.contains("zwhy_arc_size_bytes") && page.contains("pool=\"tank\"")
        });
        stop.store(true, Ordering::Relaxed);
        running.join().unwrap().unwrap();
    });
    drop(agent);
    let spool = dir.path().join("spool");
    assert!(entries(&spool).unwrap().iter().all(|entry| entry.seconds.is_some()), "all are finished");
    let status = fs::read_to_string(spool.join("status.json")).unwrap();
    assert!(status.contains("\"problem\": null") && status.contains("\"why\": \""), "{status}");
}

#[test]
fn a_recorder_that_ends_by_itself_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    write_host(&dir.path().join("proc"), 1, true);
    let mut options = options(dir.path());
    options.record.duration = Some(Duration::from_millis(400));
    let mut agent = Agent::start(options, Knowledge::embedded()).unwrap();
    assert!(matches!(agent.run(&AtomicBool::new(false)), Err(AgentError::Ended)));
}
