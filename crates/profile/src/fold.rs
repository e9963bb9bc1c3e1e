//! Sums over stacks: self and total counts per node of the prefix tree, and folded text.

use crate::{Event, Profile, StackId, StackTable};
use std::fmt::Write;

/// Counts per stack of one event; index is the stack id.
#[derive(Clone, Debug, Default)]
pub struct StackTotals {
    /// Samples whose stack is exactly this one.
    pub own: Vec<u64>,
    /// Samples whose stack starts with this one.
    pub total: Vec<u64>,
}

impl StackTotals {
    pub fn of(profile: &Profile, event: Event) -> StackTotals {
        let samples = &profile.samples;
        let mut own = vec![0u64; profile.stacks.len()];
        for ((stack, count), e) in samples.stack.iter().zip(&samples.count).zip(&samples.event) {
            if *e == event
                && let Some(slot) = own.get_mut(stack.index())
            {
                *slot += u64::from(*count);
            }
        }
        let total = accumulate(&profile.stacks, own.clone());
        StackTotals { own, total }
    }
}

/// Adds every stack's count to its ancestors; relies on parents coming before children.
fn accumulate(stacks: &StackTable, mut total: Vec<u64>) -> Vec<u64> {
    for i in (1..total.len()).rev() {
        let parent = stacks.parent(StackId(i as u32));
        total[parent.index()] += total[i];
    }
    total
}

/// Stacks as `frame;frame;leaf count` lines, in order of stack id.
pub struct FoldedStacks;

impl FoldedStacks {
    /// Folded text of one event, one line a distinct stack with samples.
    ///
    /// `;` and line breaks inside names become `:` and spaces, as the format has no escape.
    pub fn text(profile: &Profile, event: Event) -> String {
        let totals = StackTotals::of(profile, event);
        let mut out = String::new();
        for (i, count) in totals.own.iter().enumerate().filter(|(_, c)| **c > 0) {
            let names = profile.function_names(StackId(i as u32));
            for (k, name) in names.iter().enumerate() {
                if k > 0 {
                    out.push(';');
                }
                push_name(&mut out, name);
            }
            // Writing to a String cannot fail.
            let _ = writeln!(out, " {count}");
        }
        out
    }
}

/// Appends a name without the characters that the format gives a meaning.
fn push_name(out: &mut String, name: &str) {
    if name.bytes().all(|b| matches!(b, b' '..=b'~') && b != b';') {
        return out.push_str(name); // nearly every name
    }
    out.extend(name.chars().map(|c| match c {
        ';' => ':',
        c if c.is_control() => ' ',
        c => c,
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FrameKind;

    #[test]
    fn totals_include_descendants_and_folding_is_exact() {
        let mut p = Profile::new();
        let (a, b) = (p.frame("a", "", FrameKind::User), p.frame("b;\n", "", FrameKind::User));
        let (sa, sab) = (p.stack(&[a]), p.stack(&[a, b]));
        let t = p.thread(1, 1, "t");
        p.samples.push_counted(t, sa, Event::Cpu, 2);
        p.samples.push_counted(t, sab, Event::Cpu, 3);
        p.samples.push_counted(t, sab, Event::Wait, 50);
        let totals = StackTotals::of(&p, Event::Cpu);
        assert_eq!((totals.own[1], totals.total[1], totals.total[0]), (2, 5, 5));
        assert_eq!(FoldedStacks::text(&p, Event::Cpu), "a 2\na;b:  3\n");
    }
}
