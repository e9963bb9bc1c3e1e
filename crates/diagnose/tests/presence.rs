//! One sample is no evidence: a long profile has seen every function once.
//!
//! Each cause gets one sample of each function that its conditions mention, among 30,000 of a host that is
//! idle, runs programs and reads files; nothing may come of it.

use zwhy_diagnose::{Argument, Cause, Condition, Finding, Knowledge, Options, Query, SourceText, explain};
use zwhy_evidence::{Evidence, Kstat, Param, PctStack};
use zwhy_profile::{Event, FrameKind};

/// Stacks of a healthy host: idle CPUs, programs, the kernel, and files read from the ARC and from disks.
const ORDINARY: &[(&str, &str, u32)] = &[
    (
        "swapper/0",
        "secondary_startup_64_no_verify;cpu_startup_entry;do_idle;cpuidle_idle_call;intel_idle",
        9_000,
    ),
    ("postgres", "_start;main;PostgresMain;exec_simple_query;ExecutePlan;heapgettup_pagemode", 8_200),
    ("postgres", "_start;main;PostgresMain;exec_simple_query;ExecutePlan;ExecEvalExpr;hash_search", 3_100),
    ("java", "start_thread;JavaMain;Interpreter;String.hashCode", 2_400),
    (
        "sshd",
        "entry_SYSCALL_64_after_hwframe;do_syscall_64;ksys_write;vfs_write;sock_write_iter;tcp_sendmsg",
        700,
    ),
    ("ksoftirqd/1", "ret_from_fork;kthread;smpboot_thread_fn;run_ksoftirqd;net_rx_action;napi_poll", 600),
    (
        "fio",
        "entry_SYSCALL_64_after_hwframe;do_syscall_64;ksys_read;vfs_read;zpl_iter_read;zfs_read;\
             dmu_read_uio_dnode;zfs_uiomove;copy_page_to_iter;copy_user_enhanced_fast_string",
        3_000,
    ),
    (
        "fio",
        "entry_SYSCALL_64_after_hwframe;do_syscall_64;ksys_read;vfs_read;zpl_iter_read;zfs_read;\
             dmu_read_uio_dnode;dmu_buf_hold_array_by_dnode;dbuf_hold;dbuf_hold_impl;dbuf_find",
        900,
    ),
    ("z_rd_int", "ret_from_fork;kthread;taskq_thread;zio_execute;zio_done;arc_read_done;arc_hdr_verify", 300),
    (
        "z_rd_int",
        "ret_from_fork;kthread;taskq_thread;zio_execute;zio_checksum_verify;zio_checksum_error;\
                  fletcher_4_native;fletcher_4_avx2_native",
        1_500,
    ),
    ("z_rd_iss", "ret_from_fork;kthread;taskq_thread;zio_execute;zio_vdev_io_start;vdev_disk_io_start", 300),
];

/// The host that the samples are of; what it says must not make anything of them either.
const HOSTS: [(Option<&str>, &str); 5] = [
    (None, "linux"),
    (Some("0.8.3"), "linux"),
    (Some("2.1.5"), "linux"),
    (Some("2.3.2"), "linux"),
    (Some("2.1.9"), "FreeBSD 14.0"),
];

fn add(evidence: &mut Evidence, comm: &str, functions: &[&str], count: u32) {
    let profile = &mut evidence.profile;
    let frames: Vec<_> = functions.iter().map(|name| profile.frame(name, "", FrameKind::Unknown)).collect();
    let (stack, thread) = (profile.stack(&frames), profile.thread(1, 1, comm));
    profile.samples.push_counted(thread, stack, Event::Cpu, count);
}

fn ordinary(host: (Option<&str>, &str)) -> Evidence {
    let mut evidence = Evidence::default();
    evidence.host.zfs_version = host.0.map(str::to_owned);
    evidence.host.os = Some(host.1.to_owned());
    for (comm, stack, count) in ORDINARY {
        add(&mut evidence, comm, &stack.split(';').collect::<Vec<_>>(), *count);
    }
    assert_eq!(evidence.profile.total(Event::Cpu), 30_000);
    evidence
}

/// Everything that a cause asks: its signs and what tells it from others.
fn conditions(cause: &Cause) -> impl Iterator<Item = &Condition> {
    let signs = cause.signs.iter().chain(&cause.against).map(|sign| &sign.when);
    signs.chain(cause.look_alikes.iter().filter_map(|other| other.ruled_out_when.as_ref()))
}

/// Names that a pattern matches, one an alternative; no more than the text itself says.
fn names(patterns: &str) -> Vec<String> {
    patterns.split('|').map(|name| name.trim().replace('*', "")).filter(|name| !name.is_empty()).collect()
}

/// One sample of each function of a question: where it asks who calls whom, of each caller with a callee.
fn add_one_of_each(evidence: &mut Evidence, query: &Query) {
    let of = |wanted: Argument| {
        let kinds = query.signature().kinds().copied().zip(&query.arguments);
        kinds.filter(move |(kind, _)| *kind == wanted).map(|(_, text)| names(text)).collect::<Vec<_>>()
    };
    let (mut functions, threads) = (of(Argument::Functions), of(Argument::Threads));
    // All but `calls` name the caller last; what must not be above them is left out.
    functions.truncate(2);
    if query.signature().name != "calls" {
        functions.reverse();
    }
    let comms = threads.into_iter().next().unwrap_or_else(|| vec!["fio".to_owned()]);
    let most = functions.iter().map(Vec::len).max().unwrap_or(0).max(comms.len());
    for at in 0..most {
        let stack: Vec<&str> = functions.iter().map(|names| names[at % names.len()].as_str()).collect();
        let stack = if stack.is_empty() { vec!["kthread", "taskq_thread", "zio_execute"] } else { stack };
        add(evidence, &comms[at % comms.len()], &stack, 1);
    }
}

