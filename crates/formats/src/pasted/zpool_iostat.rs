//! `zpool iostat` in all its layouts: plain, -v, -l, -q, and the histograms of -w and -r.
//!
//! Groups of columns stand one line above the columns. Latencies become nanoseconds (`disk_wait read ns`),
//! rates stay as printed. Histograms become a table and one row of `quantiles` a column; their latency
//! labels are upper ends (`print_iostat_histos`, cmd/zpool/zpool_main.c).

use super::cells::{self, is_rule};
use super::histograms::{Histogram, quantiles};
use crate::blocks::{Block, Line, Sink, Taken};

const GROUPS: [&str; 23] = [
    "capacity",
    "operations",
    "bandwidth",
    "total_wait",
    "disk_wait",
    "syncq_wait",
    "asyncq_wait",
    // -w of 0.7 calls the queues so.
    "sync_queue",
    "async_queue",
    "scrub",
    "trim",
    "rebuild",
    "syncq_read",
    "syncq_write",
    "asyncq_read",
    "asyncq_write",
    "scrubq_read",
    "trimq_write",
    "rebuildq_write",
    "sync_read",
    "sync_write",
    "async_read",
    "async_write",
];

pub struct ZpoolIostat;

impl Block for ZpoolIostat {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let first: Vec<&str> = words(&lines.first()?.text);
        if first.get(1..).is_some_and(|g| g.len() >= 2 && g.iter().all(|w| is_group(w)))
            && !is_group(first[0])
        {
            return histogram(&first, lines, sink);
        }
        if bare_row(&lines[0].text).is_some_and(|row| row[1] != "-") {
            return bare_rows(lines, sink);
        }
        let groups: Vec<&str> = if first.first() == Some(&"capacity") && first.iter().all(|w| is_group(w)) {
            first
        } else {
            Vec::new()
        };
        let headings = usize::from(!groups.is_empty());
        let header = words(&lines.get(headings)?.text);
        if !is_header(&header) {
            return None;
        }
        let groups = if groups.is_empty() { vec!["capacity", "operations", "bandwidth"] } else { groups };
        let columns = columns(&groups, &header);
        rates(lines, headings + 1, columns, sink)
    }
}

/// Rows whose header was not pasted with them: a name, two sizes and four figures; devices have no sizes.
fn bare_rows(lines: &[Line], sink: &mut Sink) -> Option<Taken> {
    let rows: Vec<Vec<String>> = lines.iter().map_while(|l| bare_row(&l.text)).collect();
    let used = rows.len();
    let origin = sink.origin("zpool iostat without its header", &lines[..used]);
    let columns = columns(
        &["capacity", "operations", "bandwidth"],
        &["pool", "alloc", "free", "read", "write", "read", "write"],
    );
    cells::table(sink, "zpool iostat", columns, rows, origin);
    Taken::kept(used)
}

fn bare_row(text: &str) -> Option<Vec<String>> {
    let words = words(text);
    let size = |w: &str| {
        w.starts_with(|c: char| c.is_ascii_digit())
            && w.ends_with(['K', 'M', 'G', 'T', 'P'])
            && cells::bytes(w).is_some()
    };
    let figure = |w: &&str| w.starts_with(|c: char| c.is_ascii_digit()) && cells::bytes(w).is_some();
    let fits = words.len() == 7
        && words[0].starts_with(|c: char| c.is_ascii_alphabetic())
        && (words[1..3] == ["-", "-"] || words[1..3].iter().all(|w| size(w)))
        && words[3..].iter().all(figure);
    fits.then(|| words.iter().map(|w| cells::plain(w)).collect())
}

fn words(text: &str) -> Vec<&str> {
    const MOST: usize = 60;
    text.split_whitespace().take(MOST).collect()
}

fn is_group(word: &str) -> bool {
    GROUPS.contains(&word)
}

fn is_header(words: &[&str]) -> bool {
    matches!(words, ["pool" | "vdev", "alloc" | "used", "free" | "avail", "read", "write", ..])
}

/// One name a column: what zwhy calls the plain ones, `GROUP COLUMN` for the others.
fn columns(groups: &[&str], header: &[&str]) -> Vec<String> {
    let mut out = vec![header.first().copied().unwrap_or("pool").to_owned()];
    let mut at = 1;
    let mut group = groups.iter();
    while at < header.len() {
        let Some(group) = group.next() else {
            out.push(header[at].to_owned());
            at += 1;
            continue;
        };
        let group = match *group {
            "sync_queue" => "syncq_wait",
            "async_queue" => "asyncq_wait",
            group => group,
        };
        let several = if header[at] == "wait" { 1 } else { 2 };
        for sub in header.iter().skip(at).take(several) {
            let letter = sub.get(..1).unwrap_or(sub);
            out.push(match group {
                "capacity" if at == 1 && out.len() == 1 => "alloc".to_owned(),
                "capacity" => "free".to_owned(),
                "operations" => format!("{letter} op"),
                "bandwidth" => format!("{letter} bw"),
                g if g.ends_with("_wait") || *sub == "wait" => format!("{g} {sub} ns"),
                g => format!("{g} {sub}"),
            });
        }
        at += several;
    }
    out
}

