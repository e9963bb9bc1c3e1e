//! What the captures of an experiment show.

use crate::load::{ReadArgs, answer, display_name, load};
use crate::output;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use zwhy_diagnose::{Answer, Knowledge};
use zwhy_lab::ExperimentResult;
use zwhy_report::{Align, Grid};

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
    let mut text = format!("\n{}\n{}\n", style.bold("What the captures show"), grid.lines(80).join("\n"));
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
