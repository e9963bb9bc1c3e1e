//! Tables of tools that print a line of column names: arcstat, zpool iostat, iostat -x, vmstat, slabtop, …

use crate::blocks::{Block, Line, Sink, Taken};
use zwhy_evidence::Table;

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
    known("arcstat", &["time", "read", "arcsz"]),
    known("arcstat", &["time", "read", "miss%"]),
    known("arcstat", &["time", "read", "size", "c"]),
    Known {
        tool: "zpool iostat",
        needs: &["pool", "alloc", "free", "read", "write"],
        columns: &["pool", "alloc", "free", "r op", "w op", "r bw", "w bw"],
    },
    Known {
        tool: "zpool iostat",
        needs: &["vdev", "alloc", "free", "read", "write"],
        columns: &["vdev", "alloc", "free", "r op", "w op", "r bw", "w bw"],
    },
    known("iostat", &["*", "%util"]),
    known("iostat", &["Device", "tps"]),
    known("iostat", &["Device:", "tps"]),
    known("avg-cpu", &["avg-cpu:", "%user", "%system", "%idle"]),
    known("mpstat", &["*", "%usr", "%sys", "%idle"]),
    known("vmstat", &["r", "b", "swpd", "free"]),
    known("sar -B", &["*", "pgpgin/s"]),
    Known {
        tool: "slabtop",
        needs: &["OBJS", "ACTIVE", "USE", "OBJ", "SIZE"],
        columns: &["objs", "active", "use", "obj size", "slabs", "obj/slab", "cache size", "name"],
    },
    known("spl kmem slab", &["name", "flags", "size", "alloc", "slabsize"]),
    known("zpool list", &["NAME", "SIZE", "ALLOC", "FREE"]),
    known("zfs list", &["NAME", "USED", "AVAIL"]),
    known("lockstat", &["Count", "indv", "cuml"]),
    Known {
        tool: "strace -c",
        needs: &["%", "time", "seconds", "usecs/call", "calls"],
        columns: &["% time", "seconds", "usecs/call", "calls", "errors", "syscall"],
    },
    Known {
        tool: "iotop",
        needs: &["*", "PRIO", "USER", "DISK", "IO>"],
        columns: &["tid", "prio", "user", "disk read", "disk write", "swapin %", "io %", "command"],
    },
    known("free", &["total", "used", "free", "shared"]),
];

pub struct KnownTable;

impl Block for KnownTable {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        // Group headings stand one line above: `capacity  operations  bandwidth`, `procs ---memory---`.
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
        sink.evidence.tables.push(Table { tool: known.tool.to_owned(), columns, rows, origin });
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
    let own = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
    match known.tool {
        "zpool iostat" => {
            let mut columns = own(known.columns);
            columns.extend(own(words.get(columns.len()..).unwrap_or(&[])));
            columns
        }
        "avg-cpu" => own(words.get(1..).unwrap_or(&[])),
        "free" => [&["name"], words].concat().into_iter().map(str::to_owned).collect(),
        _ if !known.columns.is_empty() => own(known.columns),
        _ => own(words),
    }
}

/// Words that only stand above groups of columns.
fn is_heading(text: &str) -> bool {
    let mut words = text.split_whitespace().peekable();
    if words.peek() == Some(&"procs") {
        return true;
    }
    words.peek() == Some(&"capacity") && words.any(|w| w == "operations")
}

/// `----------  -----  -----`.
fn is_rule(text: &str) -> bool {
    let text = text.trim();
    text.len() >= 3 && text.bytes().all(|b| matches!(b, b'-' | b' ' | b'='))
}

/// Cells of a row: not many more or fewer than columns, and some figure among them.
fn row(text: &str, columns: usize) -> Option<Vec<String>> {
    let words: Vec<&str> = text.split_whitespace().take(columns + 8).collect();
    // Units stand apart in some tools (iotop: `0.00 B/s`, `99.99 %`): they belong to the figure before.
    let mut cells: Vec<String> = Vec::new();
    for word in words {
        match cells.last_mut() {
            Some(last) if matches!(word, "%" | "B/s" | "K/s" | "M/s") => last.push_str(word),
            _ => cells.push(word.to_owned()),
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
        assert!(find("    time  read  miss  miss%  dmis  arcsz     c").is_some());
        assert!(find("the time I read the size of c").is_none());
    }
}
