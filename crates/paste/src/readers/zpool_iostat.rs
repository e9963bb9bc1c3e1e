//! The histograms of `zpool iostat -w` and `-r`.
//!
//! Each becomes a table and one row of `quantiles` a column; latency labels are upper ends
//! (`print_iostat_histos`, cmd/zpool/zpool_main.c). Rates and latencies are in `knowledge/tools/`.

use super::histograms::{Histogram as Buckets, quantiles};
use crate::blocks::{Block, Line, Sink, Taken};
use crate::cells::{self, is_rule};
use zwhy_zfs::LATENCY_GROUPS;

/// Beside those of -w.
const GROUPS: [&str; 9] = [
    // -w of 0.7 calls the queues so.
    "sync_queue",
    "async_queue",
    "scrub",
    "trim",
    "rebuild",
    "sync_read",
    "sync_write",
    "async_read",
    "async_write",
];

/// The first line names the pool or vdev and groups of columns, the second the columns.
pub struct Histogram;

fn words(text: &str) -> Vec<&str> {
    const MOST: usize = 60;
    text.split_whitespace().take(MOST).collect()
}

/// `GROUP COLUMN` for two columns of each group; columns beyond them stand alone.
fn columns(groups: &[&str], header: &[&str]) -> Vec<String> {
    let name = |(i, column): (usize, &&str)| match (i.checked_sub(1).and_then(|i| groups.get(i / 2)), i) {
        (Some(&"sync_queue"), _) => format!("syncq_wait {column}"),
        (Some(&"async_queue"), _) => format!("asyncq_wait {column}"),
        (Some(group), _) => format!("{group} {column}"),
        (None, _) => (*column).to_owned(),
    };
    header.iter().enumerate().map(name).collect()
}

impl Block for Histogram {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let groups = words(&lines.first()?.text);
        let is_group = |w: &&str| LATENCY_GROUPS.contains(w) || GROUPS.contains(w);
        if groups.len() < 3 || is_group(&groups[0]) || !groups[1..].iter().all(is_group) {
            return None;
        }
        let header = words(&lines.get(1)?.text);
        let (what, unit) = match header.first() {
            Some(&"latency") => ("zpool iostat -w", "ns"),
            Some(&"req_size") => ("zpool iostat -r", "bytes"),
            _ => return None,
        };
        let mut columns = columns(&groups[1..], &header);
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
        let histograms: Vec<Buckets> = (1..columns.len())
            .map(|at| Buckets {
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
}
