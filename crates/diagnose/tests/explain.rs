//! What holds for every answer, whatever the evidence.

use proptest::prelude::*;
use std::sync::LazyLock;
use zwhy_diagnose::{Answer, Knowledge, Options, classify, explain};
use zwhy_evidence::{Evidence, FlatRow, Kind, Kstat, Param, PoolFacts, Property, ThreadCpu};
use zwhy_profile::{Event, FrameKind};

/// Functions of each kind of rule, and some that nothing knows.
const NAMES: [&str; 18] = [
    "zio_execute",
    "arc_read",
    "dbuf_evict_thread",
    "ccm_mode_decrypt_contiguous_blocks",
    "aes_encrypt_block",
    "kfpu_end",
    "memcpy",
    "_raw_spin_lock",
    "longest_match",
    "do_idle",
    "asm_common_interrupt",
    "entry_SYSCALL_64_after_hwframe",
    "zfs_read",
    "nvlist_add_common",
    "strcmp",
    "main",
    "taskq_thread",
    "",
];
const COMMS: [&str; 5] = ["z_rd_int/3", "dbuf_evict", "swapper/0", "fio", ""];

static KNOWLEDGE: LazyLock<Knowledge> = LazyLock::new(Knowledge::embedded);

type Stack = (Vec<usize>, usize, u32, bool);

fn evidence(stacks: &[Stack]) -> Evidence {
    let mut evidence = Evidence::default();
    for (frames, comm, count, zfs) in stacks {
        let p = &mut evidence.profile;
        let module = if *zfs { "zfs" } else { "kernel" };
        let frames: Vec<_> = frames.iter().map(|i| p.frame(NAMES[*i], module, FrameKind::Kernel)).collect();
        let stack = p.stack(&frames);
        let thread = p.thread(1, *comm as i32, COMMS[*comm]);
        p.samples.push_counted(thread, stack, Event::Cpu, *count);
    }
    evidence
}

fn check(answer: &Answer, all: u64) {
    assert_eq!(answer.stages.iter().map(|s| s.samples).sum::<u64>(), all, "stages");
    assert_eq!(answer.origins.iter().map(|o| o.samples).sum::<u64>(), all, "origins");
    assert_eq!(answer.threads.iter().map(|t| t.samples).sum::<u64>(), all, "threads");
    let shares: f64 = answer.findings.iter().filter_map(|f| f.share).map(|s| s.value).sum();
    assert!(shares <= 1.0 + 1e-9, "findings claim {shares} of the CPU");
    for finding in &answer.findings {
        assert!((0.0..=1.0).contains(&finding.confidence), "{}", finding.confidence);
        assert!(!finding.evidence.is_empty(), "{} without evidence", finding.class);
        if let Some(share) = finding.share {
            assert!(share.low <= share.value && share.value <= share.high);
        }
    }
    assert!(!answer.why.is_empty() && !answer.why.contains('{'), "{}", answer.why);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn every_sample_is_in_one_stage_one_origin_and_one_thread(
        stacks in proptest::collection::vec(
            (proptest::collection::vec(0..NAMES.len(), 0..8), 0..COMMS.len(), 1u32..400, any::<bool>()), 0..30),
    ) {
        let knowledge = &*KNOWLEDGE;
        let evidence = evidence(&stacks);
        let all = evidence.profile.total(Event::Cpu);
        let answer = explain(&evidence, knowledge, &Options::default());
        check(&answer, all);
        prop_assert_eq!(&answer, &explain(&evidence, knowledge, &Options::default()), "not repeatable");
        let classified = classify(&evidence.profile, &knowledge.anatomy);
        let stages = evidence.profile.samples.iter().map(|s| classified.stage_of(s.stack, s.thread));
        prop_assert!(stages.into_iter().all(|s| usize::from(s) < classified.stages.len()));
    }

    #[test]
    fn any_text_is_survived(
        texts in proptest::collection::vec(".{0,24}", 8), number in any::<f64>(), pct in 0.0f64..100.0,
    ) {
        let mut evidence = Evidence::default();
        let origin = evidence.origin(texts[0].clone());
        let t = |i: usize| texts[i].clone();
        evidence.flat.push(FlatRow { pct: Some(pct), symbol: t(1), module: Some(t(2)), origin, ..FlatRow::default() });
        evidence.threads.push(ThreadCpu { comm: t(3), cpu_pct: Some(pct), origin, ..ThreadCpu::default() });
        for name in ["size", "arc_meta_used", "arc_meta_limit"] {
            let source = "arcstats".to_owned();
            evidence.kstats.push(Kstat { source, name: name.into(), value: number, rate: Some(number), origin });
        }
        evidence.params.push(Param { name: "init_on_alloc".into(), value: t(4), origin });
        for name in ["encryption", "compression", "recordsize", "primarycache"] {
            evidence.properties.push(Property { dataset: Some(t(5)), name: name.into(), value: t(6), origin });
        }
        evidence.host.zfs_version = Some(t(7));
        let answer = explain(&evidence, &KNOWLEDGE, &Options::default());
        prop_assert!(serde_json::to_string(&answer).is_ok());
    }
}

