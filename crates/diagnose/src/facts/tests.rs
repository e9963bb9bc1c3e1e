//! Questions with the evidence that answers them, and with evidence that does not.

use super::{FactBase, Query, Value};
use crate::anatomy::Anatomy;
use crate::knowledge::Fixture;
use crate::pattern::Pattern;

/// The answer to a question such as `share('a')` by evidence in TOML.
fn ask(evidence: &str, question: &str) -> Option<Value> {
    let fixture: Fixture = toml::from_str(evidence).unwrap();
    let (evidence, bad) = fixture.evidence();
    assert!(bad.is_empty(), "{bad:?}");
    let anatomy = Anatomy::load(&[], &mut Vec::new());
    let facts = FactBase::new(&evidence, &anatomy);
    let (name, arguments) = question.split_once('(').unwrap();
    let arguments = arguments.trim_end_matches(')').split(", ").map(|a| a.trim_matches('\'').to_owned());
    let query = Query::new(name, arguments.collect()).unwrap();
    assert_eq!(query.text(), question);
    facts.answer(&query).map(|r| r.value)
}

#[track_caller]
fn check(evidence: &str, cases: &[(&str, Option<Value>)]) {
    for (question, expected) in cases {
        let got = ask(evidence, question);
        let same = match (&got, expected) {
            (Some(Value::Number(a)), Some(Value::Number(b))) => (a - b).abs() < 1e-9,
            (got, expected) => got == expected,
        };
        assert!(same, "{question}: {got:?} instead of {expected:?}");
    }
}

fn number(n: f64) -> Option<Value> {
    Some(Value::Number(n))
}

fn truth(b: bool) -> Option<Value> {
    Some(Value::Truth(b))
}

const SAMPLES: &str = r#"samples = [
    "x;zio_execute;vdev_io;abd_copy;memcpy 60",
    "x;zio_execute;arc_read;abd_copy;memcpy 30",
    "x;arc_read;zio_execute;memcpy 8",
    "x;other;memcpy 2",
]"#;

#[test]
fn callers_that_must_and_must_not_be_there() {
    check(
        SAMPLES,
        &[
            ("under('memcpy', 'zio_execute')", number(0.98)),
            ("under_not('memcpy', 'zio_execute', 'arc_read')", number(0.6)),
            ("under_not('memcpy', 'zio_execute', 'nowhere')", number(0.98)),
            ("under_not('zio_execute', 'zio_execute', 'arc_read')", number(0.0)),
            ("called_by('memcpy', 'abd_copy')", number(0.9)),
            ("called_by('memcpy', 'zio_execute|other')", number(0.1)),
            ("called_by('abd_copy', 'zio_execute')", number(0.0)),
        ],
    );
    let pasted = r#"stacks = ["x;a;b;f 40", "x;a;f 10", "x;c;f"]"#;
    check(
        pasted,
        &[
            ("under_not('f', 'a', 'b')", number(0.1)),
            ("under_not('f', 'c', 'b')", None),
            ("called_by('f', 'a')", number(0.1)),
            ("called_by('f', 'b')", number(0.4)),
            ("called_by('b', 'f')", None),
        ],
    );
}

