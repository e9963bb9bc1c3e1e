//! Asks `zpool iostat -w` again and again, as long as somebody wants to know.
//!
//! It is asked for all since import each time, and not for an interval: then it would round requests a second down, and
//! the one request that took long would be lost (`crates/zfs/src/latency.rs`). Nothing is started while nobody wants to
//! know, where no pool is imported, or before the last one has ended; nor ever again, once it did not answer.

use super::Latencies;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;
use zwhy_host::{Output, Question, entries, monotonic_ns};
use zwhy_zfs::{VdevLatency, parse_latency_report};

/// Between two reports at least.
const SHORTEST: Duration = Duration::from_secs(1);
/// Times as long as a report takes, from one to the next: the more vdevs, the longer it takes.
const PAUSES: u32 = 20;
/// The same where all is over in ten seconds.
const PAUSES_IN_A_GLANCE: u32 = 2;
/// After a report that failed.
const AFTER_FAILURE: Duration = Duration::from_secs(10);
const PATIENCE: Duration = Duration::from_secs(10);
const ARGS: [&str; 2] = ["iostat", "-Hpvw"];

#[derive(Debug)]
pub struct LatencyWatch {
    every: Duration,
    pauses: u32,
    program: String,
    /// The folder of a kstat folder for each pool.
    pools_in: PathBuf,
    question: Option<Question>,
    /// When it was last asked, and when it is to be asked again; by the monotonic clock.
    asked: Duration,
    due: Duration,
    hangs: bool,
}

impl LatencyWatch {
    /// Asks once in `every`, but not more often than once a second.
    pub fn new(every: Duration) -> LatencyWatch {
        LatencyWatch {
            every: every.max(SHORTEST),
            pauses: PAUSES,
            program: "zpool".to_owned(),
            pools_in: PathBuf::from("/proc/spl/kstat/zfs"),
            question: None,
            asked: Duration::ZERO,
            due: Duration::ZERO,
            hangs: false,
        }
    }

    /// For somebody who looks for ten seconds only: even where a report takes seconds there are two.
    pub fn in_a_glance(self) -> LatencyWatch {
        LatencyWatch { pauses: PAUSES_IN_A_GLANCE, ..self }
    }

    /// Takes in what there is, and asks again where it is time; returns whether something is new. What nobody
    /// wants to know any more is forgotten.
    pub fn keep(&mut self, wanted: bool, into: &mut Latencies) -> bool {
        let now = Duration::from_nanos(monotonic_ns());
        if !wanted {
            let had = std::mem::take(into).is_asked();
            (self.question, self.due, self.hangs) = (None, Duration::ZERO, false);
            return had;
        }
        into.ask();
        if let Some(question) = &self.question {
            let Some((at, output)) = question.answer() else { return false };
            self.question = None;
            self.take(Duration::from_nanos(at), output, into);
            return true;
        }
        if self.hangs || now < self.due {
            return false;
        }
        // A little earlier than an interval ends, so that there is one for each.
        (self.asked, self.due) = (now, now + self.every * 9 / 10);
        if self.pools().is_empty() {
            return say("no pool is imported", into);
        }
        match Question::ask(&self.program, &ARGS, PATIENCE) {
            Ok(question) => {
                self.question = Some(question);
                false
            }
            Err(error) => say(&error.to_string(), into),
        }
    }

    fn pools(&self) -> BTreeSet<String> {
        let folders = entries(&self.pools_in).into_iter().filter(|(_, _, is_folder)| *is_folder);
        folders.map(|(name, _, _)| name).collect()
    }

    fn take(&mut self, at: Duration, output: Output, into: &mut Latencies) {
        let took = at.saturating_sub(self.asked);
        self.due = self.due.max(self.asked + took * self.pauses);
        let why = match output {
            Output::Text(text) => {
                let vdevs = in_pools(parse_latency_report(&text), &self.pools());
                if !vdevs.is_empty() {
                    return into.push(at, vdevs);
                }
                "zpool iostat -w printed nothing that can be read".to_owned()
            }
            Output::NotInstalled => "zpool is not installed; zwhy doctor says how to get it".to_owned(),
            Output::Failed(why) => {
                format!("zpool iostat -w failed: {}", why.lines().next().unwrap_or_default())
            }
            Output::TimedOut(_) => {
                self.hangs = true;
                let seconds = PATIENCE.as_secs();
                format!(
                    "zpool iostat -w did not answer within {seconds} s and is not asked again; is a pool suspended?"
                )
            }
        };
        self.due = self.due.max(at + AFTER_FAILURE);
        say(&why, into);
    }
}

/// Tells why there is none.
fn say(why: &str, into: &mut Latencies) -> bool {
    into.fail(format!("latency histograms: {why}"));
    true
}

