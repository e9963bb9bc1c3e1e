//! Lines that only the tools of bcc print: what they trace, whose stack it is, what lies between stacks.
//!
//! stackcount counts calls; profile samples; offcputime, wakeuptime and offwaketime add up microseconds
//! asleep, without saying how often. Of wakeuptime the stack is the waker's, of offwaketime both are
//! printed and the one that slept is taken.

use super::line::{ListLine, Told};
use crate::text::names;
use zwhy_profile::Event;

/// What a tool says of what it counts; `None` for lines that are of no tool.
pub fn tool(text: &str) -> Option<Option<Told>> {
    let counts = |event| Some(Some(Told { event, ..Told::default() }));
    if text.starts_with("dtrace: description") {
        let calls = text.contains(":entry") || text.contains(":return") || text.contains("fbt:");
        return counts(if calls { Event::Count } else { Event::Cpu });
    }
    if let Some(script) = dtrace_script(text) {
        return Some(Some(of_script(script)));
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
            nanos: if text.contains("(us)") { 1000 } else { 0 },
            name_is_last: off_cpu,
            two_threads: text.contains("off-CPU and waker"),
        }));
    }
    if text.starts_with("Tracing ") && text.contains("functions for") {
        return Some(Some(Told { event: Event::Count, every_line: true, ..Told::default() }));
    }
    None
}

/// The probes and actions of `dtrace -n '…'`, with a prompt before it or not.
fn dtrace_script(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("dtrace -")?;
    let (options, script) = rest.split_once(['\'', '"'])?;
    let is_option = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '-' | '=');
    (options.contains('n') && options.chars().all(is_option) && script.contains("stack(")).then_some(script)
}

/// What a script counts, by its probes: samples of the clock, calls, or waiting. What it sums is time in nanoseconds: arg1 of
/// a lockstat probe is, and so is what is made of time stamps.
fn of_script(script: &str) -> Told {
    let waits = ["lockstat:", "sched:::off-cpu", "sched:::sleep", ":off-cpu", "adaptive-block", "rw-block"];
    let event = if waits.iter().any(|probe| script.contains(probe)) {
        Event::Wait
    } else if script.contains("profile-")
        || script.contains("profile:")
        || script.contains("tick-") && !script.contains("fbt:")
    {
        Event::Cpu
    } else {
        Event::Count
    };
    let sums = script.contains("sum(");
    match event {
        Event::Wait if sums => Told { event, nanos: 1, ..Told::default() },
        Event::Count if sums && script.contains("timestamp") => {
            Told { event: Event::Wait, nanos: 1, ..Told::default() }
        }
        _ => Told { event, ..Told::default() },
    }
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
