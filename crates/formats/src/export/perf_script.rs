//! Text as `perf script` prints it, for stackcollapse-perf, inferno, viewers and our own importer.
//!
//! Carried: when and where each sample was, thread, function, module, kernel or user, inlined frames, source
//! lines, and CPU time as the period if all samples have one (others read that as the weight, and could not
//! add it to samples without). A count is that many samples, as the format knows no other way. Not carried:
//! why a frame has no name, other events than the one chosen, kinds of frames without a module, addresses (0
//! is written). Control characters in names become `?`; an unknown thread id is [`NO_ID`], as others leave
//! out samples of threads without a number.

use super::parts::{plain, with_stacks};
use crate::interchange::frames::dressed;
use crate::{ExportOptions, Exporter};
use std::borrow::Cow;
use std::io::{Error, ErrorKind, Write};
use zwhy_evidence::Evidence;
use zwhy_profile::{Event, FrameKind, Profile, Sample, StackId, Thread, Unit};

/// Samples that are written at most: each takes some hundred bytes.
const MAX_SAMPLES: u64 = 50_000_000;

/// Larger than any process id of Linux.
const NO_ID: i32 = i32::MAX;

pub(super) const EXPORTER: Exporter = Exporter { name: "perf-script", extension: "perf.txt", write };

fn write(evidence: &Evidence, options: &ExportOptions, out: &mut dyn Write) -> std::io::Result<()> {
    let profile = &*with_stacks(&evidence.profile);
    let total = profile.samples.total(options.event);
    if total > MAX_SAMPLES {
        let what = format!(
            "{total} samples would be one block of text each, at most {MAX_SAMPLES} are written: use pprof or folded"
        );
        return Err(Error::new(ErrorKind::InvalidInput, what));
    }
    let mut samples: Vec<Sample> = profile.samples.iter().filter(|s| s.event == options.event).collect();
    samples.sort_by_key(|s| s.t);
    let with_period = samples.iter().all(|s| s.weight.0 >= i64::from(s.count));
    let mut stack = Vec::new();
    let mut last = StackId::ROOT;
    for sample in samples {
        if sample.stack != last || stack.is_empty() {
            stack.clear();
            write_stack(profile, sample.stack, &mut stack)?;
            last = sample.stack;
        }
        // The weight of a counted row is that of all its samples.
        let count = i64::from(sample.count.max(1));
        let (each, rest) = (sample.weight.0.max(0) / count, sample.weight.0.max(0) % count);
        for i in 0..sample.count {
            let weight = if i == 0 { each + rest } else { each };
            write_header(profile, sample, with_period.then_some(weight), out)?;
            out.write_all(&stack)?;
        }
    }
    Ok(())
}

/// perf's name for the event; a period of cpu-clock is nanoseconds.
fn event_name(event: Event, unit: &Unit) -> Cow<'_, str> {
    // Periods that are no time belong to the event that was counted.
    if let (Event::Cpu, Unit::Other(unit)) = (event, unit) {
        return Cow::Owned(unit.split_whitespace().map(plain).collect::<Vec<_>>().join("-"));
    }
    Cow::Borrowed(match event {
        Event::Cpu => "cpu-clock:ppp",
        Event::Wait => "sched:sched_switch",
        Event::Count => "zwhy:calls",
    })
}

/// `comm 12/13 [001] 2.000000003: 1001001 cpu-clock:ppp:`
fn write_header(
    profile: &Profile,
    sample: Sample,
    period: Option<i64>,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let Thread { pid, tid, comm } = profile.threads.get(sample.thread);
    let comm = profile.strings.get(comm);
    let comm = if comm.is_empty() { ":-1".to_owned() } else { plain(comm) };
    match (pid, tid) {
        (_, tid) if tid < 0 => write!(out, "{comm} {NO_ID} ")?,
        (pid, tid) if pid < 0 => write!(out, "{comm} {tid} ")?,
        (pid, tid) => write!(out, "{comm} {pid}/{tid} ")?,
    }
    if sample.cpu >= 0 {
        write!(out, "[{:03}] ", sample.cpu)?;
    }
    let t = sample.t.0.max(0);
    write!(out, "{}.{:09}: ", t / 1_000_000_000, t % 1_000_000_000)?;
    if let Some(period) = period {
        write!(out, "{period} ")?;
    }
    writeln!(out, "{}: ", event_name(sample.event, &profile.measure(sample.event).unit))
}

/// Frames leaf first, and the blank line after them.
fn write_stack(profile: &Profile, stack: StackId, out: &mut Vec<u8>) -> std::io::Result<()> {
    for frame in profile.stacks.leaf_to_root(stack) {
        let frame = profile.frames.get(frame);
        let text = |id| profile.strings.get(id);
        let function = if frame.reason.0 > 0 { "[unknown]".to_owned() } else { plain(text(frame.function)) };
        let module = dressed(&plain(text(frame.module)), frame.kind);
        match frame.kind {
            FrameKind::Inlined => writeln!(out, "\t{:16x} {function} (inlined)", 0)?,
            _ if module.is_empty() => writeln!(out, "\t{:16x} {function} ([unknown])", 0)?,
            _ => writeln!(out, "\t{:16x} {function} ({module})", 0)?,
        }
        if frame.line > 0 {
            writeln!(out, "  {}:{}", plain(text(frame.file)), frame.line)?;
        }
    }
    writeln!(out)
}
