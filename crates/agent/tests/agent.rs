//! The agent on a host made of files: its counters move, its pool is exported, its module unloaded and loaded again.

mod made_host;

use made_host::{Ends, ONLINE, options, page, write_host};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use zwhy_agent::{Agent, AgentError, entries};
use zwhy_diagnose::Knowledge;

/// Works on the host until the page says `row`.
fn until(proc: &Path, url: &str, n: &mut u64, pool: bool, row: impl Fn(&str) -> bool) {
    let start = Instant::now();
    while !row(&page(url)) {
        assert!(start.elapsed() < Duration::from_secs(60), "{}", page(url));
        if proc.join("spl").exists() {
            *n += 1;
            write_host(proc, *n, pool.then_some(ONLINE));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn it_goes_on_whatever_becomes_of_the_pool_and_the_module() {
    let dir = tempfile::tempdir().unwrap();
    let (proc, stop) = (dir.path().join("proc"), AtomicBool::new(false));
    let mut n = 1;
    write_host(&proc, n, Some(ONLINE));
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
        write_host(&proc, n, Some(ONLINE));
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
    write_host(&dir.path().join("proc"), 1, Some(ONLINE));
    let mut options = options(dir.path());
    options.record.duration = Some(Duration::from_millis(400));
    let mut agent = Agent::start(options, Knowledge::embedded()).unwrap();
    assert!(matches!(agent.run(&AtomicBool::new(false)), Err(AgentError::Ended)));
}
