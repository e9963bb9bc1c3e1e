//! Rows by hand-written evidence: which of several datasets and pools a cause is about, and what is done there.

use crate::answer::Finding;
use crate::explain::{Options, explain};
use crate::knowledge::{Fixture, Knowledge, SourceText};
use zwhy_evidence::Evidence;

/// A cause whose two signs must hold of the same dataset, and whose remedy sets a property.
const CAUSE: &str = r#"
title = "t"
why = "w of {dataset}"
do = "Change {dataset}."
explanation = "e"
affected = "a"
references = ["https://example.org"]
[[signs]]
when = "prop_number('recordsize') >= 1048576"
each = "dataset"
weight = "strong"
claim = "Records are large."
[[signs]]
when = "prop('primarycache', 'metadata')"
each = "dataset"
weight = "strong"
claim = "Data is not cached."
[[signs]]
when = "prop_number('capacity') > 90"
each = "pool"
weight = "moderate"
if_false = "says-nothing"
claim = "The pool is full."
[remedy]
text = "r"
commands = ["zfs set primarycache=all {dataset}"]
look = ["zpool list {pool}"]
[[tests]]
name = "found"
expect = "listed"
[tests.evidence]
"#;

fn evidence(text: &str) -> Evidence {
    let fixture: Fixture = toml::from_str(text).unwrap();
    let (evidence, bad) = fixture.evidence();
    assert!(bad.is_empty(), "{bad:?}");
    evidence
}

fn finding(cause: &str, evidence: &Evidence) -> Option<Finding> {
    let knowledge = Knowledge::from_texts(&[], &[SourceText::new("c.toml", cause)]);
    assert!(knowledge.problems.is_empty(), "{:?}", knowledge.problems);
    let options = Options { least_confidence: 0.0, ..Options::default() };
    explain(evidence, &knowledge, &options).findings.pop()
}

fn found(text: &str) -> Finding {
    finding(CAUSE, &evidence(text)).unwrap()
}

fn names(finding: &Finding) -> Vec<&str> {
    finding.rows.iter().map(|row| row.name.as_str()).collect()
}

#[test]
fn two_datasets_that_together_look_guilty_are_not() {
    let apart = r#"
        [props."tank/media"]
        recordsize = "1M"
        primarycache = "all"
        [props."tank/db"]
        recordsize = "16K"
        primarycache = "metadata"
    "#;
    let both = r#"
        [props."tank/media"]
        recordsize = "1M"
        primarycache = "metadata"
        [props."tank/db"]
        recordsize = "16K"
        primarycache = "all"
    "#;
    let (apart, both) = (found(apart), found(both));
    assert!(both.confidence > apart.confidence + 0.1, "{} {}", both.confidence, apart.confidence);
    assert_eq!(names(&both), ["tank/media"]);
    assert_eq!(both.remedy.commands, ["zfs set primarycache=all tank/media"]);
    let measures: Vec<&str> = both.evidence.iter().map(|line| line.measure.as_str()).collect();
    assert_eq!(measures, ["recordsize = 1M on tank/media", "primarycache is metadata on tank/media"]);
    assert_eq!(apart.evidence.len(), 1, "{:?}", apart.evidence);
}

#[test]
fn of_two_pools_the_second_is_the_one() {
    let cause = CAUSE.replace("each = \"dataset\"", "each = \"pool\"").replace("{dataset}", "{pool}");
    let cause = cause.replace("zfs set primarycache=all {pool}", "zpool set autotrim=off {pool}");
    let cause = cause.replace("prop('primarycache', 'metadata')", "prop('autotrim', 'on')");
    let text = r#"
        [[facts.pools]]
        name = "alpha"
        capacity_pct = 20
        properties = { autotrim = "off" }
        [[facts.pools]]
        name = "beta"
        capacity_pct = 95
        properties = { autotrim = "on" }
    "#;
    let beta = finding(&cause, &evidence(text)).unwrap();
    assert_eq!((beta.rows[0].kind.as_str(), names(&beta)), ("pool", vec!["beta"]));
    assert_eq!(beta.remedy.commands, ["zpool set autotrim=off beta"]);
    assert_eq!(beta.remedy.undo, ["zpool set autotrim=on beta"]);
    assert_eq!(beta.remedy.look, ["zpool list beta"]);
    let full = beta.evidence.iter().any(|line| line.measure == "capacity of beta: 95 %");
    assert!(full, "{:?}", beta.evidence);
}