#[test]
fn nothing_gives_an_answer_that_asks_for_evidence() {
    let answer = explain(&Evidence::default(), &KNOWLEDGE, &Options::default());
    check(&answer, 0);
    assert!(answer.findings.is_empty());
    assert!(answer.act.as_deref().is_some_and(|a| a.contains("zwhy record")), "{:?}", answer.act);
}

#[test]
fn a_finding_names_the_dataset_and_a_hostile_name_never_reaches_a_command() {
    let knowledge = &*KNOWLEDGE;
    for (dataset, shown) in [("tank/games", "tank/games"), ("$(reboot)", "DATASET"), ("-rf", "DATASET")] {
        let frames =
            ["zio_execute", "zio_decrypt", "ccm_mode_decrypt_contiguous_blocks", "aes_encrypt_block"];
        let mut evidence = Evidence::default();
        let origin = evidence.origin("x");
        let p = &mut evidence.profile;
        let frames: Vec<_> = frames.iter().map(|f| p.frame(f, "zfs", FrameKind::Kernel)).collect();
        let stack = p.stack(&frames);
        let thread = p.thread(1, 1, "z_rd_int");
        p.samples.push_counted(thread, stack, Event::Cpu, 500);
        let (name, value) = ("encryption".to_owned(), "aes-256-ccm".to_owned());
        evidence.properties.push(Property { dataset: Some(dataset.to_owned()), name, value, origin });
        let answer = explain(&evidence, knowledge, &Options::default());
        let top = &answer.findings[0];
        assert_eq!(
            (top.class.as_str(), top.share.map(|s| s.value)),
            ("crypto-ccm-not-accelerated", Some(1.0))
        );
        assert!(top.remedy.commands.iter().any(|c| c.contains(shown)), "{:?}", top.remedy.commands);
        assert!(!top.remedy.commands.iter().any(|c| c.contains("reboot") || c.contains(" -rf")));
        assert_eq!(answer.stages[0].stage, "decrypt");
    }
}

