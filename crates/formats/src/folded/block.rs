//! Folded stacks between other text: `a;b;c 12`.

use crate::dtrace::push::push_stack;
use crate::text::blocks::{Block, Line, Sink, Taken};
use crate::text::roots::is_thread_start;
use zwhy_profile::Event;

pub struct FoldedLines;

impl Block for FoldedLines {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let mut kept = 0;
        for line in lines {
            let Some((stack, count)) = folded(&line.text) else { break };
            let frames: Vec<String> =
                stack.split(';').rev().filter(|f| !f.is_empty()).map(str::to_owned).collect();
            // The first frame is the thread's name where the second is one that only a root is.
            let mut from_root = frames.iter().rev();
            let comm = from_root.next().filter(|_| {
                from_root.next().is_some_and(|f| is_thread_start(f.trim_end_matches("_[k]").as_bytes()))
            });
            push_stack(sink, &frames, comm.map_or("", String::as_str), -1, Event::Cpu, count);
            kept += 1;
        }
        Taken::kept(kept)
    }
}

/// At least three frames without blanks and a count, behind them or (sorted with awk) before; less is too much like prose
/// and shell.
fn folded(text: &str) -> Option<(&str, u64)> {
    let text = text.trim();
    let behind = text.rsplit_once(' ').and_then(|(stack, count)| Some((stack, count.parse().ok()?)));
    let before = || text.split_once(' ').and_then(|(count, stack)| Some((stack.trim(), count.parse().ok()?)));
    let (stack, count) = behind.or_else(before).filter(|(_, count): &(&str, u64)| *count > 0)?;
    let plain = stack.split(';').count() >= 3
        && stack.split(';').all(|f| !f.trim().is_empty() && !f.starts_with(' '));
    (plain && !stack.contains("; ")).then_some((stack, count))
}
