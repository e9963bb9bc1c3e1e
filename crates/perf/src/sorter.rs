//! Records of all CPUs in order of time: drain, settle, order.
//!
//! Each CPU writes to a ring of its own, so records come in runs that overlap:
//!
//! ```text
//!   time ──────────────────────────────────────────────▶
//!   CPU 0   a1 ──── a2 ───────────── a3                     in its ring at the drain: a1 a2 a3
//!   CPU 1        b1 ───── b2 ── b3 ─ · b4                   in its ring at the drain: b1 b2 b3
//!                                      │
//!           ◀── settled: given out ──▶ │ ◀ SETTLE ▶ │
//!                                   horizon        now
//! ```
//!
//! b4 was stamped before the drain and reached its ring only after it: a record is stamped first and written
//! then. Were a3, which is younger, given out at once, b4 would come too late. So of each drain only records
//! older than the horizon, `now - SETTLE`, are given out, sorted; the younger ones wait for the next drain,
//! by when those stamped before them are there.
//!
//! Invariants: records are given out in order of time, those of one time in order of their rings; none is
//! given out twice or dropped; the last drain gives out all. Memory is that of the records between two
//! drains, kept for the next one.

use crate::attr::Schema;
use crate::bytes::{Order, View};
use crate::record::{self, Record};

/// A record may be stamped and not yet be in its ring; what is younger than this waits a round.
pub const SETTLE_NS: u64 = 10_000_000;

/// Byte order of the machine, which is that of its rings.
pub const NATIVE: Order = if cfg!(target_endian = "big") { Order::Big } else { Order::Little };

/// Up to which time a drain gives out records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// What has settled at this time of the clock that the records carry, in nanoseconds.
    Settled(u64),
    /// All there is: nothing is written any more.
    TheEnd,
}

impl Until {
    fn horizon(self) -> u64 {
        match self {
            Until::Settled(now) => now.saturating_sub(SETTLE_NS),
            Until::TheEnd => u64::MAX,
        }
    }
}

#[derive(Default)]
pub struct Sorter {
    /// Records as they came; room for the next drain.
    bytes: Vec<u8>,
    /// Those that are too young.
    young: Vec<u8>,
    /// Times and places of records.
    order: Vec<(u64, usize)>,
}

impl Sorter {
    /// Gives out what `fill` adds and what waited, up to the horizon.
    pub fn drain(
        &mut self,
        schema: &Schema,
        until: Until,
        fill: impl FnOnce(&mut Vec<u8>),
        mut sink: impl FnMut(u64, Record<'_>),
    ) {
        fill(&mut self.bytes);
        let mut at = 0;
        while let Some(record) = self.bytes.get(at..).and_then(Record::first) {
            let time = match record.kind {
                record::SAMPLE => schema.time_of_sample(&record.view),
                _ => schema.time_of_other(&record.view),
            };
            // One that tells no time is as old as can be: it must not hold up the others.
            self.order.push((time.unwrap_or(0), at));
            at += record.view.len();
        }
        // Rings are runs of ordered records, which this sort merges.
        self.order.sort_by_key(|(time, _)| *time);
        let horizon = until.horizon();
        for (time, at) in self.order.drain(..) {
            let Some(record) = Record::first(&self.bytes[at..]) else { continue };
            if time > horizon {
                self.young.extend_from_slice(record.view.bytes);
            } else {
                sink(time, record);
            }
        }
        self.bytes.clear();
        std::mem::swap(&mut self.bytes, &mut self.young);
    }
}

impl<'a> Record<'a> {
    /// The record at the start of bytes of a ring; `None` when no whole one is there.
    pub fn first(bytes: &'a [u8]) -> Option<Record<'a>> {
        let view = View::new(bytes, NATIVE);
        let (kind, misc, size) = (view.u32(0)?, view.u16(4)?, usize::from(view.u16(6)?));
        let view = view.part(0, size).filter(|_| size >= record::HEADER)?;
        Some(Record { kind, misc, view })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attr::{Attr, has};

    fn schema() -> Schema {
        let mut schema = Schema::default();
        schema.add(Attr::of_sample_type(has::TID | has::TIME), std::iter::empty());
        schema
    }

    fn exit(time: u64, tid: i32) -> Vec<u8> {
        let mut bytes = record::EXIT.to_ne_bytes().to_vec();
        bytes.extend(0u16.to_ne_bytes());
        bytes.extend(48u16.to_ne_bytes());
        bytes.extend([1, 1, tid, tid].map(i32::to_ne_bytes).concat());
        bytes.extend([time, 0, time].map(u64::to_ne_bytes).concat());
        bytes
    }

    fn drain(sorter: &mut Sorter, until: Until, rings: &[&[(u64, i32)]]) -> Vec<(u64, i32)> {
        let mut out = Vec::new();
        let fill = |bytes: &mut Vec<u8>| {
            rings.iter().flat_map(|r| r.iter()).for_each(|(t, tid)| bytes.extend(exit(*t, *tid)));
        };
        sorter.drain(&schema(), until, fill, |time, r| out.push((time, r.view.i32(16).unwrap())));
        out
    }

    /// The picture above: b4 is stamped before a3 and reaches its ring after the drain.
    #[test]
    fn a_record_that_reaches_its_ring_late_is_in_its_place() {
        let ms = 1_000_000;
        let mut sorter = Sorter::default();
        let first: [&[(u64, i32)]; 2] =
            [&[(ms, 1), (3 * ms, 2), (22 * ms, 3)], &[(2 * ms, 11), (4 * ms, 12), (5 * ms, 13)]];
        let out = drain(&mut sorter, Until::Settled(25 * ms), &first);
        assert_eq!(out, [(ms, 1), (2 * ms, 11), (3 * ms, 2), (4 * ms, 12), (5 * ms, 13)]);
        let out = drain(&mut sorter, Until::Settled(40 * ms), &[&[], &[(21 * ms, 14)]]);
        assert_eq!(out, [(21 * ms, 14), (22 * ms, 3)]);
        // What is too young at the end is given out all the same, and once.
        assert_eq!(drain(&mut sorter, Until::Settled(ms), &[&[(90 * ms, 4)]]), []);
        assert_eq!(drain(&mut sorter, Until::TheEnd, &[]), [(90 * ms, 4)]);
        assert_eq!(drain(&mut sorter, Until::TheEnd, &[]), []);
    }

    #[test]
    fn records_of_one_time_keep_the_order_of_their_rings_and_a_cut_one_ends() {
        let mut sorter = Sorter::default();
        let out = drain(&mut sorter, Until::TheEnd, &[&[(5, 1), (5, 2)], &[(5, 3)]]);
        assert_eq!(out, [(5, 1), (5, 2), (5, 3)]);
        let mut seen = 0;
        let fill = |bytes: &mut Vec<u8>| {
            bytes.extend(exit(1, 1));
            bytes.extend(&exit(2, 2)[..20]);
        };
        sorter.drain(&schema(), Until::TheEnd, fill, |_, _| seen += 1);
        assert_eq!(seen, 1);
    }
}
