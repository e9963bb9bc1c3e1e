//! Files that play the disks of the pool, which can be taken away and brought back while it is exported.

use crate::failure::Failure;
use crate::scratch::{DISK, LOST};
use std::cell::Cell;
use std::path::{Path, PathBuf};

pub struct Disks {
    scratch: PathBuf,
    count: u32,
    /// How often disks were lost.
    turns: Cell<u32>,
}

impl Disks {
    pub fn new(scratch: &Path, count: u32) -> Disks {
        Disks { scratch: scratch.to_owned(), count, turns: Cell::new(0) }
    }

    pub fn all(&self) -> Vec<PathBuf> {
        (0..self.count).map(|number| self.there(number)).collect()
    }

    /// Every other disk first: with neighbours alone, no row of RAID-Z would lose Q and keep P and R. Another turn
    /// begins one disk further, so that what was resilvered is needed.
    fn lost(&self, count: u32, turn: u32) -> impl Iterator<Item = u32> {
        let disks = self.count;
        let order = (0..disks).step_by(2).chain((1..disks).step_by(2)).take(count as usize);
        order.map(move |number| (number + turn) % disks)
    }

    /// # Errors
    /// A file that cannot be moved, and disks that are gone already: others on top of them may be too many.
    pub fn lose(&self, count: u32) -> Result<(), Failure> {
        if self.missing().next().is_some() {
            return Err(Failure::other(
                "take disks away",
                "some are gone already; the step regain comes first",
            ));
        }
        let turn = self.turns.replace(self.turns.get() + 1);
        self.lost(count, turn).try_for_each(|number| rename(&self.there(number), &self.gone(number)))
    }

    fn missing(&self) -> impl Iterator<Item = u32> {
        (0..self.count).filter(|number| self.gone(*number).exists())
    }

    /// # Errors
    /// As above.
    pub fn regain(&self) -> Result<(), Failure> {
        self.missing().try_for_each(|number| rename(&self.gone(number), &self.there(number)))
    }

    fn there(&self, number: u32) -> PathBuf {
        self.scratch.join(format!("{DISK}{number}"))
    }

    fn gone(&self, number: u32) -> PathBuf {
        self.scratch.join(format!("{DISK}{number}{LOST}"))
    }
}

fn rename(from: &Path, to: &Path) -> Result<(), Failure> {
    std::fs::rename(from, to)
        .map_err(|e| Failure::other(format!("move {} to {}", from.display(), to.display()), e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_disks_are_no_neighbours_while_others_are_left() {
        let of = |disks, count, turn| Disks::new("/".as_ref(), disks).lost(count, turn).collect::<Vec<u32>>();
        assert_eq!(of(8, 3, 0), [0, 2, 4]);
        assert_eq!(of(8, 3, 1), [1, 3, 5]);
        assert_eq!(of(4, 3, 0), [0, 2, 1]);
    }

    #[test]
    fn what_was_lost_comes_back_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let disks = Disks::new(dir.path(), 3);
        for number in 0..3 {
            std::fs::write(disks.there(number), [number as u8]).unwrap();
        }
        disks.lose(2).unwrap();
        assert!(!disks.there(0).exists() && disks.there(1).exists() && !disks.there(2).exists());
        assert!(disks.lose(1).is_err());
        disks.regain().unwrap();
        assert_eq!(std::fs::read(disks.there(2)).unwrap(), [2]);
        disks.regain().unwrap();
    }
}
