//! Tables of lock statistics (lockstat) as stacks: who waits for which lock.
//!
//! The figures of such tables are parts of lock events, not of CPU, so the stacks have none. Every busy host has such a table:
//! a lock counts only where threads wait for it for a time that matters.

use super::number::leading_number;
use super::tables::columns_like;
use crate::name::bare;
use crate::pattern::Pattern;
use zwhy_evidence::{Evidence, Table};

/// CPUs that must wait for a lock, on average: with less, nobody would notice.
const WAITS: f64 = 0.01;
/// CPUs that waiting for a lock may take whatever the first one of the table takes.
const MUCH: f64 = 0.5;
/// Part of the waits, or else events, of the first lock with which another one is worth a look, too.
const BESIDE_THE_FIRST: f64 = 0.125;

/// Frames from the caller to the lock, and where they come from.
pub fn lock_stacks(evidence: &Evidence) -> impl Iterator<Item = (Vec<String>, String)> + '_ {
    contended(evidence).flat_map(|table| {
        let origin = evidence.origin_name(table.origin);
        frames(&table).into_iter().map(move |f| (f, origin.to_owned()))
    })
}

pub fn is_of_locks(table: &Table) -> bool {
    table.tool.to_ascii_lowercase().contains("lockstat")
}

/// Tables of lock statistics with those rows only whose locks are waited for, as far as there is a count, nanoseconds of
/// each wait, and how long it was counted.
pub fn contended(evidence: &Evidence) -> impl Iterator<Item = Table> + '_ {
    let tables = || evidence.tables.iter().filter(|t| is_of_locks(t));
    let column = |table: &Table, like: &str| columns_like(table, &Pattern::new(like)).first().copied();
    let written = tables().filter_map(move |t| {
        let (at, row) = (column(t, "seconds")?, t.rows.first()?);
        leading_number(row.get(at)?)
    });
    let counted = written.filter(|s| *s > 0.0).reduce(f64::max);
    tables().map(move |table| {
        let (Some(count), Some(_)) = (column(table, "count"), column(table, "lock*")) else {
            return table.clone();
        };
        let seconds = seconds_of(&table.tool).or(counted);
        Table { rows: waited_for(table, count, column(table, "nsec"), seconds), ..table.clone() }
    })
}

fn waited_for(table: &Table, count: usize, ns: Option<usize>, seconds: Option<f64>) -> Vec<Vec<String>> {
    let figure = |row: &[String], at: usize| leading_number(row.get(at)?);
    let wait = |row: &[String]| Some(figure(row, count)? * ns.and_then(|at| figure(row, at)).unwrap_or(1.0));
    let most = table.rows.iter().filter_map(|r| wait(r)).fold(0.0, f64::max);
    let matters = |row: &Vec<String>| {
        let Some(wait) = wait(row) else { return true };
        let cpus = ns.and(seconds).map(|seconds| wait / 1e9 / seconds);
        cpus.is_some_and(|c| c >= MUCH)
            || wait >= BESIDE_THE_FIRST * most && cpus.is_none_or(|cpus| cpus >= WAITS)
    };
    table.rows.iter().filter(|row| matters(row)).cloned().collect()
}

/// How long `lockstat … sleep 10` counted.
fn seconds_of(command: &str) -> Option<f64> {
    let (_, after) = command.split_once("sleep ")?;
    leading_number(after.split_whitespace().next()?).filter(|s| *s > 0.0)
}

fn frames(table: &Table) -> Vec<Vec<String>> {
    let first = |like: &str| columns_like(table, &Pattern::new(like)).first().copied();
    let (Some(caller), lock) = (first("caller*"), first("lock*")) else { return Vec::new() };
    let cell = |row: &[String], at: usize| {
        row.get(at).map(|c| bare(c).function.to_owned()).filter(|name| !name.is_empty())
    };
    let stack = |row: &Vec<String>| {
        let lock = lock.and_then(|at| cell(row, at));
        // Both kinds are in one table; only the name of the lock tells which.
        let is_rw = lock.as_deref().is_some_and(|l| l.to_ascii_lowercase().contains("rw"));
        let mut frames = vec![cell(row, caller)?, if is_rw { "rw_enter" } else { "mutex_enter" }.to_owned()];
        frames.extend(lock);
        Some(frames)
    };
    table.rows.iter().filter_map(stack).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(tool: &str, columns: &[&str], rows: &[&[&str]]) -> Table {
        let owned = |cells: &[&str]| cells.iter().map(|c| (*c).to_owned()).collect::<Vec<_>>();
        let rows = rows.iter().map(|row| owned(row)).collect();
        Table { tool: tool.to_owned(), columns: owned(columns), rows, ..Table::default() }
    }

    fn callers(tool: &str, rows: &[&[&str]], seconds: Option<&str>) -> Vec<String> {
        let mut evidence = Evidence::default();
        evidence.tables.push(table(tool, &["Count", "nsec", "Lock", "Caller"], rows));
        if let Some(seconds) = seconds {
            evidence.tables.push(table("lockstat interval", &["kind", "seconds"], &[&["spin", seconds]]));
        }
        let tables: Vec<Table> = contended(&evidence).collect();
        tables.iter().flat_map(frames).filter_map(|f| f.into_iter().next()).collect()
    }

    #[test]
    fn a_lock_counts_where_it_is_waited_for() {
        // 8331 times 2.9 µs in ten seconds are a quarter of a per cent of a CPU.
        let quiet: &[&[&str]] = &[
            &["8331", "2911", "ht_lock", "buf_hash_find"],
            &["7110", "2888", "vq_lock", "vdev_queue_io_done"],
        ];
        assert_eq!(callers("lockstat -kWP sleep 10", quiet, None), Vec::<String>::new());
        assert_eq!(callers("lockstat", quiet, Some("10.043")), Vec::<String>::new());
        assert_eq!(callers("lockstat -C", quiet, None).len(), 2, "nobody says how long it counted");
        let busy: &[&[&str]] = &[
            &["2911203", "18022", "dbuf_evict_lock", "dbuf_evict_notify"],
            &["310221", "2711", "hash_lock", "dbuf_find"],
        ];
        assert_eq!(callers("lockstat -kCP sleep 10 (dd)", busy, None), ["dbuf_evict_notify"]);
        let both: &[&[&str]] = &[
            &["9111203", "18022", "zone_mem_lock", "rcapd_scan"],
            &["610221", "12711", "hash_lock", "dbuf_find"],
        ];
        assert_eq!(
            callers("lockstat sleep 10", both, None).len(),
            2,
            "most of a CPU is much beside anything"
        );
    }
}
