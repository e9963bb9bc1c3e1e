//! The result as a table for a terminal: one row a cell, plain text, no colour.

use super::checks::Outcome;
use super::{number, surface_line};
use crate::Engine;
use crate::like::Likeness;
use crate::result::{ExperimentResult, GrowthResult, RunResult, Stopped, SummaryStep, ThreadGroup};
use crate::stats::{EXPONENT_MARGIN, Growth, Interval, Model, median};
use std::fmt::Write;

/// Threads below this share of a step are not worth a column.
const BUSY_SHARE: f64 = 0.05;
const BUSY_THREADS: usize = 3;
/// Noise that is worth a word.
const QUIET: f64 = 1.02;

/// The rows, the answer, and what to know before comparing the figures with other hosts.
pub fn table(result: &ExperimentResult) -> String {
    let mut out = format!(
        "{} · OpenZFS {} ({}) · {} × {}\n\n",
        result.title,
        result.library.release,
        result.library.version_text(),
        result.size_spec.repetitions,
        result.size_spec.bytes
    );
    let called = super::outcomes::outcomes(result);
    out += &if called.is_empty() { cells(result) } else { called };
    out += &format!("\n{}\n", result.answer);
    let laws = result.surfaces.iter().map(surface_line).chain(result.growth.iter().map(growth_line));
    for sentence in trust(result).into_iter().chain(memory(result)).chain(laws) {
        out += &(sentence + "\n");
    }
    out += &signature(result);
    for failed in &result.failed {
        let _ = writeln!(out, "Did not end: {}, repetition {}.", failed.variant, failed.repetition);
    }
    if !result.meaning.is_empty() {
        let _ = writeln!(out, "\nWhat it means: {}", result.meaning);
    }
    out += match result.engine {
        Engine::User => "\nWhere OpenZFS in user space differs from the kernel:\n",
        Engine::Pool => "\nWhat to know of these figures:\n",
    };
    result.distortions.iter().for_each(|distortion| out += &format!("  - {distortion}\n"));
    out
}

/// `Memory at most, in any step: lz4 412 MB, off 398 MB (…).` `None` where there is nothing to tell it of.
fn memory(result: &ExperimentResult) -> Option<String> {
    if result.engine == Engine::Pool {
        let why = "The peak of memory was not measured: a kernel's OpenZFS shares its memory with all pools.";
        return Some(why.into());
    }
    let most = |run: &RunResult| run.steps.iter().filter_map(|step| step.peak_bytes).max();
    let of_cell = |label: &str| {
        let own = result.runs_of(label).filter_map(most);
        let middle = median(&own.map(|bytes| bytes as f64 / 1e6).collect::<Vec<f64>>())?;
        Some(format!("{label} {} MB", number(middle)))
    };
    let cells: Vec<String> = result.labels().filter_map(of_cell).collect();
    (!cells.is_empty()).then(|| {
        format!(
            "Memory at most, in any step: {} (the process that runs OpenZFS, its ARC and the application's buffers).",
            cells.join(", ")
        )
    })
}

/// A row for each cell: the steps that move data by throughput and CPU, those that take or destroy
/// snapshots by CPU, the others by their time.
fn cells(result: &ExperimentResult) -> String {
    // A cell whose runs all failed has no steps.
    let most = result.summary.iter().max_by_key(|s| s.steps.len());
    let steps: Vec<&str> = most.map_or(&[][..], |s| &s.steps).iter().map(|s| s.step.as_str()).collect();
    let shown: Vec<&str> =
        steps.into_iter().filter(|name| *name != "reimport" && *name != "verify").collect();
    let label = result.summary.iter().map(|s| s.variant.chars().count()).max().unwrap_or(0).max(4);
    let columns: Vec<(&str, [&str; 2])> = shown.iter().map(|name| (*name, units(result, name))).collect();
    let (mut names, mut heads) = (format!("{:label$}", ""), format!("{:label$}", "cell"));
    for (name, [first, second]) in &columns {
        let _ = write!(names, "  {:>17}", cut(name, 17));
        let _ = write!(heads, "  {first:>6} {second:>10}");
    }
    let busy_in = &result.figure.step;
    let mut out = format!("{}\n{heads}  busiest threads in {busy_in}\n", names.trim_end());
    for summary in &result.summary {
        let _ = write!(out, "{:label$}", summary.variant);
        for (name, _) in &columns {
            let (first, second) = figures(summary.step(name));
            let _ = write!(out, "  {first:>6} {second:>10}");
        }
        let _ = writeln!(out, "  {}", busiest(summary.step(busy_in).map_or(&[], |step| &step.threads)));
    }
    out
}

