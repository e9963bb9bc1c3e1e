//! What an answer rests on in the evidence's own words: the table, the cell, the setting that the
//! patterns of a question matched. A reader never sees the patterns themselves.

use super::FactBase;
use super::catalogue::Function;
use super::compared::{Outcome, furthest_apart};
use super::number::leading_number;
use super::query::Query;
use super::tables::columns_like;
use crate::pattern::Pattern;
use zwhy_evidence::Table;

/// Characters of a table's title, or of a cell, that are worth repeating in a sentence.
const TITLE: usize = 48;

impl FactBase<'_> {
    /// A question about tables and its answer, `ms of “ioping”: at most 16300`; `None` where no table
    /// answered, or where there is nothing to repeat.
    pub fn told_of_tables(&self, query: &Query, truth: bool) -> Option<String> {
        let second = query.patterns.get(1);
        if matches!(query.function, Function::Compared | Function::Better) {
            let setting = query.patterns.first().filter(|_| truth)?;
            return self.tables().find_map(|table| told_runs(table, setting, second));
        }
        let mut tables = self.tables_like(query.patterns.first()?);
        match query.function {
            Function::Table => tables.next().map(|t| format!("a table of {}", quoted(&t.tool))),
            Function::ColumnMax => {
                let most = cells(tables, second?).max_by(|a, b| a.number.total_cmp(&b.number))?;
                Some(format!("{}: at most {}", most.name(), clipped(most.text)))
            }
            Function::ColumnMin => {
                let least = cells(tables, second?).min_by(|a, b| a.number.total_cmp(&b.number))?;
                Some(format!("{}: at least {}", least.name(), clipped(least.text)))
            }
            Function::Cell | Function::CellText => {
                let (row_like, column_like) = (second?, query.patterns.get(2)?);
                tables.find_map(|table| told_cell(table, row_like, column_like))
            }
            Function::ColumnSum => {
                let sum = self.answer(query)?.value.number()?;
                let first = cells(tables, second?).next()?;
                Some(format!("{}: {sum:.0} together", first.name()))
            }
            Function::Growth => {
                let exponent = self.answer(query)?.value.number()?;
                let (x, y) = (second?, query.patterns.get(2)?);
                let named = |table: &Table, like| {
                    Some(table.columns.get(*columns_like(table, like).first()?)?.trim().to_owned())
                };
                let (table, x, y) = tables.find_map(|t| Some((t, named(t, x)?, named(t, y)?)))?;
                Some(format!("{}: {y} grows with {x} to the power {exponent:.1}", quoted(&table.tool)))
            }
            Function::ColumnHas if truth => {
                let (column_like, text) = (second?, query.patterns.get(2)?);
                tables.find_map(|table| told_match(table, column_like, text))
            }
            _ => None,
        }
    }
}

/// A number in a table, and where it is.
struct NumberCell<'t> {
    table: &'t Table,
    column: &'t str,
    text: &'t str,
    number: f64,
}

impl NumberCell<'_> {
    fn name(&self) -> String {
        format!("{} of {}", self.column.trim(), quoted(&self.table.tool))
    }
}

/// All numbers in the columns that are called like that.
fn cells<'t>(
    tables: impl Iterator<Item = &'t Table>,
    column_like: &Pattern,
) -> impl Iterator<Item = NumberCell<'t>> {
    tables.flat_map(move |table| {
        let at = columns_like(table, column_like);
        let rows = table.rows.iter();
        rows.flat_map(move |row| {
            let found = at.iter().filter_map(|i| {
                let text = row.get(*i)?.as_str();
                Some(NumberCell { table, column: &table.columns[*i], text, number: leading_number(text)? })
            });
            found.collect::<Vec<_>>()
        })
    })
}

/// `“fio”: GiB/s 41 with 0, 79 with 1`.
fn told_runs(table: &Table, setting: &Pattern, better: Option<&Pattern>) -> Option<String> {
    let apart = furthest_apart(table, setting, better)?;
    let told = |of: &Outcome| match of.value.as_str() {
        "" => format!("{} without", clipped(of.result)),
        value => format!("{} with {}", clipped(of.result), clipped(value)),
    };
    let (least, most) = (told(&apart.least), told(&apart.most));
    Some(format!("{}: {} {least}, {most}", quoted(&table.tool), clipped(apart.heading)))
}

/// `dd read, encrypted: MB/s 86`.
fn told_cell(table: &Table, row_like: &Pattern, column_like: &Pattern) -> Option<String> {
    let row = table.rows.iter().find(|row| row.iter().any(|c| row_like.matches_any_case(c)))?;
    let name = row.iter().find(|c| row_like.matches_any_case(c))?;
    // Of several columns the one with a figure is meant.
    let columns = columns_like(table, column_like);
    let figure = |i: &usize| row.get(*i).is_some_and(|cell| cell != name && leading_number(cell).is_some());
    let at = columns
        .iter()
        .copied()
        .find(figure)
        .or_else(|| columns.iter().copied().find(|i| row.get(*i).is_some()))?;
    let (column, cell) = (table.columns[at].trim(), row.get(at)?);
    Some(format!("{}, {}: {column} {}", quoted(&table.tool), clipped(name), clipped(cell)))
}

