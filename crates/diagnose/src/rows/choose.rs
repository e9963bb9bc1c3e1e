//! Which rows a cause is about: those for which most of its signs hold, the busiest first.

use super::column::Column;
use super::{Row, RowId, Rows, Scope};
use crate::asked::Asked;
use crate::condition::{Answers, QueryId, Truth};
use crate::facts::{Query, Reading, Value};
use crate::knowledge::{Cause, IfFalse, Sign};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Rows that answer differently are weighed up to this number, the busiest first; hosts with more have
/// as many busy datasets, and those with the least traffic matter least.
const MOST_KINDS: usize = 128;
/// Part of what all rows do that look guilty from which one of them is.
const BUSY: f64 = 0.01;

/// The rows of a cause.
#[derive(Clone, Debug)]
pub struct Chosen {
    pub scope: Scope,
    /// The row that the signs are about, where several are guilty the busiest.
    pub best: RowId,
    /// Rows for which all signs hold that hold for the best, without those that do next to nothing.
    pub guilty: Vec<RowId>,
    /// With those.
    pub alike: Vec<RowId>,
    /// Rows that were not weighed.
    pub unseen: usize,
}

/// A question, and the kind of row that a sign asks it of.
type Use = (Scope, QueryId);

/// The rows of a cause; `None` where it speaks of none, or the evidence names none.
///
/// They are of the smallest kind that its signs speak of and the evidence names; where none of those
/// signs holds, the kind above is what the cause is about: a full pool, not its datasets.
pub fn choose(cause: &Cause, asked: &Asked<'_>) -> Option<Chosen> {
    let rows = asked.facts.rows();
    let mut scopes: Vec<Scope> = signs(cause).filter_map(|sign| sign.each).collect();
    scopes.sort_unstable();
    scopes.dedup();
    let mut first: Option<Chosen> = None;
    for scope in scopes.into_iter().rev().filter(|scope| rows.len(*scope) > 0) {
        let Some((chosen, holds)) = choose_among(cause, asked, scope) else { continue };
        if holds {
            return Some(chosen);
        }
        first.get_or_insert(chosen);
    }
    first
}

/// The rows of one kind, and whether a sign that speaks of this kind holds for them.
fn choose_among(cause: &Cause, asked: &Asked<'_>, scope: Scope) -> Option<(Chosen, bool)> {
    let rows = asked.facts.rows();
    let uses = uses(cause, asked, scope);
    let columns: Vec<(Use, Arc<Column>)> =
        uses.into_iter().filter_map(|(of, query)| Some((of, aligned(rows, scope, of.0, query)?))).collect();
    let known: Vec<bool> = (0..rows.len(scope))
        .map(|row| columns.iter().any(|(_, column)| column.value(row as RowId).is_some()))
        .collect();
    let any = known.contains(&true);
    let counted: Vec<RowId> = (0..known.len() as RowId).filter(|row| !any || known[*row as usize]).collect();
    let groups = groups(&counted, columns.iter().map(|(_, column)| &**column));
    let filter = cause.dataset.as_ref().filter(|_| scope == Scope::Dataset).and_then(|(name, like)| {
        Query::new("prop", vec![name.clone(), like.to_string()]).ok().map(|q| rows.column(scope, &q))
    });
    let fits = |row: RowId| filter.as_ref().is_none_or(|f| f.value(row) != Some(&Value::Truth(false)));
    let judged: Vec<Judged> = groups
        .iter()
        .take(MOST_KINDS)
        .map(|group| Judged { fits: fits(group[0]), ..Judged::of(cause, asked, &columns, (scope, group[0])) })
        .collect();
    let best = (0..judged.len()).reduce(|a, b| if judged[b].beats(&judged[a]) { b } else { a })?;
    let (yes, row) = (judged[best].yes, groups[best][0]);
    let unseen = groups.iter().skip(MOST_KINDS).map(Vec::len).sum();
    let mut alike: Vec<RowId> = Vec::new();
    for (judged, group) in judged.iter().zip(&groups) {
        if yes != 0 && judged.yes & yes == yes && judged.fits && judged.score.is_finite() {
            alike.extend(group);
        }
    }
    alike.sort_unstable();
    let guilty = busy(rows, scope, &alike, cause);
    let best = guilty.first().copied().unwrap_or(row);
    let of_kind = signs(cause).zip(0..).any(|(sign, at)| sign.each == Some(scope) && yes & bit(at) != 0);
    Some((Chosen { scope, best, guilty, alike, unseen }, of_kind))
}

/// The bit of a sign among those that hold.
fn bit(at: usize) -> u64 {
    1 << at.min(63)
}

fn signs(cause: &Cause) -> impl Iterator<Item = &Sign> {
    cause.signs.iter().chain(&cause.against)
}

/// Every question that a sign asks of a row of a kind, or of what that belongs to, each once.
fn uses<'q>(cause: &Cause, asked: &Asked<'q>, of: Scope) -> Vec<(Use, &'q Query)> {
    let mut found: Vec<(Use, &Query)> = Vec::new();
    for sign in signs(cause) {
        let Some(scope) = sign.each.filter(|scope| of.is_within(*scope)) else { continue };
        for id in &sign.when.queries {
            let of = (scope, *id);
            let query = asked.bank.get(*id).filter(|query| asked.facts.rows().answers(scope, query));
            if let Some(query) = query.filter(|_| !found.iter().any(|(known, _)| *known == of)) {
                found.push((of, query));
            }
        }
    }
    found
}

