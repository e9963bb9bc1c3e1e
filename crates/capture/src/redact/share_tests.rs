//! Names planted in every part of a capture: none is left in any byte of what is shared.
//!
//! Planted are also addresses of networks, of mail and of hardware, GUIDs and serial numbers, and names in the tables of
//! tools. Not planted are names of functions, libraries, module parameters, properties of OpenZFS, kstats and CPU flags: they
//! are those of the kernel, of OpenZFS and of programs, and stay.

use super::Redactor;
use crate::marks::Mark;
use crate::{Capture, Series, SeriesKind, write_capture};
use parquet::file::reader::FileReader as _;
use parquet::file::serialized_reader::SerializedFileReader;
use serde_json::{Value, json};
use std::io::Read as _;
use zwhy_evidence::{
    Bench, CaptureFacts, DatasetCounts, DatasetFacts, EncryptionRoot, Evidence, ExperimentFacts, FlatRow,
    Host, HostFacts, ImportStats, Kstat, LineFacts, MeasureFacts, MeasuredLimit, MeasuredLimits, Param,
    PctStack, PoolFacts, Property, RecorderFacts, SeriesFacts, ShortWaits, Table, ThreadClockFacts,
    ThreadCpu, ThreadWaits, WaitFacts, ZfsFacts,
};
use zwhy_profile::{Event, FrameKind, Nanos, Profile};

/// Every kind of private name, as sentences have them.
const SAID: &str = "canaryhost.canary.example: canarypool/canaryset@canarysnap on /home/canaryuser/canarydir by canarycomm, \
                    canaryuser@canaryhost, file:///root/canarykey https://canaryhost/canarykey ata-CANARYSERIAL_1 \
                    6.1.0-canaryhost (Canary Phrase) canary pool/canary set /proc/spl/kstat/zfs/canarypool/txgs \
                    /usr/home/canaryuser /usr/bin/canaryprog /sys/fs/cgroup/canarybox.slice /dev/canarydisk \
                    someone@mail.canary.example CanaryHost 00:25:90:ca:fe:01 2001:db8:ca:fe::1%eth0 fe80::ca:fe/64 \
                    10.20.30.40-10.20.30.50 9876543210123456789 0x5000c500a1b2c3d4 c0t5000C500A1B2C3D4d0 \
                    123e4567-e89b-12d3-a456-426614174000 gpt/canarybay0 /srv/canary dir/canaryfile";

/// What must not be left, in small letters.
const PRIVATE: [&str; 10] = [
    "canary",
    "25:90:ca",
    "2001:db8",
    "fe80::",
    "10.20.30",
    "9876543210123456789",
    "5000c500a1b2",
    "123e4567",
    "3735928559",
    "app.py",
];

/// All members of all groups, `SAID` in every text that has no form of its own.
fn facts() -> Value {
    let text = include_str!("share_facts.json").replace("\"SAID\"", &Value::from(SAID).to_string());
    serde_json::from_str(&text).expect("JSON")
}

/// Every member of every group is in [`facts`]: a new one must be planted, too.
fn all_members_are_there(facts: &Value) {
    let has = |at: &str, members: &[&str]| {
        let group = facts.pointer(at).unwrap_or_else(|| panic!("no {at}"));
        for member in members {
            let there = group.get(member).is_some() || (*member == "kind" && group.get("type").is_some());
            assert!(there, "{at}/{member} is not planted");
        }
    };
    has("/host", HostFacts::MEMBERS);
    has("/zfs", ZfsFacts::MEMBERS);
    has("/limits", MeasuredLimits::MEMBERS);
    has("/limits/rows/0", MeasuredLimit::MEMBERS);
    has("/pools/0", PoolFacts::MEMBERS);
    has("/datasets/0", DatasetFacts::MEMBERS);
    has("/dataset_counts", DatasetCounts::MEMBERS);
    has("/encryption_roots/0", EncryptionRoot::MEMBERS);
    has("/experiment", ExperimentFacts::MEMBERS);
    has("/measures/cpu", MeasureFacts::MEMBERS);
    has("/recorder", RecorderFacts::MEMBERS);
    has("/recorder/lines", LineFacts::MEMBERS);
    has("/recorder/wait", WaitFacts::MEMBERS);
    has("/recorder/wait/short", ShortWaits::MEMBERS);
    has("/recorder/wait/short/threads/0", ThreadWaits::MEMBERS);
    has("/recorder/series", SeriesFacts::MEMBERS);
    has("/recorder/threads", ThreadClockFacts::MEMBERS);
}

