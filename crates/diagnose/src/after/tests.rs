//! Pairs of small made-up recordings: what must be said of each, and of what is not comparable nothing.

use super::*;
use crate::classify::classify;
use crate::explain::{Options, explain_classified};
use serde_json::{Value, json};
use zwhy_evidence::{CaptureFacts, Host, Kstat, Property};
use zwhy_profile::{FrameKind, Nanos, Sample};

/// A recording of 20 s at 100 Hz on one CPU: samples of CCM, of a copy, and idle ones.
struct Host1 {
    ccm: u32,
    copy: u32,
    idle: u32,
    /// Bytes that datasets read a second.
    read: f64,
    cipher: &'static str,
    facts: Value,
    name: &'static str,
}

impl Host1 {
    fn new(ccm: u32, copy: u32, idle: u32, read: f64, cipher: &'static str) -> Host1 {
        let start = f64::from(ccm) + read;
        let facts = json!({
            "kind": "record",
            "start_unix_s": start,
            "recorder": { "hz": 100.0, "duration_s": 20.0, "target": "system" },
        });
        Host1 { ccm, copy, idle, read, cipher, facts, name: "db7" }
    }

    fn evidence(&self) -> Evidence {
        let mut e = Evidence { facts: CaptureFacts::from_value(self.facts.clone()).0, ..Evidence::default() };
        e.host =
            Host { name: Some(self.name.to_owned()), zfs_version: Some("2.3.2".into()), ..Host::default() };
        let stacks: [(&str, &[&str], u32); 3] = [
            (
                "z_rd_int",
                &["zio_decrypt", "zio_do_crypt_data", "ccm_mode_decrypt_contiguous_blocks"],
                self.ccm,
            ),
            ("dd", &["zfs_read", "zfs_uiomove"], self.copy),
            ("swapper", &["do_idle", "default_idle"], self.idle),
        ];
        for (tid, (comm, names, count)) in (1..).zip(stacks) {
            let module = if comm == "swapper" { "kernel" } else { "zfs" };
            let frames: Vec<_> =
                names.iter().map(|n| e.profile.frame(n, module, FrameKind::Kernel)).collect();
            let stack = e.profile.stack(&frames);
            let thread = e.profile.thread(tid, tid, comm);
            for i in 0..count {
                let t = Nanos(i64::from(i) * 20_000_000_000 / i64::from(count));
                let sample = Sample::counted(thread, stack, zwhy_profile::Event::Cpu, 1);
                e.profile.samples.push(Sample { t, ..sample });
            }
        }
        let origin = e.origin("x");
        for (name, value) in [("encryption", self.cipher), ("used", if self.ccm > 0 { "5" } else { "6" })] {
            let dataset = Some("tank/data".to_owned());
            e.properties.push(Property { dataset, name: name.into(), value: value.into(), origin });
        }
        if self.read > 0.0 {
            let (source, rate) = ("tank/objset-0x36".to_owned(), Some(self.read));
            e.kstats.push(Kstat { source, name: "nread".into(), value: 1.0, rate, origin });
        }
        e
    }
}

fn compared(before: &Host1, after: &Host1) -> AfterAnswer {
    let knowledge = Knowledge::embedded();
    let evidence = [before.evidence(), after.evidence()];
    let classified = [0, 1].map(|at: usize| classify(&evidence[at].profile, &knowledge.anatomy));
    let side = |at: usize| Side {
        evidence: &evidence[at],
        classified: &classified[at],
        answer: explain_classified(&evidence[at], &classified[at], &knowledge, &Options::default()),
        done: None,
    };
    did_it_help(&side(0), &side(1), &knowledge)
}

fn ccm() -> Host1 {
    Host1::new(1400, 300, 300, 50e6, "aes-256-ccm")
}

fn gcm() -> Host1 {
    Host1::new(0, 600, 1400, 60e6, "aes-256-gcm")
}

#[test]
fn a_finding_that_goes_and_a_cost_that_falls_is_help() {
    let a = compared(&ccm(), &gcm());
    assert_eq!(a.outcome, Outcome::Helped, "{}", a.verdict);
    assert_eq!(a.findings[0].class, "crypto-ccm-not-accelerated");
    assert_eq!(a.findings[0].state, State::Gone);
    let change = a.findings[0].change.expect("samples on both sides");
    assert!(change.real && (change.value + 0.7).abs() < 1e-9, "{change:?}");
    // 0.85 CPUs for 50 MB/s, then 0.3 for 60.
    let cost = a.cost.cpu_s_per_unit.expect("counters on both sides");
    assert!((cost.before - 17.0).abs() < 1e-9 && (cost.after - 5.0).abs() < 1e-9, "{cost:?}");
    assert!(cost.fell());
    assert_eq!(a.settings.len(), 1, "space that is used is no setting: {:?}", a.settings);
    assert_eq!(a.settings[0].after.as_deref(), Some("aes-256-gcm"));
    assert!(a.verdict.starts_with("It helped: \"AES-CCM"), "{}", a.verdict);
    assert!(a.verdict.contains("17.0 CPU seconds a GB before, 5.00 after: 71 % less ("), "{}", a.verdict);
    assert!(a.doubts.is_empty(), "{:?}", a.doubts);
    let promise = a.promise.expect("the cause promises");
    assert!(promise.zfs_cpu_less.low > 0.4 && promise.zfs_cpu_less.high < 0.9, "{promise:?}");
    assert!((promise.came.expect("counters").value - (1.0 - 5.0 / 17.0)).abs() < 1e-9, "{promise:?}");
    assert_eq!(promise.kept, Kept::Kept);
    assert!(a.verdict.ends_with("and saved 71 % (68–73): kept."), "{}", a.verdict);
}

