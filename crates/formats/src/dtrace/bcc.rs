//! Lines that only the tools of bcc print: what they trace, whose stack it is, what lies between stacks.
//!
//! stackcount counts calls; profile samples; offcputime, wakeuptime and offwaketime add up microseconds
//! asleep, without saying how often. Of wakeuptime the stack is the waker's, of offwaketime both are
//! printed and the one that slept is taken.

use super::list::{ListLine, stack_of};
use crate::text::blocks::Sink;
use crate::text::names;
use zwhy_profile::{Event, Measure, Nanos, Sample, Unit};

/// What a tool's first line says of the stacks below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    pub event: Event,
    /// Every indented line below is of a stack, whatever its name.
    pub every_line: bool,
    /// Figures are microseconds.
    pub micros: bool,
    /// The thread's name stands below the frames like one of them (offcputime before its `-`).
    pub name_is_last: bool,
    /// Stacks of the waker and of the one it woke, with a delimiter between.
    pub two_threads: bool,
}

/// What a tool says of what it counts; `None` for lines that are of no tool.
pub fn tool(text: &str) -> Option<Option<Told>> {
    let counts = |event| Some(Some(Told { event, ..Told::default() }));
    if text.starts_with("dtrace: description") {
        let calls = text.contains(":entry") || text.contains(":return") || text.contains("fbt:");
        return counts(if calls { Event::Count } else { Event::Cpu });
    }
    if text.starts_with("CPU ") && text.contains("FUNCTION:NAME") {
        return Some(None);
    }
    if text.starts_with("Sampling at ") && text.contains("Hertz") {
        return counts(Event::Cpu);
    }
    let off_cpu = text.starts_with("Tracing off-CPU");
    if off_cpu || text.starts_with("Tracing blocked time") {
        return Some(Some(Told {
            event: Event::Wait,
            every_line: true,
            micros: text.contains("(us)"),
            name_is_last: off_cpu,
            two_threads: text.contains("off-CPU and waker"),
        }));
    }
    if text.starts_with("Tracing ") && text.contains("functions for") {
        return Some(Some(Told { event: Event::Count, every_line: true, ..Told::default() }));
    }
    None
}

/// A line below such a first line, where it is none of frames and figures.
pub fn line(text: &str) -> Option<ListLine<'_>> {
    let trimmed = text.trim();
    if trimmed == "^C" || trimmed == "Detaching..." || (trimmed.starts_with("[...") && trimmed.ends_with(']'))
    {
        return Some(ListLine::Remark);
    }
    if !text.starts_with([' ', '\t']) {
        return None;
    }
    if trimmed == "--" || trimmed.strip_prefix('-').is_some_and(|rest| rest.trim() == "-") {
        return Some(ListLine::Delimiter);
    }
    if let Some(comm) = trimmed.strip_prefix("target:") {
        return Some(ListLine::Thread { comm: comm.trim(), pid: -1 });
    }
    if trimmed.starts_with("waker:") {
        return Some(ListLine::Waker);
    }
    // stackcount -P: `kworker/0:2 [25482]`.
    let (comm, pid) = trimmed.strip_suffix(']')?.rsplit_once(" [")?;
    Some(ListLine::Thread { comm, pid: pid.parse().ok()? })
}

/// `ffffffff810df082 hrtimer_wakeup`: the name.
pub fn without_address(text: &str) -> &str {
    match text.split_once(' ') {
        Some((address, name)) if address.len() == 16 && names::is_address(address) => name.trim_start(),
        _ => text,
    }
}

/// Adds a time asleep, of at least one wait.
pub fn push_time(sink: &mut Sink, leaf_first: &[String], comm: &str, pid: i32, micros: u64) {
    let stack = stack_of(sink, leaf_first);
    let profile = sink.profile();
    let thread = profile.thread(pid, -1, comm);
    let weight = Nanos(i64::try_from(micros).unwrap_or(i64::MAX).saturating_mul(1000));
    let others = profile.samples.total(Event::Wait);
    if others == 0 {
        profile.set_measure(Event::Wait, Measure { unit: Unit::Nanos, counted: false });
    }
    let (t, cpu, event) = (Nanos(0), -1, Event::Wait);
    profile.samples.push(Sample { t, cpu, thread, stack, event, count: 1, weight });
    sink.warn("the tool adds up microseconds asleep and does not say how many waits they were: they are kept as time");
}
