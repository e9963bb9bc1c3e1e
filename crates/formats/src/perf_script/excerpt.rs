//! A few samples of `perf script` between other text, in any field set: a line with the thread, and its frames.

use crate::dtrace::push::push_stack;
use crate::perf_report::is_cpu_event;
use crate::text::blocks::{Block, Line, Sink, Taken};
use crate::text::names;
use zwhy_evidence::{OriginId, PctStack};
use zwhy_profile::Event;

/// Frames that make a list of addresses and names the first stack of an excerpt.
const FEWEST: usize = 2;

/// So many of one excerpt are a profile.
const PROFILE: usize = 45;

/// A run of such samples. A few are no profile: they say what was called, not how much.
pub(crate) struct SampleExcerpt;

impl Block for SampleExcerpt {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let mut taken = Taken::default();
        let mut stacks = Vec::new();
        let (mut at, mut cpu) = (0, true);
        while let Some((used, stack)) = sample(&lines[at..], if at == 0 { FEWEST } else { 1 }) {
            cpu &= may_be_of_cpu(&lines[at].text);
            stacks.push(stack);
            taken.kept += used;
            at += used;
            let blank = lines[at..].iter().take_while(|l| l.is_blank()).count();
            if sample(&lines[(at + blank).min(lines.len())..], 1).is_none() {
                break;
            }
            taken.drop("blank line", blank);
            at += blank;
        }
        if stacks.is_empty() {
            return None;
        }
        if cpu && stacks.len() >= PROFILE {
            for stack in &stacks {
                let leaf_first: Vec<String> = stack.frames.iter().rev().cloned().collect();
                push_stack(sink, &leaf_first, stack.comm.as_deref().unwrap_or(""), -1, Event::Cpu, 1);
            }
            return Some(taken);
        }
        let origin = sink.origin("perf script", &lines[..at]);
        let max_depth = sink.max_depth;
        sink.evidence.trees.extend(stacks.into_iter().map(|mut stack| {
            let skip = stack.frames.len().saturating_sub(max_depth);
            stack.frames.drain(..skip);
            PctStack { origin, ..stack }
        }));
        Some(taken)
    }
}

/// `kswapd0   88 [003] 4412.123: 250000 cpu-clock:` or `kswapd0` alone, then `\tffffffff9a2a4d10 name+0x1d ([zfs])` from the
/// leaf on.
fn sample(lines: &[Line], fewest: usize) -> Option<(usize, PctStack)> {
    let head = &lines.first()?.text;
    let comm = head.split_whitespace().next().filter(|_| !head.starts_with([' ', '\t']))?;
    if !comm.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let mut frames: Vec<String> = lines[1..].iter().map_while(|l| frame(&l.text)).collect();
    if frames.len() < fewest {
        return None;
    }
    let used = 1 + frames.len();
    frames.reverse();
    let stack =
        PctStack { comm: Some(comm.to_owned()), frames, origin: OriginId::default(), ..PctStack::default() };
    Some((used, stack))
}

/// Whether a head names an event that samples the CPU, or none.
fn may_be_of_cpu(head: &str) -> bool {
    let mut events = head.split_whitespace().skip(1).filter_map(|w| w.strip_suffix(':'));
    events.find(|e| e.starts_with(|c: char| c.is_ascii_alphabetic())).is_none_or(is_cpu_event)
}

/// An indented address and a name: of at most 16 digits behind perf's tab, of 8 at least where the tab was lost.
fn frame(text: &str) -> Option<String> {
    let (address, name) = text.strip_prefix([' ', '\t'])?.trim().split_once(' ')?;
    let fewest = if text.starts_with('\t') { 1 } else { 8 };
    let is_address = (fewest..=16).contains(&address.len()) && address.bytes().all(|b| b.is_ascii_hexdigit());
    let name = name.trim().split(" (").next()?;
    (is_address && !name.is_empty() && !name.contains(' ')).then(|| names::without_offset(name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_with_and_without_its_figures() {
        assert!(!may_be_of_cpu("dd 12 [000] 1.5: 1 sched:sched_switch: prev_comm=dd"));
        for head in ["kswapd0 ", "kswapd0    88 [003]  4412.123456:     250000 cpu-clock:pppH: "] {
            let text = [
                head,
                "\tffffffff9a2a4d10 shrink_one+0x1d ([kernel.kallsyms])",
                "        ffffffffc0cc10aa arc_shrinker_scan ([zfs])",
            ];
            let lines: Vec<Line> =
                text.iter().enumerate().map(|(i, t)| Line { number: i + 1, text: (*t).into() }).collect();
            let (used, stack) = sample(&lines, FEWEST).expect("a sample");
            assert_eq!((used, stack.comm.as_deref()), (3, Some("kswapd0")));
            assert_eq!(stack.frames, ["arc_shrinker_scan", "shrink_one"]);
            assert!(may_be_of_cpu(head));
        }
    }
}
