//! The signature that an experiment is expected to show, as checks that can fail: `zwhy lab check`.

use super::measure::Measure;
use serde::{Deserialize, Serialize};

/// One expectation. With `to` it is about the ratio of two cells, without about the figure of one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// What is expected, as a sentence.
    pub say: String,
    /// Where it comes from.
    pub source: Option<String>,
    pub measure: Measure,
    pub step: String,
    /// Label of the cell.
    pub of: String,
    /// Label of the cell that it is compared with.
    pub to: Option<String>,
    /// Step of the other cell, when it is another one.
    pub to_step: Option<String>,
    pub at_least: Option<f64>,
    pub at_most: Option<f64>,
}

impl Check {
    /// # Errors
    /// What does not fit the cells and steps of the experiment.
    pub fn fits(&self, cells: &[String], steps: &[String]) -> Result<(), String> {
        let at = |what: String| Err(format!("checks: {:?}: {what}", self.say));
        for cell in std::iter::once(&self.of).chain(&self.to) {
            if !cells.contains(cell) {
                return at(format!("no cell is called {cell:?}; there are {}", cells.join(", ")));
            }
        }
        for step in std::iter::once(&self.step).chain(&self.to_step) {
            if !steps.contains(step) {
                return at(format!("no step is called {step:?}; there are {}", steps.join(", ")));
            }
        }
        if self.at_least.is_none() && self.at_most.is_none() {
            return at("at_least or at_most is needed".into());
        }
        if self.to_step.is_some() && self.to.is_none() {
            return at("to_step needs to".into());
        }
        Ok(())
    }
}
