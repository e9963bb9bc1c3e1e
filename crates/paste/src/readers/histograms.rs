//! Histograms: bucket lines of bpftrace and bcc, and quantiles of any histogram.
//!
//! Tables called `quantiles` hold one row a histogram.

use crate::blocks::{Block, Line, Sink, Taken};
use crate::cells;
use crate::words::WORDS;
use zwhy_evidence::OriginId;
use zwhy_zfs::Quantiles;

/// Upper ends and counts, ascending.
pub struct Histogram {
    pub of: String,
    /// `ns`, `bytes`; empty where the source does not say.
    pub unit: &'static str,
    pub buckets: Vec<(f64, f64)>,
}

/// Adds one row for each histogram that counted anything.
pub fn quantiles(sink: &mut Sink, histograms: &[Histogram], origin: OriginId) {
    let rows: Vec<Vec<String>> = histograms.iter().filter_map(row).collect();
    if !rows.is_empty() {
        let columns = cells::names(&["of", "unit", "count", "p50", "p90", "p99", "max"]);
        cells::table(sink, "quantiles", columns, rows, origin);
    }
}

fn row(h: &Histogram) -> Option<Vec<String>> {
    let Quantiles { count, p50, p90, p99, max } = Quantiles::of(&h.buckets)?;
    let head = [h.of.clone(), h.unit.to_owned()];
    Some(head.into_iter().chain([count, p50, p90, p99, max].map(cells::show)).collect())
}

/// `[4K, 8K)   123 |@@@ |` under `@name:`, `   4 -> 7   : 123   |*** |` under `usecs : count`.
pub struct TracerHistogram;

impl Block for TracerHistogram {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let head = heading(&lines.first()?.text)?;
        let buckets: Vec<Bucket> = lines[1..].iter().map_while(|l| bucket(&l.text)).collect();
        if buckets.is_empty() {
            return None;
        }
        let used = 1 + buckets.len();
        let tool = match (&head.name, sink.command.as_deref().and_then(tracer)) {
            (name, Some(tool)) if name.is_empty() => tool,
            (name, Some(tool)) => format!("{tool} {name}"),
            (name, None) if name.is_empty() => "histogram".to_owned(),
            (name, None) => format!("bpftrace {name}"),
        };
        let origin = sink.origin(&format!("histogram of {tool}"), &lines[..used]);
        let rows = buckets.iter().map(|b| vec![b.label.clone(), cells::show(b.count)]).collect();
        let unit_name = if head.unit.is_empty() { "bucket" } else { &head.unit };
        cells::table(sink, tool.clone(), cells::names(&[unit_name, "count"]), rows, origin);
        let scale = cells::unit_nanos(&head.unit);
        let histogram = Histogram {
            of: tool,
            unit: if scale.is_some() {
                "ns"
            } else if head.unit.contains("bytes") {
                "bytes"
            } else {
                ""
            },
            buckets: buckets.iter().map(|b| (b.upper * scale.unwrap_or(1.0), b.count)).collect(),
        };
        quantiles(sink, &[histogram], origin);
        Taken::kept(used)
    }
}

struct Heading {
    name: String,
    unit: String,
}

fn heading(text: &str) -> Option<Heading> {
    let text = text.trim();
    // bpftrace: `@usecs:`, `@us[fio]:`
    if let Some(name) = text.strip_prefix('@').and_then(|t| t.strip_suffix(':')) {
        let base = name.split('[').next().unwrap_or(name);
        let unit = base.rsplit('_').next().unwrap_or(base);
        let unit = if cells::unit_nanos(unit).is_some() || unit == "bytes" { unit } else { "" };
        return (name.len() < 100).then(|| Heading { name: format!("@{name}"), unit: unit.to_owned() });
    }
    // bcc: `     usecs               : count     distribution`
    let (unit, rest) = text.split_once(':')?;
    let mut words = rest.split_whitespace();
    let shape = words.next() == Some("count") && words.next() == Some("distribution");
    (shape && !unit.trim().contains(' '))
        .then(|| Heading { name: String::new(), unit: unit.trim().to_owned() })
}

struct Bucket {
    label: String,
    upper: f64,
    count: f64,
}

fn bucket(text: &str) -> Option<Bucket> {
    let text = text.trim();
    let count = |t: &str| t.split('|').next()?.trim().parse::<f64>().ok().filter(|c| *c >= 0.0);
    if let Some(rest) = text.strip_prefix(['[', '(']) {
        let end = rest.find([')', ']'])?;
        let label = &rest[..end];
        let upper = match label.split_once(',') {
            // `[4K, 8K)` holds 4K to 8K-1; `[1M, ...)` has no end, so its begin must do.
            Some((_, "" | " ..." | " inf")) => cells::bytes(label.split(',').next()?)?,
            Some((_, high)) => cells::bytes(high)?,
            None => cells::bytes(label.trim_start_matches("..., "))?,
        };
        let label = label.replace(", ", "-");
        return Some(Bucket { label, upper, count: count(&rest[end + 1..])? });
    }
    let (range, rest) = text.split_once(':')?;
    let (low, high) = range.split_once("->")?;
    let upper: f64 = high.trim().parse().ok()?;
    Some(Bucket { label: format!("{}-{}", low.trim(), high.trim()), upper, count: count(rest)? })
}

/// The tool in a command line that prints histograms, without its path.
fn tracer(command: &str) -> Option<String> {
    let words: Vec<&str> = command.trim_start_matches("sudo ").split_whitespace().take(8).collect();
    let first = words.first()?.rsplit('/').next()?;
    let base = first.trim_end_matches("-bpfcc").trim_end_matches(".bt").trim_end_matches(".py");
    if !WORDS.histogram_tools.has(base) {
        return None;
    }
    let function =
        (base == "funclatency").then(|| words.iter().skip(1).find(|w| !w.starts_with('-'))).flatten();
    Some(function.map_or_else(|| base.to_owned(), |f| format!("{base} {f}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_of_both_tracers() {
        let of = |t: &str| bucket(t).map(|b| (b.label, b.upper, b.count));
        assert_eq!(of("[4K, 8K)             123 |@@@   |"), Some(("4K-8K".into(), 8192.0, 123.0)));
        assert_eq!(of("[1]    7 |@ |"), Some(("1".into(), 1.0, 7.0)));
        assert_eq!(of("   256 -> 511        : 13       |**    |"), Some(("256-511".into(), 511.0, 13.0)));
        assert_eq!(of("a sentence: with -> an arrow"), None);
        assert!(heading("@us[fio]:").is_some_and(|h| h.unit == "us"));
        assert!(heading("     usecs               : count     distribution").is_some());
        assert!(heading("the count: of all").is_none());
    }

    #[test]
    fn quantiles_are_upper_ends() {
        let buckets = vec![(10.0, 50.0), (20.0, 49.0), (40.0, 1.0), (80.0, 0.0)];
        let h = Histogram { of: "x".into(), unit: "ns", buckets };
        assert_eq!(row(&h).unwrap(), ["x", "ns", "100", "10", "20", "20", "40"]);
        assert_eq!(row(&Histogram { of: "x".into(), unit: "", buckets: vec![(1.0, 0.0)] }), None);
    }
}
