//! Folded stacks between other text: `a;b;c 12`.

use crate::dtrace::push::push_stack;
use crate::text::blocks::{Block, Line, Sink, Taken};
use zwhy_profile::Event;

pub struct FoldedLines;

impl Block for FoldedLines {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let mut kept = 0;
        for line in lines {
            let Some((stack, count)) = folded(&line.text) else { break };
            let frames: Vec<String> =
                stack.split(';').rev().filter(|f| !f.is_empty()).map(str::to_owned).collect();
            push_stack(sink, &frames, "", -1, Event::Cpu, count);
            kept += 1;
        }
        Taken::kept(kept)
    }
}

/// At least three frames without blanks and a count; less is too much like prose and shell.
fn folded(text: &str) -> Option<(&str, u64)> {
    let (stack, count) = text.trim().rsplit_once(' ')?;
    let count = count.parse().ok().filter(|c| *c > 0)?;
    let plain = stack.split(';').count() >= 3
        && stack.split(';').all(|f| !f.trim().is_empty() && !f.starts_with(' '));
    (plain && !stack.contains("; ")).then_some((stack, count))
}
