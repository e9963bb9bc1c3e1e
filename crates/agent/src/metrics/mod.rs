//! What a monitoring system reads: one page of counters and gauges, made anew after each interval.
//!
//! Invariants: the number of rows is bounded whatever the host has; counters only grow while the agent runs; what the
//! host does not tell is absent. docs/AGENT.md lists all of them.

mod datasets;
mod host;
#[cfg(test)]
mod strict;
#[cfg(test)]
mod tests;
mod text;

use crate::findings::Episode;
use crate::own::Own;
use crate::spool::{Reason, Rows, Spool};
use crate::status::Status;
use datasets::Datasets;
use std::collections::BTreeMap;
use text::{Kind, Text};
use zwhy_diagnose::{Anatomy, classify};
use zwhy_evidence::CaptureFacts;
use zwhy_live::{Readings, Slice, StageSeconds};

/// Findings that are told, those of the highest confidence.
const MOST_FINDINGS: usize = 30;

/// Counters that the agent itself adds up.
#[derive(Default)]
pub(crate) struct Metrics {
    /// CPU seconds.
    stages: BTreeMap<String, f64>,
    samples: u64,
    lost: u64,
    datasets: Datasets,
}

/// What else is on the page.
pub(crate) struct Page<'a> {
    pub spool: &'a Spool,
    pub facts: &'a CaptureFacts,
    pub status: &'a Status,
    pub own: Own,
    /// When the newest verdict was made.
    pub verdict_unix_s: Option<f64>,
    pub max_bytes: u64,
    /// Attempts to send that failed; absent where nothing is sent.
    pub ship_failures: Option<u64>,
}

impl Metrics {
    /// Takes in an interval, whose readings have been taken in already.
    pub(crate) fn take(&mut self, slice: &Slice, readings: &Readings, anatomy: &Anatomy, own: Option<i32>) {
        let classified = classify(&slice.profile, anatomy);
        let StageSeconds { samples, stages } = StageSeconds::of(slice, &classified, own);
        for (stage, seconds) in stages {
            match self.stages.get_mut(stage) {
                Some(sum) => *sum += seconds,
                None => drop(self.stages.insert(stage.to_owned(), seconds)),
            }
        }
        self.samples += samples;
        self.lost += slice.lost;
        self.datasets.take(readings, slice.to);
    }

    pub(crate) fn page(&self, page: &Page<'_>) -> String {
        let mut text = Text::default();
        let version = [("version", env!("CARGO_PKG_VERSION"))];
        text.metric("zwhy_build_info", Kind::Gauge, "The version of zwhy, as a label.")
            .put(&version, Some(1.0));
        let mut stages = text.metric(
            "zwhy_cpu_seconds_total",
            Kind::Counter,
            "CPU time by stage of ZFS's work, from samples; the agent's own and idle time are not in it.",
        );
        for (stage, seconds) in &self.stages {
            stages.put(&[("stage", stage)], Some(*seconds));
        }
        text.counter("zwhy_samples_total", "CPU samples taken.", Some(self.samples as f64));
        text.counter(
            "zwhy_samples_lost_total",
            "Samples that found no room in the kernel.",
            Some(self.lost as f64),
        );
        findings(&mut text, &page.status.findings);
        text.gauge(
            "zwhy_verdict_timestamp_seconds",
            "When the newest verdict was made, in seconds since 1970.",
            page.verdict_unix_s,
        );
        host::put(&mut text, page.spool.readings(), page.facts, &self.datasets);
        agent(&mut text, page);
        text.finish()
    }
}

fn findings(text: &mut Text, lasting: &[Episode]) {
    let mut told: Vec<&Episode> = lasting.iter().collect();
    told.sort_by(|a, b| b.confidence.total_cmp(&a.confidence).then_with(|| a.class.cmp(&b.class)));
    told.truncate(MOST_FINDINGS);
    text.gauge("zwhy_findings", "Causes that are found now.", Some(lasting.len() as f64));
    let mut all = |name, help, value: fn(&Episode) -> Option<f64>| {
        let mut metric = text.metric(name, Kind::Gauge, help);
        told.iter().for_each(|episode| metric.put(&[("class", &episode.class)], value(episode)));
    };
    all("zwhy_finding_confidence", "Confidence of a cause that is found now, 0 to 1.", |e| {
        Some(e.confidence)
    });
    all("zwhy_finding_cpu_ratio", "Part of all CPU samples that a cause takes, 0 to 1.", |e| e.share);
    all("zwhy_finding_begin_timestamp_seconds", "Since when a cause is found, in seconds since 1970.", |e| {
        Some(e.begin_unix_s)
    });
}

