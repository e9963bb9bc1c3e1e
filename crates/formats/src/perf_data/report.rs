//! What was read and what was not, in figures and in sentences, and the facts the recorder noted.

use super::header::Layout;
use super::survey::Survey;
use crate::{ImportStats, Imported, Input};
use std::collections::BTreeMap;
use zwhy_evidence::{CaptureFacts, Events, Evidence, Host, HostFacts, Kind, RecordedEvent, RecorderFacts};
use zwhy_perf::attr::{Attr, Schema, has, read};
use zwhy_profile::{Event, FrameKind, Profile, StackTotals, Unit};

pub struct Parts<'a> {
    pub input: &'a Input,
    pub layout: &'a Layout,
    pub schema: &'a Schema,
    pub survey: &'a Survey,
    pub profile: Profile,
    pub kernel_problem: Option<String>,
    pub cut_chains: u64,
    pub broken_chains: u64,
    /// What has no source lines, where those were asked for.
    pub without_lines: Vec<String>,
    pub untracked_processes: u64,
}

pub fn imported(parts: Parts<'_>) -> Imported {
    let survey = parts.survey;
    let lost = lost_samples(parts.schema, survey) + survey.lost.gaps + u64::from(parts.layout.missing > 0);
    let mut stats = ImportStats::new("perf.data", "samples");
    stats.kept = parts.profile.samples.len() as u64;
    // What the first pass saw and the second did not; the walks are equal, so there is none.
    stats.drop("not read again", survey.samples.saturating_sub(stats.kept));
    stats.lost = lost;
    stats.read = stats.kept + stats.dropped_total() + lost;
    stats.lost_bytes = survey.lost.bytes() + parts.layout.missing;
    stats.warnings = warnings(&parts);
    let mut evidence = Evidence { host: host(survey), ..Evidence::default() };
    evidence.origin(parts.input.name());
    evidence.facts = facts(&parts, &stats);
    evidence.profile = parts.profile;
    Imported { evidence, stats }
}

/// Samples that the recorder itself counted as lost.
fn lost_samples(schema: &Schema, survey: &Survey) -> u64 {
    let lost = &survey.lost;
    // With PERF_FORMAT_LOST perf writes at its end, by event, what the kernel reported on the way.
    let twice = schema.attrs.iter().any(|a| a.read_format & read::LOST != 0);
    if twice { lost.by_kernel.max(lost.by_event) } else { lost.by_kernel.saturating_add(lost.by_event) }
}

fn warnings(parts: &Parts<'_>) -> Vec<String> {
    let (survey, layout) = (parts.survey, parts.layout);
    let lost = &survey.lost;
    let mut out = Vec::new();
    let by_recorder = lost_samples(parts.schema, survey);
    if by_recorder > 0 {
        out.push(format!(
            "{by_recorder} samples were lost while recording, because buffers were full; record with a lower -F or larger buffers (-m)"
        ));
    }
    if layout.unfinished {
        out.push("the recorder was ended before it closed the file: all whole records were read; host, build-ids and event names were never written".into());
    }
    if layout.missing > 0 || lost.cut_bytes > 0 {
        out.push(format!(
            "the file is cut: {} bytes of it are missing or belong to a cut record; what they held is lost and counted as {} at least; copy it again",
            layout.missing + lost.cut_bytes,
            u64::from(layout.missing > 0) + u64::from(lost.cut_bytes > 0),
        ));
    }
    if lost.damaged_bytes > 0 {
        let at = lost.first_gap.unwrap_or(0);
        out.push(format!(
            "{} bytes are damaged, the first at byte {at}: each stretch was passed over and is counted as one lost sample, and may have held more",
            lost.damaged_bytes
        ));
    }
    if lost.compressed_bytes > 0 {
        out.push(format!(
            "{} bytes of compressed records cannot be decompressed, because a record before them is missing or damaged; how many samples they held is not known",
            lost.compressed_bytes
        ));
    }
    if lost.beyond_limit_bytes > 0 {
        out.push(format!(
            "{} bytes of compressed records were not read: they decompress to more than the limit",
            lost.beyond_limit_bytes
        ));
    }
    if !survey.skipped.is_empty() {
        let list: Vec<String> = survey.skipped.iter().map(|(name, n)| format!("{n} {name}")).collect();
        let aux = if survey.aux_bytes > 0 {
            format!(" ({} bytes of hardware trace)", survey.aux_bytes)
        } else {
            String::new()
        };
        out.push(format!("records without samples were passed over: {}{aux}", list.join(", ")));
    }
    event_warnings(parts, &mut out);
    weight_notes(parts, &mut out);
    let dwarf = |a: &zwhy_perf::attr::Attr| a.sample_type & has::STACK_USER != 0;
    let copies: u64 = sampled(parts).filter(|(a, _)| dwarf(a)).map(|(_, n)| n).sum();
    if copies > 0 {
        out.push(format!(
            "{copies} samples hold a copy of the user stack (--call-graph dwarf), which is not unwound: of user code they show the innermost function only; record with --call-graph fp for whole user stacks"
        ));
    }
    if parts.cut_chains > 0 {
        out.push(format!(
            "{} distinct stacks are deeper than the limit and lost their outermost frames",
            parts.cut_chains
        ));
    }
    if parts.broken_chains > 0 {
        out.push(format!(
            "{} distinct stacks end early, at a caller that cannot be code: that code was built without frame pointers; record with --call-graph lbr, or programs built with -fno-omit-frame-pointer",
            parts.broken_chains
        ));
    }
    if parts.untracked_processes > 0 {
        out.push(format!(
            "mappings of {} forked processes were not followed: there are too many; their own later mappings are",
            parts.untracked_processes
        ));
    }
    name_warnings(parts, &mut out);
    out.extend(parts.without_lines.iter().cloned());
    out
}

