//! Sums over stacks: self and total counts per node of the prefix tree, and folded text.

use crate::{Event, Profile, StackId, StackTable};
use std::fmt::Write;

/// Bytes of folded text that are collected before they are handed on.
const PIECE: usize = 1 << 16;

/// Amounts per stack of one event; index is the stack id.
#[derive(Clone, Debug, Default)]
pub struct StackTotals {
    /// Samples whose stack is exactly this one.
    pub own: Vec<u64>,
    /// Samples whose stack starts with this one.
    pub total: Vec<u64>,
}

impl StackTotals {
    pub fn of(profile: &Profile, event: Event) -> StackTotals {
        let own = StackTotals::own_of(profile, event);
        let total = accumulate(&profile.stacks, own.clone());
        StackTotals { own, total }
    }

    /// What ends at each stack alone.
    pub fn own_of(profile: &Profile, event: Event) -> Vec<u64> {
        let (samples, amounts) = (&profile.samples, profile.amounts());
        let mut own = vec![0u64; profile.stacks.len()];
        for (row, (stack, e)) in samples.stack.iter().zip(&samples.event).enumerate() {
            if *e == event
                && let Some(slot) = own.get_mut(stack.index())
            {
                *slot = slot.saturating_add(amounts.of(row));
            }
        }
        own
    }
}

/// Adds every stack's count to its ancestors; relies on parents coming before children.
fn accumulate(stacks: &StackTable, mut total: Vec<u64>) -> Vec<u64> {
    for i in (1..total.len()).rev() {
        let parent = stacks.parent(StackId(i as u32));
        total[parent.index()] = total[parent.index()].saturating_add(total[i]);
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
        let mut out = String::new();
        let done: Result<(), std::convert::Infallible> = FoldedStacks::pieces(profile, event, |piece| {
            out.push_str(piece);
            Ok(())
        });
        match done {
            Ok(()) => out,
        }
    }

    /// The same text in pieces of whole lines: of millions of stacks it is larger than the profile.
    ///
    /// # Errors
    /// The first one of `sink`.
    pub fn pieces<E>(
        profile: &Profile,
        event: Event,
        mut sink: impl FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut piece = String::new();
        let mut frames = Vec::new();
        let own = StackTotals::own_of(profile, event);
        for (i, count) in own.iter().enumerate().filter(|(_, c)| **c > 0) {
            frames.extend(profile.stacks.leaf_to_root(StackId(i as u32)));
            for (k, frame) in frames.drain(..).rev().enumerate() {
                if k > 0 {
                    piece.push(';');
                }
                push_name(&mut piece, profile.function_of(frame));
            }
            // Writing to a String cannot fail.
            let _ = writeln!(piece, " {count}");
            if piece.len() >= PIECE {
                sink(&piece)?;
                piece.clear();
            }
        }
        sink(&piece)
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