#[test]
fn what_is_seen_matters_from_a_share_on() {
    // Of 100 samples 2 may be 0.6 to 7 %, 8 may be 4 to 15 %.
    check(
        SAMPLES,
        &[
            ("seen('other')", None),
            ("seen('other', '0.5%')", truth(true)),
            ("seen('other', '2 %')", None),
            ("seen('other', '5 %')", truth(false)),
            ("seen('arc_read')", truth(true)),
            ("calls('arc_read', 'zio_execute')", truth(true)),
            ("calls('arc_read', 'zio_execute', '5 %')", None),
            ("calls('arc_read', 'memcpy', '5 %')", truth(true)),
            ("calls('other', 'memcpy', '5 %')", truth(false)),
            ("seen('nowhere', '5 %')", truth(false)),
            ("seen('nowhere')", truth(false)),
            ("part_of('memcpy', 'arc_read')", number(1.0)),
            ("part_of('memcpy', 'other')", None),
        ],
    );
    let one = r#"samples = ["x;zfs_read;memcpy 30000", "x;rare;mutex_lock 1"]"#;
    check(one, &[("seen('rare')", truth(false)), ("calls('rare', 'mutex_lock')", truth(false))]);
    // Where a thread waits it takes no CPU.
    let asleep = r#"
        samples = ["x;zfs_read;memcpy 30000"]
        waiting = ["x;rare;cv_wait"]
    "#;
    check(asleep, &[("seen('rare')", truth(true)), ("seen('rare', '2 %')", truth(true))]);
    // A name without a figure still counts; nothing is known of what is not named.
    let pasted = r#"
        stacks = ["x;a;f 40", "x;b;f 1", "x;c;f"]
        flat = ["4 [zfs] g", "30 [zfs] h"]
    "#;
    check(
        pasted,
        &[
            ("calls('a', 'f', '5 %')", truth(true)),
            ("calls('b', 'f', '5 %')", truth(false)),
            ("calls('c', 'f', '5 %')", truth(true)),
            ("calls('d', 'f', '5 %')", None),
            ("seen('g', '5 %')", truth(false)),
            ("seen('h', '5 %')", truth(true)),
            ("seen('c', '5 %')", truth(true)),
            ("seen('nothing', '5 %')", None),
        ],
    );
    for bad in ["5", "0 %", "101 %", "x %"] {
        assert!(Query::new("seen", vec!["a".into(), bad.into()]).is_err(), "{bad}");
    }
}

#[test]
fn cells_are_texts_too() {
    let tables = r#"
        tables = [{ tool = "zpool status", columns = ["NAME", "STATE", "READ"],
                    rows = [["tank", "ONLINE", 0], ["sda", "FAULTED", "12K"]] }]
    "#;
    let text = |s: &str| Some(Value::Text(s.to_owned()));
    check(
        tables,
        &[
            ("cell_text('zpool status', 'sda', 'state')", text("FAULTED")),
            ("cell_text('zpool status', 'sdb', 'state')", None),
            ("cell('zpool status', 'sda', 'read')", number(12288.0)),
            ("column_has('zpool status', 'state', 'FAULTED|DEGRADED')", truth(true)),
            ("column_has('zpool status', 'state', 'DEGRADED')", truth(false)),
            ("column_has('zpool status', 'nothing', 'DEGRADED')", None),
            ("column_has('iostat', 'state', 'DEGRADED')", None),
        ],
    );
}

#[test]
fn a_kstat_pasted_as_a_table_is_that_kstat() {
    let tables = r#"
        kstats = { abdstats = { linear_cnt = 7 } }
        tables = [
          { tool = "abdstats (during)", columns = ["name", "type", "data"],
            rows = [["linear_cnt", 4, 3], ["scatter_chunk_waste", 4, 5000]] },
          { tool = "dmu_tx", columns = ["dmu_tx_assigned", "dmu_tx_quota"], rows = [[10, 0], [20, 1]] },
          { tool = "my notes", columns = ["name", "data"], rows = [["c_max", 1]] },
        ]
    "#;
    check(
        tables,
        &[
            ("kstat('abdstats', 'scatter_chunk_waste')", number(5000.0)),
            ("kstat('abdstats', 'linear_cnt')", number(7.0)),
            ("kstat('dmu_tx', 'dmu_tx_assigned')", number(20.0)),
            ("kstat('arcstats', 'c_max')", None),
            ("rate('abdstats', 'scatter_chunk_waste')", None),
        ],
    );
}

#[test]
fn benchmarks_of_a_capture_are_tables() {
    let facts = r#"facts.bench.vdev_raidz_bench = { columns = ["implementation", "gen_p"],
                   rows = [["scalar", "1100"], ["fastest", "9000"]] }"#;
    check(facts, &[("cell('vdev_raidz_bench', 'fastest', 'gen_p')", number(9000.0))]);
}

