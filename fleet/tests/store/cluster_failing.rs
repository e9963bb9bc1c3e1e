//! A cluster that fails: what is lost is done again, and where that cannot be, what to do is told.

use crate::cluster_process::{Cluster, FLEET, executor, scheduler};
use crate::digests::digests;
use crate::merging::filled;
use std::io::{Read, Write};
use std::process::Command;
use std::time::{Duration, Instant};
use zwhy_fleet::{Apart, Engine, Picture, Scope, Store};

async fn store() -> (tempfile::TempDir, String, Store) {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().display().to_string();
    let store = Store::open(&at).unwrap();
    filled(&store).await;
    (folder, at, store)
}

/// What the program says where a query fails, and how long it took.
fn failure(store: &str, scheduler: &str) -> (String, Duration) {
    let begun = Instant::now();
    let args = ["query", "stages", "--store", store, "--scheduler", scheduler];
    let out = Command::new(FLEET).args(args).output().unwrap();
    assert!(!out.status.success());
    (String::from_utf8(out.stderr).unwrap(), begun.elapsed())
}

/// The executor that is asked has work and does none when it is killed, so the query cannot have ended before.
#[tokio::test(flavor = "multi_thread")]
async fn an_executor_that_is_killed_while_it_works_costs_seconds_and_no_row() {
    let (_folder, at, store) = store().await;
    let cluster = Cluster::over(&at, &[]);
    let distributed = store.clone().asked_by(Engine::Cluster(cluster.at()));
    let want = digests(&store).await;
    assert_eq!(digests(&distributed).await, want);
    cluster.executors[0].signal("-STOP");
    let query = tokio::spawn(async move {
        Picture::take(&distributed, Scope::default(), Apart::Hosts).await.map(|picture| picture.groups)
    });
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert!(!query.is_finished(), "the query waits for the executor that does nothing");
    let begun = Instant::now();
    cluster.executors[0].signal("-KILL");
    let groups = query.await.unwrap().unwrap();
    let took = begun.elapsed();
    let _ = writeln!(std::io::stderr(), "right answer {:.1} s after the kill", took.as_secs_f64());
    assert!(took < Duration::from_secs(10), "{took:?}");
    assert_eq!(groups, Picture::take(&store, Scope::default(), Apart::Hosts).await.unwrap().groups);
    // What is asked later is not slowed by the one that is gone, and one that comes is taken.
    let _third = executor(&at, &cluster.scheduler.line, &[]);
    let distributed = store.asked_by(Engine::Cluster(cluster.at()));
    assert_eq!(digests(&distributed).await, want);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scheduler_that_dies_while_it_is_asked_is_told() {
    let (_folder, at, store) = store().await;
    let cluster = Cluster::over(&at, &[]);
    cluster.executors.iter().for_each(|executor| executor.signal("-STOP"));
    let distributed = store.asked_by(Engine::Cluster(cluster.at()));
    let query =
        tokio::spawn(async move { Picture::take(&distributed, Scope::default(), Apart::Nothing).await });
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert!(!query.is_finished());
    let begun = Instant::now();
    cluster.scheduler.signal("-KILL");
    let error = query.await.unwrap().err().unwrap().to_string();
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert!(error.contains(&cluster.scheduler.line) && error.contains("does not answer"), "{error}");
    assert!(error.contains("zwhy-fleet scheduler"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_scheduler_or_has_no_executors_is_told() {
    let (_folder, at, _store) = store().await;
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (told, took) = failure(&at, &format!("df://{nobody}"));
    assert!(told.contains("does not answer") && told.contains("leave out --scheduler"), "{told}");
    assert!(took < Duration::from_secs(5), "{took:?}");

    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = other.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in other.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 512]);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nServer: other\r\nContent-Length: 0\r\n\r\n");
        }
    });
    let (told, _) = failure(&at, &format!("df://{address}"));
    assert!(told.contains("something else answers") && told.contains("zwhy-fleet scheduler"), "{told}");

    let alone = scheduler();
    let (told, took) = failure(&at, &alone.line);
    assert!(told.contains("has no executors") && told.contains("zwhy-fleet executor"), "{told}");
    assert!(took < Duration::from_secs(20), "{took:?}");

    let (told, _) = failure(&at, "127.0.0.1");
    assert!(told.contains("is no scheduler; write df://HOST:PORT"), "{told}");
}

#[test]
fn nobody_listens_beyond_the_machine_by_mistake() {
    for args in [
        ["scheduler", "--listen", "0.0.0.0:0", "--name", "x"].as_slice(),
        &["executor", "--store", "/tmp", "--scheduler", "df://127.0.0.1:1", "--listen", "0.0.0.0:0"],
    ] {
        let out = Command::new(FLEET).args(args).output().unwrap();
        let told = String::from_utf8_lossy(&out.stderr);
        assert!(!out.status.success() && told.contains("--private-network"), "{args:?}: {told}");
    }
}