#[test]
fn a_table_of_two_pools_is_read_row_by_row() {
    let cause = CAUSE.replace("each = \"dataset\"", "each = \"pool\"").replace("{dataset}", "{pool}");
    let cause =
        cause.replace("prop_number('recordsize') >= 1048576", "column_max('zpool list*', 'cap*') > 90");
    let cause = cause.replace("prop('primarycache', 'metadata')", "column_max('zpool list*', 'frag*') > 60");
    let rows = |alpha: &str, beta: &str| {
        format!(
            "tables = [{{ tool = \"zpool list\", columns = [\"NAME\", \"FRAG\", \"CAP\"], \
             rows = [[\"alpha\", {alpha}], [\"beta\", {beta}]] }}]"
        )
    };
    let one = finding(&cause, &evidence(&rows("\"5%\", \"10%\"", "\"70%\", \"95%\""))).unwrap();
    assert_eq!(names(&one), ["beta"]);
    let mixed = finding(&cause, &evidence(&rows("\"5%\", \"95%\"", "\"70%\", \"10%\""))).unwrap();
    assert!(mixed.confidence < one.confidence - 0.1, "{} {}", mixed.confidence, one.confidence);
}

/// Datasets of a capture: name, record size, cache, and where the cache setting comes from.
fn capture(datasets: &[(&str, &str, &str)]) -> String {
    let listed = datasets.iter().map(|(name, cache, source)| {
        format!(
            "[[facts.datasets]]\nname = \"{name}\"\ntype = \"filesystem\"\n\
             properties = {{ recordsize = \"1048576\", primarycache = \"{cache}\" }}\n\
             sources = {{ primarycache = \"{source}\" }}\n"
        )
    });
    listed.collect()
}

#[test]
fn a_property_is_set_where_its_value_comes_from() {
    // All that take it from tank are guilty: it is changed there.
    let inherited = capture(&[
        ("tank", "metadata", "local"),
        ("tank/a", "metadata", "inherited from tank"),
        ("tank/b", "metadata", "inherited from tank"),
    ]);
    let all = found(&inherited);
    assert_eq!(all.remedy.commands, ["zfs set primarycache=all tank"]);
    assert_eq!(all.remedy.undo, ["zfs set primarycache=metadata tank"]);
    assert_eq!(names(&all), ["tank", "tank/a", "tank/b"]);

    // One that takes it from there too has small records, and nothing speaks against its setting.
    let others = inherited
        + "[[facts.datasets]]\nname = \"tank/c\"\ntype = \"filesystem\"\n\
        properties = { recordsize = \"16384\", primarycache = \"metadata\" }\n\
        sources = { primarycache = \"inherited from tank\" }\n";
    let some = found(&others);
    let at: Vec<&str> = some.remedy.commands.iter().map(String::as_str).collect();
    let expected = [
        "zfs set primarycache=all tank",
        "zfs set primarycache=all tank/a",
        "zfs set primarycache=all tank/b",
    ];
    assert_eq!(at, expected);
    assert!(some.remedy.place[0].contains("tank/a alone"), "{:?}", some.remedy.place);

    // A local value below another one is changed where it is.
    let local = capture(&[("tank", "all", "local"), ("tank/a", "metadata", "local")]);
    let local = found(&local);
    assert_eq!(local.remedy.commands, ["zfs set primarycache=all tank/a"]);
    assert!(local.remedy.place.is_empty(), "{:?}", local.remedy.place);
}

