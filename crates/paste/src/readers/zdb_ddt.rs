//! Dedup tables of `zdb -D`: the table `zdb -D`, its histogram `zdb -DD` (`zdb -S` where it was simulated), and
//! the pool's ratios as properties.

use super::ddt_histogram::{DdtHistogram, is_start};
use crate::blocks::{Block, Line, Sink, Taken};
use crate::cells;
use crate::report_lines::report_lines;

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
    }
}
