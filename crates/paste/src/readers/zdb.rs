//! `zdb`: metaslabs (-m, -mm), the DDT (-D), block statistics (-b, -bb) and hash tables (-dddd).
//!
//! Tables `zdb -m` (metaslab, offset, spacemap, free and, where told, fragmentation), `zdb -D`, its
//! histogram `zdb -DD` (`zdb -S` where it was simulated), `zdb -b` (name, value, avg, ratio), `zdb -bb` (by block type) and
//! `zdb -dddd` (name, value: entries and blocks of a fat ZAP); the pool's ratios are properties.

use super::ddt_histogram::{DdtHistogram, is_start};
use crate::blocks::{Block, Line, Sink, Taken};
use crate::cells::{self, is_rule};
use crate::report_lines::report_lines;

/// `metaslab  0  offset  0  spacemap  38  free  6.79G`, with what -mm prints below each.
pub struct Metaslabs;

impl Block for Metaslabs {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let mut rows: Vec<Vec<String>> = Vec::new();
        let mut vdev = String::new();
        let mut taken = Taken::default();
        for (blanks, line) in report_lines(lines) {
            let text = line.text.trim();
            const MOST_HEADERS: usize = 16;
            if rows.is_empty() && taken.used() > MOST_HEADERS {
                break;
            }
            let words: Vec<&str> = text.split_whitespace().take(14).collect();
            match words[..] {
                ["Metaslabs:"] | ["metaslabs", _, "offset", ..] => {}
                ["vdev", id, ..] if id.bytes().all(|b| b.is_ascii_digit()) => id.clone_into(&mut vdev),
                ["metaslab", id, "offset", offset, "spacemap", map, "free", free, ..] => {
                    let cells = [vdev.as_str(), id, offset, map, free, ""];
                    rows.push(cells::names(&cells));
                }
                _ if is_rule(text) => {}
                _ => match (rows.last_mut(), detail(&words)) {
                    (Some(last), Some(found)) => {
                        if let Some(fragmentation) = found {
                            fragmentation.clone_into(&mut last[5]);
                        }
                    }
                    _ => break,
                },
            }
            taken.drop("blank line", blanks);
            taken.kept += 1;
        }
        if rows.is_empty() {
            return None;
        }
        let origin = sink.origin("zdb -m", &lines[..taken.used()]);
        let columns = cells::names(&["vdev", "metaslab", "offset", "spacemap", "free", "fragmentation %"]);
        cells::table(sink, "zdb -m", columns, rows, origin);
        Some(taken)
    }
}

/// Lines below a metaslab; the inner value is its fragmentation.
fn detail<'t>(words: &[&'t str]) -> Option<Option<&'t str>> {
    match words {
        ["On-disk", "histogram:", "fragmentation", value, ..] => Some(Some(value)),
        ["On-disk" | "In-memory", "histogram:", ..] => Some(None),
        ["segments", _, "maxsize", ..] => Some(None),
        ["space", "map", "object", ..] | ["smp_length", ..] | ["smp_alloc", ..] => Some(None),
        // `12:   1234 ****`
        [power, count, ..] => {
            let number = |w: &str| !w.is_empty() && w.bytes().all(|b| b.is_ascii_digit());
            (power.strip_suffix(':').is_some_and(number) && number(count)).then_some(None)
        }
        _ => None,
    }
}

/// `DDT-sha256-zap-unique: 123456 entries, size 300 on disk, 150 in core` and the ratios below.
pub struct Ddt;