/// A member that no version knows, in every object that is a group and not a map of names.
fn with_unknown_members(value: &mut Value) {
    const MAPS: [&str; 15] = [
        "sysctl",
        "parameters",
        "implementations",
        "values",
        "mitigations",
        "pool_states",
        "bench",
        "properties",
        "sources",
        "by_value",
        "snapshots",
        "cpu_time",
        "dropped",
        "owners",
        "objsets",
    ];
    const OTHERS: [&str; 5] = ["measures", "lost_by_cpu", "unresolved", "modules_without", "import"];
    if let Value::Object(members) = value {
        for (name, member) in members.iter_mut() {
            let is_map = MAPS.contains(&name.as_str()) || OTHERS.contains(&name.as_str());
            if !is_map {
                with_unknown_members(member);
            }
        }
        members.insert("canarymember".into(), json!({ "canarykey": SAID }));
    } else if let Value::Array(items) = value {
        items.iter_mut().for_each(with_unknown_members);
    }
}

fn items() -> Evidence {
    let mut items = Evidence::default();
    let origin = items.origin("canaryfile.txt, lines 3-8");
    let said = || SAID.to_owned();
    items.host = Host {
        name: Some("canaryhost".into()),
        zfs_version: Some(said()),
        kernel: Some(said()),
        os: Some(said()),
        cpu_model: Some(said()),
        cpu_flags: vec!["avx".into()],
        arch: Some(said()),
    };
    items.flat.push(FlatRow {
        comm: Some("canarycomm".into()),
        module: Some("canaryprog".into()),
        symbol: "zio_read".into(),
        origin,
        ..FlatRow::default()
    });
    items.trees.push(PctStack {
        comm: Some("canarycomm".into()),
        frames: vec!["canarycomm".into(), "zio_read".into()],
        origin,
        ..PctStack::default()
    });
    items.threads.push(ThreadCpu { comm: "canarycomm".into(), origin, ..ThreadCpu::default() });
    let kstat =
        |source: &str| Kstat { source: source.into(), name: "x".into(), value: 1.0, rate: None, origin };
    items
        .kstats
        .extend(["canarypool/iostats", "cgroup/canarybox.slice", "vdev/canarypool/canarydisk"].map(kstat));
    // FreeBSD has the time of transaction groups below the pool itself.
    items.kstats.push(kstat("canarypool"));
    items.kstats.push(Kstat {
        name: "guid".into(),
        value: 9_876_543_210_123_456_789.0,
        ..kstat("canarypool/x")
    });
    items.params.push(Param { name: "zfs_arc_max".into(), value: said(), origin });
    items.params.push(Param { name: "spl_hostid".into(), value: "3735928559".into(), origin });
    let property = |name: &str| Property {
        dataset: Some("canarypool/canaryset".into()),
        name: name.into(),
        value: said(),
        origin,
    };
    items.properties.extend(["comment", "compression", "org.canary:owner"].map(property));
    let mut table = |tool: &str, columns: &[&str], rows: &[&[&str]]| {
        let words = |all: &[&str]| all.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
        let (columns, rows) = (words(columns), rows.iter().map(|row| words(row)).collect());
        items.tables.push(Table { tool: tool.into(), columns, rows, origin });
    };
    table("zpool", &[SAID], &[&[SAID]]);
    let list: &[&[&str]] = &[
        &["canarytank", "3.62T", "ONLINE"],
        &["mirror-0", "3.62T", "ONLINE"],
        &["gpt/canarybay0", "3.62T", "ONLINE"],
        &["canarybay1", "-", "ONLINE"],
    ];
    table("zpool list -v", &["NAME", "SIZE", "HEALTH"], list);
    table("zpool status", &["pool", "name", "note"], &[&["canarytank", "canarybay2", "was /dev/canarybay2"]]);
    table("iostat", &["Device", "r/s"], &[&["dm-canary", "1.00"], &["sda", "1.00"]]);
    table("lsblk", &["NAME", "SERIAL", "MOUNTPOINT"], &[&["sda", "CANARYSERIAL_2", "/srv/canary dir"]]);
    table(
        "zfs list",
        &["NAME", "USED", "MOUNTPOINT"],
        &[&["canarypool/a", "canary", "1.0T /srv/canary dir"]],
    );
    table("kernel log", &["event", "task"], &[&["hung task", "canarytask"]]);
    table("ps", &["USER", "%CPU", "COMMAND"], &[&["canaryuser", "1.0", "canaryjob"]]);
    items
}

