//! Kernel statistics of Linux as text: `name type data` files, also several at once.

use crate::blocks::{Block, Line, Sink, Taken};
use crate::cells;
use crate::words::WORDS;
use zwhy_zfs::{Kstat as Parsed, parse_kstat};

/// `hits    4    98577966` lines, with or without the two header lines.
pub struct NamedKstats;

impl Block for NamedKstats {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let (file, named) = match heading(&lines.first()?.text) {
            Some(file) => (Some(file.to_owned()), 1),
            None => (None, 0),
        };
        let rest = &lines[named..];
        // `grep . /proc/spl/kstat/zfs/arcstats /proc/…` puts the file before each row.
        let prefix = rest.first().and_then(|l| prefix(&l.text)).map(str::to_owned);
        let text_of = |l: &Line| match &prefix {
            Some(prefix) => l
                .text
                .trim()
                .strip_prefix(prefix.as_str())
                .and_then(|t| t.strip_prefix(':'))
                .map(str::to_owned),
            None => Some(l.text.trim().to_owned()),
        };
        let headers = rest
            .iter()
            .take(2)
            .take_while(|l| text_of(l).is_some_and(|t| is_spl_header(&t) || is_columns(&t)))
            .count();
        let rows: Vec<String> =
            rest[headers..].iter().map_while(|l| text_of(l).filter(|t| is_named_row(t))).collect();
        if rows.is_empty() {
            return None;
        }
        let used = named + headers + rows.len();
        let text = format!("name type data\n{}\n", rows.join("\n"));
        let Ok(Parsed::Named { values, odd }) = parse_kstat(&text) else { return None };
        let names: Vec<&str> = values.iter().map(|v| v.name.as_str()).collect();
        let file = file.as_deref().or(prefix.as_deref()).or(sink.command.as_deref());
        let source = source_of(file, &names);
        let origin = sink.origin(&format!("kstat {source}"), &lines[..used]);
        let mut taken = Taken { kept: used - odd, dropped: Vec::new() };
        taken.drop("kstat value that is no number", odd);
        for value in values {
            // Text values (names, states) are facts of a line that was read, not statistics.
            if let Some(number) = value.value.number() {
                cells::kstat(sink, &source, &value.name, number as f64, origin);
            }
        }
        Some(taken)
    }
}

/// `c=14120331264 size=14118201180 arc_no_grow=0` below a command that reads a kstat: values that awk put on one line.
pub struct PairedKstats;

impl Block for PairedKstats {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let file = sink.command.clone().filter(|c| c.contains("/proc/spl/kstat/"))?;
        let rows: Vec<Vec<(&str, f64)>> = lines.iter().map_while(|l| pairs(&l.text)).collect();
        let names: Vec<&str> = rows.first()?.iter().map(|(name, _)| *name).collect();
        let source = source_of(Some(&file), &names);
        let origin = sink.origin(&format!("kstat {source}"), &lines[..rows.len()]);
        // Of several readings the last.
        for (name, value) in rows.last()? {
            cells::kstat(sink, &source, name, *value, origin);
        }
        Taken::kept(rows.len())
    }
}

/// Names and whole numbers, and nothing else.
fn pairs(text: &str) -> Option<Vec<(&str, f64)>> {
    const FEWEST: usize = 2;
    let pairs: Option<Vec<_>> = text
        .split_whitespace()
        .map(|word| {
            let (name, value) = word.split_once('=')?;
            let is_name = name.starts_with(|c: char| c.is_ascii_lowercase())
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
            Some((name, value.parse::<i64>().ok().filter(|_| is_name)? as f64))
        })
        .collect();
    pairs.filter(|pairs| pairs.len() >= FEWEST)
}

/// `==> /proc/spl/kstat/zfs/arcstats <==` of head and tail, `::: path`, `/proc/spl/kstat/zfs/arcstats:`.
fn heading(text: &str) -> Option<&str> {
    let text = text.trim();
    if let Some(path) = text.strip_prefix("==> ").and_then(|t| t.strip_suffix(" <==")) {
        return Some(path);
    }
    let path = text.trim_start_matches([':', '-', '=', '#', ' ']).trim_end_matches([':', '-', '=', ' ']);
    (path.starts_with("/proc/spl/kstat/") && !path.contains(' ')).then_some(path)
}

/// What stands before the first colon, where that is a kstat file.
fn prefix(text: &str) -> Option<&str> {
    let (file, row) = text.trim().split_once(':')?;
    let known = file.contains("/proc/spl/kstat/") || WORDS.kstats.has(file);
    (known && (is_named_row(row) || is_columns(row) || is_spl_header(row))).then_some(file)
}

/// `9 1 0x01 96 4608 5075 103811`.
fn is_spl_header(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.len() == 7
        && words[2].starts_with("0x")
        && [0, 1, 4].iter().all(|i| words[*i].parse::<u64>().is_ok())
}

fn is_columns(text: &str) -> bool {
    text.split_whitespace().eq(["name", "type", "data"])
}

fn is_named_row(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let (Some(name), Some(kind), Some(data)) = (words.next(), words.next(), words.next()) else {
        return false;
    };
    let is_name = name.len() <= 40
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-/".contains(&b));
    let value = match kind {
        "7" => true,
        "1" | "2" | "3" | "4" | "5" | "6" => data.parse::<i128>().is_ok() && words.next().is_none(),
        _ => false,
    };
    is_name && value
}

/// Which kstat the values are of: the file named above, else names that only one has.
fn source_of(file: Option<&str>, names: &[&str]) -> String {
    if let Some((_, path)) = file.and_then(|c| c.split_once("/proc/spl/kstat/")) {
        let path = path.split([' ', '|', ';', '>']).next().unwrap_or("");
        let path = path.strip_prefix("zfs/").unwrap_or(path);
        if !path.is_empty() && !path.contains('*') && path.len() < 200 {
            return path.to_owned();
        }
    }
    // Bare names after `head *` or `grep . *` in the folder.
    if let Some(name) = file.filter(|f| WORDS.kstats.has(f)) {
        return name.to_owned();
    }
    let marks = &WORDS.kstat_marks;
    let mark = marks.iter().find(|(mark, _)| names.iter().any(|n| n.starts_with(mark.as_str())));
    mark.map_or("arcstats", |(_, source)| source).to_owned()
}