/// The answers of rows of one kind, by the rows of another that belong to them.
fn aligned(rows: &Rows<'_>, leading: Scope, scope: Scope, query: &Query) -> Option<Arc<Column>> {
    let column = rows.column(scope, query);
    if !column.tells() {
        return None;
    }
    if scope == leading {
        return Some(column);
    }
    let owners = (0..rows.len(leading)).map(|id| {
        let row = Row { scope: leading, id: id as RowId };
        rows.above(row, scope).map(|above| above.id)
    });
    Some(Arc::new(column.through(owners)))
}

/// Rows that answer all alike, in the order of the first of each.
fn groups<'c>(rows: &[RowId], columns: impl Iterator<Item = &'c Column>) -> Vec<Vec<RowId>> {
    let mut of_row: Vec<u32> = vec![0; rows.len()];
    for column in columns.filter(|c| c.differs()) {
        let mut known: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        for (group, row) in of_row.iter_mut().zip(rows) {
            let next = known.len() as u32;
            *group = *known.entry((*group, column.ids[*row as usize])).or_insert(next);
        }
    }
    // Numbers are given in the order of rows, so the first rows have the first groups.
    let mut groups: Vec<Vec<RowId>> = Vec::new();
    let mut place: FxHashMap<u32, usize> = FxHashMap::default();
    for (group, row) in of_row.iter().zip(rows) {
        let at = *place.entry(*group).or_insert(groups.len());
        if at == groups.len() {
            groups.push(Vec::new());
        }
        groups[at].push(*row);
    }
    groups
}

/// What the signs of a cause come to for one row.
struct Judged {
    /// Bits of the signs that hold.
    yes: u64,
    score: f64,
    /// It is one of those that the cause can be about.
    fits: bool,
}

impl Judged {
    fn of(
        cause: &Cause,
        asked: &Asked<'_>,
        columns: &[(Use, Arc<Column>)],
        (scope, row): (Scope, RowId),
    ) -> Judged {
        let mut judged = Judged { yes: 0, score: 0.0, fits: true };
        let of_row = |sign: &Sign| sign.each.is_some_and(|each| scope.is_within(each));
        for (at, sign) in signs(cause).enumerate().filter(|(_, sign)| of_row(sign)) {
            let of_row = OfRow { asked, columns, scope: sign.each, row };
            let weight = sign.weight;
            let against = at >= cause.signs.len();
            match (sign.when.truth(&of_row), sign.if_false) {
                (Truth::Yes, _) if against => judged.score -= weight.when_true(),
                (Truth::Yes, _) => {
                    judged.score += weight.when_true();
                    // What the host answers does not tell which thread it was.
                    if !scope.is_task() || is_asked(sign, columns) {
                        judged.yes |= bit(at);
                    }
                }
                (Truth::No, IfFalse::RulesOut) => judged.score = f64::NEG_INFINITY,
                (Truth::No, IfFalse::Weakens) => judged.score += weight.when_false(),
                (Truth::No, IfFalse::SaysNothing) | (Truth::Unknown, _) => {}
            }
        }
        judged
    }

    /// Of equals the first, which is the busiest.
    fn beats(&self, other: &Judged) -> bool {
        (self.fits, self.score) > (other.fits, other.score)
    }
}

/// Whether rows answer something that a sign asks.
fn is_asked(sign: &Sign, columns: &[(Use, Arc<Column>)]) -> bool {
    columns.iter().any(|((scope, query), _)| sign.each == Some(*scope) && sign.when.queries.contains(query))
}

/// The answers of a row, and those of the host to everything else.
struct OfRow<'a, 'f> {
    asked: &'a Asked<'f>,
    columns: &'a [(Use, Arc<Column>)],
    scope: Option<Scope>,
    row: RowId,
}

impl Answers for OfRow<'_, '_> {
    fn answer(&self, id: QueryId) -> Option<Reading> {
        let scope = self.scope?;
        let query = self.asked.bank.get(id)?;
        if !self.asked.facts.rows().answers(scope, query) {
            return self.asked.reading(id).cloned();
        }
        let column = self.columns.iter().find(|(of, _)| *of == (scope, id)).map(|(_, column)| column)?;
        Some(Reading::new(column.value(self.row)?.clone(), crate::facts::Quality::Figure, ""))
    }
}

/// Rows without those that do next to nothing, where counters tell; the busiest first.
fn busy(rows: &Rows<'_>, scope: Scope, alike: &[RowId], cause: &Cause) -> Vec<RowId> {
    let activity = |id: &RowId| rows.activity(Row { scope, id: *id }, cause.busy);
    let of: Vec<f64> = alike.iter().map(|id| activity(id).unwrap_or(0.0)).collect();
    let all: f64 = of.iter().sum();
    let mut guilty: Vec<(f64, RowId)> = of.into_iter().zip(alike.iter().copied()).collect();
    if all > 0.0 {
        guilty.retain(|(activity, _)| *activity >= BUSY * all);
        guilty.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    }
    guilty.into_iter().map(|(_, id)| id).collect()
}
