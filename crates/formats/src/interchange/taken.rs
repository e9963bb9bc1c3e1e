//! What a reader has taken from a file so far: each sample kept or dropped with its reason, each stack within
//! the limits.

use super::rows::{Amount, Row, Rows};
use super::stacks::StackMaker;
use crate::{ImportStats, Imported, Input};
use zwhy_evidence::{Evidence, Host};
use zwhy_profile::{FrameId, Profile, StackId};

pub struct Taken {
    pub profile: Profile,
    pub host: Host,
    pub stats: ImportStats,
    pub rows: Rows,
    pub max_depth: usize,
    maker: StackMaker,
}

impl Taken {
    /// Of a file of so many bytes; `unit` is what its records are.
    pub fn new(format: &str, unit: &str, bytes: usize, max_depth: usize) -> Taken {
        Taken {
            profile: Profile::new(),
            host: Host::default(),
            stats: ImportStats::new(format, unit),
            rows: Rows::default(),
            max_depth,
            maker: StackMaker::new(max_depth, bytes),
        }
    }

    /// # Errors
    /// When the file has used up its stacks: why the sample is dropped.
    pub fn stack(&mut self, leaf_first: impl IntoIterator<Item = FrameId>) -> Result<StackId, &'static str> {
        self.maker
            .stack(&mut self.profile, leaf_first)
            .ok_or("stack of more frames than the file has bytes for")
    }

    /// # Errors
    /// When there are too many: why the sample is dropped.
    pub fn push(&mut self, row: Row, amount: Amount) -> Result<(), &'static str> {
        if self.rows.push(row, amount) { Ok(()) } else { Err("more samples than are read") }
    }

    /// Counts a record that was read as kept or dropped.
    pub fn count(&mut self, taken: Result<(), &'static str>) {
        self.stats.read += 1;
        match taken {
            Ok(()) => self.stats.kept += 1,
            Err(reason) => self.stats.drop(reason, 1),
        }
    }

    /// A record that the file shows was there, with the bytes from which on it cannot be read.
    pub fn lose(&mut self, bytes: u64) {
        self.stats.read += 1;
        self.stats.lost += 1;
        self.stats.lost_bytes += bytes;
    }

    pub fn warn(&mut self, warning: impl Into<String>) {
        self.stats.warnings.push(warning.into());
    }

    pub fn finish(mut self, input: &Input) -> Imported {
        self.stats.warnings.extend(self.maker.warning());
        self.rows.into_samples(&mut self.profile, &mut self.stats);
        let mut evidence = Evidence { profile: self.profile, host: self.host, ..Evidence::default() };
        evidence.origin(input.name());
        Imported { evidence, stats: self.stats }
    }
}
