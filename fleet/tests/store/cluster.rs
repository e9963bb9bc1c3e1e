//! A scheduler and two executors as processes: every answer is the one that this process gives by itself, to the byte.

use crate::bucket::{BUCKET, bucket};
use crate::cluster_process::{Cluster, FLEET, Process};
use crate::digests::digests;
use crate::merging::{filled, now};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use zwhy_diagnose::Knowledge;
use zwhy_fleet::{Engine, Store, compact};

/// Asks both engines before and after the files of hosts are merged.
async fn both_answer_alike(store: &Store, cluster: &Cluster) {
    let distributed = store.clone().asked_by(Engine::Cluster(cluster.at()));
    for merged in [false, true] {
        if merged {
            let done = compact(store, &now(), &Knowledge::embedded()).await.unwrap();
            assert_eq!(done.hours, 1);
        }
        assert_eq!(digests(&distributed).await, digests(store).await, "merged: {merged}");
    }
    for executor in &cluster.executors {
        assert!(executor.jobs() > 0, "{} had no part in it", executor.line);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_answers_over_a_folder_as_one_process_does() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().display().to_string();
    let store = Store::open(&at).unwrap();
    filled(&store).await;
    both_answer_alike(&store, &Cluster::over(&at, &[])).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_answers_over_a_bucket_as_one_process_does() {
    let bucket = bucket().await;
    let store = bucket.store();
    filled(&store).await;
    let variables = bucket.variables();
    let at = format!("s3://{BUCKET}/all/hosts");
    let cluster = tokio::task::block_in_place(|| Cluster::over(&at, &variables));
    both_answer_alike(&store, &cluster).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_prints_the_same_with_a_scheduler_as_without() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().display().to_string();
    filled(&Store::open(&at).unwrap()).await;
    let cluster = Cluster::over(&at, &[]);
    for query in [
        "hosts --json",
        "stages",
        "stages --step 5s",
        "functions --most 500",
        "functions --event wait",
        "flame",
        "flame --format pprof",
        "findings --json",
        "kstat",
        "kstat --source arcstats --name size",
        "stages --from 2030-01-01 --json",
    ] {
        let print = |with: &[&str]| {
            let args = ["query"].into_iter().chain(query.split(' ')).chain(["--store", &at]);
            let out = Command::new(FLEET).args(args).args(with).output().unwrap();
            assert!(out.status.success(), "{query}: {}", String::from_utf8_lossy(&out.stderr));
            out.stdout
        };
        let alone = print(&[]);
        assert!(!alone.is_empty(), "{query}");
        assert_eq!(print(&["--scheduler", &cluster.scheduler.line]), alone, "{query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_answers_through_a_scheduler() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().display().to_string();
    filled(&Store::open(&at).unwrap()).await;
    let cluster = Cluster::over(&at, &[]);
    let answers = [vec![], vec!["--scheduler", &cluster.scheduler.line]].map(|with| {
        let args = [vec!["serve", "--store", &at, "--listen", "127.0.0.1:0"], with].concat();
        let server = Process::start(&args, &[]);
        let (address, token) = server.line.strip_prefix("http://").unwrap().split_once("/#token=").unwrap();
        ["stages", "flame", "hosts", "stages/steps?step=5m"].map(|path| {
            let mut stream = TcpStream::connect(address).unwrap();
            let request = format!(
                "GET /api/v1/{path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
                 Connection: close\r\n\r\n"
            );
            stream.write_all(request.as_bytes()).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            let (head, body) = answer.split_once("\r\n\r\n").unwrap();
            (head.lines().next().unwrap().to_owned(), body.to_owned())
        })
    });
    assert_eq!(answers[0], answers[1]);
    let is_good = |(head, body): &(String, String)| head.ends_with("200 OK") && body.len() > 100;
    assert!(answers[0].iter().all(is_good), "{answers:?}");
    assert!(cluster.executors.iter().any(|executor| executor.jobs() > 0));
}
