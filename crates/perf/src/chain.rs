//! Call chains: from the words that the kernel wrote to addresses that can be looked up.
//!
//! The rules, for chains of samples, of context switches and of probes alike:
//!
//! 1. A chain is written leaf first. Words from [`FIRST_MARK`] on are no addresses but marks: they say in
//!    whose memory the addresses after them lie. Without a mark that is where the sample was taken.
//! 2. The first address of each space is where its code was. The others are where calls return to, which may
//!    be the first byte of another function when the call never returns: they are looked up one byte before.
//! 3. A chain ends where its next caller cannot be code: code built without frame pointers leaves other
//!    values there, a new one each time. What follows is chance and would only split equal stacks. The leaf
//!    is shown, whatever it is. What was cut is counted by reason.
//! 4. Neighbours that have no name for the same reason are shown once.
//! 5. A sample of a virtual machine is one frame: its addresses are not ours.

use crate::bytes::View;
use crate::sample::Sample;
use zwhy_symbols::Reason;

/// Marks in a call chain that say whose addresses follow (`enum perf_callchain_context`).
pub const FIRST_MARK: u64 = -4095i64 as u64;
const MARK_HYPERVISOR: u64 = -32i64 as u64;
const MARK_KERNEL: u64 = -128i64 as u64;
/// User code follows.
pub const MARK_USER: u64 = -512i64 as u64;
const MARK_USER_DEFERRED: u64 = -640i64 as u64;

/// `misc & 7` of a record.
const MODE_KERNEL: u16 = 1;
const MODE_USER: u16 = 2;
const MODE_HYPERVISOR: u16 = 3;
const MODE_GUEST_KERNEL: u16 = 4;
const MODE_GUEST_USER: u16 = 5;

/// In whose memory an address lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    Kernel,
    User,
    Hypervisor,
    Guest,
    Unknown,
}

impl Space {
    /// Where a sample was taken, by the `misc & 7` of its record.
    pub fn of_mode(mode: u16) -> Space {
        match mode {
            MODE_KERNEL => Space::Kernel,
            MODE_USER => Space::User,
            MODE_HYPERVISOR => Space::Hypervisor,
            MODE_GUEST_KERNEL | MODE_GUEST_USER => Space::Guest,
            _ => Space::Unknown,
        }
    }

    fn of_mark(mark: u64) -> Space {
        match mark {
            MARK_KERNEL => Space::Kernel,
            MARK_USER | MARK_USER_DEFERRED => Space::User,
            MARK_HYPERVISOR => Space::Hypervisor,
            _ => Space::Guest,
        }
    }
}

/// One address of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub space: Space,
    /// The address to look up: of a caller the byte before the one that its call returns to.
    pub at: u64,
    /// Where code was, not where a call returns to.
    pub exact: bool,
}

/// The words of a chain's bytes.
pub fn words(chain: View<'_>) -> impl Iterator<Item = u64> + use<'_> {
    (0..chain.len() / 8).filter_map(move |i| chain.u64(i * 8))
}

/// The leaf of a sample, and the words after it. Without a chain, or with one that begins with nothing but
/// marks, that is the sample's own address.
pub fn leaf<'a>(sample: &Sample<'a>) -> (Step, View<'a>) {
    let chain = sample.chain;
    let taken = Space::of_mode(sample.mode);
    let step = |space, at| Step { space, at, exact: true };
    if taken == Space::Guest {
        return (step(Space::Guest, sample.ip), chain.from(usize::MAX));
    }
    let mut space = taken;
    for at in 0..chain.len() / 8 {
        match chain.u64(at * 8) {
            Some(mark) if mark >= FIRST_MARK => space = Space::of_mark(mark),
            Some(word) => return (step(space, word), chain.from(at * 8 + 8)),
            None => break,
        }
    }
    (step(taken, sample.ip), chain.from(usize::MAX))
}

/// A chain, leaf first, that begins in `space` unless it says otherwise.
pub fn steps(words: impl Iterator<Item = u64>, space: Space) -> impl Iterator<Item = Step> {
    steps_from(words, space, true)
}

/// What is left of a chain when its leaf was taken, which lay in `space`.
pub fn callers(words: impl Iterator<Item = u64>, space: Space) -> impl Iterator<Item = Step> {
    steps_from(words, space, false)
}

fn steps_from(words: impl Iterator<Item = u64>, space: Space, exact: bool) -> impl Iterator<Item = Step> {
    let (mut space, mut exact, mut over) = (space, exact, false);
    words.filter_map(move |word| {
        if word >= FIRST_MARK {
            (space, exact) = (Space::of_mark(word), true);
            // What follows a deferred part is a cookie, no address.
            over |= word == MARK_USER_DEFERRED;
            return None;
        }
        let was = std::mem::replace(&mut exact, false);
        let at = if was { word } else { word.wrapping_sub(1) };
        (!over).then_some(Step { space, at, exact: was })
    })
}

/// Why no code can be at a user address whatever is mapped: no process maps its lowest page, and none an
/// address above the user half.
pub fn impossible(at: u64) -> Option<Reason> {
    (!(4096..1 << 63).contains(&at)).then_some(Reason::BadAddress)
}

/// Whether a chain ends before a caller that has no name for this reason (rule 3).
pub fn cuts(reason: Reason) -> bool {
    matches!(reason, Reason::BadAddress | Reason::NotMapped)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[u64], space: Space) -> Vec<(Space, u64, bool)> {
        steps(words.iter().copied(), space).map(|s| (s.space, s.at, s.exact)).collect()
    }

    #[test]
    fn the_first_address_of_each_space_is_exact_and_callers_are_inside_their_calls() {
        let words = [MARK_KERNEL, 0x100, 0x200, MARK_USER, 0x300, 0x400];
        let want = [
            (Space::Kernel, 0x100, true),
            (Space::Kernel, 0x1ff, false),
            (Space::User, 0x300, true),
            (Space::User, 0x3ff, false),
        ];
        assert_eq!(of(&words, Space::Unknown), want);
        assert_eq!(of(&[0x100, 0x200], Space::User)[1], (Space::User, 0x1ff, false));
        assert!(of(&[MARK_KERNEL], Space::User).is_empty());
    }

    #[test]
    fn a_deferred_user_part_ends_the_chain() {
        assert_eq!(of(&[MARK_KERNEL, 1, MARK_USER_DEFERRED, 0x55], Space::User), [(Space::Kernel, 1, true)]);
    }

    #[test]
    fn addresses_that_cannot_be_code_cut() {
        assert_eq!([impossible(0), impossible(4095), impossible(1 << 63)], [Some(Reason::BadAddress); 3]);
        assert_eq!([impossible(4096), impossible((1 << 63) - 1)], [None; 2]);
        assert!(cuts(Reason::NotMapped) && cuts(Reason::BadAddress) && !cuts(Reason::ProcessEnded));
    }
}
