//! How far an experiment is: on a progress bar, or in lines for the host of a VM.

use super::line::{LINES, Line};
use crate::{output, progress};
use indicatif::ProgressBar;
use std::time::{Duration, Instant};
use zwhy_lab::{Progress as _, Step};

/// The current step on a progress bar; in a VM, in lines for the host.
pub struct Shown {
    pub bar: ProgressBar,
    /// When bytes were last told in a line; `None` where a bar shows them.
    told: Option<Instant>,
}

impl Shown {
    pub fn new() -> Shown {
        let told = std::env::var_os(LINES).map(|_| Instant::now());
        let bar = match told {
            // The console of a VM is a terminal, too.
            Some(_) => ProgressBar::hidden(),
            None => progress::bar(0, "{msg} {bar:20} {bytes}/{total_bytes}"),
        };
        Shown { bar, told }
    }

    /// How far it is in the VM.
    pub fn heard(&mut self, line: &Line) {
        match line {
            Line::Step { run, runs, variant, phase } => {
                self.step(&Step { run: *run, runs: *runs, variant, phase });
            }
            Line::Bytes { done, total } => self.bytes(*done, *total),
        }
    }

    /// What goes on before the first step.
    pub fn waits(&self, what: &'static str) {
        self.bar.set_message(what);
    }

    /// A line above the progress bar.
    pub fn say(&self, line: &str) {
        self.bar.suspend(|| output::note(line));
    }
}

impl zwhy_lab::Progress for Shown {
    fn step(&mut self, step: &Step<'_>) {
        if self.told.is_some() {
            let (variant, phase) = (step.variant.to_owned(), step.phase.to_owned());
            Line::Step { run: step.run, runs: step.runs, variant, phase }.say();
        }
        let place = format!("run {}/{} {} {}", step.run, step.runs, step.variant, step.phase);
        self.bar.set_message(zwhy_report::plain(&place).into_owned());
        self.bar.set_position(0);
    }

    fn bytes(&mut self, done: u64, total: u64) {
        const EVERY: Duration = Duration::from_secs(1);
        if self.told.is_some_and(|at| at.elapsed() >= EVERY) {
            Line::Bytes { done, total }.say();
            self.told = Some(Instant::now());
        }
        self.bar.set_length(total);
        self.bar.set_position(done);
    }
}
