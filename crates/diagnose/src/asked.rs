//! The questions of all causes, asked of one host's evidence, and of one row of it.

use crate::condition::{Answers, QueryBank, QueryId};
use crate::facts::{FactBase, Reading};
use crate::knowledge::Sign;
use crate::rows::{Chosen, Row};
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

/// Answers to all questions, each asked at most once; what a row answers for itself is its own.
#[derive(Clone)]
pub struct Asked<'a> {
    pub facts: &'a FactBase<'a>,
    pub bank: &'a QueryBank,
    answers: Arc<Vec<OnceLock<Option<Reading>>>>,
    of_row: Vec<(QueryId, Option<Reading>)>,
}

impl<'a> Asked<'a> {
    pub fn new(facts: &'a FactBase<'a>, bank: &'a QueryBank) -> Asked<'a> {
        Asked { facts, bank, answers: Arc::new(vec![OnceLock::new(); bank.len()]), of_row: Vec::new() }
    }

    /// The same, some questions answered by one row.
    pub fn about(&self, row: Row, queries: &[QueryId]) -> Asked<'a> {
        let rows = self.facts.rows();
        let own = |id: &QueryId| {
            let query = self.bank.get(*id).filter(|query| rows.answers(row.scope, query))?;
            Some((*id, rows.reading(row, query)))
        };
        Asked { of_row: queries.iter().filter_map(own).collect(), ..self.clone() }
    }

    /// The answers that a sign is weighed by: those of the row that its cause is about.
    pub fn for_sign<'s>(&'s self, sign: &Sign, rows: Option<&Chosen>) -> Cow<'s, Asked<'a>> {
        let row = sign.each.zip(rows).and_then(|(scope, rows)| {
            self.facts.rows().above(Row { scope: rows.scope, id: rows.best }, scope)
        });
        row.map_or(Cow::Borrowed(self), |row| Cow::Owned(self.about(row, &sign.when.queries)))
    }

    /// The answers that an expression of a cause is worked out from: what a row of its kind can answer is its own.
    pub fn for_rows<'s>(&'s self, queries: &[QueryId], rows: Option<&Chosen>) -> Cow<'s, Asked<'a>> {
        let row = rows.filter(|rows| !rows.guilty.is_empty());
        let row = row.map(|rows| Row { scope: rows.scope, id: rows.best });
        row.map_or(Cow::Borrowed(self), |row| Cow::Owned(self.about(row, queries)))
    }

    pub fn reading(&self, id: QueryId) -> Option<&Reading> {
        if let Some((_, own)) = self.of_row.iter().find(|(known, _)| *known == id) {
            return own.as_ref();
        }
        let cell = self.answers.get(id)?;
        cell.get_or_init(|| self.bank.get(id).and_then(|q| self.facts.answer(q))).as_ref()
    }
}

impl Answers for Asked<'_> {
    fn answer(&self, id: QueryId) -> Option<Reading> {
        self.reading(id).cloned()
    }
}