fn profile() -> Profile {
    let mut profile = Profile::new();
    let mut frames = vec![
        profile.frame("canarycomm", "", FrameKind::Unknown),
        profile.frame("main", "canaryprog", FrameKind::User),
        profile.frame("Lazy:~ /srv/canarydir/canary.js", "canaryprog", FrameKind::User),
        profile.frame("read", "/opt/canarydir/libx.so", FrameKind::User),
        profile.frame("zfs_read", "zfs", FrameKind::Kernel),
        profile.frame("main (/home/canaryuser/app.py:12)", "", FrameKind::Unknown),
    ];
    for (kind, file) in
        [(FrameKind::User, "canarydir/canary.c"), (FrameKind::Kernel, "/home/canaryuser/canarydir/zio.c")]
    {
        let frame = profile.frames.get(frames[if kind == FrameKind::Kernel { 4 } else { 1 }]);
        let file = profile.strings.intern(file);
        let reason = profile.strings.intern(SAID);
        let frame = zwhy_profile::Frame { file, reason, kind, ..frame };
        frames.push(profile.frames.intern(frame));
    }
    let stack = profile.stack(&frames);
    for comm in [
        "canarycomm",
        "mdcanary",
        "md_canary_raid1",
        "rcucanary",
        "z_canary",
        "dm-canary",
        "kworker/u8:2-canary_wq",
        "sshd: canaryuser",
        "(Canary Phrase)",
        "z_rd_int_1",
    ] {
        let thread = profile.thread(1, 1, comm);
        profile.samples.push_counted(thread, stack, Event::Cpu, 2);
    }
    profile
}

fn capture() -> Capture {
    let mut all = facts();
    all_members_are_there(&all);
    with_unknown_members(&mut all);
    let (mut facts, left_out) = CaptureFacts::from_value(all);
    assert!(left_out.is_empty(), "{left_out:?}");
    facts.evidence = Some(Box::new(items()));
    // A new member of the whole does not compile here until it is planted.
    let CaptureFacts {
        version: _,
        zwhy: _,
        kind: _,
        start_unix_s: _,
        host: _,
        sysctl: _,
        zfs: _,
        parameters: _,
        parameters_changed: _,
        parameters_unreadable: _,
        implementations: _,
        bench: _,
        mounts: _,
        pools: _,
        datasets: _,
        dataset_counts: _,
        encryption_roots: _,
        snapshots: _,
        limits: _,
        cpu_time: _,
        experiment: _,
        recorder: _,
        measures: _,
        import: _,
        evidence: _,
        other: _,
    } = &facts;
    let ImportStats { .. } = facts.import.clone().unwrap_or_default();
    assert!(!matches!(facts.bench.get("one"), None | Some(Bench { .. }) if facts.bench.is_empty()));
    let mut series = Series::default();
    for source in [
        "arcstats",
        "thread/1",
        "process/1",
        "cpu/0",
        "disk/sda",
        "disk/canarydisk",
        "canarypool/iostats",
        "canarypool/objset-0x36",
        "canary pool/iostats",
        "cgroup/system.slice/canarybox\\x2dsvc.service",
        "vdev/canarypool",
        "vdev/canarypool/canarydisk",
    ] {
        series.push(Nanos(1), source, "x", SeriesKind::Counter, 1);
    }
    let mark = |name: &str, text: &str| Mark { t: Nanos(1), name: name.into(), text: text.into() };
    let marks = vec![
        mark("canarymark", SAID),
        mark("trigger", "canarythread cpu > 50%"),
        mark("module", SAID),
        mark("clock", "set"),
    ];
    Capture { profile: profile(), series, marks, facts, ..Capture::default() }
}

/// Every byte of a file: as it is, and of each part after all compression is undone.
fn every_byte(file: &std::path::Path) -> Vec<(String, Vec<u8>)> {
    let raw = std::fs::read(file).expect("the file");
    let mut parts = vec![("the file".to_owned(), raw.clone())];
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(raw)).expect("a zip");
    let mut pages = 0;
    for at in 0..archive.len() {
        let mut entry = archive.by_index(at).expect("an entry");
        let name = format!("{:?}", entry.name());
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).expect("its bytes");
        if name.contains(".parquet") {
            let table = SerializedFileReader::new(bytes::Bytes::from(bytes.clone())).expect("a table");
            parts.push((format!("{name} footer"), format!("{:?}", table.metadata()).into_bytes()));
            for group in 0..table.num_row_groups() {
                let group = table.get_row_group(group).expect("rows");
                for column in 0..group.num_columns() {
                    let mut reader = group.get_column_page_reader(column).expect("a column");
                    while let Some(page) = reader.get_next_page().expect("a page") {
                        parts.push((format!("{name} column {column}"), page.buffer().to_vec()));
                        pages += 1;
                    }
                }
            }
        }
        parts.push((name, bytes));
    }
    assert!(pages > 20, "tables are looked into: {pages}");
    parts
}

