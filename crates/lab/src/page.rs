//! What the page of a result shows beside the result itself: every figure by cell, and CPU by stage.
//!
//! Everything is computed here by the statistics that the terminal uses, so that the page only draws.

use crate::latency::Percentile;
use crate::result::{Captured, ExperimentResult, RunResult, StepResult};
use crate::spec::Measure;
use crate::stats::{Interval, Ratio, median, median_interval};
use crate::verdict::{growth_line, surface_line, trust};
use serde::Serialize;
use std::collections::BTreeMap;

/// The result, and what is drawn of it.
#[derive(Debug, Serialize)]
pub struct LabPage<'a> {
    pub result: &'a ExperimentResult,
    /// As text: it has more digits than a number of a browser.
    pub seed: String,
    /// How far the figures can be relied on, in sentences.
    pub trust: Vec<String>,
    /// Each law of growth in a sentence: of two factors together first, then in the order of the result's.
    pub growth: Vec<String>,
    /// The figure that answers first.
    pub figures: Vec<PageFigure>,
    pub stages: Vec<StageBar>,
    /// To do the same again, and to look closer; filled in by the program, which knows how it is called.
    pub commands: Vec<PageCommand>,
    pub captures: Vec<PageCapture>,
}

/// A command for a shell, and what it is for.
#[derive(Debug, Serialize)]
pub struct PageCommand {
    pub what: String,
    pub command: String,
}

/// A recorded step.
#[derive(Debug, Serialize)]
pub struct PageCapture {
    pub cell: String,
    pub step: String,
    pub repetition: u32,
    /// Its file as a word for a shell.
    pub file: String,
}

/// One measure of one step, of all cells that have it.
#[derive(Debug, Serialize)]
pub struct PageFigure {
    pub step: String,
    pub measure: Measure,
    /// `CPU seconds per GB`
    pub unit: String,
    /// What a ratio compares: `CPU`.
    pub noun: &'static str,
    /// The cell that ratios compare with.
    pub reference: String,
    pub cells: Vec<PageCell>,
}

#[derive(Debug, Serialize)]
pub struct PageCell {
    pub cell: String,
    pub runs: Vec<Dot>,
    /// The median with its interval; of fewer than four runs with their range.
    pub median: Interval,
    /// To the reference, of pairs of runs; `None` of the reference itself and without a pair.
    pub ratio: Option<Ratio>,
}

/// One run.
#[derive(Debug, Serialize)]
pub struct Dot {
    /// Place in the order of the runs, from 0.
    pub position: usize,
    pub repetition: u32,
    pub value: f64,
}

/// CPU of one cell in one step, by stage of the ZFS pipeline.
#[derive(Debug, Serialize)]
pub struct StageBar {
    pub step: String,
    pub cell: String,
    /// `CPU seconds per GB`
    pub unit: String,
    /// Samples of all captures that this rests on.
    pub samples: u64,
    /// Most first; together the mean cost of the runs that were recorded.
    pub parts: Vec<StagePart>,
}

#[derive(Debug, Serialize)]
pub struct StagePart {
    pub stage: String,
    /// Fill colour, `#rrggbb`.
    pub colour: String,
    pub value: f64,
}

/// What a capture says of one stage.
pub struct StageShare {
    pub stage: String,
    pub colour: String,
    /// Of the busy CPU in the capture, 0 to 1.
    pub share: f64,
}

/// What every step may have, the figure that answers apart.
const MEASURES: [Measure; 10] = [
    Measure::CpuSPerGb,
    Measure::MbPerS,
    Measure::CpuMsPerOperation,
    Measure::CpuS,
    Measure::WallS,
    Measure::LatencyUs(Percentile::P50),
    Measure::LatencyUs(Percentile::P99),
    Measure::ReadAmplification,
    Measure::WriteAmplification,
    Measure::PeakMb,
];

impl<'a> LabPage<'a> {
    /// `shares` reads one capture of the result; `None` where it is gone.
    ///
    /// # Errors
    /// The first one of `shares`.
    pub fn of<E>(
        result: &'a ExperimentResult,
        shares: impl FnMut(&Captured) -> Result<Option<Vec<StageShare>>, E>,
    ) -> Result<LabPage<'a>, E> {
        Ok(LabPage {
            trust: trust(result),
            growth: result
                .surfaces
                .iter()
                .map(surface_line)
                .chain(result.growth.iter().map(growth_line))
                .collect(),
            figures: figures(result),
            stages: stage_bars(result, shares)?,
            seed: result.seed.to_string(),
            commands: Vec::new(),
            captures: Vec::new(),
            result,
        })
    }
}