/// Where shares come from decides how sure an answer can be.
/// Where nothing is known, the answer says what was read, and asks for what the evidence lacks.
#[test]
fn what_was_read_is_told_and_the_next_step_fits_it() {
    use zwhy_evidence::{PctKind, PctStack, Table};
    let origin = Default::default();
    let table = |tool: &str, cells: &[&str]| Table {
        tool: tool.into(),
        columns: vec!["a".into(); cells.len()],
        rows: vec![cells.iter().map(|c| (*c).to_owned()).collect()],
        origin,
    };
    let explained = |evidence: &Evidence| explain(evidence, &KNOWLEDGE, &Options::default());
    let disks = Evidence {
        tables: vec![table("zpool iostat -v", &["tank", "3"]), table("quantiles", &["x", "1"])],
        ..Evidence::default()
    };
    let answer = explained(&disks);
    assert!(answer.why.ends_with("What was seen: a table of zpool iostat -v."), "{}", answer.why);
    assert!(answer.act.is_some_and(|act| act.contains("disk_wait")));
    // What is there already is not asked for again.
    let latencies =
        Evidence { tables: vec![table("zpool iostat -lq", &["tank", "3"])], ..Evidence::default() };
    let act = explained(&latencies).act.unwrap();
    assert!(act.contains("zpool iostat -vqy") && !act.contains("-vly"), "{act}");

    let stack = PctStack {
        pct: None,
        kind: PctKind::Unclear,
        comm: Some("nfsd".into()),
        waiting: true,
        frames: vec!["vfs_fsync_range".into()],
        origin,
    };
    let asleep = PctStack {
        comm: Some("zpool".into()),
        waiting: false,
        frames: ["zvol_set_volsize", "dmu_objset_own", "__cv_wait", "schedule"].map(str::to_owned).to_vec(),
        ..stack.clone()
    };
    let answer = explained(&Evidence { trees: vec![asleep], ..Evidence::default() });
    assert!(answer.why.contains("zpool waits in zvol_set_volsize > dmu_objset_own"), "{}", answer.why);
    assert!(answer.act.is_some_and(|act| act.starts_with("Waiting uses no CPU")));

    let freebsd = PctStack {
        comm: Some("zfs".into()),
        frames: ["zfs_rmnode", "dmu_free_long_range", "pause_sbt", "_sleep", "mi_switch"]
            .map(str::to_owned)
            .to_vec(),
        ..stack.clone()
    };
    let answer = explained(&Evidence { trees: vec![freebsd], ..Evidence::default() });
    assert!(answer.why.contains("zfs waits in zfs_rmnode > dmu_free_long_range"), "{}", answer.why);
    assert!(answer.act.is_some_and(|act| act.contains("procstat -kka") && !act.contains("sysrq")));

    let answer = explained(&Evidence { trees: vec![stack], ..Evidence::default() });
    assert!(answer.why.contains("nfsd waits in vfs_fsync_range"), "{}", answer.why);
    assert!(answer.act.is_some_and(|act| act.contains("sysrq-trigger")));

    let row = FlatRow { pct: Some(24.0), symbol: "intel_idle".into(), ..FlatRow::default() };
    let answer = explained(&Evidence { flat: vec![row], ..Evidence::default() });
    assert!(answer.why.starts_with("No function in the list is called by ZFS alone"), "{}", answer.why);
}

/// Locks that lead a list without callers are what it shows, however little of ZFS is in it.
#[test]
fn spinning_that_leads_a_list_is_told() {
    let row =
        |pct: f64, symbol: &str| FlatRow { pct: Some(pct), symbol: symbol.into(), ..FlatRow::default() };
    for (spin, told) in [(74.7, true), (9.0, false)] {
        let flat = vec![
            row(spin, "osq_lock"),
            row(4.0, "mutex_spin_on_owner"),
            row(1.0, "fletcher_4_avx512f_native"),
        ];
        let answer = explain(&Evidence { flat, ..Evidence::default() }, &KNOWLEDGE, &Options::default());
        assert_eq!(
            answer.why.contains("spins on locks (osq_lock, mutex_spin_on_owner)"),
            told,
            "{}",
            answer.why
        );
    }
}

#[test]
fn a_list_of_percentages_is_no_share_of_the_host() {
    let row = |pct, symbol: &str| FlatRow { pct: Some(pct), symbol: symbol.into(), ..FlatRow::default() };
    let flat = vec![row(77.5, "longest_match"), row(5.7, "deflate_slow"), row(1.1, "fill_window")];
    let answer = explain(&Evidence { flat, ..Evidence::default() }, &KNOWLEDGE, &Options::default());
    assert!(answer.why.contains("% of the CPU time in the list"), "{}", answer.why);
}

#[test]
fn what_is_only_likely_is_looked_into_before_anything_is_changed() {
    use zwhy_evidence::{PctKind, PctStack};
    let stack = PctStack {
        pct: None,
        kind: PctKind::Unclear,
        comm: Some("z_wr_iss".into()),
        waiting: false,
        frames: ["zio_execute", "vdev_queue_io", "mutex_lock", "__mutex_lock_slowpath"]
            .map(str::to_owned)
            .to_vec(),
        origin: Default::default(),
    };
    let evidence = Evidence { trees: vec![stack], ..Evidence::default() };
    let answer = explain(&evidence, &KNOWLEDGE, &Options::default());
    assert!(answer.why.starts_with("Perhaps: "), "{}", answer.why);
    let act = answer.act.unwrap();
    assert!(act.starts_with("Verify first: ") && act.contains(". If confirmed: "), "{act}");
}

