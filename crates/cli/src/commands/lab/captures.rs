//! What the captures of an experiment show.

use super::page::IDLE;
use crate::load::{ReadArgs, answer, display_name, load};
use crate::output;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use zwhy_diagnose::{Answer, Knowledge};
use zwhy_lab::ExperimentResult;
use zwhy_report::{Align, Grid, plain_lines};

/// Each capture in a line, and in full the one whose finding weighs most, or the one that is named.
pub fn explain_captures(result: &ExperimentResult, folder: &Path, named: Option<&str>) -> Result<()> {
    let knowledge = Knowledge::embedded();
    let mut grid = Grid::new(2, &[Align::Left, Align::Left, Align::Right, Align::Left]);
    let first = result.runs.iter().map(|r| r.repetition).min();
    let mut weightiest: Option<(f64, Answer, PathBuf)> = None;
    for run in result.runs.iter().filter(|r| Some(r.repetition) == first) {
        for step in &run.steps {
            let Some(capture) = &step.capture else { continue };
            let path = folder.join(&capture.path);
            let imported = load(&path, &ReadArgs::default())
                .with_context(|| format!("cannot explain {}", path.display()))?;
            let answer = answer(&imported, &knowledge, &display_name(&path));
            let top = answer.findings.first();
            let share = top.and_then(|f| f.share).map_or(0.0, |s| s.value);
            grid.row([
                run.variant.as_str(),
                step.name.as_str(),
                &if share > 0.0 { format!("{:.0} %", share * 100.0) } else { String::new() },
                top.map_or("no known cause", |f| f.title.as_str()),
            ]);
            let weight = match named {
                Some(name) if path.file_stem().is_some_and(|stem| stem == name) => f64::INFINITY,
                Some(_) => 0.0,
                None => top.map_or(0.0, |f| f.confidence * share),
            };
            if weight > weightiest.as_ref().map_or(0.0, |(w, ..)| *w) {
                weightiest = Some((weight, answer, path));
            }
        }
    }
    if grid.is_empty() {
        return Ok(());
    }
    let style = output::style();
    let rows = plain_lines(&grid.lines(80).join("\n"));
    let mut text = format!("\n{}\n{rows}\n", style.bold("What the captures show"));
    text.push_str(&plain_lines(&stage_line(result, &stage_shares(result, folder, &knowledge)?)));
    text.push('\n');
    if let (Some(name), None) = (named, &weightiest) {
        let folder = folder.display();
        output::note(&format!("no capture is called {name}; those of {folder} can be given to zwhy explain"));
    }
    if let Some((_, answer, path)) = weightiest {
        text.push('\n');
        text.push_str(&zwhy_report::answer_text(&answer, false, &path.display().to_string(), style));
    }
    output::print(&text)
}

/// Of each cell the part of the CPU that the stage has in the answering step: the median of the runs whose captures are
/// there. Empty where the experiment asks for no stage.
fn stage_shares(
    result: &ExperimentResult,
    folder: &Path,
    knowledge: &Knowledge,
) -> Result<Vec<(String, f64)>> {
    let Some(stage) = &result.stage else { return Ok(Vec::new()) };
    let mut cells = Vec::new();
    for cell in result.labels() {
        let mut shares = Vec::new();
        let own = result.runs.iter().filter(|run| run.variant == cell);
        for capture in own.filter_map(|run| run.step(&result.figure.step)?.capture.as_ref()) {
            let path = folder.join(&capture.path);
            if path.exists() {
                let imported = load(&path, &ReadArgs::default())
                    .with_context(|| format!("cannot explain {}", path.display()))?;
                shares.extend(share_of(&answer(&imported, knowledge, &display_name(&path)), stage));
            }
        }
        cells.extend(zwhy_lab::median(&shares).map(|share| (cell.to_owned(), share)));
    }
    Ok(cells)
}

/// The part of the busy CPU that a stage has; a stage without samples has none of it.
fn share_of(answer: &Answer, stage: &str) -> Option<f64> {
    let busy = answer.stages.iter().filter(|row| row.stage != IDLE).map(|row| row.share.value).sum::<f64>();
    let own = answer.stages.iter().filter(|row| row.stage == stage).map(|row| row.share.value).sum::<f64>();
    // Without such a stage the sum is a negative zero.
    (busy > 0.0).then(|| own / busy + 0.0)
}

/// `The stage copy in read: 41 % of the CPU of buffered stripe, 5 % of direct stripe`
fn stage_line(result: &ExperimentResult, shares: &[(String, f64)]) -> String {
    let Some(stage) = &result.stage else { return String::new() };
    let told: Vec<String> =
        shares.iter().map(|(cell, share)| format!("{:.0} % of the CPU of {cell}", share * 100.0)).collect();
    match told.is_empty() {
        true => String::new(),
        false => format!("\nThe stage {stage} in {}: {}", result.figure.step, told.join(", ")),
    }
}