#[test]
fn a_promise_that_is_not_kept_is_said() {
    let less = compared(&ccm(), &Host1 { copy: 1300, idle: 700, read: 50e6, ..gcm() });
    let promise = less.promise.expect("the cause promises");
    assert_eq!((promise.kept, less.outcome), (Kept::Less, Outcome::Helped), "{}", less.verdict);
    assert!(less.verdict.contains("less than promised"), "{}", less.verdict);
    let none = compared(&gcm(), &ccm());
    assert!(none.promise.is_none(), "nothing was found before");
}

#[test]
fn the_way_back_is_worse_and_the_same_again_is_no_help() {
    let back = compared(&gcm(), &ccm());
    assert_eq!(back.outcome, Outcome::Worse, "{}", back.verdict);
    assert_eq!(back.findings[0].state, State::Came);
    assert!(back.verdict.contains("New: AES-CCM"), "{}", back.verdict);
    assert!(back.doubts.iter().any(|d| d.text.contains("swapped")), "{:?}", back.doubts);
    let mut again = ccm();
    again.facts["start_unix_s"] = json!(9e9);
    again.copy += 9;
    let none = compared(&ccm(), &again);
    assert_eq!(none.outcome, Outcome::DidNotHelp, "{}", none.verdict);
    assert!(
        none.verdict.contains("is still there") && none.verdict.contains("no more than chance"),
        "{}",
        none.verdict
    );
}

#[test]
fn of_what_is_not_comparable_nothing_is_said() {
    let doubt = |before: &Host1, after: &Host1, part: &str| {
        let a = compared(before, after);
        assert_eq!(a.outcome, Outcome::CannotTell, "{part}: {}", a.verdict);
        assert!(a.verdict.starts_with("Whether it helped cannot be told. "), "{}", a.verdict);
        assert!(a.doubts.iter().any(|d| d.forbids && d.text.contains(part)), "{part}: {:?}", a.doubts);
    };
    doubt(&ccm(), &ccm(), "same recording");
    doubt(&ccm(), &Host1 { name: "db8", ..gcm() }, "two hosts");
    doubt(&ccm(), &Host1 { copy: 20, ..gcm() }, "AFTER has only 20 samples");
    doubt(&ccm(), &Host1 { read: 5e6, ..gcm() }, "load is not the same: 50 MB a second before and 5.0 MB");
    let mut process = gcm();
    process.facts["recorder"]["target"] = json!("pid 12");
    doubt(&ccm(), &process, "different wholes");
    doubt(&ccm(), &Host1 { ccm: 0, copy: 0, idle: 0, ..gcm() }, "AFTER has no samples that were counted");
}

#[test]
fn without_counters_time_alone_is_compared_and_that_is_said() {
    let (mut before, mut after) = (ccm(), gcm());
    (before.read, after.read) = (0.0, 0.0);
    before.facts["start_unix_s"] = json!(1.0);
    after.facts["start_unix_s"] = json!(2.0);
    let a = compared(&before, &after);
    assert_eq!((a.outcome, a.work.is_none()), (Outcome::Helped, true));
    assert!(a.cost.cpu_s_per_unit.is_none() && a.cost.cpus.is_some_and(|c| c.fell()));
    assert!(a.verdict.contains("0.85 CPUs were busy before, 0.30 after"), "{}", a.verdict);
    assert!(a.doubts.iter().any(|d| !d.forbids && d.text.contains("no counter")), "{:?}", a.doubts);
}

#[test]
fn a_load_that_comes_in_bursts_has_wider_intervals() {
    let even = compared(&ccm(), &gcm()).cost.cpus.expect("a rate");
    let knowledge = Knowledge::embedded();
    let mut evidence = [ccm().evidence(), gcm().evidence()];
    for t in &mut evidence[0].profile.samples.t {
        *t = Nanos(t.0 / 4_000_000_000 * 4_000_000_000);
    }
    let classified = [0, 1].map(|at: usize| classify(&evidence[at].profile, &knowledge.anatomy));
    let side = |at: usize| Side {
        evidence: &evidence[at],
        classified: &classified[at],
        answer: explain_classified(&evidence[at], &classified[at], &knowledge, &Options::default()),
        done: None,
    };
    let bursts = did_it_help(&side(0), &side(1), &knowledge).cost.cpus.expect("a rate");
    let width = |t: Times| t.high.unwrap() - t.low.unwrap();
    assert!(width(bursts) > 2.0 * width(even), "{bursts:?} {even:?}");
}

#[test]
fn changes_in_words() {
    let of = |before, after, variance| change_words(&cost::times(before, after, variance));
    assert_eq!(of(10.0, 5.0, Some(0.0001)), "50 % less (49–51)");
    assert_eq!(of(10.0, 12.0, Some(0.0001)), "20 % more (18–22)");
    assert_eq!(of(10.0, 35.0, Some(0.0001)), "3.5 times as much (3.4–3.6)");
    assert_eq!(of(10.0, 10.1, Some(0.0001)), "not measurably changed (-1 to +3 %)");
    assert_eq!(of(10.0, 5.0, None), "50 % less");
    assert_eq!(of(0.0, 5.0, None), "nothing before");
}