fn with_one_of_each(cause: &Cause, knowledge: &Knowledge, host: (Option<&str>, &str)) -> Evidence {
    let mut evidence = ordinary(host);
    let mut asked: Vec<usize> = conditions(cause).flat_map(|c| c.queries.iter().copied()).collect();
    asked.sort_unstable();
    asked.dedup();
    asked.iter().filter_map(|id| knowledge.bank.get(*id)).for_each(|q| add_one_of_each(&mut evidence, q));
    let cpu = &cause.cpu;
    for functions in cpu.functions.iter() {
        let within =
            cpu.within.as_ref().map_or_else(|| vec!["kthread".to_owned()], |w| names(&w.to_string()));
        names(&functions.to_string()).iter().for_each(|f| add(&mut evidence, "fio", &[&within[0], f], 1));
    }
    evidence
}

#[test]
fn one_sample_of_each_of_its_functions_makes_no_cause_likely() {
    let knowledge = Knowledge::embedded();
    let mut wrong = Vec::new();
    for host in HOSTS {
        for cause in &knowledge.causes {
            let evidence = with_one_of_each(cause, &knowledge, host);
            let answer = explain(&evidence, &knowledge, &Options::default());
            let likely = |f: &&Finding| f.confidence > 0.3;
            for finding in answer.findings.iter().filter(likely) {
                let signs: Vec<&str> = finding.evidence.iter().map(|e| e.measure.as_str()).collect();
                wrong.push(format!(
                    "{} on {host:?}: {} {:.2}: {signs:?}",
                    cause.class, finding.class, finding.confidence
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} findings\n{}", wrong.len(), wrong.join("\n"));
}

/// The cause `rare` with these signs, and the confidence in it where one sample in two hundred is its own.
fn rare_cause(signs: &str, flags: &str) -> f64 {
    let text = format!(
        r#"
title = "t"
why = "w {{share}}"
do = "d"
explanation = "e"
affected = "a"
references = ["https://example.org"]
[cpu]
functions = "rare"
{signs}
[remedy]
text = "r"
[[tests]]
name = "x"
expect = "absent"
[tests.evidence]
"#
    );
    let knowledge = Knowledge::from_texts(&[], &[SourceText::new("rare.toml", text)]);
    assert!(knowledge.problems.is_empty(), "{:?}", knowledge.problems);
    let mut evidence = Evidence::default();
    add(&mut evidence, "worker", &["main", "work"], 19_900);
    add(&mut evidence, "worker", &["main", "rare"], 100);
    let origin = evidence.origin("test");
    evidence.params.push(Param { name: "flags".into(), value: flags.into(), origin });
    let answer = explain(&evidence, &knowledge, &Options { least_confidence: 0.0, ..Options::default() });
    answer.findings.first().map_or(0.0, |finding| finding.confidence)
}

#[test]
fn a_cause_that_takes_next_to_no_cpu_needs_a_wait_a_counter_or_a_setting() {
    let sign = |when: &str| format!("[[signs]]\nwhen = \"{when}\"\nweight = \"strong\"\nclaim = \"c\"\n");
    let samples = sign("thread_share('worker') > 0.9") + &sign("share('main') > 0.5");
    assert!(rare_cause(&samples, "0") <= 0.15, "{}", rare_cause(&samples, "0"));
    let carried = samples + &sign("param('flags') > 0");
    assert!(rare_cause(&carried, "0") <= 0.15, "the setting does not hold");
    assert!(rare_cause(&carried, "1") > 0.2, "{}", rare_cause(&carried, "1"));
    // A release by itself carries nothing.
    let system = sign("share('main') > 0.5 && (seen('rare', '0.1 %') || os('linux'))");
    assert!(rare_cause(&system, "1") <= 0.15);
}

#[test]
fn what_is_named_without_a_figure_is_evidence_as_it_is() {
    let knowledge = Knowledge::embedded();
    let mut evidence = Evidence::default();
    let frames = ["dmu_tx_assign", "dmu_tx_try_assign", "dsl_dir_tempreserve_space", "arc_tempreserve_space"];
    let origin = evidence.origin("hung task");
    let frames = frames.map(str::to_owned).to_vec();
    evidence.trees.push(PctStack { frames, waiting: true, origin, ..PctStack::default() });
    let found = |evidence: &Evidence| {
        let answer = explain(evidence, &knowledge, &Options::default());
        answer.findings.first().map(|f| (f.class.clone(), f.confidence))
    };
    let (class, confidence) = found(&evidence).expect("a finding");
    assert_eq!(class, "arc-tempreserve-throttle");
    assert!(confidence > 0.3, "{confidence}");
    // The same stack once in 31,309 samples, where the ARC happens to be small.
    let mut counted = ordinary((Some("2.0.0"), "linux"));
    add(&mut counted, "fio", &["zfs_write", "zfs_write_simple"], 1_308);
    add(
        &mut counted,
        "fio",
        &["zfs_write", "dmu_tx_assign", "dmu_tx_try_assign", "arc_tempreserve_space"],
        1,
    );
    let origin = counted.origin("arcstats");
    let (source, name) = ("arcstats".to_owned(), "c".to_owned());
    counted.kstats.push(Kstat { source, name, value: 4e8, rate: None, origin });
    assert_eq!(found(&counted), None);
}