#[test]
fn the_lowest_nice_value_of_threads() {
    let threads = r#"nice = { "z_wr_iss/0" = 19, "z_wr_iss/1" = -2, txg_sync = 0 }"#;
    check(
        threads,
        &[
            ("thread_nice('z_wr_iss')", number(-2.0)),
            ("thread_nice('txg_sync')", number(0.0)),
            ("thread_nice('arc_prune')", None),
        ],
    );
}

#[test]
fn lists_have_lengths() {
    let facts = r#"
        [facts]
        mounts = ["a on /a", "b on /b"]
        snapshots = 5000
        [[facts.pools]]
        name = "tank"
        vdevs = [{ name = "mirror-0", vdevs = [{ name = "sda" }, { name = "sdb" }] }, { name = "sdc" }]
    "#;
    check(
        facts,
        &[
            ("count('mounts')", number(2.0)),
            ("count('snapshots')", number(5000.0)),
            ("count('pools')", number(1.0)),
            ("count('vdevs')", number(3.0)),
            ("count('datasets')", None),
        ],
    );
    assert!(Query::new("count", vec!["cats".into()]).unwrap_err().contains("there are pools"));
}

#[test]
fn implementations_that_a_parameter_offers() {
    let params = r#"params = { icp_gcm_impl = "cycle [fastest] generic pclmulqdq", zfs_arc_max = 0 }"#;
    check(
        params,
        &[
            ("offered('icp_gcm_impl', 'pclmulqdq')", truth(true)),
            ("offered('icp_gcm_impl', 'avx*')", truth(false)),
            ("offered('zfs_arc_max', 'avx')", None),
            ("offered('icp_aes_impl', 'aesni')", None),
        ],
    );
}

#[test]
fn counts_that_somebody_wrote_down() {
    let written = r#"
        params = { "mounted datasets" = "5300", zfs_snapshot_history_enabled = 1 }
        props = { filesystem_limit = "9000" }
        tables = [{ tool = "time zfs list", columns = ["snapshots", "s"], rows = [[100, 0.1], [4163, 4]] },
                  { tool = "zpool status", columns = ["what", "count"], rows = [["vdevs", 700], ["fs-mounted", 9000]] }]
    "#;
    check(
        written,
        &[
            ("count('mounts')", number(5300.0)),
            ("count('snapshots')", number(4163.0)),
            ("count('vdevs')", number(700.0)),
            ("count('pools')", None),
        ],
    );
}

#[test]
fn lock_statistics_are_waiting_stacks() {
    let table = r#"
        [[tables]]
        tool = "lockstat (4 KiB reads)"
        columns = ["Count", "nsec", "Lock", "Caller"]
        rows = [[999, 2210, "&dn->dn_struct_rwlock", "dbuf_hold+0x34"], [620, 2100, "", "zil_commit"]]
    "#;
    check(
        table,
        &[
            ("calls('dbuf_hold', 'rw_enter')", truth(true)),
            ("calls('dbuf_hold', 'dn_struct_rwlock')", truth(true)),
            ("calls('zil_commit', 'mutex_enter')", truth(true)),
            ("waits('dn_struct_rwlock')", truth(true)),
            ("share('dbuf_hold')", None),
        ],
    );
}

/// Of a pattern with many names only those that a table holds are told as seen.
#[test]
fn names_in_tables_are_told_and_no_others() {
    let fixture: Fixture = toml::from_str(
        r#"tables = [{ tool = "slabtop", columns = ["objs", "name"], rows = [["12", "zio_buf_512"], ["3", "dentry"]] }]"#,
    )
    .unwrap();
    let (evidence, anatomy) = (fixture.evidence().0, Anatomy::load(&[], &mut Vec::new()));
    let facts = FactBase::new(&evidence, &anatomy);
    assert_eq!(facts.names(&Pattern::new("zio_buf_512|zio_buf_1024|zio_buf_1536"), 4), ["zio_buf_512"]);
}