impl Block for Ddt {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let first = &lines.first()?.text;
        if ddt(first).is_none() && ratios(first).is_none() && !is_start(first) {
            return None;
        }
        let (mut rows, mut found, mut taken) = (Vec::new(), None, Taken::default());
        // Each DDT has a histogram of its own, the last is of all: one table holds the one read last.
        let (mut histogram, mut simulated) = (DdtHistogram::default(), false);
        for (blanks, line) in report_lines(lines) {
            // A heading without rows is looked at once.
            const MOST_HEADERS: usize = 16;
            if rows.is_empty() && histogram.is_empty() && taken.used() > MOST_HEADERS {
                break;
            }
            if let Some(row) = ddt(&line.text) {
                rows.push(row);
                histogram = DdtHistogram::default();
            } else if let Some(values) = ratios(&line.text) {
                found = Some(values);
            } else if is_start(&line.text) {
                simulated |= line.text.contains("Simulated");
                histogram = DdtHistogram::default();
            } else if !histogram.line(&line.text) {
                break;
            }
            taken.drop("blank line", blanks);
            taken.kept += 1;
        }
        if rows.is_empty() && histogram.is_empty() && found.is_none() {
            return None;
        }
        let origin = sink.origin("zdb -D", &lines[..taken.used()]);
        histogram.finish(if simulated { "zdb -S" } else { "zdb -DD" }, origin, sink);
        // What a simulation finds is no ratio that the pool has.
        for (name, value) in found.into_iter().flatten().filter(|_| !simulated) {
            cells::property(sink, "", name, &value, origin);
        }
        if !rows.is_empty() {
            let entries: f64 = rows.iter().filter_map(|r: &Vec<String>| r[1].parse::<f64>().ok()).sum();
            cells::kstat(sink, "ddt", "entries", entries, origin);
            let columns = cells::names(&["table", "entries", "size on disk", "size in core"]);
            cells::table(sink, "zdb -D", columns, rows, origin);
        }
        Some(taken)
    }
}

fn ddt(text: &str) -> Option<Vec<String>> {
    let (name, rest) = text.trim().split_once(": ")?;
    name.starts_with("DDT-").then_some(())?;
    let (entries, rest) = rest.split_once(" entries, size ")?;
    let (disk, rest) = rest.split_once(" on disk, ")?;
    let core = rest.split(" in core").next()?;
    cells::bytes(entries)?;
    Some(cells::names(&[name, entries, disk, core]))
}

/// `dedup = 1.05, compress = 1.30, copies = 1.00, …`.
fn ratios(text: &str) -> Option<Vec<(&'static str, String)>> {
    let text = text.trim();
    (text.starts_with("dedup = ") && text.contains("compress = ")).then_some(())?;
    let value = |key: &str| {
        let value = text.split_once(key)?.1.split([',', ' ']).next()?;
        value.parse::<f64>().ok().map(|_| value.to_owned())
    };
    let found = [("dedupratio", value("dedup = ")), ("compressratio", value("compress = "))];
    Some(found.into_iter().filter_map(|(name, v)| Some((name, v?))).collect())
}

/// `Fat ZAP stats:` of one object, with its histograms; only the counts of entries and blocks are kept.
pub struct FatZap;

impl Block for FatZap {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        const MOST_LINES: usize = 200;
        if lines.first()?.text.trim() != "Fat ZAP stats:" {
            return None;
        }
        let (mut rows, mut used) = (Vec::new(), 1);
        for line in lines[1..].iter().take(MOST_LINES) {
            let text = line.text.trim();
            let Some((name, value)) = text.split_once(':').filter(|_| zap_line(text)) else {
                if text.ends_with(" elements") {
                    used += 1;
                    continue;
                }
                break;
            };
            if matches!(name, "ZAP entries" | "Leaf blocks" | "Total blocks") {
                rows.push(cells::names(&[name, value.trim()]));
            }
            used += 1;
        }
        if rows.is_empty() {
            return None;
        }
        let origin = sink.origin("zdb -dddd", &lines[..used]);
        cells::table(sink, "zdb -dddd", cells::names(&["name", "value"]), rows, origin);
        Taken::kept(used)
    }
}