/// The agent itself, and its spool.
fn agent(text: &mut Text, page: &Page<'_>) {
    let Page { spool, status, own, .. } = page;
    let (files, bytes) = spool.size();
    text.counter("zwhy_agent_cpu_seconds_total", "CPU time of the agent.", Some(own.cpu_s));
    text.gauge("zwhy_agent_resident_bytes", "Memory of the agent.", own.rss_bytes.map(|rss| rss as f64));
    text.gauge(
        "zwhy_agent_start_timestamp_seconds",
        "When the agent started, in seconds since 1970.",
        Some(status.started_unix_s),
    );
    text.gauge("zwhy_agent_spool_files", "Files in the spool.", Some(files as f64));
    text.gauge("zwhy_agent_spool_bytes", "Bytes in the spool.", Some(bytes as f64));
    text.gauge("zwhy_agent_spool_limit_bytes", "Bytes that the spool may have.", Some(page.max_bytes as f64));
    text.gauge("zwhy_agent_spool_seconds", "Recorded time in the spool.", Some(spool.seconds()));
    let mut written = text.metric(
        "zwhy_agent_rows_written_total",
        Kind::Counter,
        "Rows written to the spool since the agent started.",
    );
    by_table(spool.written, |table, rows| written.put(&[("table", table)], Some(rows)));
    let mut dropped = text.metric(
        "zwhy_agent_rows_dropped_total",
        Kind::Counter,
        "Rows that are not in the spool since it was made: too old, too many, or not written.",
    );
    for reason in Reason::ALL {
        let rows = spool.state().dropped.get(&reason).map_or(Rows::default(), |dropped| dropped.rows);
        by_table(rows, |table, rows| dropped.put(&[("reason", reason.name()), ("table", table)], Some(rows)));
    }
    text.counter(
        "zwhy_agent_write_failures_total",
        "Writes to the spool that failed since the agent started.",
        Some(spool.failures as f64),
    );
    let failing = f64::from(u8::from(spool.problem.is_some()));
    text.gauge("zwhy_agent_write_failing", "1 while the spool cannot be written.", Some(failing));
    text.counter(
        "zwhy_agent_gaps_total",
        "Times that no agent ran, since the spool was made.",
        Some(spool.state().gaps as f64),
    );
    if let Some(failures) = page.ship_failures {
        shipping(text, spool, failures);
    }
    let missing = status.missing.len() as f64;
    text.gauge("zwhy_agent_missing", "What cannot be seen here; zwhy agent status says it.", Some(missing));
}

/// What is sent to a store, where that is asked for.
fn shipping(text: &mut Text, spool: &Spool, failures: u64) {
    text.counter("zwhy_agent_ship_failures_total", "Attempts to send that failed.", Some(failures as f64));
    text.gauge(
        "zwhy_agent_ship_waiting_files",
        "Finished files that were not sent yet.",
        Some(spool.unsent_files() as f64),
    );
    text.gauge(
        "zwhy_agent_ship_unreadable_files",
        "Files in the spool that are not sent, as they cannot be read.",
        Some(spool.state().passed.len() as f64),
    );
    let mut unsent = text.metric(
        "zwhy_agent_rows_unsent_total",
        Kind::Counter,
        "Rows that were dropped before they were sent, since the spool was made.",
    );
    by_table(spool.state().unsent.rows, |table, rows| unsent.put(&[("table", table)], Some(rows)));
}

fn by_table(rows: Rows, mut put: impl FnMut(&str, f64)) {
    put("samples", rows.samples as f64);
    put("series", rows.series as f64);
    put("marks", rows.marks as f64);
}
