//! A capture as evidence: samples as they are, series as last values and rates, facts by name.

use crate::FORMAT_VERSION;
use crate::error::CaptureError;
use crate::marks::Mark;
use crate::measures;
use crate::open::Capture;
use crate::series::SeriesKind;
use crate::writer::Writer;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use zwhy_evidence::{
    CaptureFacts, Evidence, Host, HostFacts, ImportStats, Imported, Kind, Kstat, Line, Moment, OriginId,
    Param, Property, ThreadCpu, Timeline, VdevLoad,
};
use zwhy_profile::{Event, Nanos};

/// Writes what an importer took in as a capture: samples as tables, the rest in its facts.
///
/// # Errors
/// As [`Writer::create`] and [`Writer::finish`].
pub fn write_imported(imported: Imported, out: &Path) -> Result<PathBuf, CaptureError> {
    let Imported { mut evidence, stats } = imported;
    let mut facts = std::mem::take(&mut evidence.facts);
    facts.version = Some(FORMAT_VERSION);
    facts.kind = Some(Kind::Import);
    if facts.host.is_empty() {
        facts.host = host_facts(&evidence.host);
    }
    if facts.zfs.is_empty() {
        facts.zfs.version.clone_from(&evidence.host.zfs_version);
    }
    facts.measures = measures::to_facts(&evidence.profile);
    facts.recorder.lost = Some(stats.lost);
    facts.recorder.dropped = Some(stats.dropped.clone());
    facts.recorder.limits = Some(stats.warnings.clone());
    facts.import = Some(stats);
    let mut profile = std::mem::take(&mut evidence.profile);
    facts.evidence = evidence.has_items().then(|| Box::new(evidence));
    let mut writer = Writer::create(out)?;
    writer.set_facts(&facts)?;
    writer.flush(&mut profile)?;
    writer.finish()
}

/// Writes a capture that is in memory, as one that was recorded: tables, readings, moments and facts.
///
/// # Errors
/// As [`Writer::create`] and [`Writer::finish`].
pub fn write_capture(capture: Capture, out: &Path) -> Result<PathBuf, CaptureError> {
    let Capture { mut profile, series, marks, facts, .. } = capture;
    let mut writer = Writer::create(out)?;
    writer.set_facts(&facts)?;
    writer.append_series(&series)?;
    for mark in marks {
        writer.mark(mark)?;
    }
    writer.flush(&mut profile)?;
    writer.finish()
}

/// Series of these sources have evidence of their own. Disks, memory and pressure are read as kstats.
const NOT_KSTATS: [&str; 4] = ["thread/", "cpu/", "host", "vdev/"];

impl Capture {
    /// All that the capture says, with what was lost. `name` is how messages call it.
    pub fn into_imported(mut self, name: &str) -> Imported {
        let stats = self.stats();
        let mut evidence = Evidence::default();
        let origin = evidence.origin(name);
        evidence.host = host(&self.facts);
        add_series(&self, origin, &mut evidence);
        evidence.timeline = timeline(&self);
        evidence.tables.extend(VdevLoad::table(&VdevLoad::all(&evidence.timeline), origin));
        evidence.params = params(&self.facts, origin);
        evidence.properties = properties(&self.facts, origin);
        // An imported source keeps what has no table of its own in its facts.
        if let Some(items) = self.facts.evidence.take() {
            evidence.merge(*items);
        }
        evidence.profile = self.profile;
        measures::from_facts(&self.facts.measures, &mut evidence.profile);
        evidence.facts = self.facts;
        Imported { evidence, stats }
    }

    /// Writes what damage has taken into the facts, so that a copy of the capture tells it, too. Members of the file that
    /// could not be read are counted and not named: their names may be anybody's.
    pub fn keep_losses(&mut self) {
        let damage = std::mem::take(&mut self.damage);
        let recorder = &mut self.facts.recorder;
        if let Some(lost) = damage.lost_rows.get("samples") {
            recorder.lost = Some(recorder.lost.unwrap_or(0).saturating_add(*lost));
        }
        let count = damage.unreadable.len();
        let unreadable = (count > 0).then(|| format!("{count} parts of the original file could not be read"));
        recorder.limits.get_or_insert_default().extend(damage.sentences(unreadable));
    }

