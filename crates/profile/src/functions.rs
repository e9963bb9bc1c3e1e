//! Self and total samples per function; recursion counts once.

use crate::{Event, FrameKind, Profile, StackId, StackTotals, StringId};
use rustc_hash::FxHashMap;

/// Samples of one function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionCounts {
    pub function: StringId,
    pub module: StringId,
    pub kind: FrameKind,
    /// Samples with the function at the leaf.
    pub own: u64,
    /// Samples with the function anywhere in the stack.
    pub total: u64,
}

/// All functions of a profile that have samples, the largest self count first.
#[derive(Clone, Debug, Default)]
pub struct FunctionTotals {
    pub rows: Vec<FunctionCounts>,
    /// Samples of the event in all.
    pub samples: u64,
    pub event: Event,
}

impl FunctionTotals {
    pub fn of(profile: &Profile, event: Event) -> FunctionTotals {
        let stacks = StackTotals::of(profile, event);
        let mut rows: Vec<FunctionCounts> = Vec::new();
        let mut ids: FxHashMap<(StringId, StringId), u32> = FxHashMap::default();
        let by_frame: Vec<u32> = profile
            .frames
            .iter()
            .map(|(_, f)| {
                let next = rows.len() as u32;
                *ids.entry((f.function, f.module)).or_insert_with(|| {
                    let (function, module, kind) = (f.function, f.module, f.kind);
                    rows.push(FunctionCounts { function, module, kind, own: 0, total: 0 });
                    next
                })
            })
            .collect();
        let row_of =
            |stack: StackId| profile.stacks.frame(stack).and_then(|f| by_frame.get(f.index()).copied());
        for (stack, parent, _, _) in profile.stacks.iter() {
            let total = stacks.total[stack.index()];
            let Some(row) = row_of(stack).filter(|_| total > 0) else { continue };
            rows[row as usize].own += stacks.own[stack.index()];
            if !occurs_above(profile, parent, row, &row_of) {
                rows[row as usize].total += total;
            }
        }
        rows.retain(|r| r.total > 0);
        rows.sort_by_key(|r| {
            let names = (profile.strings.get(r.function), profile.strings.get(r.module));
            (std::cmp::Reverse((r.own, r.total)), names)
        });
        FunctionTotals { rows, samples: stacks.total[0], event }
    }
}

fn occurs_above(
    profile: &Profile,
    mut at: StackId,
    row: u32,
    row_of: &impl Fn(StackId) -> Option<u32>,
) -> bool {
    while at != StackId::ROOT {
        if row_of(at) == Some(row) {
            return true;
        }
        at = profile.stacks.parent(at);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recursion_counts_once_in_the_total() {
        let mut p = Profile::new();
        let [a, b] = ["a", "b"].map(|n| p.frame(n, "", FrameKind::User));
        let t = p.thread(1, 1, "t");
        for (stack, count) in [(vec![a, b, a], 3), (vec![b], 4), (vec![a], 1)] {
            let stack = p.stack(&stack);
            p.samples.push_counted(t, stack, Event::Cpu, count);
        }
        let totals = FunctionTotals::of(&p, Event::Cpu);
        let rows: Vec<_> = totals.rows.iter().map(|r| (p.strings.get(r.function), r.own, r.total)).collect();
        assert_eq!(rows, [("b", 4, 7), ("a", 4, 4)]);
        assert_eq!(totals.samples, 8);
    }
}
