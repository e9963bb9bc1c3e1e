//! What evidence JSON keeps of good, odd and hostile files.

use super::{read as read_json, sniff};
use crate::{Confidence, ErrorKind, ImportOptions, Imported, Input};
use proptest::prelude::*;
use zwhy_evidence::PctKind;

fn read(text: &str) -> Imported {
    let imported =
        read_json(&Input::from_bytes("case.json", text.as_bytes().to_vec()), &ImportOptions::default())
            .expect("readable");
    assert!(imported.stats.balanced(), "{:?}", imported.stats);
    imported
}

#[test]
fn all_parts_arrive() {
    let text = r#"{"zwhy_evidence": 1, "zfs_version": "0.8.3", "kernel": 5.4, "os": null,
      "perf_top": [{"pct": "40,13%", "module": "[kernel.kallsyms]", "symbol": null, "children_pct": 50},
                   {"pct": 3, "comm": "z_rd_int", "module": "[zfs]", "symbol": "aes_xor_block", "note": 1}],
      "stacks": [{"pct": 12.5, "comm": "txg_sync", "frames": ["spa_sync", null, "brt_sync"]}, {"frames": []}],
      "threads_cpu": [{"comm": "dbuf_evict", "cpu_pct": "a lot"}, {"comm": "zfs", "cpu_pct": 310}, {"cpu_pct": 1}],
      "arcstats": {"size": "4.1G", "c": 100, "x": {}, "y": null},
      "params": {"zfs_arc_max": 0, "deep": {"a": [1]}},
      "props": {"recordsize": "1M", "tank/a": {"compression": "lz4", "atime": "off"}},
      "tables": [{"tool": "dd", "columns": ["bs", "MB/s"], "rows": [[4, 256.5], [null, {"a": 1}], 7]}],
      "future": 1}"#;
    let Imported { evidence: e, stats } = read(text);
    assert_eq!(e.host.zfs_version.as_deref(), Some("0.8.3"));
    assert_eq!(e.host.kernel.as_deref(), Some("5.4"));
    assert_eq!((e.flat[0].pct, e.flat[0].module.as_deref()), (Some(40.13), Some("kernel")));
    assert_eq!((e.flat[1].module.as_deref(), e.flat[1].symbol.as_str()), (Some("zfs"), "aes_xor_block"));
    assert_eq!(e.trees.len(), 1);
    assert_eq!(
        (e.trees[0].frames.join(";").as_str(), e.trees[0].kind),
        ("spa_sync;brt_sync", PctKind::Unclear)
    );
    assert_eq!((e.threads[0].cpu_pct, e.threads[1].cpu_pct), (None, Some(310.0)));
    assert_eq!(e.kstat("arcstats", "size").map(|k| k.value), Some(4.1 * 1024f64.powi(3)));
    assert_eq!(e.param("deep"), Some(r#"{"a":[1]}"#));
    assert_eq!(e.properties.iter().filter(|p| p.dataset.as_deref() == Some("tank/a")).count(), 2);
    assert_eq!(e.tables[0].rows, [["4", "256.5"], ["", r#"{"a":1}"#]]);
    assert_eq!((stats.read, stats.kept), (19, 14));
    assert_eq!(stats.dropped["unknown key"], 1);
    assert!(stats.warnings.iter().any(|w| w.contains("future") && w.contains("perf_top.note")), "{stats:?}");
}

#[test]
fn units_in_names_become_bytes() {
    let Imported { evidence: e, .. } = read(
        r#"{"zwhy_evidence": 1, "arcstats": {"c_mb": 8000, "c_min_gib": 1, "size": 5, "_mb": 1},
          "params": {"zfs_arc_min_gb": 4, "zfs_free_min_time_ms": 1000, "x_gb": "4 tried"}}"#,
    );
    let value = |name| e.kstat("arcstats", name).map(|k| k.value);
    assert_eq!(value("c"), Some(8000.0 * 1048576.0));
    assert_eq!((value("c_min"), value("size"), value("_mb")), (Some(1073741824.0), Some(5.0), Some(1.0)));
    assert_eq!((e.param("zfs_arc_min"), e.param("zfs_free_min_time_ms")), (Some("4294967296"), Some("1000")));
    assert_eq!(e.param("x_gb"), Some("4 tried"));
    let origin = e.kstat("arcstats", "c").map(|k| e.origin_name(k.origin)).unwrap();
    assert_eq!(origin, "case.json: c, given in units of 1048576 bytes");
}

#[test]
fn wrong_types_are_counted_not_fatal() {
    let Imported { stats, .. } = read(
        r#"{"zwhy_evidence": "one", "perf_top": 3, "stacks": [1, "x"], "arcstats": [], "params": "x", "os": []}"#,
    );
    assert_eq!((stats.kept, stats.dropped_total()), (0, 6));
    assert!(stats.warnings[0].contains("version"));
}

#[test]
fn what_is_not_json_is_an_error_with_a_place() {
    let options = ImportOptions::default();
    for text in ["{\"zwhy_evidence\": 1,\n", "[]", "{\"zwhy_evidence\": 1, \"arcstats\": {\"a\": 1e999}}"] {
        let error = read_json(&Input::from_bytes("x", text.as_bytes().to_vec()), &options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Damaged);
    }
    assert_eq!(sniff(b" {\"zwhy_evidence\":1}"), Confidence::Certain);
    assert_eq!(sniff(b"text \"zwhy_evidence\""), Confidence::No);
}

/// Any JSON value of limited size.
fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        ".{0,8}".prop_map(Into::into),
    ];
    let keys =
        "perf_top|stacks|threads_cpu|tables|arcstats|params|props|os|pct|comm|frames|rows|columns|symbol|x";
    leaf.prop_recursive(5, 64, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::vec((keys, inner), 0..6)
                .prop_map(|fields| serde_json::Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_object_is_read_and_accounted_for(value in json()) {
        let mut value = value;
        if let Some(fields) = value.as_object_mut() {
            fields.insert("zwhy_evidence".into(), 1.into());
            read(&value.to_string());
        }
    }
}
