//! Captures as hosts, and what experiments take of them.

use super::*;
use serde_json::json;
use zwhy_evidence::{CaptureFacts, Kstat};
use zwhy_profile::{Event, FrameKind};

/// A database on a raidz2 of six disks, and a busy, smaller backup beside it.
fn host() -> Evidence {
    let disks: Vec<_> = (0..6).map(|n| json!({ "name": format!("sd{n}"), "kind": "disk" })).collect();
    let (facts, wrong) = CaptureFacts::from_value(json!({
        "version": 1, "kind": "record",
        "zfs": { "version": "2.1.11-1" },
        "pools": [{ "name": "tank", "vdevs": [
            { "name": "raidz2-0", "kind": "raidz2", "class": "normal", "children": disks.clone() },
            { "name": "raidz2-1", "kind": "raidz2", "class": "normal", "children": disks },
            { "name": "nvme0", "kind": "disk", "class": "logs" },
            { "name": "nvme1", "kind": "disk", "class": "l2cache" },
        ] }],
        "datasets": [
            { "name": "tank/db", "properties": { "recordsize": "16384", "compression": "zstd-3", "checksum": "on",
                "encryption": "off", "copies": "1", "logbias": "throughput", "compressratio": "1.83x" } },
            { "name": "tank/vol", "properties": { "recordsize": "-", "volblocksize": "8192", "compression": "lz4",
                "checksum": "on", "encryption": "off", "direct": "always" } },
        ],
        "implementations": { "zfs_fletcher_4_impl": "scalar" },
        "parameters_changed": { "values": {
            "zfs_arc_max": { "value": "8589934592", "default": "0" },
            "zfs_fletcher_4_impl": { "value": "[scalar] fastest", "default": "fastest" },
            "zfs_txg_timeout": { "value": "15", "default": "5" },
            "zfs_unheard_of": { "value": "1", "default": "0" },
        } },
        "recorder": { "series": { "objsets": { "tank/objset-0x36": "tank/db", "tank/objset-0x40": "tank/vol" } } },
    }));
    assert!(wrong.is_empty(), "{wrong:?}");
    let mut evidence = Evidence { facts, ..Evidence::default() };
    let origin = evidence.origin("host.zwhy");
    let counters = [
        (
            "tank/objset-0x36",
            [
                ("reads", 3000.0),
                ("nread", 25e6),
                ("writes", 1000.0),
                ("nwritten", 66e6),
                ("zil_commit_count", 900.0),
            ],
        ),
        (
            "tank/objset-0x40",
            [("reads", 10.0), ("nread", 80e3), ("writes", 1.0), ("nwritten", 8e3), ("zil_commit_count", 0.0)],
        ),
    ];
    for (source, values) in counters {
        evidence.kstats.extend(values.into_iter().map(|(name, rate)| Kstat {
            source: source.into(),
            name: name.into(),
            value: rate * 10.0,
            rate: Some(rate),
            origin,
        }));
    }
    let profile = &mut evidence.profile;
    for (tid, entry) in [(11, "zfs_read"), (12, "zfs_read"), (12, "zfs_write"), (13, "zio_execute")] {
        let frames = ["do_syscall_64", entry].map(|name| profile.frame(name, "zfs", FrameKind::Kernel));
        let (thread, stack) = (profile.thread(10, tid, "postgres"), profile.stack(&frames));
        profile.samples.push_counted(thread, stack, Event::Cpu, 5);
    }
    evidence
}

fn give(
    name: &str,
    evidence: &Evidence,
    dataset: Option<&str>,
    own: &[(&str, &str)],
) -> (Experiment, Likeness) {
    let mut experiment = Experiment::builtin(name).unwrap();
    let own = own.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let pool = PoolChoice::default();
    let options = LikeOptions { capture: "host.zwhy".into(), dataset, own: &own, library: None, pool: &pool };
    let likeness = Likeness::give(&mut experiment, evidence, &options).unwrap();
    (experiment, likeness)
}

fn why<'a>(likeness: &'a Likeness, what: &str) -> &'a str {
    let found = likeness.left.iter().find(|left| left.what.contains(what));
    found.map_or_else(|| panic!("{what} is not left out: {likeness:?}"), |left| left.why.as_str())
}

#[test]
fn the_busiest_dataset_gives_properties_sizes_threads_layout_and_parameters() {
    let (experiment, likeness) = give("encryption", &host(), None, &[]);
    assert_eq!(likeness.dataset.as_deref(), Some("tank/db"));
    let settings: Vec<String> = likeness.settings().collect();
    for setting in [
        "recordsize=16K",
        "compression=zstd-3",
        "logbias=throughput",
        "io_size=8K",
        "threads=2",
        "fsync=each-write",
        "layout=raidz2",
        "disks=6",
        "log_disks=1",
        "zfs_txg_timeout=15",
        "zfs_fletcher_4_impl=scalar",
    ] {
        assert!(settings.iter().any(|s| s == setting), "{setting}: {settings:?}");
    }
    assert!(!settings.iter().any(|s| s.starts_with("copies")), "a default is not worth a word: {settings:?}");
    for variant in experiment.variants().unwrap() {
        assert_eq!((variant.setup.recordsize().0, variant.setup.io_size.0), (16 << 10, 8 << 10));
        assert_eq!((variant.setup.threads, variant.setup.disks, variant.setup.log_disks), (2, 6, 1));
        assert_eq!(variant.setup.parameters["zfs_txg_timeout"], 15);
    }
    assert!(experiment.checks.is_empty(), "what is expected is expected of other settings");
}

