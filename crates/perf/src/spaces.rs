//! Address spaces of all processes, as mmap, fork and exec records change them.
//!
//! An [`Era`] is a span of a process in which no address changed its meaning; equal call chains of one
//! process and one era are equal stacks.
//!
//! Rules: a fork gives the child what its parent has mapped, whatever that number mapped before, as the
//! number may be one that is given again; an exec leaves nothing; a thread's end changes nothing, as other
//! threads of its process may live on, so the process is forgotten by who knows that it is gone. Parent and
//! child share an era until either changes.
//!
//! For a live host ([`Spaces::live`]) each change begins an era, and eras without a process are forgotten.
//! For a file, whose samples come in any order after all changes were replayed ([`Spaces::history`]), all
//! eras are kept, and a mapping where nothing was joins the era that runs: most processes have one era.

use crate::address_space::{AddressSpace, NewMapping, Overlap};
use rustc_hash::FxHashMap;

/// Copies of mappings that forks and remappings of a file may cost in all; a bound for hostile files.
const MOST_COPIES: usize = 2 << 20;

/// A span of one process's address space; never given again. Era 0 has no mappings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Era(pub u32);

#[derive(Clone, Debug)]
struct Held<T> {
    maps: AddressSpace<T>,
    /// Processes that have it now, or had it where history is kept.
    users: u32,
}

#[derive(Clone, Debug)]
pub struct Spaces<T> {
    eras: FxHashMap<Era, Held<T>>,
    current: FxHashMap<i32, Era>,
    next: u32,
    keep: bool,
    copies: usize,
    /// Processes whose mappings were not copied because of [`MOST_COPIES`].
    pub refused: u64,
}

impl<T: Copy + Eq> Spaces<T> {
    /// Knows what is mapped now.
    pub fn live() -> Spaces<T> {
        Spaces::new(false)
    }

    /// Knows what was mapped in every era.
    pub fn history() -> Spaces<T> {
        Spaces::new(true)
    }

    fn new(keep: bool) -> Spaces<T> {
        Spaces {
            eras: FxHashMap::default(),
            current: FxHashMap::default(),
            next: 1,
            keep,
            copies: 0,
            refused: 0,
        }
    }

    pub fn knows(&self, pid: i32) -> bool {
        self.current.contains_key(&pid)
    }

    /// The era of a process now; era 0 of one that is not known.
    #[inline]
    pub fn era(&self, pid: i32) -> Era {
        self.current.get(&pid).copied().unwrap_or_default()
    }

    /// Processes that are known.
    pub fn pids(&self) -> impl Iterator<Item = i32> {
        self.current.keys().copied()
    }

    pub fn len(&self) -> usize {
        self.current.len()
    }

    pub fn is_empty(&self) -> bool {
        self.current.is_empty()
    }

    pub fn space(&self, era: Era) -> Option<&AddressSpace<T>> {
        self.eras.get(&era).map(|held| &held.maps)
    }

    /// All eras that are held.
    pub fn spaces(&self) -> impl Iterator<Item = (Era, &AddressSpace<T>)> {
        self.eras.iter().map(|(era, held)| (*era, &held.maps))
    }

    /// Maps something into a process; returns the era that begins with it, if one does.
    pub fn map(&mut self, pid: i32, new: NewMapping<T>) -> Option<Era> {
        let era = self.era(pid);
        let known = self.eras.get(&era);
        let overlap = known.map_or(Overlap::None, |held| held.maps.overlap(&new));
        let alone = known.is_some_and(|held| held.users == 1);
        match overlap {
            Overlap::Same => return None,
            Overlap::None if self.keep && alone => {
                if let Some(held) = self.eras.get_mut(&era) {
                    held.maps.map(new);
                }
                return None;
            }
            _ => {}
        }
        let mut maps = if alone && !self.keep {
            self.eras.remove(&era).map(|held| held.maps).unwrap_or_default()
        } else {
            self.copy(era)
        };
        maps.map(new);
        Some(self.begin(pid, maps))
    }

