//! The names of the rows that a finding is about, for its sentences and commands.

use super::place::below_another;
use super::{Chosen, MOST_ROWS, Row, RowId, Scope};
use crate::answer::RowAnswer;
use crate::facts::{FactBase, Query};
use crate::knowledge::Cause;
use crate::shell::is_safe;

/// Names of this host for `{dataset}`, `{pool}` and `{vdev}`; only such as mean themselves in a command line.
#[derive(Clone, Debug, Default)]
pub struct Names {
    pub datasets: Vec<String>,
    pub pools: Vec<String>,
    pub vdevs: Vec<String>,
    /// Rows that are not listed.
    pub more: usize,
    /// Of which kind those are.
    pub scope: Option<Scope>,
}

impl Names {
    pub fn of(cause: &Cause, chosen: Option<&Chosen>, facts: &FactBase<'_>) -> Names {
        // A thread says nothing of pools.
        let guilty = chosen.filter(|c| !c.guilty.is_empty() && !c.scope.is_task());
        let Some(chosen) = guilty else { return Names::without_rows(cause, facts) };
        let mut names = Names::listed(chosen.scope, &chosen.guilty, facts);
        names.scope = Some(chosen.scope);
        names
    }

    fn listed(scope: Scope, ids: &[RowId], facts: &FactBase<'_>) -> Names {
        let rows = facts.rows();
        let shown: Vec<Row> = ids.iter().take(MOST_ROWS).map(|id| Row { scope, id: *id }).collect();
        let safe = |row: &Row| rows.name(*row).filter(|name| is_safe(name)).map(str::to_owned);
        let own: Vec<String> = shown.iter().filter_map(safe).collect();
        let mut pools: Vec<String> = Vec::new();
        for name in shown.iter().filter_map(|row| rows.pool_of(*row)).filter_map(|pool| safe(&pool)) {
            if !pools.contains(&name) {
                pools.push(name);
            }
        }
        let more = ids.len() - shown.len();
        let (mut datasets, mut vdevs) = (Vec::new(), Vec::new());
        match scope {
            Scope::Dataset => datasets = own,
            Scope::Vdev => vdevs = own,
            Scope::Pool | Scope::Process | Scope::Thread => {}
        }
        Names { datasets, pools, vdevs, more, scope: None }
    }

    /// Where no row is guilty: the only dataset that the cause can be about, or the busiest; the only pool.
    fn without_rows(cause: &Cause, facts: &FactBase<'_>) -> Names {
        let rows = facts.rows();
        let like = cause.dataset.as_ref().and_then(|(name, like)| {
            let query = Query::new("prop", vec![name.clone(), like.to_string()]).ok()?;
            let column = rows.column(Scope::Dataset, &query);
            let holds = |id: &RowId| column.value(*id) == Some(&crate::facts::Value::Truth(true));
            let found: Vec<RowId> = (0..rows.len(Scope::Dataset) as RowId).filter(holds).collect();
            let first = *found.first()?;
            let moves = |id: RowId| {
                let traffic = rows.traffic(Row { scope: Scope::Dataset, id });
                traffic.is_some_and(|[read, written]| read + written > 0.0)
            };
            (found.len() == 1 || moves(first)).then_some(first)
        });
        if let Some(id) = like {
            return Names::listed(Scope::Dataset, &[id], facts);
        }
        match rows.len(Scope::Pool) {
            1 => Names::listed(Scope::Pool, &[0], facts),
            _ => Names::default(),
        }
    }

    /// Datasets without those below another one, which a command for that one includes.
    pub fn topmost(&self) -> Vec<String> {
        let all = &self.datasets;
        all.iter().filter(|name| !below_another(name, all)).cloned().collect()
    }

    /// `tank/a`, `tank/a and tank/b`, `tank/a, tank/b and 3 more datasets`; `unknown` where there is none.
    pub fn in_words(&self, scope: Scope, unknown: &str) -> String {
        let names = match scope {
            Scope::Dataset => &self.datasets,
            Scope::Pool => &self.pools,
            Scope::Vdev => &self.vdevs,
            Scope::Process | Scope::Thread => &Vec::new(),
        };
        let more = if self.scope == Some(scope) { self.more } else { 0 };
        let rest = if more > 0 { Some(format!("{more} more {}", scope.words())) } else { None };
        let all: Vec<&str> = names.iter().map(String::as_str).chain(rest.as_deref()).collect();
        match all.as_slice() {
            [] => unknown.to_owned(),
            [one] => (*one).to_owned(),
            [first @ .., last] => format!("{} and {last}", first.join(", ")),
        }
    }
}

/// The rows of a finding, how many are not listed, and how many were not looked at one by one.
pub fn answers(chosen: Option<&Chosen>, facts: &FactBase<'_>) -> (Vec<RowAnswer>, u64, u64) {
    let Some(chosen) = chosen.filter(|c| !c.guilty.is_empty()) else { return Default::default() };
    let rows = facts.rows();
    let row = |id: &RowId| Row { scope: chosen.scope, id: *id };
    let activity = |id: &RowId| rows.activity(row(id), None);
    let all: f64 = chosen.guilty.iter().filter_map(activity).sum();
    let answer = |id: &RowId| {
        let traffic = rows.traffic(row(id));
        Some(RowAnswer {
            kind: chosen.scope.word().to_owned(),
            name: rows.name(row(id))?.to_owned(),
            read_bytes_s: traffic.map(|[read, _]| read),
            written_bytes_s: traffic.map(|[_, written]| written),
            cpus: rows.cpu(row(id)),
            part: activity(id).filter(|_| all > 0.0).map(|activity| activity / all),
        })
    };
    let listed: Vec<RowAnswer> = chosen.guilty.iter().take(MOST_ROWS).filter_map(answer).collect();
    let named = chosen.guilty.iter().filter(|id| rows.name(row(id)).is_some()).count();
    let more = named - listed.len();
    (listed, more as u64, chosen.unseen as u64)
}