    /// Samples read and lost, by the recorder (its own count) and by damage to the file.
    fn stats(&self) -> ImportStats {
        let by_damage = self.damage.lost_rows.get("samples").copied().unwrap_or(0);
        // What an importer counted in lines or rows stays in them: counts of two units add up to
        // nothing. When samples of the capture are lost, they are what counts.
        let import = &self.facts.import;
        if let Some(import) = import
            && import.unit != "samples"
            && by_damage == 0
        {
            return ImportStats { format: "zwhy".into(), warnings: self.warnings(), ..import.clone() };
        }
        let mut stats = ImportStats::new("zwhy", "samples");
        stats.kept = Event::ALL.into_iter().map(|e| self.profile.samples.total(e)).sum();
        let recorder = &self.facts.recorder;
        stats.lost = recorder.lost.unwrap_or(0).saturating_add(by_damage);
        for (reason, count) in recorder.dropped.iter().flatten() {
            stats.drop(reason, *count);
        }
        stats.read = stats.kept + stats.dropped_total() + stats.lost;
        if let Some(import) = import {
            (stats.lost_bytes, stats.cut_at) = (import.lost_bytes, import.cut_at);
        }
        stats.warnings = self.warnings();
        stats
    }

    fn warnings(&self) -> Vec<String> {
        let unreadable = self.damage.unreadable.iter();
        let unreadable = unreadable.map(|(name, why)| format!("{name} could not be read: {why}"));
        let mut out = self.damage.sentences(unreadable);
        out.extend(self.facts.recorder.limits.iter().flatten().cloned());
        out
    }
}

fn host(facts: &CaptureFacts) -> Host {
    let HostFacts { name, kernel, os, arch, cpu_model, cpu_flags, .. } = &facts.host;
    let told = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    Host {
        name: told(name),
        zfs_version: told(&facts.zfs.version).or_else(|| told(&facts.zfs.library)),
        kernel: told(kernel),
        os: told(os),
        cpu_model: told(cpu_model),
        cpu_flags: cpu_flags.clone().unwrap_or_default(),
        arch: told(arch),
    }
}

/// As an importer knows a host.
fn host_facts(host: &Host) -> HostFacts {
    let Host { name, kernel, os, cpu_model, cpu_flags, arch, .. } = host.clone();
    let cpu_flags = (!cpu_flags.is_empty()).then_some(cpu_flags);
    HostFacts { name, kernel, os, arch, cpu_model, cpu_flags, ..HostFacts::default() }
}

fn params(facts: &CaptureFacts, origin: OriginId) -> Vec<Param> {
    // The chosen implementation is told by the parameter too, which has the whole list of choices.
    let groups = [&facts.implementations, &facts.sysctl, &facts.parameters];
    let param =
        |(name, value): (&String, &String)| Param { name: name.clone(), value: value.clone(), origin };
    groups.into_iter().flatten().map(param).collect()
}

/// Properties of pools and datasets, with what is known of them besides.
fn properties(facts: &CaptureFacts, origin: OriginId) -> Vec<Property> {
    let mut out = Vec::new();
    let mut put = |of: &Option<String>, name: &str, value: &str| {
        let (dataset, name, value) = (of.clone(), name.to_owned(), value.to_owned());
        out.push(Property { dataset: dataset.filter(|d| !d.is_empty()), name, value, origin });
    };
    for pool in facts.pools.iter().flatten() {
        pool.figures().iter().for_each(|(name, value)| put(&pool.name, name, value));
        pool.properties.iter().flatten().for_each(|(name, value)| put(&pool.name, name, value));
    }
    for dataset in facts.datasets.iter().flatten() {
        dataset.figures().iter().for_each(|(name, value)| put(&dataset.name, name, value));
        dataset.properties.iter().flatten().for_each(|(name, value)| put(&dataset.name, name, value));
    }
    out
}

