//! What an accelerator would bring, in sentences: only what was measured, and one bound that is called so.

use super::break_even::break_even;
use super::providers::{of, pairs};
use super::{number, range};
use crate::result::{ExperimentResult, RunResult, StepResult};
use crate::spec::{Provider, names};
use crate::stats::{Interval, Ratio, median};
use std::collections::BTreeMap;

/// Stages as counters name them, and in words.
const STAGES: [(&str, &str); 6] = [
    ("compress", "compression"),
    ("decompress", "decompression"),
    ("checksum", "checksums"),
    ("raidz_gen", "parity"),
    ("raidz_rec", "reconstruction"),
    ("file_write", "writes of the disks' files"),
];

/// A stage with less of the CPU is no reason to buy anything.
const WORTH_A_SENTENCE: f64 = 0.05;
/// A stage with less is not named.
const WORTH_A_WORD: f64 = 0.005;

/// A measured gain so much above its bound is noise.
const ABOVE_BOUND: f64 = 1.05;

/// Part of the calls that may still be learnt.
const FEW: f64 = 0.2;
/// Steps that only prepare others.
const BETWEEN: [&str; 2] = ["reimport", "verify"];

/// Sentences for each step that hands stages over; none for an experiment without providers.
pub fn offload(result: &ExperimentResult) -> Vec<String> {
    let mut groups: BTreeMap<String, Vec<&RunResult>> = BTreeMap::new();
    for run in &result.runs {
        let others = run.factors.iter().filter(|(name, _)| !names::SETTINGS.provider.contains(name));
        let name: Vec<String> = others.map(|(name, value)| format!("{name}={value}")).collect();
        groups.entry(name.join(" ")).or_default().push(run);
    }
    let outside = result.outside();
    let mut sentences = Vec::new();
    for (name, runs) in groups {
        let with = if name.is_empty() { String::new() } else { format!(" with {name}") };
        let steps = runs.first().map_or(&[][..], |run| &run.steps);
        for step in steps.iter().map(|step| step.name.as_str()).filter(|step| !BETWEEN.contains(step)) {
            sentences.extend(of_step(&runs, step, &with, outside));
        }
        sentences.extend(break_even(&runs, &result.figure.step, &with, outside));
    }
    sentences
}

/// What the stages of a step cost, and what is left of it without them. The interval of each gain misses with the
/// probability `outside`.
fn of_step(runs: &[&RunResult], step: &str, with: &str, outside: f64) -> Vec<String> {
    // Where the ideal provider still learns, its figure is not of replays. Labels of disks are new each time.
    let learns = |s: &StepResult| {
        STAGES.iter().any(|(stage, _)| count(s, stage, "learnt") > FEW * count(s, stage, "calls"))
    };
    let ideal = of(runs, Provider::Ideal);
    if ideal.iter().any(|run| run.step(step).is_some_and(learns)) {
        return Vec::new();
    }
    let mut shares: Vec<(&str, f64)> = STAGES
        .iter()
        .filter_map(|(stage, words)| Some((*words, share(&of(runs, Provider::Software), step, stage)?)))
        .filter(|(_, share)| *share >= WORTH_A_WORD)
        .collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    let Some(((words, first), others)) = shares.split_first() else { return Vec::new() };
    if *first < WORTH_A_SENTENCE {
        return Vec::new();
    }
    let mut text = format!(
        "{} {} {} % of the CPU in {step}{with}: offloading {} brings at most {} x (Amdahl's bound).",
        capital(words),
        if words.ends_with('s') { "are" } else { "is" },
        percent(*first),
        if words.ends_with('s') { "them" } else { "it" },
        number(bound(*first)),
    );
    if !others.is_empty() {
        let named: Vec<String> = others.iter().map(|(w, s)| format!("{w} {} %", percent(*s))).collect();
        let all: f64 = shares.iter().map(|(_, share)| share).sum();
        text +=
            &format!(" Other stages: {}; all together at most {} x.", named.join(", "), number(bound(all)));
    }
    let mut sentences = vec![text];
    let none = of(runs, Provider::None);
    if let Some(ratio) = cpu_ratio(&none, &ideal, step, outside) {
        let software = of(runs, Provider::Software);
        let replays = |stage: &str| {
            ideal.iter().filter_map(|run| run.step(step)).any(|s| count(s, stage, "replayed") > 0.0)
        };
        let done = STAGES.iter().filter(|(stage, _)| replays(stage));
        let part: f64 = done.filter_map(|(stage, _)| share(&software, step, stage)).sum();
        sentences.push(of_ideal(&ratio, bound(part)));
    }
    if let Some(ratio) = cpu_ratio(&none, &of(runs, Provider::Isal), step, outside) {
        sentences.push(format!("ISA-L on this CPU gives {}, for nothing.", times(&ratio)));
    }
    sentences
}