fn units(result: &ExperimentResult, name: &str) -> [&'static str; 2] {
    let step = result.summary.iter().find_map(|s| s.step(name));
    match step {
        Some(step) if step.mb_per_s.is_some() => ["MB/s", "CPU-s/GB"],
        Some(step) if step.cpu_ms_per_operation.is_some() => ["s", "CPU-ms/op"],
        _ => ["s", ""],
    }
}

fn figures(step: Option<&SummaryStep>) -> (String, String) {
    let told = |interval: Option<crate::Interval>| interval.map_or("-".to_owned(), |i| number(i.value));
    match step {
        Some(step) if step.mb_per_s.is_some() => (told(step.mb_per_s), told(step.cpu_s_per_gb)),
        Some(step) if step.cpu_ms_per_operation.is_some() => {
            (told(step.wall_s), told(step.cpu_ms_per_operation))
        }
        Some(step) => (told(step.wall_s), String::new()),
        None => ("-".into(), "-".into()),
    }
}

fn cut(text: &str, longest: usize) -> String {
    match text.chars().count() <= longest {
        true => text.to_owned(),
        false => text.chars().take(longest - 1).chain(['…']).collect(),
    }
}

fn busiest(threads: &[ThreadGroup]) -> String {
    let total: f64 = threads.iter().map(|t| t.cpu_s).sum();
    let shares = threads.iter().map(|t| (t, t.cpu_s / total)).filter(|(_, share)| *share >= BUSY_SHARE);
    let parts: Vec<String> =
        shares.take(BUSY_THREADS).map(|(t, share)| format!("{} {:.0} %", t.comm, share * 100.0)).collect();
    parts.join(", ")
}

/// How far the figures can be relied on, in sentences.
pub fn trust(result: &ExperimentResult) -> Vec<String> {
    let mut out = vec![match result.size_spec.repetitions {
        1 => {
            "One run of each cell: a second one may differ. Five pairs (--repeats 5) make an interval.".into()
        }
        n if n < 5 => format!("Medians of {n} runs; five pairs (--repeats 5) make a narrower interval."),
        n => format!("Medians of {n} runs, ratios of pairs with their 95 % interval."),
    }];
    out.extend(result.stop.map(|stopped| stop(&stopped)));
    if let Some(data) = &result.data {
        out.push(format!(
            "The data is a sample of {} pieces, {}, of {} files below {}{}.",
            data.pieces,
            megabytes(data.taken),
            data.files,
            data.place(),
            data.without()
        ));
    }
    out.extend(result.like.iter().flat_map(Likeness::sentences));
    if let Some(noise) = result.noise.filter(|noise| *noise > QUIET) {
        out.push(format!("Runs of the same cell differ by {:.0} % on this machine.", (noise - 1.0) * 100.0));
    }
    if let Some(drift) = result.drift {
        let change = if drift > 1.0 { "more" } else { "less" };
        out.push(format!(
            "The machine changed: later runs took {:.0} % {change} than earlier ones. Ratios of pairs still hold.",
            (drift - 1.0).abs() * 100.0
        ));
    }
    if let Some(first) = result.warm_up {
        let change = if first > 1.0 { "more" } else { "less" };
        out.push(format!(
            "The first run of each cell took {:.0} % {change} time than its later ones: what was warm by then still counts in \
             medians of few runs; more repetitions (--repeats N) take it out.",
            (first - 1.0).abs() * 100.0
        ));
    }
    out
}

