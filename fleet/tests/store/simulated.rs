//! Hosts made of recordings: as many as were asked for, and the same ones for the same seed.

use crate::merging::{files, keep_replaced};
use crate::source::path;
use zwhy_capture::Capture;
use zwhy_diagnose::Knowledge;
use zwhy_fleet::{Apart, Picture, Scope, Simulation, Store, compact, hosts, kstat_points, simulate, units};
use zwhy_profile::Event;

const MINUTE: Simulation = Simulation {
    hosts: 1,
    seconds: 60,
    start_ms: 1_795_370_000_000,
    unit_s: 20,
    rate: None,
    interval_s: 5,
    seed: 1,
};

async fn made(seed: u64) -> (tempfile::TempDir, Store, zwhy_fleet::Simulated) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().display().to_string()).unwrap();
    let recordings: Vec<Capture> =
        ["gzip", "program"].iter().map(|name| Capture::open(&path(name)).unwrap()).collect();
    let simulation = Simulation { hosts: 3, seed, ..MINUTE };
    let simulated = simulate(&store, &simulation, &recordings).await.unwrap();
    (dir, store, simulated)
}

#[tokio::test]
async fn hosts_are_as_many_as_asked_for_and_hold_what_is_told() {
    let (_dir, store, simulated) = made(7).await;
    let all = units(&store, &Scope::default()).await.unwrap();
    assert_eq!((simulated.units, all.len()), (9, 9));
    let picture = Picture::take(&store, Scope::default(), Apart::Hosts).await.unwrap();
    let own: u64 = picture.groups.iter().filter(|g| g.event == Event::Cpu).map(|g| g.count).sum();
    // Samples of the recorder itself are set aside, as everywhere.
    assert!(own > 9 * 100, "{own} of {}", simulated.samples);
    let rows = hosts(&store, Scope::default(), &Knowledge::embedded().anatomy).await.unwrap();
    assert_eq!(rows.iter().map(|row| row.cpu.samples).sum::<u64>(), own);
    assert_eq!(rows.iter().map(|row| row.units).collect::<Vec<_>>(), [3, 3, 3]);
    // Counters never fall from one unit to the next of the same load.
    let scope = Scope { hosts: vec!["sim00000".into()], ..Scope::default() };
    let hits = kstat_points(&store, scope, "arcstats", "hits").await.unwrap();
    let falls = hits.windows(2).filter(|two| two[1].value < two[0].value).count();
    assert!(hits.len() >= 6 && falls <= 1, "{falls} of {}", hits.len());

    let (_dir, again, same) = made(7).await;
    assert_eq!(same, simulated);
    let twin = Picture::take(&again, Scope::default(), Apart::Hosts).await.unwrap();
    assert_eq!(twin.groups, picture.groups);
    let (_dir, other, _) = made(8).await;
    let other = Picture::take(&other, Scope::default(), Apart::Hosts).await.unwrap();
    assert_ne!(other.groups, picture.groups);
}

#[tokio::test]
async fn rate_and_interval_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().display().to_string()).unwrap();
    let recordings = [Capture::open(&path("gzip")).unwrap()];
    let simulation = Simulation { hosts: 2, rate: Some(50), ..MINUTE };
    let simulated = simulate(&store, &simulation, &recordings).await.unwrap();
    assert!((5_400..=6_600).contains(&simulated.samples), "{} of two hosts' minute", simulated.samples);
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().display().to_string()).unwrap();
    let seldom = Simulation { interval_s: 20, ..simulation };
    let seldom = simulate(&store, &seldom, &recordings).await.unwrap();
    assert!(seldom.readings > 0 && seldom.readings * 2 < simulated.readings, "{seldom:?}, {simulated:?}");
}

#[tokio::test]
async fn hosts_together_are_the_same_with_totals_without_them_and_before_the_merge() {
    let (dir, store, _) = made(7).await;
    let together = async || Picture::take(&store, Scope::default(), Apart::Nothing).await.unwrap().groups;
    let before = together().await;
    compact(&store, &keep_replaced(), &Knowledge::embedded()).await.unwrap();
    assert_eq!(together().await, before);
    let held = files(dir.path());
    assert!(held.iter().any(|file| file.starts_with("merged/totals/")), "{held:?}");
    // As a merge of a version that had none.
    for manifest in held.iter().filter(|file| file.starts_with("manifest/")) {
        let path = dir.path().join(manifest);
        let mut text: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        text["files"].as_array_mut().unwrap().retain(|file| file["table"] != "totals");
        std::fs::write(&path, text.to_string()).unwrap();
    }
    assert_eq!(together().await, before);
}

#[tokio::test]
async fn merged_samples_take_less_than_a_byte() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().display().to_string()).unwrap();
    let recording = Capture::open(&path("gzip")).unwrap();
    let simulation = Simulation { seed: 7, ..MINUTE };
    let simulated = simulate(&store, &simulation, &[recording]).await.unwrap();
    compact(&store, &keep_replaced(), &Knowledge::embedded()).await.unwrap();
    let bytes = |folder: &str| -> u64 {
        let all = files(dir.path()).into_iter().filter(|file| file.starts_with(folder));
        all.map(|file| dir.path().join(file).metadata().unwrap().len()).sum()
    };
    let (merged, sent) = (bytes("merged/samples/"), bytes("samples/"));
    assert!(merged > 0 && merged < simulated.samples, "{merged} bytes of {} samples", simulated.samples);
    assert!(sent > 4 * simulated.samples, "{sent} bytes as they were sent");
}
