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
/// Part of the events of the first lock with which another one is worth a look, too.
const BESIDE_THE_FIRST: f64 = 0.125;

/// Frames from the caller to the lock, and where they come from.
pub fn lock_stacks(evidence: &Evidence) -> impl Iterator<Item = (Vec<String>, String)> + '_ {
    let tables = evidence.tables.iter().filter(|t| is_of_locks(t));
    tables.flat_map(|table| {
        let origin = evidence.origin_name(table.origin);
        frames(&contended(table)).into_iter().map(move |f| (f, origin.to_owned()))
    })
}

pub fn is_of_locks(table: &Table) -> bool {
    table.tool.to_ascii_lowercase().contains("lockstat")
}

/// The same table with those rows only whose locks are waited for, as far as it has a count and nanoseconds of them.
pub fn contended(table: &Table) -> Table {
    let column = |like: &str| columns_like(table, &Pattern::new(like)).first().copied();
    let (count, ns) = (column("count"), column("nsec"));
    if column("lock*").is_none() || count.is_none() {
        return table.clone();
    }
    let figure = |row: &[String], at: Option<usize>| leading_number(row.get(at?)?);
    let weight = |row: &[String]| Some(figure(row, count)? * figure(row, ns).unwrap_or(1.0));
    let most = table.rows.iter().filter_map(|r| weight(r)).fold(0.0, f64::max);
    let seconds = ns.and_then(|_| seconds_of(&table.tool));
    let matters = |row: &Vec<String>| {
        weight(row).is_none_or(|w| {
            w >= BESIDE_THE_FIRST * most && seconds.is_none_or(|seconds| w / 1e9 / seconds >= WAITS)
        })
    };
    let rows = table.rows.iter().filter(|row| matters(row)).cloned().collect();
    Table { rows, ..table.clone() }
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

    fn callers(tool: &str, rows: &[[&str; 4]]) -> Vec<String> {
        let owned = |cells: &[&str]| cells.iter().map(|c| (*c).to_owned()).collect::<Vec<_>>();
        let columns = owned(&["Count", "nsec", "Lock", "Caller"]);
        let rows = rows.iter().map(|row| owned(row)).collect();
        let table = Table { tool: tool.to_owned(), columns, rows, ..Table::default() };
        frames(&contended(&table)).into_iter().filter_map(|f| f.into_iter().next()).collect()
    }

    #[test]
    fn a_lock_counts_where_it_is_waited_for() {
        // 8331 times 2.9 µs in ten seconds are a fortieth of a per cent of a CPU.
        let quiet =
            [["8331", "2911", "ht_lock", "buf_hash_find"], ["7110", "2888", "vq_lock", "vdev_queue_io_done"]];
        assert_eq!(callers("lockstat -kWP sleep 10", &quiet), Vec::<String>::new());
        assert_eq!(callers("lockstat -C", &quiet).len(), 2, "nobody says how long it counted");
        let busy = [
            ["2911203", "18022", "dbuf_evict_lock", "dbuf_evict_notify"],
            ["310221", "2711", "hash_lock", "dbuf_find"],
        ];
        assert_eq!(callers("lockstat -kCP sleep 10 (dd)", &busy), ["dbuf_evict_notify"]);
    }
}