#[test]
fn values_that_are_not_listed_are_inherited_and_zvols_have_no_records() {
    let inherited =
        found("[props.tank]\nprimarycache = \"metadata\"\n[props.\"tank/a\"]\nrecordsize = \"1M\"\n");
    assert_eq!(names(&inherited), ["tank/a"]);
    let zvol = found(
        "[props.tank]\nrecordsize = \"1M\"\nprimarycache = \"metadata\"\n[props.\"tank/v\"]\nvolblocksize = \"16K\"\n",
    );
    assert_eq!(names(&zvol), ["tank"]);
    // What belongs to nobody by name belongs to the only dataset there is, or to none of several.
    let unnamed = found("props = { recordsize = \"1M\", primarycache = \"metadata\" }");
    assert!(unnamed.rows.is_empty());
    assert_eq!(unnamed.remedy.commands, ["zfs set primarycache=all DATASET"]);
    assert_eq!(unnamed.evidence[0].measure, "recordsize = 1M");
    let one = "[props]\nprimarycache = \"metadata\"\n[props.\"tank/a\"]\nrecordsize = \"1M\"\n";
    assert_eq!(names(&found(one)), ["tank/a"]);
}

/// Traffic of three datasets, of which one does nothing.
fn with_traffic(nwritten: [f64; 3]) -> String {
    let mut text = capture(&[
        ("tank/a", "metadata", "local"),
        ("tank/b", "metadata", "local"),
        ("tank/c", "metadata", "local"),
    ]);
    let names = ["tank/a", "tank/b", "tank/c"];
    text.push_str("[facts.recorder.series.objsets]\n");
    for (i, name) in names.iter().enumerate().filter(|(i, _)| nwritten[*i] > 0.0) {
        text.push_str(&format!("\"tank/objset-0x{i}\" = \"{name}\"\n"));
    }
    for (i, rate) in nwritten.iter().enumerate().filter(|(_, rate)| **rate > 0.0) {
        text.push_str(&format!("[rates.\"tank/objset-0x{i}\"]\nnwritten = {rate}\nnread = 0.0\n"));
    }
    text
}

#[test]
fn of_several_that_look_guilty_the_busy_ones_are() {
    let two = found(&with_traffic([1e6, 9e6, 0.0]));
    assert_eq!(names(&two), ["tank/b", "tank/a"]);
    assert_eq!((two.rows[0].written_bytes_s, two.rows[0].part), (Some(9e6), Some(0.9)));
    assert_eq!(two.remedy.commands.len(), 2);
    let none = found(&with_traffic([0.0, 0.0, 0.0]));
    assert_eq!(names(&none), ["tank/a", "tank/b", "tank/c"], "nothing tells them apart");
}

#[test]
fn many_rows_are_listed_in_part_and_counted() {
    let names: Vec<String> = (0..12).map(|i| format!("tank/d{i:02}")).collect();
    let listed: Vec<(&str, &str, &str)> = names.iter().map(|n| (n.as_str(), "metadata", "local")).collect();
    let many = found(&capture(&listed));
    assert_eq!((many.rows.len(), many.rows_more), (5, 7));
    assert_eq!(many.remedy.commands.len(), 5);
    assert_eq!(many.remedy.place, ["7 more datasets need the same command."]);
}

/// The work grows with the different answers, not with the datasets.
#[test]
fn ten_thousand_datasets_are_weighed_by_their_kinds() {
    let mut evidence = Evidence::default();
    let origin = evidence.origin("zfs get");
    for i in 0..10_000 {
        let guilty = i == 7_777;
        for (name, value) in [
            ("recordsize", if guilty { "1M" } else { "128K" }),
            ("primarycache", if i % 3 == 1 || guilty { "metadata" } else { "all" }),
        ] {
            let (name, value) = (name.to_owned(), value.to_owned());
            let dataset = Some(format!("tank/d{i:05}"));
            evidence.properties.push(zwhy_evidence::Property { dataset, name, value, origin });
        }
    }
    let one = finding(CAUSE, &evidence).unwrap();
    assert_eq!((names(&one), one.rows_more, one.rows_unseen), (vec!["tank/d07777"], 0, 0));
    let anatomy = crate::anatomy::Anatomy::load(&[], &mut Vec::new());
    let facts = crate::facts::FactBase::new(&evidence, &anatomy);
    let query = crate::facts::Query::new("prop", vec!["primarycache".into(), "metadata".into()]).unwrap();
    assert_eq!(facts.rows().column(super::Scope::Dataset, &query).different(), 2);
}

