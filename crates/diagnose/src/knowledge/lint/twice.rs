//! Signs that would count twice, and signs that fit one transcription of one report.

use crate::knowledge::{Cause, Knowledge, Sign};

pub fn lint(cause: &Cause, knowledge: &Knowledge, say: &mut impl FnMut(String)) {
    for sign in &cause.signs {
        for other in cause.signs.iter().filter(|other| !std::ptr::eq(*other, sign)) {
            if contains(&sign.when.text, &other.when.text) && !same_group(sign, other) {
                say(format!(
                    "sign `{}` contains `{}`: they would count twice; give both the same `shows`",
                    sign.when.text, other.when.text
                ));
            }
        }
    }
    for group in cause.signs.iter().flat_map(|s| &s.shows) {
        if cause.signs.iter().filter(|s| s.shows.contains(group)).count() == 1 {
            say(format!("`shows = \"{group}\"` is there once: nothing else shows it"));
        }
    }
    for sign in cause.signs.iter().chain(&cause.against) {
        transcription(sign, knowledge, say);
    }
}

fn same_group(a: &Sign, b: &Sign) -> bool {
    a.shows.iter().any(|group| b.shows.contains(group))
}

/// Whether one condition is a whole part of another: what stands between `&&`, `||` and brackets.
fn contains(whole: &str, part: &str) -> bool {
    let (whole, part) = (joined(whole), joined(part));
    // Equal ones are told as such.
    whole != part
        && whole.match_indices(&part).any(|(at, _)| {
            let (before, after) = (whole[..at].trim_end(), whole[at + part.len()..].trim_start());
            let opens = before.is_empty() || ["(", "&&", "||"].iter().any(|end| before.ends_with(end));
            opens && (after.is_empty() || [")", "&&", "||"].iter().any(|start| after.starts_with(start)))
        })
}

fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A row that is called by a figure is a row of one table that somebody wrote.
fn transcription(sign: &Sign, knowledge: &Knowledge, say: &mut impl FnMut(String)) {
    let queries = sign.when.queries.iter().filter_map(|id| knowledge.bank.get(*id));
    for query in queries.filter(|q| q.text().starts_with("cell")) {
        let tool = query.arguments.first().map_or("", String::as_str);
        let row = query.arguments.get(1).map_or("", String::as_str);
        let figure = |name: &str| name.trim().starts_with(|c: char| c.is_ascii_digit());
        if tool.starts_with('*') && row.split('|').any(figure) {
            say(format!(
                "sign `{}` asks any table for the row `{row}`: it fits one transcription only",
                sign.when.text
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_between_operators_is_contained() {
        assert!(contains("share('f') > 0.1 && zfs('<2.0')", "share('f')  > 0.1"));
        assert!(contains("(a() || zfs('<2.0')) && b()", "zfs('<2.0')"));
        assert!(!contains("2 * kstat('a', 'b') > 1", "kstat('a', 'b') > 1"), "half of a calculation");
        assert!(!contains("a() && b()", "a() && b()"), "the same is told otherwise");
        assert!(!contains("!waits('f')", "waits('f')"), "its contrary");
    }
}
