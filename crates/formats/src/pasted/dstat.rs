//! `dstat`: two lines of headings, and rows whose groups of columns are set apart by `|` and `:`.
//!
//! Table `dstat`, columns as in the second line. Disks and interfaces repeat their names: all but the first
//! of a name carry its number (`read`, `writ`, `read 2`, `writ 2`).

use super::cells;
use crate::blocks::{Block, Line, Sink, Taken};

pub struct Dstat;

impl Block for Dstat {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let [groups, names, ..] = lines else { return None };
        if !is_heading(&groups.text) || !names.text.contains('|') {
            return None;
        }
        let columns = columns(&names.text)?;
        let again = |l: &Line| is_heading(&l.text) || l.text == names.text;
        let (mut rows, mut used) = (Vec::new(), 2);
        for line in &lines[2..] {
            if again(line) && !rows.is_empty() {
                used += 1;
                continue;
            }
            let Some(row) = row(&line.text, columns.len()) else { break };
            rows.push(row);
            used += 1;
        }
        if rows.is_empty() {
            return None;
        }
        let origin = sink.origin("dstat", &lines[..used]);
        cells::table(sink, "dstat", columns, rows, origin);
        Taken::kept(used)
    }
}

/// `----total-cpu-usage---- --dsk/sdb--- ---io/sdb---`.
fn is_heading(text: &str) -> bool {
    let text = text.trim();
    text.starts_with("---")
        && text.ends_with(|c: char| c == '-' || c.is_ascii_alphanumeric())
        && text.bytes().any(|b| b.is_ascii_alphabetic())
        && text.split_whitespace().all(|w| w.starts_with('-') || w.ends_with('-') || w.contains("--"))
}

fn columns(text: &str) -> Option<Vec<String>> {
    const MOST: usize = 200;
    let names: Vec<&str> = text.split(['|', ':', ' ']).filter(|n| !n.is_empty()).take(MOST).collect();
    let numbered = |(at, name): (usize, &&str)| match names[..at].iter().filter(|n| *n == name).count() {
        0 => (*name).to_owned(),
        before => format!("{name} {}", before + 1),
    };
    (3..MOST).contains(&names.len()).then(|| names.iter().enumerate().map(numbered).collect())
}

/// A time may stand first in two words (`16-08 03:48:11`) and be one column.
fn row(text: &str, columns: usize) -> Option<Vec<String>> {
    let (first, rest) = text.split_once('|')?;
    let timed = first.trim().split_once(' ').filter(|(date, time)| date.contains('-') && time.contains(':'));
    let mut cells: Vec<String> = Vec::new();
    let rest: Vec<&str> = match timed {
        Some(_) => {
            cells.push(first.trim().to_owned());
            rest.split(['|', ':']).collect()
        }
        None => text.split(['|', ':']).collect(),
    };
    cells.extend(rest.iter().flat_map(|part| part.split_whitespace()).map(cells::plain));
    let figures = cells.iter().filter(|c| c.starts_with(|c: char| c.is_ascii_digit()) || *c == "-").count();
    (cells.len() == columns && figures == columns).then_some(cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_times() {
        assert!(is_heading("----total-cpu-usage---- --dsk/sdb-----dsk/sdc-- ---io/sdb------io/sdc--"));
        assert!(is_heading("----system---- sda--sdb--sdc--zd16"));
        assert!(!is_heading("--- a heading of prose ---") && !is_heading("-----  -----"));
        let names = columns("usr sys idl wai hiq siq| read  writ: read  writ").unwrap();
        assert_eq!(names[6..], ["read", "writ", "read 2", "writ 2"]);
        assert_eq!(row("  1  50  49   0   0   0|   0   12k:   0     0 ", 10).unwrap()[7], "12k");
        let timed = row("16-08 03:48:11|9.07 40.6    0  ", 4).unwrap();
        assert_eq!(timed, ["16-08 03:48:11", "9.07", "40.6", "0"]);
        assert_eq!(row("a | sentence of | words", 5), None);
    }
}