#[test]
fn few_samples_make_no_confident_finding() {
    let knowledge = &*KNOWLEDGE;
    let confidence = |count: u32| {
        let stacks = [(vec![2], 1, count, true), (vec![12, 1], 3, count, true)];
        let answer = explain(&evidence(&stacks), knowledge, &Options::default());
        answer.findings.first().map_or(0.0, |f| f.confidence)
    };
    assert!(confidence(3) < 0.7, "{}", confidence(3));
    assert!(confidence(500) > confidence(3));
}

/// A known weakness of a release is not made the answer to what was seen.
#[test]
fn a_release_alone_names_no_cause() {
    let mut evidence = Evidence::default();
    evidence.host.zfs_version = Some("0.8.1".into());
    evidence.host.kernel = Some("5.2.7".into());
    let answer = explain(&evidence, &KNOWLEDGE, &Options::default());
    assert!(!answer.findings.is_empty());
    assert!(answer.why.starts_with("Nothing seen here points to a cause."), "{}", answer.why);
    assert!(answer.why.contains("OpenZFS 0.8.1"), "{}", answer.why);
    assert!(answer.findings[0].confidence <= 0.15, "{}", answer.findings[0].confidence);
}

#[test]
fn facts_are_told_by_name_and_unit() {
    let mut evidence = Evidence::default();
    let p = &mut evidence.profile;
    let frames =
        ["zio_execute", "zio_gang_issue", "zio_free_gang"].map(|f| p.frame(f, "zfs", FrameKind::Kernel));
    let (stack, thread) = (p.stack(&frames), p.thread(1, 1, "z_fr_iss"));
    p.samples.push_counted(thread, stack, Event::Cpu, 1000);
    let tank = PoolFacts {
        name: Some("tank".into()),
        fragmentation_pct: Some(82.0),
        capacity_pct: Some(91.0),
        ..PoolFacts::default()
    };
    evidence.facts.pools = Some(vec![tank]);
    let answer = explain(&evidence, &KNOWLEDGE, &Options::default());
    let gangs = answer.findings.iter().find(|f| f.class == "gang-blocks-on-fragmented-pool").expect("gangs");
    let measures: Vec<&str> = gangs.evidence.iter().map(|line| line.measure.as_str()).collect();
    assert!(measures.contains(&"fragmentation of tank: 82 %"), "{measures:?}");
}

#[test]
fn a_host_without_the_module_is_told_first() {
    let answer = |kind: Kind, loaded: bool| {
        let mut evidence = evidence(&[(vec![15, 16], 3, 100, false)]);
        evidence.facts.kind = Some(kind);
        evidence.facts.zfs.module_loaded = Some(loaded);
        explain(&evidence, &KNOWLEDGE, &Options::default())
    };
    let told = "The ZFS module was not loaded on this host while it was recorded.";
    let without = answer(Kind::Record, false);
    assert!(without.why.starts_with(told), "{}", without.why);
    assert!(without.act.is_some_and(|act| act.contains("zwhy doctor")));
    for (kind, loaded) in [(Kind::Record, true), (Kind::Lab, false)] {
        assert!(!answer(kind, loaded).why.contains(told), "{kind}, {loaded}");
    }
}

#[test]
fn counters_of_a_host_without_the_module_accuse_nothing() {
    let findings = |loaded: bool| {
        let mut evidence = evidence(&[(vec![15, 16], 3, 100, false)]);
        let origin = evidence.origin("counters");
        for (source, name, value) in
            [("meminfo", "MemFree", 64e9), ("arcstats", "c", 64e6), ("arcstats", "c_min", 64e6)]
        {
            let (source, name) = (source.to_owned(), name.to_owned());
            evidence.kstats.push(Kstat { source, name, value, rate: None, origin });
        }
        evidence.facts.kind = Some(Kind::Record);
        evidence.facts.zfs.module_loaded = Some(loaded);
        explain(&evidence, &KNOWLEDGE, &Options { least_confidence: 0.0, ..Options::default() }).findings
    };
    assert!(!findings(true).is_empty(), "nothing to leave out");
    assert!(findings(false).is_empty(), "{:?}", findings(false).iter().map(|f| &f.class).collect::<Vec<_>>());
}
