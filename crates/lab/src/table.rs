//! The result as a table for a terminal: one row a variant, plain text, no colour.

use crate::answer::number;
use crate::result::{ExperimentResult, Spread, Summary, SummaryPhase, ThreadGroup};
use crate::{Engine, PhaseKind};
use std::fmt::Write;

/// Threads below this share of a phase are not worth a column.
const BUSY_SHARE: f64 = 0.05;
const BUSY_THREADS: usize = 3;

/// The rows, the answer, and what to know before comparing the figures with other hosts.
pub fn table(result: &ExperimentResult) -> String {
    let mut out = String::new();
    let head = format!(
        "{} · OpenZFS {} ({}) · {} × {}",
        result.title,
        result.library.release,
        result.library.version_text(),
        result.size_spec.repetitions,
        result.size_spec.bytes
    );
    let width = result.summary.iter().map(|s| s.variant.chars().count()).max().unwrap_or(0).max(7);
    let _ = writeln!(out, "{head}\n");
    let _ = writeln!(out, "{:width$}  {:>16}  {:>16}", "", "write", "cold read");
    let _ = writeln!(
        out,
        "{:width$}  {:>6} {:>9}  {:>6} {:>9}  busiest threads in read",
        "variant", "MB/s", "CPU-s/GB", "MB/s", "CPU-s/GB"
    );
    for summary in &result.summary {
        let (write, read) = (phase(summary, PhaseKind::Write), phase(summary, PhaseKind::Read));
        let figures = |p: Option<&SummaryPhase>| {
            let cell = |s: Option<Spread>| s.map_or("-".to_owned(), |s| number(s.median));
            (cell(p.and_then(|p| p.mb_per_s)), cell(p.and_then(|p| p.cpu_s_per_gb)))
        };
        let ((wm, wc), (rm, rc)) = (figures(write), figures(read));
        let busy = busiest(read.map_or(&[], |p| &p.threads));
        let _ = writeln!(out, "{:width$}  {wm:>6} {wc:>9}  {rm:>6} {rc:>9}  {busy}", summary.variant);
    }
    let _ = writeln!(out, "\n{}", result.answer);
    if result.size_spec.repetitions > 1 {
        let _ = writeln!(out, "Figures are medians of {} repetitions.", result.size_spec.repetitions);
    }
    match result.engine {
        Engine::User => {
            let _ = writeln!(out, "\nWhere OpenZFS in user space differs from the kernel:");
        }
    }
    for distortion in &result.distortions {
        let _ = writeln!(out, "  - {distortion}");
    }
    out
}

fn phase(summary: &Summary, kind: PhaseKind) -> Option<&SummaryPhase> {
    summary.phases.iter().find(|p| p.phase == kind)
}

fn busiest(threads: &[ThreadGroup]) -> String {
    let total: f64 = threads.iter().map(|t| t.cpu_s).sum();
    let shares = threads.iter().map(|t| (t, t.cpu_s / total)).filter(|(_, share)| *share >= BUSY_SHARE);
    let parts: Vec<String> =
        shares.take(BUSY_THREADS).map(|(t, share)| format!("{} {:.0} %", t.comm, share * 100.0)).collect();
    parts.join(", ")
}
