//! The loop as a library: intervals are handed out as they end, and nothing is written.
//!
//! As a user who may not sample this host the refusal is checked by others; here own processes are looked at.

mod common;
#[path = "../examples/intervals.rs"]
#[allow(dead_code)] // its main is the example's
mod example;

use common::{ROLE, burn, child_command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use zwhy_record::{Interval, Intervals, RecordOptions, Target};

/// Not a test of its own: what the child of these tests does.
#[test]
fn child() {
    if std::env::var(ROLE).as_deref() == Ok("busy") {
        let work = || burn(Duration::from_millis(900));
        let named = |name: &str| std::thread::Builder::new().name(name.to_owned());
        std::thread::scope(|scope| {
            named("first").spawn_scoped(scope, work).unwrap();
            named("second").spawn_scoped(scope, work).unwrap();
        });
    }
}

fn options(target: Target) -> RecordOptions {
    let mut options = RecordOptions::without_file(target);
    (options.hz, options.ask_zfs) = (999, false);
    options.interval = Duration::from_millis(200);
    options
}

#[test]
fn each_interval_has_its_own_samples_and_together_they_are_the_work() {
    let dir = tempfile::tempdir().unwrap();
    std::env::set_current_dir(dir.path()).unwrap();
    let mut intervals = Intervals::start(&options(Target::Command(child_command("busy")))).unwrap();
    let stop = AtomicBool::new(false);
    let (mut seen, mut odd, mut ends, mut spent) = (0, 0, vec![Duration::ZERO], [Duration::ZERO; 2]);
    while let Some(interval) = intervals.next(&stop) {
        assert_eq!(interval.from, *ends.last().unwrap(), "no gap");
        ends.push(interval.to);
        seen += interval.profile.samples.len();
        let (from, to) = (interval.from.as_nanos() as i64, interval.to.as_nanos() as i64);
        odd += interval.profile.samples.t.iter().filter(|t| !(from..=to).contains(&t.0)).count();
        for (name, time) in example::by_thread(&interval) {
            let of = ["first", "second"].iter().position(|n| *n == name);
            of.into_iter().for_each(|of| spent[of] += time);
        }
    }
    assert!(ends.len() > 3 && seen > 500, "{} intervals, {seen} samples", ends.len());
    // A machine that is not given its CPU may write a sample late.
    assert!(odd * 100 <= seen, "{odd} of {seen} samples are in another interval than they were taken in");
    let enough = |time: &Duration| (600..1300).contains(&time.as_millis());
    assert!(spent.iter().all(enough), "each thread works for 900 ms: {spent:?}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is written");
}

#[test]
fn without_sampling_counters_and_clocks_are_read_all_the_same() {
    let mut options = RecordOptions { sample_cpu: false, ..options(Target::System) };
    options.duration = Some(Duration::from_millis(500));
    let mut intervals = Intervals::start(&options).unwrap();
    let stop = AtomicBool::new(false);
    let mut seen = 0;
    while let Some(interval) = intervals.next(&stop) {
        assert_eq!(interval.profile.samples.len(), 0);
        seen += interval.series.iter().filter(|row| row.source == "cpu/all").count();
    }
    assert!(seen > 16, "{seen} readings of the CPUs");
    assert_eq!(intervals.facts().recorder.hz, None);
}

#[test]
fn it_ends_when_it_is_stopped_and_counters_can_be_read() {
    let own = Target::Pid(vec![std::process::id() as i32]);
    let mut intervals = Intervals::start(&options(own)).unwrap();
    let stop = AtomicBool::new(false);
    let first = intervals.next(&stop).unwrap();
    assert!(first.reading("cpu/all", "usr_ns").is_some_and(|ns| ns > 0));
    assert!(first.reading("cpu/all", "nosuch").is_none());
    let of_cpus = |interval: &Interval<'_>| -> Vec<i64> {
        interval.series.iter().filter(|r| r.source == "cpu/all").map(|r| r.t.0).collect()
    };
    let mut at = of_cpus(&first);
    assert!(!at.is_empty(), "readings of the beginning, to compare later ones with");
    // On a busy machine the first reading may be late, and alone in its interval.
    for _ in 0..5 {
        at.extend(of_cpus(&intervals.next(&stop).unwrap()));
    }
    assert!(at.iter().min() < at.iter().max(), "{at:?}");
    let facts = intervals.facts();
    assert_eq!(facts.recorder.pid, Some(std::process::id() as i32));
    assert!(facts.host.kernel.is_some() && facts.start_unix_s.is_some_and(|at| at > 1e9));
    stop.store(true, Ordering::Relaxed);
    assert!(intervals.next(&stop).is_some(), "what came up to the stop");
    assert!(intervals.next(&stop).is_none() && intervals.next(&stop).is_none());
}