#[test]
fn what_cannot_be_taken_is_named_with_the_reason() {
    let (_, likeness) = give("encryption", &host(), None, &[]);
    assert_eq!(why(&likeness, "encryption=off"), "encryption is what this experiment compares");
    assert!(why(&likeness, "zfs_arc_max").contains("memory of that host"));
    assert!(why(&likeness, "zfs_unheard_of").contains("does not know"));
    assert!(why(&likeness, "the size of writes").contains("one io_size"));
    assert!(why(&likeness, "the mix (75 % reads)").contains("in steps of its own"));
    assert!(why(&likeness, "1 more vdevs of tank").contains("has one"));
    assert!(why(&likeness, "cache_disks=1").contains("--engine pool"));
    assert!(why(&likeness, "1.83x").contains("--data DIR"));
    let told = likeness.sentences().join("\n");
    assert!(
        told.contains("Settings like those of tank/db in host.zwhy: recordsize=16K (recordsize of tank/db)")
    );
    assert!(told.contains("io_size=8K (reads of tank/db, 8.1K each on average)"), "{told}");
}

#[test]
fn what_the_user_set_comes_first_and_settings_that_belong_together_stay_together() {
    let (experiment, likeness) = give(
        "encryption",
        &host(),
        None,
        &[("recordsize", "--set recordsize=1M"), ("disks", "--set disks=1")],
    );
    assert_eq!(why(&likeness, "recordsize=16K"), "--set recordsize=1M comes first");
    assert_eq!(why(&likeness, "layout=raidz2 disks=6"), "--set disks=1 comes first");
    assert_eq!(experiment.variants().unwrap()[0].setup.disks, 1);
}

#[test]
fn what_the_engine_refuses_is_left_out_and_the_rest_taken() {
    let mut large = host();
    for kstat in large.kstats.iter_mut().filter(|kstat| kstat.name == "nread") {
        kstat.rate = kstat.rate.map(|rate| rate * 32.0);
    }
    let (experiment, likeness) = give("encryption", &large, None, &[]);
    assert!(why(&likeness, "fsync=each-write").contains("--engine pool"), "{likeness:?}");
    assert_eq!(experiment.variants().unwrap()[0].setup.io_size.0, 256 << 10);

    let mut kernel = Experiment::builtin("encryption").unwrap();
    kernel.engine = Engine::Pool;
    let pool = PoolChoice::default();
    let own = BTreeMap::new();
    let options = LikeOptions { capture: "x".into(), dataset: None, own: &own, library: None, pool: &pool };
    let likeness = Likeness::give(&mut kernel, &host(), &options).unwrap();
    assert!(why(&likeness, "zfs_txg_timeout=15").contains("--allow-parameters"));
}

#[test]
fn a_dataset_can_be_named_and_blocks_of_volumes_have_their_own_property() {
    let (experiment, likeness) = give("encryption", &host(), Some("tank/vol"), &[]);
    assert_eq!(experiment.variants().unwrap()[0].setup.recordsize().0, 8 << 10);
    assert!(likeness.taken.iter().any(|t| t.setting == "recordsize" && t.from == "volblocksize of tank/vol"));
    let mut experiment = Experiment::builtin("encryption").unwrap();
    let (own, pool) = (BTreeMap::new(), PoolChoice::default());
    let options =
        LikeOptions { capture: "x".into(), dataset: Some("tank/dv"), own: &own, library: None, pool: &pool };
    let error = Likeness::give(&mut experiment, &host(), &options).unwrap_err();
    assert!(error.contains("did you mean tank/db?") && error.contains("tank/vol"), "{error}");
}

#[test]
fn writes_are_asked_for_their_own_size() {
    let (experiment, likeness) = give("dedup", &host(), None, &[]);
    assert_eq!(experiment.compare.step, "write");
    assert!(likeness.settings().any(|s| s == "io_size=64K"), "{likeness:?}");
    assert!(likeness.settings().any(|s| s == "threads=1"), "one thread was sampled in writes: {likeness:?}");
}

#[test]
fn a_capture_that_tells_nothing_is_an_error_with_the_reasons() {
    let mut experiment = Experiment::builtin("encryption").unwrap();
    let (own, pool) = (BTreeMap::new(), PoolChoice::default());
    let options = LikeOptions { capture: "x".into(), dataset: None, own: &own, library: None, pool: &pool };
    let error = Likeness::give(&mut experiment, &Evidence::default(), &options).unwrap_err();
    assert!(error.contains("no facts of datasets") && error.contains("threads"), "{error}");
    assert!(!experiment.checks.is_empty(), "it is as it was");
}

#[test]
fn names_from_a_capture_do_not_command_a_terminal() {
    let mut hostile = host();
    let facts = hostile.facts.datasets.as_mut().unwrap();
    facts.iter_mut().for_each(|d| d.name = d.name.as_ref().map(|name| format!("{name}\u{1b}[2J")));
    let (_, likeness) = give("encryption", &hostile, Some("tank/db\u{1b}[2J"), &[]);
    assert!(likeness.sentences().iter().all(|text| !text.contains('\u{1b}')));
}
