//! A reader of the text format that accepts no more than the format allows (exposition format 0.0.4 of Prometheus).

use std::collections::{BTreeMap, BTreeSet};

/// A metric with its rows: labels and value.
#[derive(Debug, Default)]
pub(crate) struct Group {
    pub kind: String,
    pub rows: Vec<(BTreeMap<String, String>, f64)>,
}

/// All metrics of a page by name; an error names the line that is wrong.
pub(crate) fn read(page: &str) -> Result<BTreeMap<String, Group>, String> {
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    let (mut helped, mut current) = (None, None);
    let body = page.strip_suffix('\n').ok_or("the last line has no end")?;
    for line in body.split('\n') {
        let odd = |what: &str| Err(format!("{what}: {line}"));
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let Some((name, help)) = rest.split_once(' ') else { return odd("no help") };
            if !is_name(name) || help.is_empty() || help.contains('\\') || groups.contains_key(name) {
                return odd("help");
            }
            helped = Some(name.to_owned());
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let Some((name, kind)) = rest.split_once(' ') else { return odd("no type") };
            if helped.take().as_deref() != Some(name) || !["counter", "gauge"].contains(&kind) {
                return odd("type");
            }
            if (kind == "counter") != name.ends_with("_total") {
                return odd("a counter's name ends with _total, and no other does");
            }
            groups.insert(name.to_owned(), Group { kind: kind.to_owned(), rows: Vec::new() });
            current = Some(name.to_owned());
        } else {
            let (name, labels, value) = row(line).ok_or(format!("no row: {line}"))?;
            if helped.is_some() || current.as_deref() != Some(name) {
                return odd("a row out of its group");
            }
            let Some(group) = groups.get_mut(name) else { return odd("no group") };
            if !value.is_finite() || group.kind == "counter" && value < 0.0 {
                return odd("value");
            }
            if group.rows.iter().any(|(other, _)| *other == labels) {
                return odd("the same row twice");
            }
            group.rows.push((labels, value));
        }
    }
    match groups.iter().find(|(_, group)| group.rows.is_empty()) {
        Some((name, _)) => Err(format!("{name} has no rows")),
        None if helped.is_some() => Err("help without a metric".to_owned()),
        None => Ok(groups),
    }
}

fn is_name(text: &str) -> bool {
    let of_name = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    text.bytes().all(of_name) && text.bytes().next().is_some_and(|b| !b.is_ascii_digit())
}

fn row(line: &str) -> Option<(&str, BTreeMap<String, String>, f64)> {
    let end = line.find(['{', ' '])?;
    let (name, rest) = line.split_at(end);
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(rest) => labels(rest)?,
        None => (BTreeMap::new(), rest),
    };
    let value = rest.strip_prefix(' ')?;
    let is_number = |b: u8| b.is_ascii_digit() || b".-+e".contains(&b);
    (is_name(name) && value.bytes().all(is_number)).then_some(())?;
    Some((name, labels, value.parse().ok()?))
}

/// Labels up to the closing brace, and what follows it.
fn labels(mut rest: &str) -> Option<(BTreeMap<String, String>, &str)> {
    let (mut found, mut names) = (BTreeMap::new(), BTreeSet::new());
    loop {
        let (name, text) = rest.split_once("=\"")?;
        (is_name(name) && names.insert(name)).then_some(())?;
        let mut value = String::new();
        let mut chars = text.char_indices();
        let end = loop {
            match chars.next()? {
                (at, '"') => break at,
                (_, '\\') => value.push(match chars.next()?.1 {
                    'n' => '\n',
                    c @ ('\\' | '"') => c,
                    _ => return None,
                }),
                (_, c) => value.push(c),
            }
        };
        found.insert(name.to_owned(), value);
        rest = &text[end + 1..];
        match rest.strip_prefix(',') {
            Some(more) => rest = more,
            None => return Some((found, rest.strip_prefix('}')?)),
        }
    }
}

#[test]
fn what_the_format_forbids_is_refused() {
    let head = "# HELP a_total A.\n# TYPE a_total counter\n";
    assert!(read(&format!("{head}a_total{{x=\"\\\"\\n\\\\ü\",y=\"\"}} 1e3\n")).is_ok());
    for rows in [
        "",
        "a_total 1",
        "a_total -1\n",
        "a_total NaN\n",
        "a_total 1 2\n",
        "a_total{x=\"\\t\"} 1\n",
        "a_total{x=\"1\",x=\"2\"} 1\n",
        "a_total{1x=\"\"} 1\n",
        "a_total{x=\"\"\n",
        "a_total 1\na_total 2\n",
        "a_total 1\n\n",
        "b_total 1\n",
        "a_total 1\n# HELP a_total Again.\n# TYPE a_total counter\na_total 2\n",
    ] {
        assert!(read(&format!("{head}{rows}")).is_err(), "{rows:?}");
    }
}
