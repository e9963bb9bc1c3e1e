//! speedscope JSON: one sampled profile a thread, for https://www.speedscope.app.
//!
//! Carried: counts by thread and stack, function, source line, and in keys beside the specification (which
//! speedscope ignores) module, kind, reason, thread ids and event. Not carried: when and on which CPU a
//! sample was, times beside the counts, other events than the one chosen.

use super::parts::{by_thread_and_stack, with_stacks};
use crate::interchange::frames::dressed;
use crate::speedscope::SCHEMA;
use crate::{ExportOptions, Exporter};
use serde::Serialize;
use std::io::Write;
use zwhy_evidence::Evidence;
use zwhy_profile::{Frame, Profile, StackId, Thread, ThreadId, Unit};

pub(super) const EXPORTER: Exporter = Exporter { name: "speedscope", extension: "speedscope.json", write };

fn write(evidence: &Evidence, options: &ExportOptions, out: &mut dyn Write) -> std::io::Result<()> {
    let profile = &*with_stacks(&evidence.profile);
    let rows = by_thread_and_stack(profile, options.event);
    let unit = &profile.measure(options.event).unit;
    let threads: Vec<OneProfile> = rows
        .chunk_by(|a, b| a.0 == b.0)
        .filter_map(|rows| Some((rows.first()?.0, rows)))
        .map(|(thread, rows)| OneProfile {
            event: options.event.name(),
            unit: file_unit(unit),
            weights: rows.iter().map(|(_, _, sum)| sum.amount(unit)).collect(),
            samples: rows.iter().map(|(_, stack, _)| root_first(profile, *stack)).collect(),
            end_value: rows.iter().fold(0, |end: u64, (_, _, sum)| end.saturating_add(sum.amount(unit))),
            ..OneProfile::new(profile, thread)
        })
        .collect();
    let file = File {
        schema: SCHEMA,
        exporter: concat!("zwhy ", env!("CARGO_PKG_VERSION")),
        name: evidence.origins.first().map_or("", String::as_str),
        shared: Shared { frames: profile.frames.iter().map(|(_, f)| FileFrame::new(profile, f)).collect() },
        profiles: threads,
    };
    serde_json::to_writer(&mut *out, &file)?;
    out.write_all(b"\n")
}

/// The units of the format; others are numbers without one.
fn file_unit(unit: &Unit) -> &'static str {
    match unit {
        Unit::Nanos => "nanoseconds",
        Unit::Bytes => "bytes",
        Unit::Samples | Unit::Other(_) => "none",
    }
}

fn root_first(profile: &Profile, stack: StackId) -> Vec<u32> {
    let mut frames: Vec<u32> = profile.stacks.leaf_to_root(stack).map(|f| f.0).collect();
    frames.reverse();
    frames
}

#[derive(Serialize)]
struct File<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    exporter: &'static str,
    name: &'a str,
    shared: Shared<'a>,
    profiles: Vec<OneProfile<'a>>,
}

#[derive(Serialize)]
struct Shared<'a> {
    frames: Vec<FileFrame<'a>>,
}

#[derive(Serialize)]
struct FileFrame<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "String::is_empty")]
    file: String,
    #[serde(skip_serializing_if = "is_zero")]
    line: u32,
    module: &'a str,
    kind: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    reason: &'a str,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the shape that serde asks for
fn is_zero(line: &u32) -> bool {
    *line == 0
}

impl<'a> FileFrame<'a> {
    fn new(profile: &'a Profile, frame: Frame) -> FileFrame<'a> {
        let text = |id| profile.strings.get(id);
        let module = text(frame.module);
        // speedscope shows and colours by `file`: the module says more than nothing.
        let file = match text(frame.file) {
            "" if !module.is_empty() => dressed(module, frame.kind),
            file => file.to_owned(),
        };
        let name = text(frame.function);
        FileFrame {
            name,
            file,
            line: frame.line,
            module,
            kind: frame.kind.name(),
            reason: text(frame.reason),
        }
    }
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct OneProfile<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: String,
    unit: &'static str,
    start_value: u64,
    end_value: u64,
    samples: Vec<Vec<u32>>,
    weights: Vec<u64>,
    comm: &'a str,
    pid: i32,
    tid: i32,
    event: &'static str,
}

impl<'a> OneProfile<'a> {
    fn new(profile: &'a Profile, thread: ThreadId) -> OneProfile<'a> {
        let Thread { pid, tid, comm } = profile.threads.get(thread);
        let comm = profile.strings.get(comm);
        let name = match (comm, pid, tid) {
            ("", _, t) if t < 0 => "all".to_owned(),
            (comm, _, t) if t < 0 => comm.to_owned(),
            (comm, p, t) if p < 0 => format!("{comm} {t}"),
            (comm, p, t) => format!("{comm} {p}/{t}"),
        };
        OneProfile { kind: "sampled", unit: "none", name, comm, pid, tid, ..OneProfile::default() }
    }
}