/// `“lockstat -W”: Caller taskq_thread+0x2cd`.
fn told_match(table: &Table, column_like: &Pattern, text: &Pattern) -> Option<String> {
    let at = columns_like(table, column_like);
    let mut cells = table.rows.iter().flat_map(|row| at.iter().filter_map(|i| Some((*i, row.get(*i)?))));
    let (column, cell) = cells.find(|(_, c)| text.matches_any_case(c.trim()))?;
    Some(format!("{}: {} {}", quoted(&table.tool), table.columns[column].trim(), clipped(cell)))
}

fn quoted(title: &str) -> String {
    format!("“{}”", clipped(title))
}

/// The text without what is around it, cut where it would fill a line.
fn clipped(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(TITLE) {
        Some((at, _)) => format!("{}…", text[..at].trim_end()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::anatomy::Anatomy;
    use crate::knowledge::Fixture;
    use crate::wording;

    /// What is printed of a question that the evidence (TOML, as in a cause's tests) answers.
    fn printed(evidence: &str, function: &str, arguments: &[&str]) -> String {
        let fixture: Fixture = toml::from_str(evidence).unwrap();
        let (evidence, bad) = fixture.evidence();
        assert!(bad.is_empty(), "{bad:?}");
        let anatomy = Anatomy::load(&[], &mut Vec::new());
        let facts = FactBase::new(&evidence, &anatomy);
        let query = Query::new(function, arguments.iter().map(|a| (*a).to_owned()).collect()).unwrap();
        let reading = facts.answer(&query).unwrap();
        wording::measure(&query, &reading, &facts)
    }

    #[test]
    fn tables_are_told_by_their_own_names() {
        let ioping = r#"tables = [{ tool = "ioping -WWW", columns = ["request", "ms"], rows = [[1, 24.9], [2, 16300]] }]"#;
        for (function, arguments, expected) in [
            ("column_max", vec!["*ioping*|*fsync*", "*ms*"], "ms of “ioping -WWW”: at most 16300"),
            ("column_min", vec!["*ioping*|*fsync*", "*ms*"], "ms of “ioping -WWW”: at least 24.9"),
            ("table", vec!["*ioping*|*fsync*"], "a table of “ioping -WWW”"),
            ("cell", vec!["*", "2", "*ms*"], "“ioping -WWW”, 2: ms 16300"),
            ("cell", vec!["*", "2", "*"], "“ioping -WWW”, 2: ms 16300"),
            ("column_sum", vec!["*ioping*", "*ms*"], "ms of “ioping -WWW”: 16325 together"),
        ] {
            assert_eq!(printed(ioping, function, &arguments), expected);
        }
        let dd = r#"tables = [{ tool = "dd", columns = ["bs", "MB/s"], rows = [[1, 8], [2, 4], [4, 2]] }]"#;
        let growth = printed(dd, "growth", &["*", "block*|bs", "mb/s|mib/s"]);
        assert_eq!(growth, "“dd”: MB/s grows with bs to the power -1.0");
        let lockstat = r#"tables = [{ tool = "lockstat -W", columns = ["Count", "Caller"], rows = [[9, "taskq_thread+0x2cd"]] }]"#;
        let has = printed(lockstat, "column_has", &["lockstat*", "caller*", "taskq_thread*|taskq_dispatch*"]);
        assert_eq!(has, "“lockstat -W”: Caller taskq_thread+0x2cd");
    }

    #[test]
    fn settings_are_told_by_the_name_that_was_given() {
        let evidence = r#"params = { lru_gen = "enabled" }"#;
        assert_eq!(printed(evidence, "chosen", &["lru_gen|lru_gen.enabled"]), "lru_gen = enabled");
        assert_eq!(printed(evidence, "picked", &["lru_gen|other"]), "lru_gen looked at");
    }

    #[test]
    fn several_threads_are_counted_where_their_time_is_told() {
        let evidence = r#"threads = ["z_fr_iss_0 40", "z_fr_iss_1 20"]"#;
        assert_eq!(printed(evidence, "thread_cpu", &["z_fr_iss"]), "z_fr_iss (2 threads): 60 % of one CPU");
        assert_eq!(printed(evidence, "thread_max", &["z_fr_iss"]), "the busiest z_fr_iss: 40 % of one CPU");
    }

    #[test]
    fn threads_of_stacks_are_told_by_their_names() {
        let evidence = r#"stacks = ["z_fr_iss_3;taskq_thread;_raw_spin_lock_irqsave"]"#;
        assert_eq!(printed(evidence, "thread_seen", &["z_fr_iss|z_free_iss"]), "thread z_fr_iss");
    }

    #[test]
    fn long_titles_are_cut_between_characters() {
        assert_eq!(clipped(&"é".repeat(60)).chars().count(), TITLE + 1);
        assert_eq!(clipped(" short "), "short");
    }
}
