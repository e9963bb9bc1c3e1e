//! Figures of the host as rows of CSV: one an interval, always the same columns.
//!
//! What has no fixed number of rows (datasets, disks, processes, pools) is in JSON only.

use crate::figures::{CacheHits, Figures};
use crate::model::Model;

/// Columns and rows; stages have one column each, those that the knowledge names.
#[derive(Clone, Debug)]
pub struct Csv {
    stages: Vec<String>,
}

/// Names and values of the columns before those of the stages.
fn fixed(f: &Figures) -> Vec<(&'static str, Option<f64>)> {
    let cpu = f.cpu;
    let hit = |hits: Option<CacheHits>| hits.and_then(|hits| hits.hit_pct);
    let arc = f.arc;
    let whole = |n: Option<i64>| n.map(|n| n as f64);
    // Of an interval without two readings nothing is known.
    let disks = |value: fn(&zwhy_diagnose::DiskRow) -> f64| {
        (f.seconds > 0.0).then(|| f.disks.iter().map(value).fold(0.0, |sum, n| sum + n))
    };
    vec![
        ("at_s", Some(f.at_s)),
        ("unix_s", f.unix_s),
        ("seconds", Some(f.seconds)),
        ("cpus", Some(f.cpus as f64)),
        ("user", cpu.map(|c| c.user)),
        ("system", cpu.map(|c| c.system)),
        ("irq", cpu.map(|c| c.irq)),
        ("iowait", cpu.map(|c| c.iowait)),
        ("steal", cpu.map(|c| c.steal)),
        ("idle", cpu.map(|c| c.idle)),
        ("samples", Some(f.samples as f64)),
        ("lost", Some(f.lost as f64)),
        ("own_cpu", f.own_cpu),
        ("disk_read_bytes_s", disks(|d| d.read_bytes_s)),
        ("disk_written_bytes_s", disks(|d| d.written_bytes_s)),
        ("arc_accesses_s", arc.map(|a| a.all.accesses_s)),
        ("arc_hit_pct", hit(arc.map(|a| a.all))),
        ("arc_demand_data_hit_pct", hit(arc.map(|a| a.demand_data))),
        ("arc_demand_metadata_hit_pct", hit(arc.map(|a| a.demand_metadata))),
        ("arc_prefetch_hit_pct", hit(arc.map(|a| a.prefetch))),
        ("arc_size_bytes", arc.map(|a| a.size_bytes as f64)),
        ("arc_target_bytes", whole(arc.and_then(|a| a.target_bytes))),
        ("dbuf_hit_pct", hit(f.dbuf.map(|d| d.hits))),
        ("dbuf_cache_bytes", whole(f.dbuf.and_then(|d| d.cache_bytes))),
        ("tx_delays_s", f.tx_delays_s),
        ("tx_stops_s", f.tx_stops_s),
        ("zil_commits_s", f.zil_commits_s),
    ]
}

impl Csv {
    pub fn new(model: &Model) -> Csv {
        Csv { stages: model.knowledge().anatomy.stages().iter().map(|stage| stage.name.clone()).collect() }
    }

    /// The first line, with its end.
    pub fn header(&self) -> String {
        let of_host = fixed(&Figures::default()).into_iter().map(|(name, _)| name.to_owned());
        let of_stages = self.stages.iter().map(|stage| quoted(&format!("stage {stage}")));
        row(of_host.chain(of_stages))
    }

    /// The line of an interval, with its end; what the host does not tell is empty.
    pub fn row(&self, figures: &Figures) -> String {
        let share =
            |stage: &String| figures.stages.iter().find(|s| s.stage == *stage).map_or(0.0, |s| s.share);
        // Without a sample no stage is known to have used nothing.
        let sampled = figures.samples > 0;
        let of_stages = self.stages.iter().map(|stage| sampled.then(|| share(stage)));
        let values = fixed(figures).into_iter().map(|(_, value)| value).chain(of_stages);
        row(values.map(|value| value.map_or_else(String::new, number)))
    }
}

fn row(cells: impl Iterator<Item = String>) -> String {
    cells.collect::<Vec<_>>().join(",") + "\n"
}

/// With six places at most, and none that say nothing.
fn number(value: f64) -> String {
    // There is a zero below zero, too.
    let text = format!("{:.6}", if value == 0.0 { 0.0 } else { value });
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// As RFC 4180 has it; stages may be named by files of the user.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_short_and_quoted_where_they_must_be() {
        assert_eq!([1.0, 0.25, 1e9, 0.1 + 0.2, -0.0].map(number), ["1", "0.25", "1000000000", "0.3", "0"]);
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
    }
}
