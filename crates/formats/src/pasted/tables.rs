//! Tables of tools that print a line of column names: iostat -x, vmstat, slabtop, lsblk, strace -c, …

use super::cells::{self, is_rule};
use crate::blocks::{Block, Line, Sink, Taken};

/// A tool and the column names that only its header has.
struct Known {
    tool: &'static str,
    /// All of these are among the words of the header; the first is its first word (`*` for any).
    needs: &'static [&'static str],
    /// Names to use instead of the header's words, where those are not one a column.
    columns: &'static [&'static str],
}

const fn known(tool: &'static str, needs: &'static [&'static str]) -> Known {
    Known { tool, needs, columns: &[] }
}

const TABLES: &[Known] = &[
    known("iostat", &["Device", "%util"]),
    known("iostat", &["Device:", "%util"]),
    known("iostat", &["*", "r/s", "%util"]),
    known("iostat", &["Device", "tps"]),
    known("iostat", &["Device:", "tps"]),
    // FreeBSD, illumos
    known("iostat", &["device", "r/s", "w/s", "%b"]),
    known("iostat", &["r/s", "w/s", "kr/s", "kw/s", "%b", "device"]),
    known("gstat", &["L(q)", "ops/s", "r/s", "%busy", "Name"]),
    known("avg-cpu", &["avg-cpu:", "%user", "%system", "%idle"]),
    known("vmstat", &["r", "b", "swpd", "free"]),
    known("vmstat -s", &["r", "b", "w", "avm", "fre"]),
    Known {
        tool: "slabtop",
        needs: &["OBJS", "ACTIVE", "USE", "OBJ", "SIZE"],
        columns: &["objs", "active", "use", "object", "slabs", "obj/slab", "cache size", "name"],
    },
    known("vmstat -z", &["ITEM", "SIZE", "LIMIT", "USED", "FREE"]),
    // The name of the column of locks has two words where the hottest of several is told.
    Known {
        tool: "lockstat",
        needs: &["Count", "indv", "cuml", "rcnt", "nsec", "Hottest", "Lock", "Caller"],
        columns: &["Count", "indv", "cuml", "rcnt", "nsec", "Hottest Lock", "Caller"],
    },
    known("lockstat", &["Count", "indv", "cuml"]),
    known("lsblk", &["NAME", "ALIGNMENT", "MIN-IO", "PHY-SEC"]),
    known("lsblk", &["NAME", "MAJ:MIN", "SIZE"]),
    known("lsblk", &["NAME", "PHY-SEC"]),
    known("lsblk", &["NAME", "ROTA"]),
    Known {
        tool: "strace -c",
        needs: &["%", "time", "seconds", "usecs/call", "calls"],
        columns: &["% time", "seconds", "usecs/call", "calls", "errors", "syscall"],
    },
];

pub struct KnownTable;

impl Block for KnownTable {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        // Group headings stand one line above: `procs ---memory---`.
        let headings = usize::from(is_heading(&lines.first()?.text));
        let header = &lines.get(headings)?.text;
        let known = find(header)?;
        let words: Vec<&str> = header.split_whitespace().collect();
        let columns = columns(known, &words);
        let mut rows: Vec<Vec<String>> = Vec::new();
        let mut used = headings + 1;
        let mut row_end = used;
        for line in &lines[used..] {
            let again = is_heading(&line.text) || find(&line.text).is_some_and(|k| k.tool == known.tool);
            if again || is_rule(&line.text) {
                // Headers upon headers without a row are no table; looking on would cost each line.
                const MOST_HEADERS: usize = 8;
                if rows.is_empty() && used > MOST_HEADERS {
                    break;
                }
                used += 1;
                row_end = used;
                continue;
            }
            let Some(mut row) = row(&line.text, columns.len()) else { break };
            // strace leaves the column of errors blank where there were none.
            if known.tool == "strace -c" && row.len() + 1 == columns.len() {
                row.insert(4, String::new());
            }
            rows.push(row);
            used += 1;
            row_end = used;
        }
        if rows.is_empty() {
            return None;
        }
        let origin = sink.origin(known.tool, &lines[..row_end]);
        cells::table(sink, known.tool, columns, rows, origin);
        Taken::kept(row_end)
    }
}

fn find(header: &str) -> Option<&'static Known> {
    const MOST: usize = 40;
    let words: Vec<&str> = header.split_whitespace().take(MOST).collect();
    TABLES.iter().find(|known| {
        let mut needs = known.needs.iter();
        let first = needs.next().is_some_and(|first| *first == "*" || words.first() == Some(first));
        first && needs.all(|need| words.contains(need))
    })
}

/// Names of the columns; what a tool's header has beyond those we name keeps its own words.
fn columns(known: &Known, words: &[&str]) -> Vec<String> {
    match known.tool {
        "avg-cpu" => cells::names(words.get(1..).unwrap_or(&[])),
        _ if !known.columns.is_empty() => cells::names(known.columns),
        _ => cells::names(words),
    }
}

/// Words that only stand above groups of columns: `procs ---memory--- …`.
fn is_heading(text: &str) -> bool {
    text.trim().starts_with("procs ")
}

/// Cells of a row: not many more or fewer than columns, and some figure among them.
fn row(text: &str, columns: usize) -> Option<Vec<String>> {
    let words: Vec<&str> = text.split_whitespace().take(columns + 8).collect();
    // Units stand apart in some tools (`0.00 B/s`, `99.99 %`): they belong to the figure before.
    let mut cells: Vec<String> = Vec::new();
    for word in words {
        match cells.last_mut() {
            Some(last) if matches!(word, "%" | "B/s" | "K/s" | "M/s") => last.push_str(word),
            // Trees of lsblk.
            None => cells.push(super::cells::plain(bare(word))),
            _ => cells.push(super::cells::plain(word)),
        }
    }
    let figures = cells.iter().skip(usize::from(cells.len() > 1)).filter(|c| is_figure(c)).count();
    let enough = cells.len() + 3 > columns && cells.len() >= 2 && cells.len() <= columns + 3;
    if !enough || figures * 2 < cells.len().saturating_sub(2) || figures == 0 {
        return None;
    }
    // The last column may hold blanks (commands, flags).
    while cells.len() > columns.max(1) {
        let last = cells.pop()?;
        let before = cells.last_mut()?;
        before.push(' ');
        before.push_str(&last);
    }
    Some(cells)
}

/// A first word without the branches of lsblk.
fn bare(word: &str) -> &str {
    let name = word.trim_start_matches(['├', '└', '─', '│', '`', '|', '-']);
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) { name } else { word }
}

fn is_figure(cell: &str) -> bool {
    cell == "-" || (cell.bytes().any(|b| b.is_ascii_digit()) && cell.len() < 24)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_no_row() {
        assert_eq!(row("and then it went up to 50 again", 8), None);
        assert_eq!(row("tank  92.0G  1.72T  0  4  2.16K  494K", 7).map(|r| r.len()), Some(7));
        assert!(find("Device:  rrqm/s wrqm/s r/s w/s avgrq-sz await svctm %util").is_some());
        assert!(find("Device that I have tps of").is_some_and(|k| k.tool == "iostat"));
        assert!(find("the time I read the size of c").is_none());
    }
}