/// A line of these statistics: a name it has, or a row of a histogram (`3:  1421 ***`).
fn zap_line(text: &str) -> bool {
    const NAMES: [&str; 8] = [
        "Pointer table:",
        "ZAP entries:",
        "Leaf blocks:",
        "Total blocks:",
        "Leafs with ",
        "Blocks ",
        "Entries with ",
        "Buckets with ",
    ];
    let row =
        text.split_once(':').is_some_and(|(n, _)| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    row || text.starts_with("zt_") || text.starts_with("zap_") || NAMES.iter().any(|n| text.starts_with(n))
}

/// `bp logical:  123456789  avg:  12345  compression:  1.50` and the table of block types.
pub struct Blocks;

impl Block for Blocks {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let first: Vec<&str> = lines.first()?.text.split_whitespace().take(9).collect();
        if first[..] == ["Blocks", "LSIZE", "PSIZE", "ASIZE", "avg", "comp", "%Total", "Type"] {
            return by_type(lines, sink);
        }
        let rows: Vec<Vec<String>> = lines.iter().map_while(|l| block_line(&l.text)).collect();
        if rows.is_empty() {
            return None;
        }
        let used = rows.len();
        let origin = sink.origin("zdb -b", &lines[..used]);
        cells::table(sink, "zdb -b", cells::names(&["name", "value", "avg", "ratio"]), rows, origin);
        Taken::kept(used)
    }
}

fn block_line(text: &str) -> Option<Vec<String>> {
    let text = text.trim();
    let (name, rest) = text.split_once(':')?;
    let of_zdb = name.starts_with("bp ")
        || matches!(
            name,
            "ganged count" | "Normal class" | "Special class" | "Dedup class" | "Embedded log class"
        );
    let words: Vec<&str> = rest.split_whitespace().take(10).collect();
    let value = words.first().filter(|v| of_zdb && v.bytes().all(|b| b.is_ascii_digit()))?;
    let after = |key: &str| {
        words.iter().position(|w| *w == key).and_then(|at| words.get(at + 1)).copied().unwrap_or("")
    };
    let ratio =
        [after("compression:"), after("deduplication:"), after("used:")].into_iter().find(|r| !r.is_empty());
    Some(cells::names(&[name, value, after("avg:"), ratio.unwrap_or("")]))
}

fn by_type(lines: &[Line], sink: &mut Sink) -> Option<Taken> {
    let row = |l: &Line| {
        let words: Vec<&str> = l.text.split_whitespace().take(16).collect();
        let figures = words.len() >= 8
            && words[..7].iter().all(|w| *w == "-" || w.starts_with(|c: char| c.is_ascii_digit()));
        figures.then(|| {
            let mut row = cells::names(&words[..7]);
            row.push(words[7..].join(" "));
            row
        })
    };
    let rows: Vec<Vec<String>> = lines[1..].iter().map_while(row).collect();
    if rows.is_empty() {
        return None;
    }
    let used = rows.len() + 1;
    let origin = sink.origin("zdb -bb", &lines[..used]);
    let columns = ["blocks", "lsize", "psize", "asize", "avg", "comp", "% total", "type"];
    cells::table(sink, "zdb -bb", cells::names(&columns), rows, origin);
    Taken::kept(used)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_zdb() {
        assert_eq!(
            ddt("DDT-sha256-zap-unique: 123456 entries, size 300 on disk, 150 in core").unwrap()[1..],
            ["123456", "300", "150"]
        );
        let got =
            ratios("dedup = 1.05, compress = 1.30, copies = 1.00, dedup * compress / copies = 1.36").unwrap();
        assert_eq!(got, [("dedupratio", "1.05".to_owned()), ("compressratio", "1.30".to_owned())]);
        assert_eq!(
            block_line("bp logical:   1000   avg:  100   compression:   1.50").unwrap(),
            ["bp logical", "1000", "100", "1.50"]
        );
        assert_eq!(block_line("a word: 12"), None);
        assert_eq!(detail(&["12:", "1234", "****"]), Some(None));
        assert_eq!(detail(&["On-disk", "histogram:", "fragmentation", "45"]), Some(Some("45")));
        assert_eq!(detail(&["and", "so", "on"]), None);
    }
}