/// The answering figure, what the checks look at, and the plain measures of each step.
fn figures(result: &ExperimentResult) -> Vec<PageFigure> {
    let steps = result.steps();
    let answering = (result.figure.step.as_str(), &result.figure.measure);
    let checked = result.expected.iter().map(|check| (check.step.as_str(), &check.measure));
    let plain = steps.iter().flat_map(|step| MEASURES.iter().map(move |measure| (*step, measure)));
    let mut wanted: Vec<(&str, &Measure)> = Vec::new();
    for one in std::iter::once(answering).chain(checked).chain(plain) {
        if !wanted.contains(&one) {
            wanted.push(one);
        }
    }
    wanted.into_iter().filter_map(|(step, measure)| figure(result, step, measure)).collect()
}

/// `None` where no run has such a figure, or all have none of it: a step that reads nothing amplifies nothing.
fn figure(result: &ExperimentResult, step: &str, measure: &Measure) -> Option<PageFigure> {
    let cells: Vec<(&str, Vec<Dot>)> = result
        .labels()
        .map(|label| (label, dots(result, label, step, measure)))
        .filter(|(_, runs)| !runs.is_empty())
        .collect();
    let is_amplification = matches!(measure, Measure::ReadAmplification | Measure::WriteAmplification);
    if is_amplification && cells.iter().all(|(_, runs)| runs.iter().all(|dot| dot.value == 0.0)) {
        return None;
    }
    let reference = least(&cells)?;
    let cell = |(label, runs): (&str, Vec<Dot>)| {
        let median = median_interval(&runs.iter().map(|dot| dot.value).collect::<Vec<f64>>())?;
        let ratio = (label != reference).then(|| result.ratio((label, step), (reference, step), measure));
        Some(PageCell { cell: label.to_owned(), runs, median, ratio: ratio.flatten() })
    };
    Some(PageFigure {
        step: step.to_owned(),
        measure: measure.clone(),
        unit: measure.unit(),
        noun: measure.noun(),
        reference: reference.to_owned(),
        cells: cells.into_iter().filter_map(cell).collect(),
    })
}

fn dots(result: &ExperimentResult, label: &str, step: &str, measure: &Measure) -> Vec<Dot> {
    let dot = |run: &RunResult| {
        let value = measure.of(run.step(step)?)?;
        Some(Dot { position: run.position, repetition: run.repetition, value })
    };
    result.runs_of(label).filter_map(dot).collect()
}

/// The cell with the smallest median, so that ratios are of 1 and more.
fn least<'a>(cells: &[(&'a str, Vec<Dot>)]) -> Option<&'a str> {
    let middle = |runs: &[Dot]| median(&runs.iter().map(|dot| dot.value).collect::<Vec<f64>>());
    let sized = cells.iter().filter_map(|(label, runs)| Some((*label, middle(runs)?)));
    sized.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(label, _)| label)
}

/// One bar for each cell and recorded step, in the order of the steps.
fn stage_bars<E>(
    result: &ExperimentResult,
    mut shares: impl FnMut(&Captured) -> Result<Option<Vec<StageShare>>, E>,
) -> Result<Vec<StageBar>, E> {
    let mut bars = Vec::new();
    for step in result.steps() {
        for cell in result.labels() {
            let own = result.runs_of(cell).filter_map(|run| run.step(step));
            let mut recorded = Vec::new();
            for of_run in own {
                let Some(capture) = &of_run.capture else { continue };
                if let Some(read) = shares(capture)? {
                    recorded.push((of_run, capture.samples, read));
                }
            }
            bars.extend(stage_bar(step, cell, &recorded));
        }
    }
    Ok(bars)
}

/// What a step took, in the unit that fits it.
fn cost(step: &StepResult) -> (f64, Measure) {
    let fitting = [Measure::CpuSPerGb, Measure::CpuMsPerOperation];
    let found = fitting.into_iter().find_map(|measure| Some((measure.of(step)?, measure)));
    found.unwrap_or((step.cpu_s(), Measure::CpuS))
}

/// Shares are of the samples; the CPU that the step took by the clocks gives them their size.
fn stage_bar(step: &str, cell: &str, recorded: &[(&StepResult, u64, Vec<StageShare>)]) -> Option<StageBar> {
    let (_, measure) = cost(recorded.first()?.0);
    let mut stages: BTreeMap<&str, (&str, f64)> = BTreeMap::new();
    for (of_run, _, shares) in recorded {
        let all: f64 = shares.iter().map(|s| s.share).sum();
        for one in shares.iter().filter(|_| all > 0.0) {
            let part = stages.entry(&one.stage).or_insert((&one.colour, 0.0));
            part.1 += cost(of_run).0 * one.share / all / recorded.len() as f64;
        }
    }
    let part = |(stage, (colour, value)): (&str, (&str, f64))| StagePart {
        stage: stage.to_owned(),
        colour: colour.to_owned(),
        value,
    };
    let mut parts: Vec<StagePart> = stages.into_iter().map(part).collect();
    parts.sort_by(|a, b| b.value.total_cmp(&a.value));
    Some(StageBar {
        step: step.to_owned(),
        cell: cell.to_owned(),
        unit: measure.unit(),
        samples: recorded.iter().map(|(_, samples, _)| samples).sum(),
        parts,
    })
}
