//! Tables of lock statistics (lockstat) as stacks: who waits for which lock.
//!
//! The figures of such tables are parts of lock events, not of CPU, so the stacks have none.

use super::tables::columns_like;
use crate::name::bare;
use crate::pattern::Pattern;
use zwhy_evidence::{Evidence, Table};

/// Frames from the caller to the lock, and where they come from.
pub fn lock_stacks(evidence: &Evidence) -> impl Iterator<Item = (Vec<String>, String)> + '_ {
    let tables = evidence.tables.iter().filter(|t| t.tool.to_ascii_lowercase().contains("lockstat"));
    tables.flat_map(|table| {
        let origin = evidence.origin_name(table.origin);
        frames(table).into_iter().map(move |f| (f, origin.to_owned()))
    })
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