    fn copy(&mut self, era: Era) -> AddressSpace<T> {
        let Some(held) = self.eras.get(&era) else { return AddressSpace::default() };
        if self.keep && self.copies + held.maps.len() > MOST_COPIES {
            self.refused += 1;
            return AddressSpace::default();
        }
        self.copies += if self.keep { held.maps.len() } else { 0 };
        held.maps.clone()
    }

    /// The process has these mappings from now on, and no other.
    pub fn begin(&mut self, pid: i32, maps: AddressSpace<T>) -> Era {
        let era = Era(self.next);
        self.next = self.next.wrapping_add(1).max(1);
        self.eras.insert(era, Held { maps, users: 1 });
        self.set(pid, era);
        era
    }

    fn set(&mut self, pid: i32, era: Era) {
        let before = self.current.insert(pid, era);
        self.release(before);
    }

    fn release(&mut self, era: Option<Era>) {
        let Some(era) = era.filter(|_| !self.keep) else { return };
        if let Some(held) = self.eras.get_mut(&era) {
            held.users = held.users.saturating_sub(1);
            if held.users == 0 {
                self.eras.remove(&era);
            }
        }
    }

    /// The process runs another program: what was mapped is gone.
    pub fn exec(&mut self, pid: i32) -> Era {
        self.begin(pid, AddressSpace::default())
    }

    /// A process was made; it has what its parent has.
    pub fn fork(&mut self, pid: i32, parent: i32) -> Era {
        let era = self.era(parent);
        if let Some(held) = self.eras.get_mut(&era) {
            held.users = held.users.saturating_add(1);
        }
        self.set(pid, era);
        era
    }

    /// The process is gone, or nothing is to be known of it any more.
    pub fn forget(&mut self, pid: i32) {
        let before = self.current.remove(&pid);
        self.release(before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(start: u64, image: char) -> NewMapping<char> {
        NewMapping { start, len: 0x1000, offset: 0, image }
    }

    fn image(spaces: &Spaces<char>, era: Era, address: u64) -> Option<char> {
        Some(spaces.space(era)?.resolve(address)?.0)
    }

    #[test]
    fn a_child_has_its_parents_mappings_until_either_changes() {
        for mut spaces in [Spaces::live(), Spaces::history()] {
            spaces.map(1, at(0x1000, 'a'));
            let shared = spaces.fork(2, 1);
            assert_eq!(spaces.era(1), shared);
            let changed = spaces.map(1, at(0x1000, 'b')).unwrap();
            assert_eq!(image(&spaces, spaces.era(2), 0x1000), Some('a'));
            assert_eq!(image(&spaces, changed, 0x1fff), Some('b'));
            spaces.exec(2);
            assert_eq!(image(&spaces, spaces.era(2), 0x1000), None);
            assert_eq!(spaces.map(1, at(0x1000, 'b')), None, "the same again is no change");
        }
    }

    #[test]
    fn a_number_given_again_has_nothing_of_the_process_before() {
        for mut spaces in [Spaces::live(), Spaces::history()] {
            spaces.exec(1);
            spaces.map(7, at(0x1000, 'a'));
            let before = spaces.era(7);
            spaces.fork(7, 1);
            assert_ne!(spaces.era(7), before);
            assert_eq!(image(&spaces, spaces.era(7), 0x1000), None);
        }
    }

    #[test]
    fn a_live_host_keeps_what_lives_and_a_history_keeps_all() {
        let (mut live, mut history) = (Spaces::live(), Spaces::history());
        for spaces in [&mut live, &mut history] {
            for pid in 1..100 {
                spaces.exec(pid);
                spaces.map(pid, at(0x1000, 'a'));
                spaces.fork(pid + 1000, pid);
                spaces.forget(pid + 1000);
                spaces.forget(pid);
            }
        }
        assert_eq!((live.spaces().count(), live.len()), (0, 0));
        assert_eq!(history.spaces().count(), 99);
        assert_eq!(image(&history, Era(1), 0x1000), Some('a'), "a mapping that only adds joins its era");
    }
}
