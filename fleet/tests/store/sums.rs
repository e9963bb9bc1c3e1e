//! Sums of five minutes answer as rows do, for every range, and whole steps without a row being read.

use crate::merging::now;
use crate::source::{path, samples_between, second, start_ms};
use zwhy_diagnose::Knowledge;
use zwhy_fleet::{
    Apart, FleetError, IngestOptions, Picture, Scope, Store, compact, ingest, stages_over_time,
};
use zwhy_profile::Event;

const STEP: i64 = 300_000;
/// The end of a step.
const EDGE: i64 = 1_795_374_000_000 + STEP;
/// The recording begins so long before it.
const BEFORE: i64 = 3_000;

async fn counted(store: &Store, from_ms: i64, to_ms: i64) -> Result<u64, FleetError> {
    let scope = Scope { hosts: Vec::new(), from_ms, to_ms };
    let picture = Picture::take(store, scope, Apart::Nothing).await?;
    Ok(picture.groups.iter().filter(|g| g.event == Event::Cpu).map(|g| g.count).sum())
}

/// The same, counted without an engine.
fn expected(from_ms: i64, to_ms: i64) -> u64 {
    let at = |ms: i64| second(ms).saturating_add(start_ms("gzip") - (EDGE - BEFORE));
    samples_between("gzip", at(from_ms), at(to_ms))
}

#[tokio::test]
async fn every_range_is_answered_and_whole_steps_without_rows() {
    let dir = tempfile::tempdir().unwrap();
    let (store, knowledge) = (Store::open(&dir.path().display().to_string()).unwrap(), Knowledge::embedded());
    let options = IngestOptions { host: Some("one".into()), start_ms: Some(EDGE - BEFORE) };
    ingest(&store, &path("gzip"), &options, &knowledge).await.unwrap();
    assert!(expected(i64::MIN, EDGE) > 100 && expected(EDGE, i64::MAX) > 100, "it goes over the edge");
    let whole = [
        (i64::MIN, i64::MAX),
        (i64::MIN, EDGE),
        (EDGE, i64::MAX),
        (EDGE - STEP, EDGE),
        (EDGE, EDGE + STEP),
        (EDGE - STEP, EDGE + 2 * STEP),
        (EDGE + STEP, EDGE + 2 * STEP),
    ];
    let odd = [
        (EDGE - 1, EDGE + 1),
        (EDGE - 1, EDGE),
        (EDGE, EDGE + 1),
        (EDGE - STEP + 1, EDGE + STEP - 1),
        (EDGE - 2_000, i64::MAX),
        (i64::MIN, EDGE + 2_000),
        (EDGE - STEP, EDGE + 1_234),
        (EDGE - 1_234, EDGE + STEP),
    ];
    for turn in ["by itself", "merged"] {
        for (from_ms, to_ms) in whole.iter().chain(&odd).copied() {
            let told = counted(&store, from_ms, to_ms).await.unwrap();
            assert_eq!(told, expected(from_ms, to_ms), "{turn}: {} to {}", from_ms - EDGE, to_ms - EDGE);
        }
        let points = stages_over_time(&store, Scope::default(), STEP, &knowledge.anatomy).await.unwrap();
        for begin in [EDGE - STEP, EDGE] {
            let of_step = points.iter().filter(|p| p.begin_ms == begin).map(|p| p.samples).sum::<u64>();
            assert_eq!(of_step, expected(begin, begin + STEP), "{turn}");
        }
        compact(&store, &now(), &knowledge).await.unwrap();
    }
    // Without the rows, whole steps are answered still, and a part of a step is an error and not a smaller number.
    std::fs::remove_dir_all(dir.path().join("merged/samples")).unwrap();
    for (from_ms, to_ms) in whole {
        assert_eq!(counted(&store, from_ms, to_ms).await.unwrap(), expected(from_ms, to_ms));
    }
    assert!(counted(&store, EDGE - 1_234, EDGE + STEP).await.is_err());
    assert!(stages_over_time(&store, Scope::default(), 1000, &knowledge.anatomy).await.is_err());
}