#[test]
fn a_row_may_have_several_names() {
    let flat = r#"flat = ["9 [zfs] arc_space_consume / arc_space_return"]"#;
    check(
        flat,
        &[
            ("self_share('arc_space_consume|arc_space_return')", number(0.09)),
            ("seen('arc_space_return')", truth(true)),
            ("self_share('arc_space_return')", None),
        ],
    );
}

#[test]
fn what_was_pasted_as_a_table_of_names_and_values() {
    let tables = r#"
        os = "Debian 11 (Atom C3558)"
        [[tables]]
        tool = "zpool get all tank"
        columns = ["NAME", "PROPERTY", "VALUE", "SOURCE"]
        rows = [["tank", "bcloneused", "19.1T", "-"], ["tank", "autotrim", "on", "local"]]
        [[tables]]
        tool = "module parameters"
        columns = ["parameter", "value"]
        rows = [["zfs_arc_max", 1024], ["icp_aes_impl", "cycle [fastest] generic"]]
    "#;
    check(
        tables,
        &[
            ("prop('autotrim', 'on')", truth(true)),
            ("prop_number('bcloneused')", number(19.1 * 1024f64.powi(4))),
            ("param('zfs_arc_max')", number(1024.0)),
            ("offered('icp_aes_impl', 'aesni')", truth(false)),
            ("param('autotrim')", None),
            ("cpu_model('*atom c*')", truth(true)),
            ("cpu_model('*xeon*')", None),
        ],
    );
}

#[test]
fn settings_are_found_by_path_and_under_either_name() {
    check(
        r#"params = { "/sys/kernel/mm/lru_gen/enabled" = "0x0007", recordsize = "1M" }
           props = { zfs_arc_max = "4G" }"#,
        &[
            ("chosen('lru_gen*')", Some(Value::Text("0x0007".into()))),
            ("param('lru_gen.enabled|lru_gen_enabled')", number(0.0)),
            ("prop_number('recordsize')", number(1048576.0)),
            ("prop('recordsize', '1M')", truth(true)),
            ("param('zfs_arc_max')", number(4.0 * 1073741824.0)),
            ("picked('zfs_arc_max|zfs_arc_min')", truth(true)),
            ("picked('zfs_arc_min')", None),
        ],
    );
    let all: Vec<String> = (0..40).map(|i| format!("p{i} = 0")).collect();
    let all = format!("params = {{ {} }}", all.join(", "));
    check(&all, &[("picked('p3')", None), ("param('p3')", number(0.0))]);
}

#[test]
fn functions_are_found_in_tables_however_they_are_printed() {
    let table = r#"tables = [{ tool = "lockstat", columns = ["count", "caller"], rows = [[12, "zfs`metaslab_alloc_dva+0x1c2"]] }]"#;
    check(table, &[("seen('metaslab_alloc_dva')", truth(true)), ("seen('metaslab_free_dva')", None)]);
}

#[test]
fn what_has_only_a_name() {
    let evidence = r#"
        flat = ["5 [zfs] aggsum_add"]
        stacks = ["arc_evict;arc_evict_cb;arc_evict", "x;dbuf_find 40"]
        threads = ["arc_prune", "txg_sync 30"]
    "#;
    check(
        evidence,
        &[
            ("named('arc_evict_cb')", truth(true)),
            ("named('aggsum_add')", truth(false)),
            ("named('dbuf_find')", truth(false)),
            ("named('zil_commit')", truth(false)),
            ("thread_named('arc_prune')", truth(true)),
            ("thread_named('arc_evict')", truth(true)),
            ("thread_named('txg_sync')", truth(false)),
            ("thread_named('x')", truth(false)),
            ("thread_named('kswapd*')", truth(false)),
        ],
    );
    let counts =
        r#"tables = [{ tool = "bpftrace", columns = ["function", "count"], rows = [["brt_sync", 88]] }]"#;
    check(counts, &[("named('brt_sync')", truth(true)), ("named('zil_commit')", truth(false))]);
    check(SAMPLES, &[("named('memcpy')", truth(false)), ("thread_named('x')", truth(false))]);
}

