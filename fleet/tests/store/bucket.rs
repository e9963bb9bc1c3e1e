//! The same store in a bucket of S3: a server of it in this process, over a folder.

use crate::digests::digests;
use crate::dying::Dying;
use crate::merging::{copy, expected, files, filled, keep_replaced, now, told};
use crate::source::{CAPTURES, answer, evidence, of, path};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use std::collections::BTreeSet;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use zwhy_diagnose::Knowledge;
use zwhy_fleet::{Apart, Picture, Scope, Store, compact};
use zwhy_profile::Event;

pub const BUCKET: &str = "zwhy";

/// A server, until the test ends.
pub struct Bucket {
    pub folder: tempfile::TempDir,
    endpoint: String,
    /// Answers to conditional writes that get lost from now on.
    lost: Arc<AtomicI64>,
}

pub async fn bucket() -> Bucket {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(BUCKET)).unwrap();
    let mut builder = S3ServiceBuilder::new(s3s_fs::FileSystem::new(folder.path()).unwrap());
    builder.set_auth(SimpleAuth::from_single("id", "secret"));
    let (server, lost) = (builder.build(), Arc::new(AtomicI64::new(0)));
    // This one looks whether an object is there and then writes it; S3 does both at once.
    let one = Arc::new(tokio::sync::Mutex::new(()));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let losing = Arc::clone(&lost);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (server, one, lost) = (server.clone(), Arc::clone(&one), Arc::clone(&losing));
            let answer = service_fn(move |request: Request<Incoming>| {
                let (server, one, lost) = (server.clone(), Arc::clone(&one), Arc::clone(&lost));
                async move {
                    let conditional = request.headers().contains_key("if-none-match");
                    let writes = request.method() == Method::PUT;
                    let _alone = if writes { Some(one.lock().await) } else { None };
                    let answer = server.call(request.map(s3s::Body::from)).await;
                    if writes && conditional && lost.fetch_sub(1, Ordering::SeqCst) > 0 {
                        let mut answer = Response::new(s3s::Body::empty());
                        *answer.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
                        return Ok(answer);
                    }
                    answer
                }
            });
            let http = hyper::server::conn::http1::Builder::new();
            tokio::spawn(async move { drop(http.serve_connection(TokioIo::new(stream), answer).await) });
        }
    });
    Bucket { folder, endpoint, lost }
}

