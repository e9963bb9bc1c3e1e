//! What part of its disks' own speed each cell reaches, and what keeps it from more.

use super::number;
use crate::result::{ExperimentResult, StepResult};
use crate::spec::{Compare, Measure};
use crate::stats::{Ratio, median};

/// From this part of their speed on, the disks are the limit.
const DISKS: f64 = 0.9;
/// A CPU, or a thread of its one CPU, that is busy for this part of the time has no more to give.
const BUSY: f64 = 0.9;

/// ` Of what the disks give by themselves in raw: direct 97 % [94, 99], limited by the device; …`. Empty without the step.
pub fn limit(compare: &Compare, result: &ExperimentResult) -> String {
    let Some(raw) = &compare.raw else { return String::new() };
    let of_cell = |cell: &str| {
        let Ratio { times, runs, .. } = result.ratio((cell, &compare.step), (cell, raw), &Measure::MbPerS)?;
        let percent = |part: f64| number(part * 100.0);
        let range = match runs {
            1 => String::new(),
            _ => format!(" [{}, {}]", percent(times.low), percent(times.high)),
        };
        let limited = match times.value >= DISKS {
            true => "the device".to_owned(),
            false => busy(result, cell, &compare.step),
        };
        Some(format!("{cell} {} %{range}, limited by {limited}", percent(times.value)))
    };
    let told: Vec<String> = result.labels().filter_map(of_cell).collect();
    if told.is_empty() {
        return String::new();
    }
    format!(" Of what the disks give by themselves in {raw}: {}.", told.join("; "))
}

/// What is busy where the disks are not.
fn busy(result: &ExperimentResult, cell: &str, step: &str) -> String {
    let steps = || result.runs_of(cell).filter_map(|run| run.step(step));
    let middle =
        |of: &dyn Fn(&StepResult) -> f64| median(&steps().map(of).collect::<Vec<f64>>()).unwrap_or(0.0);
    let cpus = middle(&|step| step.cpu_s() / step.wall_s);
    if cpus >= BUSY * result.cpu.cores.max(1) as f64 {
        return "the CPU".into();
    }
    let busiest = |step: &StepResult| {
        let each = |t: &crate::ThreadGroup| t.cpu_s / f64::from(t.threads.max(1)) / step.wall_s;
        step.threads.iter().map(|t| (each(t), t.comm.clone())).max_by(|a, b| a.0.total_cmp(&b.0))
    };
    match steps().filter_map(busiest).max_by(|a, b| a.0.total_cmp(&b.0)) {
        Some((part, thread)) if part >= BUSY => format!("the one CPU of each {thread}"),
        _ => "the time of each I/O: more at once may go faster".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunResult;
    use crate::ThreadGroup;
    use crate::plan::SplitMix;
    use crate::result::Stopped;
    use crate::spec::Stop;
    use crate::stats::simulate::noisy;
    use std::path::Path;

    fn compare() -> Compare {
        toml::from_str("step = \"read\"\nmeasure = \"mb_per_s\"\nraw = \"raw\"").unwrap()
    }

    /// Three runs of each cell that read so many MB/s, and of their disks.
    fn result(cells: &[(&str, f64)], raw: f64) -> ExperimentResult {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/lab");
        let mut result = ExperimentResult::read(&folder).unwrap();
        let run = result.runs[0].clone();
        let step = run.steps[0].clone();
        let named = |name: &str, mb_per_s| {
            let name = name.to_owned();
            StepResult {
                name,
                mb_per_s: Some(mb_per_s),
                user_s: 0.0,
                system_s: 0.0,
                threads: Vec::new(),
                ..step.clone()
            }
        };
        let of_cell = |(cell, speed): &(&str, f64), repetition| RunResult {
            variant: (*cell).to_owned(),
            repetition,
            steps: vec![named("read", *speed), named("raw", raw)],
            ..run.clone()
        };
        result.runs = cells
            .iter()
            .flat_map(|cell| (1..=3).map(move |n| of_cell(cell, n)).collect::<Vec<_>>())
            .collect();
        result.cpu.cores = 2;
        result.summary.truncate(cells.len());
        result
            .summary
            .iter_mut()
            .zip(cells)
            .for_each(|(summary, (cell, _))| summary.variant = (*cell).to_owned());
        result
    }

    #[test]
    fn the_device_is_named_where_its_speed_is_reached_and_the_cpu_where_it_is_busy() {
        let mut result = result(&[("direct", 95.0), ("buffered", 40.0)], 100.0);
        let text = limit(&compare(), &result);
        assert!(text.contains("direct 95.0 % [95.0, 95.0], limited by the device"), "{text}");
        assert!(text.contains("buffered 40.0 % [40.0, 40.0], limited by the time of each I/O"), "{text}");
        for run in result.runs.iter_mut().filter(|run| run.variant == "buffered") {
            run.steps[0].user_s = 1.95 * run.steps[0].wall_s;
        }
        assert!(limit(&compare(), &result).contains("buffered 40.0 % [40.0, 40.0], limited by the CPU."));
        for run in &mut result.runs {
            let (user_s, wall_s) = (0.97 * run.steps[0].wall_s, run.steps[0].wall_s);
            run.steps[0].user_s = user_s;
            run.steps[0].threads =
                vec![ThreadGroup { comm: "lab-reader".into(), threads: 1, cpu_s: 0.95 * wall_s }];
        }
        assert!(limit(&compare(), &result).contains("limited by the one CPU of each lab-reader"));
        assert_eq!(limit(&Compare { raw: None, ..compare() }, &result), "");
    }
    /// Of 200 experiments, those in which the interval missed the true part after any look of the rule.
    fn missed(rule: Stop, corrected: bool) -> usize {
        let mut result = result(&[("direct", 80.0)], 100.0);
        result.stop = corrected.then_some(Stopped { rule, after: None });
        let sample = result.runs[0].clone();
        let mut random = SplitMix(37);
        let mut one = || {
            let of = |random: &mut SplitMix, repetition| {
                let mut run = RunResult { repetition, ..sample.clone() };
                for (step, speed) in run.steps.iter_mut().zip([80.0, 100.0]) {
                    step.mb_per_s = Some(noisy(random, speed, 0.2));
                }
                run
            };
            let runs: Vec<RunResult> = (1..=rule.most).map(|n| of(&mut random, n)).collect();
            rule.looks().iter().any(|look| {
                result.runs = runs[..*look as usize].to_vec();
                let part = result.ratio(("direct", "read"), ("direct", "raw"), &Measure::MbPerS);
                let times = part.unwrap().times;
                times.low > 0.8 || times.high < 0.8
            })
        };
        (0..200).filter(|_| one()).count()
    }

    #[test]
    fn the_part_of_the_disks_speed_is_rarely_missed_however_often_one_looks() {
        let rule = Stop::within(0.1);
        let (corrected, plain) = (missed(rule, true), missed(rule, false));
        assert!(corrected <= 10, "{corrected} of 200, at most 5 % may be");
        assert!(plain > 16, "{plain} of 200: intervals of one look would do, and this test shows nothing");
    }
}