/// The counters that people look at, as they were read.
fn timeline(capture: &Capture) -> Timeline {
    let mut lines: Vec<Line> = Vec::new();
    let mut known: FxHashMap<(&str, &str), usize> = FxHashMap::default();
    for row in capture.series.iter().filter(|row| Timeline::keeps(row.source, row.name)) {
        let at = *known.entry((row.source, row.name)).or_insert_with(|| {
            let (source, name) = (row.source.to_owned(), row.name.to_owned());
            lines.push(Line { source, name, counter: row.kind == SeriesKind::Counter, points: Vec::new() });
            lines.len() - 1
        });
        lines[at].points.push((row.t.0, row.value));
    }
    lines.iter_mut().for_each(|line| line.points.sort_unstable());
    let mark = |m: &Mark| Moment { t: m.t.0, name: m.name.clone(), text: m.text.clone() };
    Timeline { lines, marks: capture.marks.iter().map(mark).collect() }
}

/// First and last reading of one counter or gauge.
#[derive(Clone, Copy)]
struct Span {
    first: (Nanos, i64),
    last: (Nanos, i64),
    kind: SeriesKind,
    /// Sum of increases; a counter that restarts at zero loses only what it counted before.
    grown: i64,
}

fn add_series(capture: &Capture, origin: OriginId, evidence: &mut Evidence) {
    let mut spans: BTreeMap<(&str, &str), Span> = BTreeMap::new();
    for row in capture.series.iter() {
        let at = (row.t, row.value);
        let span = spans.entry((row.source, row.name)).or_insert(Span {
            first: at,
            last: at,
            kind: row.kind,
            grown: 0,
        });
        if row.t >= span.last.0 {
            span.grown = span.grown.saturating_add(row.value.saturating_sub(span.last.1).max(0));
            span.last = at;
        }
    }
    add_threads(capture, &spans, origin, evidence);
    for ((source, name), span) in spans {
        if NOT_KSTATS.iter().any(|p| source.starts_with(p)) {
            continue;
        }
        let seconds = Nanos(span.last.0.0 - span.first.0.0).as_secs_f64();
        let rate = (span.kind == SeriesKind::Counter && seconds > 0.0).then(|| span.grown as f64 / seconds);
        let (source, name) = (source.to_owned(), name.to_owned());
        evidence.kstats.push(Kstat { source, name, value: span.last.1 as f64, rate, origin });
    }
}

