//! A host made of files, and an agent for it that is in a hurry.
#![allow(dead_code)] // each test file uses a part

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use zwhy_agent::AgentOptions;
use zwhy_record::{RecordOptions, Target};

/// A kstat with names and values.
fn named(values: &[(&str, u64)]) -> String {
    let lines: String = values.iter().map(|(name, value)| format!("{name:<31} 4    {value}\n")).collect();
    format!("9 1 0x01 4 1088 5077712498 103811234573\nname type data\n{lines}")
}

/// What the kernel says of a pool that works.
pub const ONLINE: &str = "ONLINE";

/// The host after `n` steps of work; `pool` is the state of its pool, if it has one.
pub fn write_host(proc: &Path, n: u64, pool: Option<&str>) {
    let zfs = proc.join("spl/kstat/zfs");
    fs::create_dir_all(zfs.join("tank")).unwrap();
    let user = 100 + n * 10;
    fs::write(
        proc.join("stat"),
        format!("cpu  {user} 0 50 900 0 0 0 0 0 0\ncpu0 {user} 0 50 900 0 0 0 0 0 0\n"),
    )
    .unwrap();
    fs::write(zfs.join("arcstats"), named(&[("hits", n * 1000), ("size", 9 << 20), ("c", 8 << 20)])).unwrap();
    if let Some(state) = pool {
        fs::write(zfs.join("tank/state"), format!("{state}\n")).unwrap();
        fs::write(zfs.join("tank/iostats"), named(&[("arc_read_bytes", n << 20)])).unwrap();
        let objset = format!(
            "{}dataset_name                    7    tank/home\n",
            named(&[("writes", 0), ("nwritten", 0), ("reads", n * 4), ("nread", n << 20)])
        );
        fs::write(zfs.join("tank/objset-0x36"), objset).unwrap();
    }
}

pub fn options(root: &Path) -> AgentOptions {
    let mut record = RecordOptions::without_file(Target::System);
    (record.sample_cpu, record.proc_root) = (false, root.join("proc"));
    record.interval = Duration::from_millis(100);
    let mut options = AgentOptions::new(root.join("spool"), record);
    options.listen = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
    (options.limits.file, options.limits.flush) = (Duration::from_secs(1), Duration::from_millis(300));
    (options.verdict_every, options.verdict_span) = (Duration::from_millis(500), Duration::from_secs(1));
    options
}

/// The agent's page of metrics, with its head.
pub fn page(url: &str) -> String {
    let address = url.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/metrics")).unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /metrics HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// Ends the agent when the test ends, however it does.
pub struct Ends<'a>(pub &'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