/// Events that have samples, with their number.
fn sampled<'a>(parts: &'a Parts<'_>) -> impl Iterator<Item = (&'a Attr, u64)> {
    let counts = parts.survey.samples_by_event.iter().copied();
    parts.schema.attrs.iter().zip(counts).filter(|(_, n)| *n > 0)
}

fn event_warnings(parts: &Parts<'_>, out: &mut Vec<String>) {
    let list: Vec<String> = sampled(parts).map(|(a, n)| format!("{} ({n} samples)", a.title())).collect();
    let time = sampled(parts).filter(|(a, _)| a.is_cpu_time()).count();
    if time == 0 && !list.is_empty() {
        out.push(format!(
            "no event of this file samples CPU time: the stacks are of {}, so shares are of that event",
            list[0]
        ));
    }
    if list.len() > 1 {
        out.push(format!(
            "the file has samples of several events: {}; those of CPU time are taken together, the others count calls",
            list.join(", ")
        ));
    }
}

/// Says which events are weighed by their periods, and which are not though they could be.
fn weight_notes(parts: &Parts<'_>, out: &mut Vec<String>) {
    let events = parts.survey.events(parts.schema);
    for (i, (attr, event)) in parts.schema.attrs.iter().zip(events).enumerate() {
        let periods = parts.survey.periods(i);
        if attr.sample_type & has::PERIOD != 0 && periods.are_uneven() {
            out.push(periods.told(&attr.title(), parts.profile.measure(event).unit != Unit::Samples));
        }
    }
}

/// Frames without a name that samples end in, with the reasons.
fn name_warnings(parts: &Parts<'_>, out: &mut Vec<String>) {
    let profile = &parts.profile;
    let unnamed_kernel = profile
        .frames
        .iter()
        .any(|(_, f)| f.kind == FrameKind::Kernel && !profile.strings.get(f.reason).is_empty());
    if let Some(problem) = parts.kernel_problem.as_ref().filter(|_| unnamed_kernel) {
        out.push(format!(
            "kernel functions have no names: {problem}; on the recorded host, before it reboots, run as root `zwhy import --bundle` on this file, or copy /proc/kallsyms and pass it with --kallsyms"
        ));
    }
    let mut by_module: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    let mut samples = 0;
    for event in [Event::Cpu, Event::Count] {
        let totals = StackTotals::of(profile, event);
        for (_, _, frame, own) in
            profile.stacks.iter().map(|(id, p, f, _)| (id, p, profile.frames.get(f), totals.own[id.index()]))
        {
            let reason = profile.strings.get(frame.reason);
            if own > 0 && !reason.is_empty() && frame.kind == FrameKind::User {
                *by_module.entry((profile.strings.get(frame.module), reason)).or_default() += own;
                samples += own;
            }
        }
    }
    if samples > 0 {
        let mut list: Vec<((&str, &str), u64)> = by_module.into_iter().collect();
        list.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        let named = |(module, reason): (&str, &str)| {
            if module.is_empty() { reason.to_owned() } else { format!("{module}: {reason}") }
        };
        let shown: Vec<String> = list.iter().take(5).map(|(key, n)| format!("{n} {}", named(*key))).collect();
        let more = if list.len() > 5 { ", …" } else { "" };
        out.push(format!("{samples} samples end in user code without a name ({}{more})", shown.join(", ")));
    }
}

fn host(survey: &Survey) -> Host {
    let f = &survey.features;
    Host {
        name: f.hostname.clone(),
        kernel: f.kernel.clone(),
        cpu_model: f.cpu_model.clone(),
        arch: f.arch.clone(),
        ..Host::default()
    }
}

fn facts(parts: &Parts<'_>, stats: &ImportStats) -> CaptureFacts {
    let survey = parts.survey;
    let f = &survey.features;
    let span = survey.last.saturating_sub(survey.first.min(survey.last));
    let event =
        |(a, samples): (&Attr, u64)| RecordedEvent { name: a.title(), samples, cpu_time: a.is_cpu_time() };
    let main = sampled(parts).find(|(a, _)| a.is_cpu_time()).or_else(|| sampled(parts).next());
    CaptureFacts {
        version: Some(1),
        kind: Some(Kind::Import),
        start_unix_s: f.clock.map(|(unix, clock)| (unix as f64 + survey.first as f64 - clock as f64) / 1e9),
        host: HostFacts {
            name: f.hostname.clone(),
            kernel: f.kernel.clone(),
            cpu_model: f.cpu_model.clone(),
            cpus: f.cpus.map(u64::from),
            memory_bytes: f.memory_bytes,
            arch: f.arch.clone(),
            ..HostFacts::default()
        },
        recorder: RecorderFacts {
            tool: f.perf_version.as_ref().map(|v| format!("perf {v}")),
            command: f.command.clone(),
            program: survey.recorder().map(|_| "perf".to_owned()),
            pid: survey.recorder(),
            hz: main.filter(|(a, _)| a.frequency).map(|(a, _)| a.rate as f64),
            event: main.map(|(a, _)| a.title()),
            events: Some(Events::Sampled(sampled(parts).map(event).collect())),
            user_only: main.map(|(a, _)| a.exclude_kernel),
            kernel_only: main.map(|(a, _)| a.exclude_user),
            duration_s: Some(span as f64 / 1e9),
            samples: Some(stats.kept),
            lost: Some(stats.lost),
            dropped: Some(stats.dropped.clone()),
            ..RecorderFacts::default()
        },
        ..CaptureFacts::default()
    }
}