/// CPU of each thread over the whole recording, however short the thread lived.
fn add_threads(
    capture: &Capture,
    spans: &BTreeMap<(&str, &str), Span>,
    origin: OriginId,
    evidence: &mut Evidence,
) {
    let profile = &capture.profile;
    let known: FxHashMap<i32, (&str, i32)> =
        profile.threads.iter().map(|(_, t)| (t.tid, (profile.strings.get(t.comm), t.pid))).collect();
    let clocks = || {
        let cpu = spans.iter().filter(|((_, name), _)| *name == "cpu_ns");
        cpu.filter_map(|((source, _), span)| {
            Some((source.strip_prefix("thread/")?.parse::<i32>().ok()?, span))
        })
    };
    let nice = |tid: i32| {
        let source = format!("thread/{tid}");
        let span = spans.get(&(source.as_str(), "nice"))?;
        i32::try_from(span.last.1).ok()
    };
    let Some(start) = clocks().map(|(_, span)| span.first.0).min() else { return };
    let end = clocks().map(|(_, span)| span.last.0).max().unwrap_or(start);
    let seconds = Nanos(end.0 - start.0).as_secs_f64();
    for (tid, span) in clocks() {
        // A thread that ended before its name was read.
        let (comm, pid) = known.get(&tid).map_or(("", None), |(comm, pid)| (*comm, Some(*pid)));
        let comm = if comm.is_empty() { "(unnamed)" } else { comm }.to_owned();
        let used = Nanos(span.grown).as_secs_f64();
        let cpu_pct = (seconds > 0.0).then(|| 100.0 * used / seconds);
        evidence.threads.push(ThreadCpu { comm, cpu_pct, nice: nice(tid), pid, tid: Some(tid), origin });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::Series;
    use zwhy_profile::Profile;

    #[test]
    fn counters_become_rates_and_threads_per_cent() {
        let mut series = Series::default();
        for (t, hits, cpu) in
            [(0, 10, 0), (1_000_000_000, 30, 500_000_000), (2_000_000_000, 5, 1_000_000_000)]
        {
            series.push(Nanos(t), "arcstats", "hits", SeriesKind::Counter, hits);
            series.push(Nanos(t), "thread/7", "cpu_ns", SeriesKind::Counter, cpu);
        }
        series.push(Nanos(0), "thread/7", "nice", SeriesKind::Gauge, 19);
        for (t, cpu) in [(1_400_000_000, 700_000_000), (1_500_000_000, 900_000_000)] {
            series.push(Nanos(t), "thread/8", "cpu_ns", SeriesKind::Counter, cpu);
        }
        let mut profile = Profile::new();
        profile.thread(1, 7, "z_rd_int");
        profile.thread(8, 8, "zpool");
        let (facts, left_out) = CaptureFacts::from_value(serde_json::json!({
            "host": { "name": "db7", "kernel": "6.1", "cpu_flags": ["avx"] },
            "parameters": { "zfs_arc_max": 5, "icp_aes_impl": "cycle fastest [generic] aesni" },
            "implementations": { "icp_aes_impl": "generic" },
            "datasets": [{ "name": "tank/a", "properties": { "encryption": "aes-256-ccm" } }],
            "recorder": { "lost": 3, "dropped": { "odd": 2 }, "limits": ["no kernel stacks"] },
        }));
        assert!(left_out.is_empty());
        let capture = Capture { profile, series, facts, ..Capture::default() };
        let Imported { evidence, stats } = capture.into_imported("x.zwhy");
        let hits = evidence.kstat("arcstats", "hits").unwrap();
        assert_eq!(evidence.timeline.lines.len(), 1, "threads have clocks of their own");
        assert_eq!(evidence.timeline.lines[0].points[1], (1_000_000_000, 30));
        // The counter restarted between the last two readings: only the 20 before it are known.
        assert_eq!((hits.value, hits.rate), (5.0, Some(10.0)));
        assert_eq!(
            (evidence.threads[0].comm.as_str(), evidence.threads[0].cpu_pct),
            ("z_rd_int", Some(50.0))
        );
        assert_eq!((evidence.threads[0].nice, evidence.threads[1].nice), (Some(19), None));
        // What it used before is not of this recording; its growth is spread over the whole of it.
        assert_eq!((evidence.threads[1].comm.as_str(), evidence.threads[1].cpu_pct), ("zpool", Some(10.0)));
        assert_eq!(evidence.param("zfs_arc_max"), Some("5"));
        let aes: Vec<&str> =
            evidence.params.iter().filter(|p| p.name == "icp_aes_impl").map(|p| p.value.as_str()).collect();
        assert_eq!(aes.last(), Some(&"cycle fastest [generic] aesni"), "what was offered is not hidden");
        assert_eq!(evidence.properties[0].dataset.as_deref(), Some("tank/a"));
        assert_eq!(evidence.host.cpu_flags, ["avx"]);
        assert!(stats.balanced());
        assert_eq!((stats.lost, stats.dropped_total(), stats.warnings.len()), (3, 2, 1));
    }
    #[test]
    fn what_was_imported_comes_back_with_its_losses() {
        let mut imported = Imported { stats: ImportStats::new("pasted", "lines"), ..Imported::default() };
        imported.stats.read = 9;
        imported.stats.kept = 6;
        imported.stats.lost = 1;
        imported.stats.drop("not recognised", 2);
        let evidence = &mut imported.evidence;
        let origin = evidence.origin("thread.txt, lines 3-8");
        evidence.host.zfs_version = Some("2.1.5".into());
        evidence.properties.push(Property {
            dataset: None,
            name: "recordsize".into(),
            value: "1M".into(),
            origin,
        });
        let thread = evidence.profile.thread(1, 1, "dd");
        evidence.profile.samples.push_counted(thread, zwhy_profile::StackId::ROOT, Event::Cpu, 5);
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("x.zwhy");
        write_imported(imported, &out).unwrap();
        let back = Capture::open(&out).unwrap().into_imported("x.zwhy");
        assert_eq!(back.evidence.properties.len(), 1);
        assert_eq!(back.evidence.origin_name(back.evidence.properties[0].origin), "thread.txt, lines 3-8");
        assert_eq!(back.evidence.host.zfs_version.as_deref(), Some("2.1.5"));
        let stats = &back.stats;
        assert_eq!((stats.unit.as_str(), stats.read), ("lines", 9));
        assert_eq!((stats.kept, stats.lost, stats.dropped_total()), (6, 1, 2));
    }
}