/// Whether the repetitions were enough by the rule, and what it does to the intervals.
fn stop(Stopped { rule, after }: &Stopped) -> String {
    let looks: Vec<String> = rule.looks().iter().map(u32::to_string).collect();
    let enough = match after {
        Some(made) => {
            format!("It was enough after {made} of at most {} runs of each cell: {rule}.", rule.most)
        }
        None => format!("{} runs of each cell were not enough. Enough is when {rule}.", rule.most),
    };
    format!(
        "{enough} The intervals hold for all looks together (after {} runs), 95 % of the time.",
        looks.join(", ")
    )
}

fn megabytes(bytes: crate::Bytes) -> String {
    format!("{:.1} MB", bytes.0 as f64 / 1e6)
}

/// The law in a sentence, with what it predicts.
pub fn growth_line(growth: &GrowthResult) -> String {
    const FURTHER: f64 = 10.0;
    let of = match (&growth.function, growth.of.as_str()) {
        (None, "") => String::new(),
        (None, of) => format!("{of}: "),
        (Some(function), "") => format!("{function}: "),
        (Some(function), of) => format!("{function}, {of}: "),
    };
    let largest = growth.points.iter().map(|(n, _)| *n).fold(0.0, f64::max);
    format!(
        "{of}{} in {}, by {}: {}; at {} = {:.0} that would be {}.",
        growth.measure.unit(),
        growth.step,
        growth.factor,
        law(&growth.fit),
        growth.factor,
        largest * FURTHER,
        number(growth.fit.at(largest * FURTHER)),
    )
}

/// `grows as n log n (exponent 1.1 [1.0, 1.2])`
pub fn law(fit: &Growth) -> String {
    let Interval { value, low, high } = fit.exponent;
    let law = match fit.model {
        // No law falls; what does is no constant either.
        Model::Constant if high < -EXPONENT_MARGIN => "falls as it grows".to_owned(),
        Model::Constant => "is constant".to_owned(),
        // A law fits any three points best; that they grow is not said by it.
        _ if low <= 0.0 => "shows no growth".to_owned(),
        _ if high < EXPONENT_MARGIN => "hardly grows".to_owned(),
        model => format!("grows as {}", model.name()),
    };
    format!("{law} (exponent {value:.2} [{low:.2}, {high:.2}])")
}

fn signature(result: &ExperimentResult) -> String {
    let mut out = String::new();
    for check in &result.checks {
        let word = match check.outcome {
            Outcome::Holds => "ok  ",
            Outcome::Fails => "FAIL",
            Outcome::NotMeasured => "?   ",
        };
        let _ = writeln!(out, "{word} {} ({})", check.say, check.found);
    }
    if out.is_empty() { out } else { format!("\nExpected\n{out}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_law_through_noise_is_not_called_growth() {
        let noise = [(100.0, 1.0), (200.0, 1.05), (400.0, 1.6)];
        let fit = crate::stats::fit(&noise).unwrap();
        assert_ne!(fit.model, Model::Constant, "it would be told as constant anyway");
        assert!(law(&fit).starts_with("shows no growth (exponent "), "{}", law(&fit));
        let hardly = crate::stats::fit(&[(100.0, 1.0), (200.0, 1.045), (400.0, 1.088)]).unwrap();
        assert!(law(&hardly).starts_with("hardly grows (exponent 0.06 "), "{}", law(&hardly));
        let grows = crate::stats::fit(&[(100.0, 1.0), (200.0, 2.01), (400.0, 3.98)]).unwrap();
        assert!(law(&grows).starts_with("grows as n (exponent "), "{}", law(&grows));
    }
}
