//! What rows answer from tables that name them, and how an answer of a row is told.

use super::column::Column;
use super::{Row, Rows, Scope};
use crate::facts::{Function, Query, Value, columns_like, leading_number};
use crate::pattern::Pattern;
use crate::properties::PROPERTIES;
use crate::wording;
use zwhy_evidence::Table;
use zwhy_zfs::format_bytes;

/// Rows that are looked for in tables; no pool has more vdevs that matter.
const MOST: usize = 256;
/// Columns that say which pool or vdev a row of a table is of.
const NAMING: [&str; 4] = ["pool", "name", "vdev", "device"];
/// Answers from the rows of tables; where a table names none of these, it is of all of them.
pub(super) fn column(rows: &Rows<'_>, scope: Scope, query: &Query) -> Column {
    let names: Vec<Option<&str>> =
        (0..rows.len(scope)).map(|id| rows.name(Row { scope, id: id as u32 })).collect();
    let tool = query.patterns.first();
    let tables: Vec<&Table> =
        rows.evidence.tables.iter().filter(|t| tool.is_some_and(|p| p.matches_any_case(&t.tool))).collect();
    let named = |table: &Table| {
        let of_a_row = |cell: &String| names.iter().take(MOST).any(|n| *n == Some(cell.trim()));
        naming(table).any(|at| table.rows.iter().filter_map(|row| row.get(at)).any(&of_a_row))
    };
    let tells: Vec<(&Table, bool)> = tables.into_iter().map(|t| (t, named(t))).collect();
    Column::of(names.iter().enumerate().map(|(id, name)| {
        let name = name.filter(|_| id < MOST);
        answer(&tells, name, query)
    }))
}

fn naming(table: &Table) -> impl Iterator<Item = usize> + '_ {
    let is_naming = |c: &str| NAMING.iter().any(|n| c.eq_ignore_ascii_case(n));
    table.columns.iter().enumerate().filter(move |(_, c)| is_naming(c)).map(|(at, _)| at)
}

fn answer(tables: &[(&Table, bool)], name: Option<&str>, query: &Query) -> Option<Value> {
    let like = query.patterns.get(1)?;
    let cells: Vec<&str> =
        tables.iter().flat_map(|(table, named)| cells(table, *named, name, like)).collect();
    let numbers = || cells.iter().filter_map(|cell| leading_number(cell));
    let number = match query.function {
        Function::ColumnMax => numbers().max_by(f64::total_cmp),
        Function::ColumnMin => numbers().min_by(f64::total_cmp),
        Function::ColumnSum => numbers().reduce(|a, b| a + b),
        _ => {
            let third = query.patterns.get(2)?;
            let has = cells.iter().any(|c| third.matches_any_case(c.trim()));
            return (!cells.is_empty()).then_some(Value::Truth(has));
        }
    };
    number.map(Value::Number)
}

/// Cells of a column, of the rows that are of `name` where the table names rows.
fn cells<'t>(table: &'t Table, named: bool, name: Option<&str>, like: &Pattern) -> Vec<&'t str> {
    let at = columns_like(table, like);
    let of_name = |row: &&Vec<String>| {
        !named || naming(table).any(|at| row.get(at).is_some_and(|cell| Some(cell.trim()) == name))
    };
    let rows = table.rows.iter().filter(of_name);
    rows.flat_map(|row| at.iter().filter_map(|i| Some(row.get(*i)?.as_str()))).collect()
}

impl Rows<'_> {
    /// What a row answers in words, and where it was read.
    pub(super) fn told(&self, row: Row, query: &Query, value: &Value) -> (String, String) {
        use Function as F;
        let on = |preposition: &str, row: Row| {
            self.name(row).map_or(String::new(), |name| format!(" {preposition} {name}"))
        };
        let property = query.argument(0);
        match (query.function, value) {
            (F::Prop | F::PropNumber, _) => {
                let (text, origin) = self.property(row, property);
                if PROPERTIES.per_cent.contains(&property) {
                    let text = text.trim_end_matches('%');
                    return (format!("{property}{}: {text} %", on("of", row)), origin);
                }
                let number = leading_number(&text).filter(|_| PROPERTIES.bytes.contains(&property));
                let shown = number.filter(|n| *n >= 0.0).map_or(text, |n| format_bytes(n as u64));
                let sign = if query.function == F::Prop { " is" } else { " =" };
                (format!("{}{sign} {shown}{}", named(property), on("on", row)), origin)
            }
            (F::Kstat | F::Rate, Value::Number(n)) => {
                let of_pool = !query.argument(0).contains("objset");
                let owner = if of_pool { self.pool_of(row).unwrap_or(row) } else { row };
                let second = if query.function == F::Rate { " a second" } else { "" };
                let what = format!("{}{}", query.argument(1), on("of", owner));
                let origin = self.storage.kstat_origin(query).map(|o| self.evidence.origin_name(o));
                let amount = wording::amount(query, *n);
                (format!("{what}: {amount}{second}"), origin.unwrap_or_default().to_owned())
            }
            (_, Value::Number(n)) => {
                let column = query.argument(1).split('|').next().unwrap_or("").trim_matches('*');
                (format!("{column}{}: {}", on("of", row), wording::plain(*n)), self.table_origin(query))
            }
            (_, value) => (format!("{} is {value:?}", query.text()), self.table_origin(query)),
        }
    }

    fn table_origin(&self, query: &Query) -> String {
        let like = query.patterns.first();
        let table = self.evidence.tables.iter().find(|t| like.is_some_and(|p| p.matches_any_case(&t.tool)));
        table.map_or("", |t| self.evidence.origin_name(t.origin)).to_owned()
    }

    fn property(&self, row: Row, name: &str) -> (String, String) {
        let node = match row.scope {
            Scope::Vdev => {
                let value = self.vdevs.all.get(row.id as usize).and_then(|v| v.value(name));
                return (value.unwrap_or_default().to_owned(), "zpool status".to_owned());
            }
            Scope::Dataset => self.storage.datasets.get(row.id as usize),
            Scope::Pool => self.storage.pools.get(row.id as usize),
            Scope::Process | Scope::Thread => None,
        };
        let values = self.storage.values(name);
        let told = node.and_then(|node| values[*node as usize].as_ref());
        told.map_or_else(Default::default, |(text, origin)| {
            (text.trim().to_owned(), self.evidence.origin_name(*origin).to_owned())
        })
    }
}

/// A property as people call it.
fn named(property: &str) -> String {
    match property.strip_prefix("has_") {
        Some(device) => format!("{device} device"),
        None => property.replace('_', " "),
    }
}
