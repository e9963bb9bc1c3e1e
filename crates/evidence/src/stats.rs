//! What an importer took in and what it could not: read = kept + dropped + lost, always.

use crate::Evidence;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Counts in units of the source's own records (samples, lines, rows: `unit` says which).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ImportStats {
    /// Name of the importer: `perf.data`, `folded`, `evidence-json`.
    pub format: String,
    pub unit: String,
    pub read: u64,
    pub kept: u64,
    /// Records understood but not taken, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// Records that the file shows were there but could not be read (cut, damaged, lost by the recorder).
    pub lost: u64,
    /// Bytes that could not be read.
    pub lost_bytes: u64,
    /// Byte at which the input ends before its time; how many records followed is not known.
    pub cut_at: Option<u64>,
    /// Sentences for people: what was skipped and why, what to do.
    pub warnings: Vec<String>,
}

impl ImportStats {
    pub fn new(format: &str, unit: &str) -> Self {
        ImportStats { format: format.to_owned(), unit: unit.to_owned(), ..Self::default() }
    }

    pub fn drop(&mut self, reason: &str, count: u64) {
        if count > 0 {
            *self.dropped.entry(reason.to_owned()).or_default() += count;
        }
    }

    pub fn dropped_total(&self) -> u64 {
        self.dropped.values().sum()
    }

    /// How many records were lost; `None` where the input does not show it.
    pub fn lost_known(&self) -> Option<u64> {
        let unknown = self.cut_at.is_some() || (self.lost == 0 && self.lost_bytes > 0);
        (!unknown).then_some(self.lost)
    }

    /// Adds what another input of the same reading came to; units that differ become `records`.
    pub fn add(&mut self, other: ImportStats) {
        if self.format.is_empty() {
            self.format = other.format;
            self.unit = other.unit;
        } else {
            self.format = format!("{}, {}", self.format, other.format);
            if self.unit != other.unit {
                self.unit = "records".to_owned();
            }
        }
        self.read += other.read;
        self.kept += other.kept;
        self.lost += other.lost;
        self.lost_bytes += other.lost_bytes;
        self.cut_at = self.cut_at.or(other.cut_at);
        for (reason, count) in other.dropped {
            self.drop(&reason, count);
        }
        self.warnings.extend(other.warnings);
    }

    /// `true` when every record is accounted for.
    pub fn balanced(&self) -> bool {
        self.read == self.kept + self.dropped_total() + self.lost
    }
}

/// What an importer returns.
#[derive(Clone, Debug, Default)]
pub struct Imported {
    pub evidence: Evidence,
    pub stats: ImportStats,
}