/// What no device can pass cannot have been measured: then the runs differ by more than what they shall tell.
fn of_ideal(ratio: &Ratio, bound: f64) -> String {
    let measured = format!("An ideal provider was measured: {}", times(ratio));
    match ratio.times.value > bound * ABOVE_BOUND {
        true => format!(
            "{measured}; that is more than the {} x that its stages allow, so these runs are too noisy to tell.",
            number(bound)
        ),
        false => format!("{measured}."),
    }
}

fn count(step: &StepResult, stage: &str, what: &str) -> f64 {
    step.counters.get(&format!("offload_{stage}.{what}")).map_or(0.0, |n| *n as f64)
}

/// Part of the step's CPU that the stage takes, where OpenZFS's own code does it: the middle one of the runs.
fn share(runs: &[&RunResult], step: &str, stage: &str) -> Option<f64> {
    let one = |run: &&RunResult| {
        let step = run.step(step)?;
        (step.cpu_s() > 0.0).then(|| count(step, stage, "cpu_ns") / 1e9 / step.cpu_s())
    };
    median(&runs.iter().filter_map(one).collect::<Vec<f64>>())
}

fn bound(share: f64) -> f64 {
    1.0 / (1.0 - share.clamp(0.0, 0.9999))
}

fn cpu_ratio(of: &[&RunResult], to: &[&RunResult], step: &str, outside: f64) -> Option<Ratio> {
    let cost = |run: &RunResult| run.step(step).and_then(|s| s.cpu_s_per_gb.or(Some(s.cpu_s())));
    pairs(of, to, outside, cost)
}

/// `8.90 times less CPU [8.20, 9.60]`
fn times(ratio: &Ratio) -> String {
    let times = ratio.times;
    if ratio.runs < 2 {
        return match times.value >= 1.0 {
            true => format!("{} times less CPU, in one run", number(times.value)),
            false => format!("{} times more CPU, in one run", number(1.0 / times.value)),
        };
    }
    if times.low <= 1.0 && times.high >= 1.0 {
        return format!(
            "no difference that these runs show ({} to {} times)",
            number(times.low),
            number(times.high)
        );
    }
    let (word, times) = match times.value >= 1.0 {
        true => ("less", times),
        false => {
            let (value, low, high) = (1.0 / times.value, 1.0 / times.high, 1.0 / times.low);
            ("more", Interval { value, low, high })
        }
    };
    format!("{} times {word} CPU {}", number(times.value), range(&times))
}

fn capital(words: &str) -> String {
    let (first, rest) = words.split_at(1);
    first.to_uppercase() + rest
}

fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent >= 9.95 { format!("{percent:.0}") } else { format!("{percent:.1}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::SplitMix;
    use crate::result::Stopped;
    use crate::spec::Stop;
    use crate::stats::{Interval, simulate::noisy};
    use std::path::Path;

    /// Runs of equal CPU with OpenZFS's own code and with ISA-L, as many of each as the rule makes at most.
    fn equal_runs(random: &mut SplitMix, sample: &RunResult, most: u32) -> Vec<RunResult> {
        const PROVIDERS: [Provider; 3] = [Provider::None, Provider::Software, Provider::Isal];
        let of = |random: &mut SplitMix, repetition, provider| {
            let mut run = sample.clone();
            run.setup.offload.provider = provider;
            run.repetition = repetition;
            let cpu_s = noisy(random, 1.0, 0.3);
            (run.steps[0].user_s, run.steps[0].cpu_s_per_gb) = (cpu_s, Some(cpu_s));
            let compress = ("offload_compress.cpu_ns".to_owned(), (cpu_s * 0.9e9) as i64);
            run.steps[0].counters = [compress].into();
            run
        };
        let round = |n| PROVIDERS.map(|provider| (n, provider));
        (1..=most).flat_map(round).map(|(n, provider)| of(random, n, provider)).collect()
    }

    /// Of 200 experiments with equal providers, those that tell a gain or a loss after any look of the rule; with the
    /// intervals of one look, where `corrected` is not set.
    fn told_apart(rule: Stop, corrected: bool) -> usize {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/lab");
        let mut result = ExperimentResult::read(&folder).unwrap();
        let mut sample = result.runs[0].clone();
        sample.factors.clear();
        sample.steps.truncate(1);
        (sample.steps[0].name, sample.steps[0].system_s) = ("write".into(), 0.0);
        (sample.steps[0].marks, sample.steps[0].threads) = (Vec::new(), Vec::new());
        result.stop = corrected.then_some(Stopped { rule, after: None });
        let mut random = SplitMix(29);
        let mut one = || {
            let runs = equal_runs(&mut random, &sample, rule.most);
            rule.looks().iter().any(|look| {
                result.runs = runs.iter().filter(|run| run.repetition <= *look).cloned().collect();
                let sentences = offload(&result);
                let gain = sentences.iter().find(|s| s.starts_with("ISA-L")).expect("it was measured");
                !gain.contains("no difference")
            })
        };
        (0..200).filter(|_| one()).count()
    }

    #[test]
    fn equal_providers_are_rarely_told_apart_however_often_one_looks() {
        let rule = Stop::within(0.1);
        let (corrected, plain) = (told_apart(rule, true), told_apart(rule, false));
        assert!(corrected <= 10, "{corrected} of 200, at most 5 % may be");
        assert!(plain > 16, "{plain} of 200: intervals of one look would do, and this test shows nothing");
    }

    #[test]
    fn the_bound_is_amdahls() {
        assert!((bound(0.9) - 10.0).abs() < 1e-9);
        assert_eq!(bound(0.0), 1.0);
        assert!(bound(1.0).is_finite());
    }

    #[test]
    fn more_than_the_bound_is_noise() {
        let ratio =
            |value| Ratio { times: Interval { value, low: 4.0, high: 12.0 }, runs: 5, is_shown: true };
        assert_eq!(
            of_ideal(&ratio(10.4), 10.0),
            "An ideal provider was measured: 10.4 times less CPU [4.00, 12.0]."
        );
        let noisy = of_ideal(&ratio(10.6), 10.0);
        assert!(noisy.contains("more than the 10.0 x") && noisy.contains("too noisy"), "{noisy}");
    }

    #[test]
    fn an_interval_around_one_is_no_gain() {
        let ratio =
            |value, low, high, runs| Ratio { times: Interval { value, low, high }, runs, is_shown: true };
        assert_eq!(times(&ratio(8.0, 7.0, 9.0, 5)), "8.00 times less CPU [7.00, 9.00]");
        assert_eq!(times(&ratio(0.5, 0.4, 0.8, 5)), "2.00 times more CPU [1.25, 2.50]");
        assert!(times(&ratio(1.1, 0.9, 1.3, 5)).starts_with("no difference"));
        assert_eq!(times(&ratio(8.0, 0.0, 1e9, 1)), "8.00 times less CPU, in one run");
    }
}