#[test]
fn a_vdev_is_named_by_its_errors() {
    let cause = CAUSE.replace("each = \"dataset\"", "each = \"vdev\"").replace("{dataset}", "{vdev}");
    let cause = cause.replace("prop_number('recordsize') >= 1048576", "prop_number('write_errors') > 0");
    let cause = cause.replace("prop('primarycache', 'metadata')", "prop('class', 'normal')");
    let cause = cause.replace("zfs set primarycache=all {vdev}", "zpool clear {pool} {vdev}");
    let text = r#"
        [[facts.pools]]
        name = "alpha"
        vdevs = [{ name = "sda", class = "normal" }]
        [[facts.pools]]
        name = "beta"
        vdevs = [{ name = "mirror-0", class = "normal", children = [
            { name = "sdb", class = "normal", write_errors = 3 }, { name = "sdc", class = "normal" }] }]
    "#;
    let vdev = finding(&cause, &evidence(text)).unwrap();
    assert_eq!((vdev.rows[0].kind.as_str(), names(&vdev)), ("vdev", vec!["sdb"]));
    assert_eq!(vdev.remedy.commands, ["zpool clear beta sdb"]);
}

/// One process reads a mapped file from the pool, another one from the page cache.
const TASKS: &str = r#"
title = "t"
why = "It takes {share} of this host's CPU."
do = "d"
explanation = "e"
affected = "all"
references = ["https://github.com/openzfs/zfs"]
[cpu]
functions = "mappedread"
[[signs]]
when = "part_of('dmu_read', 'mappedread') > 0.5"
each = "process"
weight = "strong"
claim = "Its reads go to the pool."
[[signs]]
when = "thread_cpu('reader') > 0.8"
each = "thread"
weight = "strong"
if_false = "says-nothing"
claim = "One of its threads is saturated."
[remedy]
text = "r"
[[tests]]
name = "found"
expect = "listed"
[tests.evidence]
"#;

const READERS: &str = r#"
samples = [
  "backup@40/40;zfs_read;mappedread;dmu_read 20",
  "reader@40/41;zfs_read;mappedread;dmu_read 180",
  "reader@40/42;zfs_read;mappedread;copy 40",
  "postgres@50;zfs_read;mappedread;copy 500",
  "postgres@50;zfs_read;mappedread;dmu_read 60",
  "cc1@60;parse 200",
]
facts = { recorder = { hz = 100, duration_s = 2.0 } }
"#;

#[test]
fn a_process_is_named_by_its_own_samples_and_the_share_is_its_own() {
    let one = finding(TASKS, &evidence(READERS)).unwrap();
    // The thread that is saturated, as its process has the sign, too.
    assert_eq!((one.rows[0].kind.as_str(), names(&one)), ("thread", vec!["reader 41"]));
    assert_eq!(one.rows[0].cpus, Some(0.9));
    let measures: Vec<&str> = one.evidence.iter().map(|line| line.measure.as_str()).collect();
    assert_eq!(
        measures,
        ["dmu_read: 83.3 % of the CPU of mappedread, in backup 40", "reader 41: 90 % of one CPU"]
    );
    let share = one.share.expect("samples");
    assert_eq!(share.value, 0.18, "180 of 1,000 samples are this thread's");

    let processes = finding(&TASKS.replace("'reader'", "'nobody'"), &evidence(READERS)).unwrap();
    assert_eq!((processes.rows[0].kind.as_str(), names(&processes)), ("process", vec!["backup 40"]));
    assert!(processes.rows[0].cpus.is_some_and(|cpus| (cpus - 1.2).abs() < 1e-9), "{:?}", processes.rows);
    assert_eq!(processes.share.expect("samples").value, 0.24, "all of its threads, and no other process");
}