#[test]
fn a_kstat_by_any_word_of_the_title() {
    let table = r#"tables = [{ tool = "sysctl kstat.zfs.misc.dmu_tx", columns = ["name", "value"],
                   rows = [["dmu_tx_memory_reserve", 112]] }]"#;
    check(
        table,
        &[("kstat('dmu_tx', 'dmu_tx_memory_reserve')", number(112.0)), ("kstat('arcstats', 'c')", None)],
    );
}

/// Answers to questions by pasted stacks: their list, kind, per cent and frames.
#[track_caller]
fn by_trees(stacks: &[(&str, zwhy_evidence::PctKind, f64, &str)], cases: &[(&str, f64)]) {
    let mut evidence = zwhy_evidence::Evidence::default();
    for (list, kind, pct, frames) in stacks {
        let origin = evidence.origin(*list);
        let frames = frames.split(';').map(str::to_owned).collect();
        let (pct, kind) = (Some(*pct), *kind);
        evidence.trees.push(zwhy_evidence::PctStack { pct, kind, frames, origin, ..Default::default() });
    }
    let anatomy = Anatomy::load(&[], &mut Vec::new());
    let facts = FactBase::new(&evidence, &anatomy);
    for (question, expected) in cases {
        let (name, arguments) = question.split_once('(').unwrap();
        let arguments = arguments.trim_end_matches(')').split(", ").map(|a| a.trim_matches('\'').to_owned());
        let answer = facts.answer(&Query::new(name, arguments.collect()).unwrap()).unwrap();
        assert!((answer.value.number().unwrap() - expected).abs() < 1e-9, "{question}: {answer:?}");
    }
}

#[test]
fn stacks_of_one_list_add_up_where_their_samples_are_their_own() {
    use zwhy_evidence::PctKind::{Inclusive, Own, Unclear};
    let own = [
        ("a", Own, 6.7, "spa_sync;userquota;zap_update;mze_compare"),
        ("a", Own, 6.4, "userquota;zap_lookup;mze_compare"),
        ("a", Own, 3.0, "spa_sync;dnode_sync"),
        // The same list once more.
        ("b", Own, 7.0, "userquota;zap_lookup;mze_compare"),
    ];
    by_trees(
        &own,
        &[
            ("share('userquota')", 0.131),
            ("under('zap_*', 'userquota')", 0.131),
            ("share('spa_sync')", 0.097),
        ],
    );
    for kind in [Inclusive, Unclear] {
        by_trees(
            &[("a", kind, 6.7, "userquota;zap_update"), ("a", kind, 6.4, "userquota;zap_lookup")],
            &[("share('userquota')", 0.067)],
        );
    }
}

#[test]
fn libraries_of_other_programs_do_not_count() {
    let share = |module: &str| {
        let mut evidence = zwhy_evidence::Evidence::default();
        let origin = evidence.origin("list");
        let (pct, module) = (Some(20.0), Some(module.to_owned()));
        let symbol = "sha256_block_data_order".to_owned();
        evidence.flat.push(zwhy_evidence::FlatRow {
            pct,
            module,
            symbol,
            origin,
            user: true,
            ..Default::default()
        });
        let anatomy = Anatomy::load(&[], &mut Vec::new());
        let facts = FactBase::new(&evidence, &anatomy);
        let query = Query::new("self_share", vec!["sha256_*".to_owned()]).unwrap();
        facts.answer(&query).and_then(|r| r.value.number())
    };
    for module in ["libcrypto.so.3", "proxmox-backup-proxy", "libzstd.so.1.5.4"] {
        assert!(share(module).is_none_or(|part| part == 0.0), "{module}");
    }
    for module in ["libzpool.so.5.0.0", "libc-2.31.so", "libc.so.6", "zdb", "libzfs.so.4"] {
        assert_eq!(share(module), Some(0.2), "{module}");
    }
}
