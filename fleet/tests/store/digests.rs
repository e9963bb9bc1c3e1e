//! Every answer that a store gives, each as the digest of its text.

use ring::digest::{SHA256, digest};
use serde::Serialize;
use std::collections::BTreeMap;
use zwhy_diagnose::Knowledge;
use zwhy_fleet::{Apart, Picture, Scope, Store, findings, hosts, kstat_points, kstats, stages_over_time};
use zwhy_formats::{ExportOptions, export};
use zwhy_profile::Event;

fn of_bytes(bytes: &[u8]) -> String {
    digest(&SHA256, bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn of_rows(rows: &[impl Serialize]) -> String {
    assert!(!rows.is_empty());
    of_bytes(&serde_json::to_vec(rows).unwrap())
}

/// The digest of each answer, of all hosts and all times.
pub async fn digests(store: &Store) -> BTreeMap<&'static str, String> {
    let anatomy = &Knowledge::embedded().anatomy;
    let all = Scope::default;
    let picture = Picture::take(store, all(), Apart::Nothing).await.unwrap();
    assert_eq!(picture.refused, 0);
    let mut told = BTreeMap::from([
        ("stages", of_rows(&picture.stages(anatomy))),
        ("functions", of_rows(&picture.functions(Event::Cpu))),
    ]);
    let mut folded = Vec::new();
    export(&picture.evidence(), "folded", &ExportOptions::default(), "x", &mut folded).unwrap();
    told.insert("flame", of_bytes(&folded));
    told.insert("hosts", of_rows(&hosts(store, all(), anatomy).await.unwrap()));
    told.insert("steps", of_rows(&stages_over_time(store, all(), 5000, anatomy).await.unwrap()));
    told.insert("findings", of_rows(&findings(store, &all()).await.unwrap()));
    told.insert("kstats", of_rows(&kstats(store, all(), None, None).await.unwrap()));
    told.insert("readings", of_rows(&kstat_points(store, all(), "arcstats", "size").await.unwrap()));
    told
}
