//! Which rows of the segments of a table are packed: all, but of rows that share an id only the first.
//!
//! A recorder that resets its tables of names writes rows again that are on disk already.
//! Invariant: whatever the number of rows, ids are held for at most about [`MOST_IDS`] of them at a
//! time, and one bit for each row.

use crate::parquet_io::{count_rows, read_first_column};
use crate::table::TableSpec;
use bytes::Bytes;
use rustc_hash::FxHashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Ids looked at together: some 10 MB. Of more rows the ids are taken in several turns.
const MOST_IDS: u64 = 1 << 19;

/// The rows of one segment that stay.
enum Kept {
    /// It cannot be read; reading it again says why.
    None,
    All,
    /// One bit a row.
    Some(Vec<u64>),
}

/// What of a table is packed, by segment in the order of their paths.
pub struct Plan {
    kept: Vec<Kept>,
    /// Rows that stay.
    pub rows: u64,
}

impl Plan {
    pub fn of(spec: &'static TableSpec, segments: &[PathBuf]) -> Plan {
        Plan::in_turns(spec, segments, MOST_IDS)
    }

    fn in_turns(spec: &'static TableSpec, segments: &[PathBuf], most_ids: u64) -> Plan {
        let counts: Vec<Option<u64>> = segments.iter().map(|path| count_rows(read(path)?).ok()).collect();
        let rows = counts.iter().flatten().sum();
        // Within one segment no row is written twice.
        if !spec.has_ids() || segments.len() < 2 {
            let kept = counts.iter().map(|count| count.map_or(Kept::None, |_| Kept::All));
            return Plan { kept: kept.collect(), rows };
        }
        let bits = |count: u64| Kept::Some(vec![0; count.div_ceil(64) as usize]);
        let kept = counts.iter().map(|count| count.map_or(Kept::None, bits)).collect();
        let mut plan = Plan { kept, rows: 0 };
        let turns = rows.div_ceil(most_ids).max(1);
        let mut seen = FxHashSet::default();
        for turn in 0..turns {
            seen.clear();
            for (path, kept) in segments.iter().zip(&mut plan.kept) {
                let Kept::Some(bits) = kept else { continue };
                let Some(ids) = read(path).and_then(|bytes| read_first_column(spec, bytes).ok()) else {
                    *kept = Kept::None;
                    continue;
                };
                for row in 0..ids.len() {
                    let id = ids.u64(row);
                    if id % turns == turn && seen.insert(id) {
                        bits[row / 64] |= 1 << (row % 64);
                        plan.rows += 1;
                    }
                }
            }
        }
        plan
    }

    /// Which of `rows` rows of a segment stay; `None`: all.
    pub fn keep(&self, segment: usize, rows: usize) -> Option<Vec<bool>> {
        match self.kept.get(segment)? {
            Kept::Some(bits) => {
                let bit = |row: usize| bits.get(row / 64).is_some_and(|word| word >> (row % 64) & 1 == 1);
                Some((0..rows).map(bit).collect())
            }
            Kept::None | Kept::All => None,
        }
    }
}

fn read(path: &Path) -> Option<Bytes> {
    fs::read(path).ok().map(Bytes::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::Column;
    use crate::parquet_io::write_table;
    use crate::table::{MARKS, STACKS, Table};

    fn stacks(folder: &Path, number: usize, ids: &[i64]) -> PathBuf {
        let mut table = Table::new(&STACKS);
        let zeros = Column::I64(vec![0; ids.len()]);
        table.columns =
            vec![Column::I64(ids.to_vec()), zeros.clone(), zeros, Column::I32(vec![1; ids.len()])];
        let path = folder.join(format!("stacks-{number:06}.parquet"));
        write_table(&table, fs::File::create(&path).unwrap()).unwrap();
        path
    }

    fn kept(plan: &Plan, segments: &[&[i64]]) -> Vec<Vec<i64>> {
        let of = |(at, ids): (usize, &&[i64])| {
            let keep = plan.keep(at, ids.len()).unwrap_or_else(|| vec![true; ids.len()]);
            ids.iter().zip(keep).filter(|(_, keep)| *keep).map(|(id, _)| *id).collect()
        };
        segments.iter().enumerate().map(of).collect()
    }

    #[test]
    fn the_first_row_of_an_id_stays_in_one_turn_and_in_many() {
        let dir = tempfile::tempdir().unwrap();
        let segments: [&[i64]; 3] = [&[7, 8, -1], &[8, 9], &[-1, 7, 10, 9]];
        let paths: Vec<PathBuf> =
            segments.iter().enumerate().map(|(n, ids)| stacks(dir.path(), n, ids)).collect();
        for most_ids in [1, 2, 4, 100] {
            let plan = Plan::in_turns(&STACKS, &paths, most_ids);
            assert_eq!(kept(&plan, &segments), [vec![7, 8, -1], vec![9], vec![10]], "{most_ids}");
            assert_eq!(plan.rows, 5);
        }
    }

    #[test]
    fn a_broken_segment_counts_for_nothing_and_tables_without_ids_stay_whole() {
        let dir = tempfile::tempdir().unwrap();
        let broken = dir.path().join("stacks-000001.parquet");
        fs::write(&broken, b"rubbish").unwrap();
        let paths = [stacks(dir.path(), 0, &[1, 2]), broken, stacks(dir.path(), 2, &[2, 3])];
        let plan = Plan::of(&STACKS, &paths);
        assert_eq!((plan.rows, plan.keep(2, 2)), (3, Some(vec![false, true])));
        assert_eq!(Plan::of(&MARKS, &[]).rows, 0);
        assert!(!MARKS.has_ids() && STACKS.has_ids());
    }
}