/// Reads the rows of rates and latencies below their header.
fn rates(lines: &[Line], from: usize, columns: Vec<String>, sink: &mut Sink) -> Option<Taken> {
    const MOST_HEADERS: usize = 8;
    let mut rows: Vec<Vec<String>> = Vec::new();
    let (mut used, mut headers) = (from, from);
    for line in &lines[from..] {
        let words = words(&line.text);
        let again = words.first() == Some(&"capacity") || is_header(&words);
        if again || is_rule(&line.text) || is_date(&words) {
            headers += 1;
            if rows.is_empty() && headers > MOST_HEADERS {
                break;
            }
            used += 1;
            continue;
        }
        let Some(row) = row(&words, &columns) else { break };
        rows.push(row);
        used += 1;
    }
    if rows.is_empty() {
        return None;
    }
    let has = |part: &str| columns.iter().any(|c| c.starts_with(part));
    let flags = [("l", has("total_wait")), ("q", has("syncq_read"))];
    let flags: String = flags.iter().filter(|f| f.1).map(|f| f.0).collect();
    let tool = if flags.is_empty() { "zpool iostat".to_owned() } else { format!("zpool iostat -{flags}") };
    let origin = sink.origin(&tool, &lines[..used]);
    cells::table(sink, tool, columns, rows, origin);
    Taken::kept(used)
}

/// `Sun Nov 14 02:58:12 CET 2021` of -T d, `1636855092` of -T u.
fn is_date(words: &[&str]) -> bool {
    let clock = |w: &&str| w.len() == 8 && w.matches(':').count() == 2;
    ((5..=7).contains(&words.len()) && words.iter().any(clock))
        || matches!(words, [only] if only.len() == 10 && only.bytes().all(|b| b.is_ascii_digit()))
}

fn row(words: &[&str], columns: &[String]) -> Option<Vec<String>> {
    let figure = |w: &str| w == "-" || w.starts_with(|c: char| c.is_ascii_digit());
    if words.len() != columns.len() || !words[1..].iter().all(|w| figure(w) && w.len() < 24) {
        return None;
    }
    let cell = |(word, column): (&&str, &String)| {
        if column.ends_with(" ns") {
            return cells::nanos(word).map_or_else(|| (*word).to_owned(), cells::show);
        }
        cells::plain(word)
    };
    Some(words.iter().zip(columns).map(cell).collect())
}

/// -w and -r: the first line names the pool or vdev, the second the columns.
fn histogram(groups: &[&str], lines: &[Line], sink: &mut Sink) -> Option<Taken> {
    let header = words(&lines.get(1)?.text);
    let (what, unit) = match header.first() {
        Some(&"latency") => ("zpool iostat -w", "ns"),
        Some(&"req_size") => ("zpool iostat -r", "bytes"),
        _ => return None,
    };
    let mut columns = columns(&groups[1..], &header);
    columns.iter_mut().for_each(|c| c.truncate(c.trim_end_matches(" ns").len()));
    let mut rows: Vec<(f64, Vec<f64>)> = Vec::new();
    let mut used = 2;
    for line in &lines[2..] {
        if is_rule(&line.text) {
            used += 1;
            continue;
        }
        let words = words(&line.text);
        let Some(label) = words.first() else { break };
        let Some(label) = (if unit == "ns" { cells::nanos(label) } else { cells::bytes(label) }) else {
            break;
        };
        let counts: Option<Vec<f64>> =
            words[1..].iter().map(|w| if *w == "-" { Some(0.0) } else { cells::bytes(w) }).collect();
        let Some(counts) = counts.filter(|c| c.len() + 1 == columns.len()) else { break };
        rows.push((label, counts));
        used += 1;
    }
    if rows.is_empty() {
        return None;
    }
    let origin = sink.origin(what, &lines[..used]);
    let histograms: Vec<Histogram> = (1..columns.len())
        .map(|at| Histogram {
            of: format!("{} {}", groups[0], columns[at]),
            unit,
            buckets: rows.iter().map(|(label, counts)| (*label, counts[at - 1])).collect(),
        })
        .collect();
    columns[0] = if unit == "ns" { "latency ns".to_owned() } else { "request bytes".to_owned() };
    columns.insert(0, "pool".to_owned());
    let cells_of = |(label, counts): &(f64, Vec<f64>)| {
        let figures = std::iter::once(*label).chain(counts.iter().copied()).map(cells::show);
        std::iter::once(groups[0].to_owned()).chain(figures).collect()
    };
    cells::table(sink, what, columns, rows.iter().map(cells_of).collect(), origin);
    quantiles(sink, &histograms, origin);
    Taken::kept(used)
}
