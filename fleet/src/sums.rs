//! The tables `sums` and `totals`: what is asked for, from sums of five minutes where there are any, of each host or of all
//! together, and from rows before the first whole step and after the last one.

use crate::error::FleetError;
use crate::manifest::{Manifest, SUM_MS};
use crate::scope::Scope;
use crate::snapshot::Contents;
use crate::table::FilesTable;
use datafusion::prelude::{Expr, SessionContext, col, lit};

const COLUMNS: [&str; 8] = ["host", "t_ms", "comm", "stack_id", "event", "count", "weight_ns", "own"];

/// The steps of [`SUM_MS`] that lie within a range, as a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Whole {
    from_ms: i64,
    to_ms: i64,
}

impl Whole {
    fn of(scope: &Scope) -> Whole {
        let floor = |ms: i64| ms.div_euclid(SUM_MS).saturating_mul(SUM_MS);
        let from_ms = match scope.from_ms {
            i64::MIN => i64::MIN,
            ms => floor(ms.saturating_add(SUM_MS - 1)),
        };
        let to_ms = if scope.to_ms == i64::MAX { i64::MAX } else { floor(scope.to_ms) };
        Whole { from_ms, to_ms: to_ms.max(from_ms) }
    }

    /// What of the range is before and after these steps.
    fn edges(self, scope: &Scope) -> [Scope; 2] {
        let part = |from_ms, to_ms| Scope { hosts: scope.hosts.clone(), from_ms, to_ms };
        [part(scope.from_ms, self.from_ms.min(scope.to_ms)), part(self.to_ms.max(scope.from_ms), scope.to_ms)]
    }

    /// Rows within, where not all are; their time is that of the row, or the begin of its step.
    fn within(self) -> Option<Expr> {
        let everything = Whole { from_ms: i64::MIN, to_ms: i64::MAX };
        let within = col("t_ms").gt_eq(lit(self.from_ms)).and(col("t_ms").lt(lit(self.to_ms)));
        (self != everything).then_some(within)
    }

    fn outside(self) -> Expr {
        col("t_ms").lt(lit(self.from_ms)).or(col("t_ms").gt_eq(lit(self.to_ms)))
    }
}

/// Makes the table `view`, which is one of the two; `files` gives the merged files of a table of some manifests. Merges of
/// an earlier version have no totals: then there are the sums of their hosts.
///
/// # Errors
/// When a name of a file is none, or a table is there already.
pub async fn register_sums(
    context: &SessionContext,
    view: &str,
    scope: &Scope,
    contents: &Contents,
    files: impl Fn(&str, &[&Manifest]) -> Result<FilesTable, FleetError>,
) -> Result<(), FleetError> {
    let whole = Whole::of(scope);
    let (summed, plain): (Vec<&Manifest>, Vec<&Manifest>) =
        contents.manifests.iter().partition(|manifest| manifest.has("sums"));
    let (total, by_host): (Vec<&Manifest>, Vec<&Manifest>) =
        summed.iter().partition(|manifest| view == "totals" && manifest.has("totals"));
    let edges = whole.edges(scope);
    let has_edge =
        |manifest: &&&Manifest| edges.iter().any(|edge| edge.from_ms < edge.to_ms && manifest.overlaps(edge));
    let at_edges: Vec<&Manifest> = summed.iter().filter(has_edge).copied().collect();
    let mut all = match contents.units.is_empty() {
        true => None,
        false => Some(context.table("unit_rows").await?.select_columns(&COLUMNS)?),
    };
    for (part, table, of, filter) in [
        ("plain", "samples", &plain, None),
        ("edges", "samples", &at_edges, Some(whole.outside())),
        ("by_host", "sums", &by_host, whole.within()),
        ("total", "totals", &total, whole.within()),
    ] {
        if of.is_empty() {
            continue;
        }
        let name = format!("{view}_{part}");
        files(table, of)?.register(context, &name)?;
        let mut rows = context.table(&name).await?;
        if let Some(filter) = filter {
            rows = rows.filter(filter)?;
        }
        let rows = rows.select_columns(&COLUMNS)?;
        all = Some(match all {
            Some(others) => others.union(rows)?,
            None => rows,
        });
    }
    let all = match all {
        Some(all) => all,
        // Without units and manifests it has no rows.
        None => context.table("merged_samples").await?.select_columns(&COLUMNS)?,
    };
    context.register_table(view, all.into_view())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(from_ms: i64, to_ms: i64) -> Scope {
        Scope { hosts: Vec::new(), from_ms, to_ms }
    }

    #[test]
    fn a_range_is_whole_steps_and_two_edges() {
        for (from_ms, to_ms, want) in [
            (0, 2 * SUM_MS, (0, 2 * SUM_MS)),
            (1, 2 * SUM_MS - 1, (SUM_MS, SUM_MS)),
            (-1, SUM_MS + 1, (0, SUM_MS)),
            (10, 20, (SUM_MS, SUM_MS)),
            (i64::MIN, SUM_MS + 7, (i64::MIN, SUM_MS)),
            (SUM_MS + 7, i64::MAX, (2 * SUM_MS, i64::MAX)),
            (i64::MIN, i64::MAX, (i64::MIN, i64::MAX)),
        ] {
            let asked = scope(from_ms, to_ms);
            let whole = Whole::of(&asked);
            assert_eq!((whole.from_ms, whole.to_ms), want, "{from_ms} to {to_ms}");
            // Each moment of the range is in one of the three, once.
            for t in
                [from_ms, from_ms.saturating_add(1), -1, 0, 15, SUM_MS - 1, SUM_MS, to_ms.saturating_sub(1)]
            {
                let asked_for = (from_ms..to_ms).contains(&t);
                let edges = whole.edges(&asked);
                let places = edges.iter().filter(|edge| (edge.from_ms..edge.to_ms).contains(&t)).count();
                let places = places + usize::from((whole.from_ms..whole.to_ms).contains(&t));
                assert_eq!(places, usize::from(asked_for), "{t} of {from_ms} to {to_ms}");
            }
        }
    }
}