/// Vdevs with their pool before their name; what stands before the first pool is left out.
fn in_pools(vdevs: Vec<VdevLatency>, pools: &BTreeSet<String>) -> Vec<VdevLatency> {
    let mut pool: Option<String> = None;
    let mut named = Vec::new();
    for vdev in vdevs {
        if pools.contains(&vdev.name) {
            pool = Some(vdev.name.clone());
            named.push(vdev);
        } else if let Some(pool) = &pool {
            named.push(VdevLatency { name: format!("{pool}/{}", vdev.name), ..vdev });
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;
    use std::time::Instant;

    /// A host with these pools and a `zpool` that notes its arguments and goes on as the script says.
    fn host(root: &Path, pools: &[&str], script: &str) -> LatencyWatch {
        for pool in pools {
            fs::create_dir_all(root.join("kstat").join(pool)).unwrap();
        }
        let program = root.join("zpool");
        let log = root.join("starts");
        fs::write(&program, format!("#!/bin/sh\necho \"$*\" >>{}\n{script}\n", log.display())).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let mut watch = LatencyWatch::new(Duration::ZERO);
        watch.every = Duration::from_millis(1);
        watch.program = program.display().to_string();
        watch.pools_in = root.join("kstat");
        watch
    }

    fn until(watch: &mut LatencyWatch, into: &mut Latencies, is: impl Fn(&Latencies) -> bool) {
        let begin = Instant::now();
        while !is(into) {
            watch.keep(true, into);
            assert!(begin.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn starts(root: &Path) -> Vec<String> {
        let log = fs::read_to_string(root.join("starts")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// As a script prints one: reads of a bucket.
    fn section(name: &str, reads: &str) -> String {
        let zeros = "\\t0".repeat(10);
        format!("printf '\\n%s\\n1\\t0{zeros}\\n3\\t%s{zeros}\\n' {name} {reads}\n")
    }

    #[test]
    fn reports_are_asked_for_while_somebody_wants_them() {
        let root = tempfile::tempdir().unwrap();
        // Each report tells of one read more.
        let reads = format!("$(wc -l <{})", root.path().join("starts").display());
        let script = section("tank", &reads) + &section("sda", &reads) + &section("pond", "0");
        let mut watch = host(root.path(), &["tank", "pond"], &script);
        let mut into = Latencies::default();
        assert!(!watch.keep(false, &mut into));
        assert_eq!(starts(root.path()).len(), 0, "nobody wants to know");
        assert!(!watch.keep(true, &mut into) && into.is_asked() && into.is_empty(), "not told yet");
        until(&mut watch, &mut into, |into| into.row(1).is_some_and(|row| row.seconds.is_some()));
        let row = into.row(1).unwrap();
        assert_eq!((into.len(), row.vdev.name.as_str()), (3, "tank/sda"));
        let reads = starts(root.path()).len();
        assert_eq!(row.vdev.waits[0].quantiles().unwrap().count as usize, reads - 1);
        assert!(starts(root.path()).iter().all(|line| line == "iostat -Hpvw"), "{:?}", starts(root.path()));
        assert!(watch.keep(false, &mut into) && into.is_empty() && !into.is_asked());
    }

    #[test]
    fn one_that_takes_long_is_asked_less_often() {
        let root = tempfile::tempdir().unwrap();
        let mut watch = host(root.path(), &["tank"], &format!("sleep 0.2\n{}", section("tank", "1")));
        let mut into = Latencies::default();
        until(&mut watch, &mut into, |into| !into.is_empty());
        assert!(watch.due >= watch.asked + Duration::from_secs(4), "{watch:?}");
        let mut glance = watch.in_a_glance();
        glance.due = Duration::ZERO;
        let mut into = Latencies::default();
        until(&mut glance, &mut into, |into| into.row(0).is_some_and(|row| row.seconds.is_some()));
        assert!(glance.due >= glance.asked + Duration::from_millis(400), "{glance:?}");
    }

    #[test]
    fn what_is_missing_is_said() {
        for (pools, script, why) in [
            (&[] as &[_], "exit 0", "no pool is imported"),
            (&["tank"], "echo 'Permission denied' >&2; exit 1", "zpool iostat -w failed: Permission denied"),
            (&["tank"], "echo other", "printed nothing that can be read"),
        ] {
            let root = tempfile::tempdir().unwrap();
            let mut watch = host(root.path(), pools, script);
            let mut into = Latencies::default();
            until(&mut watch, &mut into, |into| into.missing().is_some());
            let told = into.missing().unwrap();
            assert!(told.starts_with("latency histograms: ") && told.contains(why), "{told}");
            assert_eq!(starts(root.path()).len(), pools.len());
        }
        let root = tempfile::tempdir().unwrap();
        let mut watch = host(root.path(), &["tank"], "");
        watch.program = "no-such-program-here".to_owned();
        let mut into = Latencies::default();
        until(&mut watch, &mut into, |into| into.missing().is_some_and(|why| why.contains("not installed")));
    }

    #[test]
    fn one_that_hangs_is_not_asked_again() {
        let root = tempfile::tempdir().unwrap();
        let mut watch = host(root.path(), &["tank"], "");
        let mut into = Latencies::default();
        watch.take(Duration::from_secs(10), Output::TimedOut(String::new()), &mut into);
        assert!(into.missing().is_some_and(|why| why.contains("is a pool suspended?")));
        (0..100).for_each(|_| assert!(!watch.keep(true, &mut into)));
        assert_eq!(starts(root.path()).len(), 0);
    }
}
