//! Lint of questions about tables: a sign may ask only for tables and columns that pasted text can become.
//!
//! Reports also have tables of their own making (a benchmark with and without encryption). A pattern that
//! begins with a star means those, too: what it names cannot be known.

use crate::facts::{Argument, Query};
use crate::pattern::Pattern;
use zwhy_paste::tool::MadeTable;

/// Says what no tool gives.
pub fn of_query(query: &Query, tables: &[MadeTable], say: &mut impl FnMut(String)) {
    let asked = query.signature();
    let tool = asked.places(Argument::Tool).next().and_then(|at| query.arguments.get(at));
    let Some(tool) = tool else { return };
    let mut of_tools = true;
    let mut matched: Vec<&MadeTable> = Vec::new();
    for name in tool.split('|').map(str::trim) {
        of_tools &= !name.starts_with('*');
        let found: Vec<&MadeTable> = tables.iter().filter(|t| meet(name, &t.name)).collect();
        if found.is_empty() && !name.starts_with('*') {
            say(format!(
                "no tool gives a table `{name}`: misspelt, or add it to knowledge/tools; of reports' own tables \
                 the pattern begins with a star"
            ));
        }
        matched.extend(found);
    }
    if !of_tools || matched.is_empty() {
        return;
    }
    for column in asked.places(Argument::Column).filter_map(|at| query.arguments.get(at)) {
        let has = |table: &&MadeTable| match &table.columns {
            None => true,
            Some(names) => column.split('|').any(|c| names.iter().any(|name| meet(c.trim(), name))),
        };
        if !matched.iter().any(has) {
            let known = matched.iter().filter_map(|t| t.columns.as_ref()).flatten();
            let known: Vec<&str> = known.map(String::as_str).take(30).collect();
            say(format!("table `{tool}` has no column `{column}`: it has {}", known.join(", ")));
        }
    }
}

/// Whether a pattern matches a name, in which a star stands for what a text says.
fn meet(pattern: &str, name: &str) -> bool {
    let fixed = name.split('*').next().unwrap_or(name).to_lowercase();
    Pattern::new(pattern).matches_any_case(name)
        || Pattern::new(&pattern.to_lowercase()).matches_any_case(name)
        || name.contains('*') && Pattern::new(&name.to_lowercase()).matches(&pattern.to_lowercase())
        || name.contains('*') && !fixed.is_empty() && pattern.to_lowercase().starts_with(&fixed)
        || name == "*"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_no_tool_gives_are_told() {
        let made = |name: &str, columns: &[&str]| MadeTable {
            name: name.to_owned(),
            columns: Some(columns.iter().map(|c| (*c).to_owned()).collect()),
        };
        let open = MadeTable { name: "iostat".to_owned(), columns: None };
        let tables = [made("zpool list", &["NAME", "FRAG"]), made("top", &["sy", "mem_*_MiB"]), open];
        let said = |function: &str, arguments: &[&str]| {
            let arguments = arguments.iter().map(|a| (*a).to_owned()).collect();
            let mut out = Vec::new();
            of_query(&Query::new(function, arguments).unwrap(), &tables, &mut |what| out.push(what));
            out.len()
        };
        for (function, arguments, issues) in [
            ("column_max", &["zpool list*", "frag*"][..], 0),
            ("column_max", &["zpool list*", "fragg*"], 1),
            ("column_max", &["zpol list*", "frag*"], 1),
            ("column_max", &["top*", "mem_total*"], 0),
            ("column_max", &["top*", "swap*"], 1),
            ("column_max", &["iostat*", "anything"], 0),
            ("column_max", &["*write*", "anything"], 0),
            ("column_max", &["*write*|zpol*", "anything"], 1),
            ("cell", &["zpool list", "tank", "FRAG"], 0),
            ("cell", &["zpool list", "tank", "CAP"], 1),
            ("table", &["zpool status"], 1),
            ("share", &["zio_*"], 0),
        ] {
            assert_eq!(said(function, arguments), issues, "{function} {arguments:?}");
        }
    }
}