#[test]
fn two_threads_that_together_fill_a_cpu_do_not() {
    let cause = TASKS.replace("'reader'", "'arc_evict'");
    let saturated = |threads: &str| {
        let found = finding(&cause, &evidence(&format!("threads = [{threads}]")));
        found.iter().flat_map(names).map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(saturated("\"arc_evict@7 55\", \"arc_evict@8 50\"").is_empty());
    assert_eq!(saturated("\"arc_evict@7 95\", \"arc_evict@8 12\", \"txg_sync@9 99\""), ["arc_evict 7"]);
    // A list without numbers has a row for each line of it.
    assert_eq!(saturated("\"arc_evict 91\", \"arc_evict 20\""), ["arc_evict"]);
}

#[test]
fn without_samples_questions_about_functions_are_asked_of_the_host() {
    let cause = TASKS.replace("part_of('dmu_read', 'mappedread') > 0.5", "calls('mappedread', 'dmu_read')");
    let pasted = r#"stacks = ["postgres;zfs_read;mappedread;dmu_read"]
        threads = ["reader 10"]"#;
    let one = finding(&cause, &evidence(pasted)).unwrap();
    assert!(one.rows.is_empty(), "nothing says that it is the process of that list: {:?}", one.rows);
    assert_eq!(one.evidence.len(), 1, "{:?}", one.evidence);
    assert!(one.evidence[0].measure.contains("mappedread calls dmu_read"), "{:?}", one.evidence);
}

#[test]
fn a_listed_thread_is_the_sampled_one_with_its_number() {
    let evidence = evidence(
        r#"samples = ["reader@40/41;a 30", "reader@40/42;a 10", "z_wr_iss@9;b 5", "old;c 5"]
           threads = ["reader@40/42 70", "z_wr_iss 33", "idle@77 0", "old 3"]"#,
    );
    let anatomy = crate::anatomy::Anatomy::load(&[], &mut Vec::new());
    let facts = crate::facts::FactBase::new(&evidence, &anatomy);
    let of = |scope| {
        let rows = facts.rows();
        let row = |id| {
            let row = super::Row { scope, id };
            (rows.name(row).unwrap_or_default().to_owned(), rows.cpu(row))
        };
        (0..rows.len(scope) as u32).map(row).collect::<Vec<_>>()
    };
    let named = |rows: &[(&str, Option<f64>)]| {
        rows.iter().map(|(name, cpu)| ((*name).to_owned(), *cpu)).collect::<Vec<_>>()
    };
    let threads = [
        ("reader 42", Some(0.7)),
        ("z_wr_iss 9", Some(0.33)),
        ("old", Some(0.03)),
        ("reader 41", None),
        ("idle 77", Some(0.0)),
    ];
    assert_eq!(of(super::Scope::Thread), named(&threads));
    let processes =
        [("reader 40", Some(0.7)), ("z_wr_iss 9", Some(0.33)), ("old", Some(0.03)), ("idle 77", Some(0.0))];
    assert_eq!(of(super::Scope::Process), named(&processes));
}

#[test]
fn counters_of_the_kernel_are_of_no_pool() {
    let evidence = evidence(
        "rates = { \"pressure/io\" = { some_ns = 1.0 }, \"tank/io\" = { nread = 1.0 }, \"disk/io\" = { reads = 1.0 } }",
    );
    let anatomy = crate::anatomy::Anatomy::load(&[], &mut Vec::new());
    let facts = crate::facts::FactBase::new(&evidence, &anatomy);
    let rows = facts.rows();
    let names: Vec<_> = (0..rows.len(super::Scope::Pool) as u32)
        .map(|id| rows.name(super::Row { scope: super::Scope::Pool, id }).unwrap_or_default().to_owned())
        .collect();
    assert_eq!(names, ["tank"]);
}