impl Bucket {
    pub fn variables(&self) -> [(&'static str, &str); 3] {
        [
            ("AWS_ENDPOINT_URL", &self.endpoint),
            ("AWS_ACCESS_KEY_ID", "id"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
        ]
    }

    pub fn store(&self) -> Store {
        self.store_at("all/hosts")
    }

    fn store_at(&self, prefix: &str) -> Store {
        let variables = self.variables().map(|(name, value)| (name, value.to_owned()));
        let env = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| value.clone());
        Store::open_with(&format!("s3://{BUCKET}/{prefix}"), &env).unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_answers_as_a_folder_does_and_is_merged() {
    let bucket = bucket().await;
    let (store, knowledge) = (bucket.store(), Knowledge::embedded());
    filled(&store).await;
    let want = expected();
    assert_eq!(told(&store).await, want);
    // The first manifest is made, and the answer gets lost: the next attempt finds its own.
    bucket.lost.store(1, Ordering::SeqCst);
    let done = compact(&store, &keep_replaced(), &knowledge).await.unwrap();
    assert_eq!((done.hours, done.units, done.lost), (1, 2, 0));
    assert!(bucket.lost.load(Ordering::SeqCst) <= 0, "an answer was lost");
    assert_eq!(told(&store).await, want, "nothing is doubled or lost");
    let done = compact(&store, &now(), &knowledge).await.unwrap();
    assert!(done.hours == 0 && done.removed > 10, "{done:?}");
    assert_eq!(told(&store).await, want);
    let picture = Picture::take(&store, of("sync"), Apart::Nothing).await.unwrap();
    assert_eq!(
        picture.evidence().profile.samples.total(Event::Cpu),
        evidence("sync").profile.samples.total(Event::Cpu)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn compactors_of_one_bucket_count_everything_once() {
    let bucket = bucket().await;
    let store = bucket.store();
    filled(&store).await;
    let merging: Vec<_> = (0..3)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move { compact(&store, &keep_replaced(), &Knowledge::embedded()).await })
        })
        .collect();
    let mut hours = 0;
    for merged in merging {
        hours += merged.await.unwrap().unwrap().hours;
    }
    assert_eq!((hours, told(&store).await), (1, expected()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_compactor_of_a_bucket_that_dies_at_any_step_doubles_and_loses_nothing() {
    let bucket = bucket().await;
    filled(&bucket.store_at("full")).await;
    let (knowledge, want) = (Knowledge::embedded(), expected());
    let root = bucket.folder.path().join(BUCKET);
    let mut deaths = 0;
    for step in 0.. {
        copy(&root.join("full"), &root.join(format!("{step}")));
        let store = bucket.store_at(&format!("{step}"));
        // Every second death is after the deed, before anybody is told; in a folder (`merging.rs`) it is the others.
        let dying = Store::over(Arc::new(Dying::over(store.clone(), step, step % 2 == 0)));
        let ended = compact(&dying, &now(), &knowledge).await;
        assert_eq!(told(&store).await, want, "after death at {step}");
        compact(&store, &now(), &knowledge).await.unwrap();
        assert_eq!(told(&store).await, want, "after another one, step {step}");
        let left = files(&root.join(format!("{step}")));
        let of = |folder: &str| left.iter().filter(|f| f.starts_with(folder)).count();
        assert_eq!((of("samples/"), of("facts/"), of("manifest/")), (0, 0, 1), "step {step}: {left:?}");
        if ended.is_ok() {
            break;
        }
        deaths += 1;
    }
    assert!(deaths > 15, "{deaths}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_of_a_bucket_is_that_of_a_folder_to_the_byte() {
    let (bucket, folder) = (bucket().await, tempfile::tempdir().unwrap());
    let stores = [bucket.store(), Store::open(&folder.path().display().to_string()).unwrap()];
    let mut told = Vec::new();
    for store in &stores {
        filled(store).await;
        let before = digests(store).await;
        compact(store, &now(), &Knowledge::embedded()).await.unwrap();
        assert_eq!(digests(store).await, before, "merged files answer as units do");
        told.push(before);
    }
    assert_eq!(told[0], told[1]);
    let different: BTreeSet<&String> = told[0].values().collect();
    assert_eq!(different.len(), told[0].len(), "no two answers are the same, and none is empty");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_reads_the_variables_and_wrong_keys_are_told() {
    let bucket = bucket().await;
    let at = format!("s3://{BUCKET}/program");
    let run = |args: Vec<String>, secret: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zwhy-fleet"));
        command.args(args).envs(bucket.variables());
        command.envs(secret.map(|secret| ("AWS_SECRET_ACCESS_KEY", secret)));
        tokio::task::spawn_blocking(move || command.output().unwrap())
    };
    let ingest = ["ingest", &path(CAPTURES[0]).display().to_string(), "--store", &at].map(str::to_owned);
    let out = run(ingest.to_vec(), None).await.unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let query = ["query", "stages", "--json", "--store", &at].map(str::to_owned);
    let out = run(query.to_vec(), None).await.unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let stages: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(stages[0]["samples"], answer(CAPTURES[0]).stages[0].samples);
    let out = run(query.to_vec(), Some("wrong")).await.unwrap();
    let told = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(!out.status.success() && told.starts_with("error: cannot list"), "{told}");
    assert!(
        Picture::take(&bucket.store(), Scope::default(), Apart::Nothing).await.unwrap().groups.is_empty()
    );
}