fn lower(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).to_lowercase()
}

fn holds(parts: &[(String, Vec<u8>)], word: &str) -> Vec<String> {
    let around = |text: &str, at: usize| {
        let from = text.char_indices().map(|(i, _)| i).rfind(|i| *i + 60 <= at).unwrap_or(0);
        text[from..].chars().take(140).collect::<String>()
    };
    let found = parts.iter().filter_map(|(name, bytes)| {
        let text = lower(bytes);
        text.find(word).map(|at| format!("{name}: …{}…", around(&text, at)))
    });
    found.collect()
}

#[test]
fn no_planted_name_is_left_in_any_byte() {
    let folder = tempfile::tempdir().expect("a folder");
    let plain = folder.path().join("plain.zwhy");
    write_capture(capture(), &plain).expect("written");
    let told = holds(&every_byte(&plain), "canary");
    assert!(told.len() > 8, "the names are in facts and tables before: {told:?}");
    let mut shared = capture();
    let mut redactor = Redactor::default();
    redactor.redact_capture(&mut shared);
    let file = folder.path().join("shared.zwhy");
    write_capture(shared, &file).expect("written");
    let parts = every_byte(&file);
    let left: Vec<String> = PRIVATE.iter().flat_map(|word| holds(&parts, word)).collect();
    assert!(left.is_empty(), "{}", left.join("\n"));
    assert!(redactor.left_out() > 10, "unknown members and properties of users: {}", redactor.left_out());
}

#[test]
fn what_is_no_name_stays_and_names_stay_apart() {
    let mut shared = capture();
    Redactor::default().redact_capture(&mut shared);
    let facts = shared.facts.to_value();
    let at = |pointer: &str| facts.pointer(pointer).cloned().unwrap_or_default();
    assert_eq!(at("/datasets/0/properties/recordsize"), "131072");
    assert_eq!(at("/pools/0/vdevs/0/children/1/name"), "sda");
    let text = |pointer: &str| at(pointer).as_str().unwrap_or_default().to_owned();
    let pool = text("/pools/0/name");
    assert!(pool.starts_with("pool"), "{pool}");
    assert_eq!(text("/datasets/0/name").split('/').next(), Some(pool.as_str()));
    assert!(text("/recorder/owners/process~11").starts_with("container process"));
    assert_eq!(at("/host/cpu_flags/0"), "avx");
    assert_eq!(
        at("/recorder/command"),
        "perf record -a --user=argument1 -o argument2 -- argument3 argument4"
    );
    let sources: Vec<&str> = shared.series.iter().map(|row| row.source).collect();
    let of_pool = [format!("{pool}/iostats"), format!("{pool}/objset-0x36")];
    for kept in ["arcstats", "thread/1", "disk/sda"].into_iter().chain(of_pool.iter().map(String::as_str)) {
        assert!(sources.contains(&kept), "{kept}: {sources:?}");
    }
    let disk = text("/pools/0/vdevs/0/name");
    assert!(sources.contains(&&*format!("vdev/{pool}/{disk}")), "{disk} {sources:?}");
    let distinct: std::collections::BTreeSet<&str> = sources.iter().copied().collect();
    assert_eq!(distinct.len(), sources.len(), "no two names became one: {sources:?}");
    assert_eq!(shared.profile.threads.len(), 10);
    assert_eq!(shared.profile.total(Event::Cpu), 20);
}

#[test]
fn a_host_called_as_its_system_is_still_of_that_system() {
    let json = json!({ "host": { "name": "debian", "os_id": "debian", "kernel": "6.1.0-debian" } });
    let mut shared = Capture { facts: CaptureFacts::from_value(json).0, ..Capture::default() };
    Redactor::default().redact_capture(&mut shared);
    let host = &shared.facts.host;
    assert_eq!(host.name.as_deref(), Some("host1"));
    assert_eq!((host.os_id.as_deref(), host.kernel.as_deref()), (Some("debian"), Some("6.1.0-host1")));
}

#[test]
fn a_name_that_looks_like_a_stand_in_is_given_to_no_other() {
    let mut shared = Capture::default();
    for source in ["pool1/iostats", "tank/iostats"] {
        shared.series.push(Nanos(1), source, "x", SeriesKind::Counter, 1);
    }
    Redactor::default().redact_capture(&mut shared);
    let sources: Vec<&str> = shared.series.iter().map(|row| row.source).collect();
    assert_eq!(sources, ["pool1/iostats", "pool2/iostats"]);
}
