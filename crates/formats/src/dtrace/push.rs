//! Stacks of names, leaf first, as samples of a profile.

use crate::text::blocks::Sink;
use crate::text::names;
use zwhy_evidence::PctStack;
use zwhy_profile::{Event, FrameId, Measure, Nanos, Sample, StackId, Unit};

/// Adds a counted stack, leaf first, of names as tracers print them.
pub(crate) fn push_stack(
    sink: &mut Sink,
    leaf_first: &[String],
    comm: &str,
    pid: i32,
    event: Event,
    count: u64,
) {
    // Calls of what puts threads to sleep are calls, and each of them waited: the stack is one of a thread that waits, too.
    let asleep = leaf_first.first().is_some_and(|leaf| zwhy_zfs::puts_to_sleep(function(leaf)));
    if event == Event::Count && asleep {
        let origin = sink.evidence.origin("counted calls of a function that sleeps");
        sink.evidence.trees.push(PctStack { waiting: true, origin, ..bare(leaf_first, comm) });
    }
    let stack = stack_of(sink, leaf_first);
    let profile = sink.profile();
    let thread = profile.thread(pid, -1, comm);
    let mut left = count;
    // A count is at most some rows: larger ones are cut, which no real trace reaches.
    for _ in 0..16 {
        let part = u32::try_from(left).unwrap_or(u32::MAX);
        profile.samples.push_counted(thread, stack, event, part);
        left -= u64::from(part);
        if left == 0 {
            break;
        }
    }
    if left > 0 {
        sink.warn("a count is larger than 68 thousand million and was cut");
    }
}

/// Adds a stack whose figure says nothing of the CPU and nothing of waiting.
pub(crate) fn push_bare(sink: &mut Sink, leaf_first: &[String], comm: &str) {
    let origin = sink.evidence.origin("time in a function");
    sink.evidence.trees.push(PctStack { origin, ..bare(leaf_first, comm) });
}

fn bare(leaf_first: &[String], comm: &str) -> PctStack {
    let frames = leaf_first.iter().rev().map(|f| function(f).to_owned()).collect();
    PctStack { comm: Some(comm.to_owned()).filter(|c| !c.is_empty()), frames, ..PctStack::default() }
}

/// The function of a frame as tracers print it: ``zfs`dmu_read+0x10``, `dmu_read+16`.
fn function(frame: &str) -> &str {
    names::without_offset(names::backtick(frame).1)
}

/// Adds a time asleep, of at least one wait.
pub fn push_time(sink: &mut Sink, leaf_first: &[String], comm: &str, pid: i32, nanos: u64) {
    let stack = stack_of(sink, leaf_first);
    let profile = sink.profile();
    let thread = profile.thread(pid, -1, comm);
    let weight = Nanos(i64::try_from(nanos).unwrap_or(i64::MAX));
    let others = profile.samples.total(Event::Wait);
    if others == 0 {
        profile.set_measure(Event::Wait, Measure { unit: Unit::Nanos, counted: false });
    }
    let (t, cpu, event) = (Nanos(0), -1, Event::Wait);
    profile.samples.push(Sample { t, cpu, thread, stack, event, count: 1, weight });
    sink.warn(
        "the tool adds up the time asleep and does not say how many waits they were: they are kept as time",
    );
}

/// The stack of names, leaf first.
fn stack_of(sink: &mut Sink, leaf_first: &[String]) -> StackId {
    let max_depth = sink.max_depth;
    let profile = sink.profile();
    let mut stack = StackId::ROOT;
    let skip = leaf_first.len().saturating_sub(max_depth);
    for name in leaf_first.iter().rev().skip(skip) {
        let frame: FrameId = names::frame_of_tracer(profile, name);
        stack = profile.stacks.child(stack, frame);
    }
    stack
}
