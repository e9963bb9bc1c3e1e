//! One moment as text: what `zwhy top --once` prints.

use crate::figures::{ArcFigures, CacheHits, DbufFigures, Figures};
use crate::latency::{LatencyRow, lines};
use crate::model::Model;
use crate::tables::{Kind, Table};
use crate::words::{NONE, bytes, count, percent};
use zwhy_report::{Style, labelled, plain};

/// Rows of a table.
const SHOWN: usize = 10;

/// The newest interval with the verdict; empty where nothing was seen.
pub fn text(model: &Model, style: Style) -> String {
    let Some(figures) = model.history().back() else { return String::new() };
    let mut out = String::new();
    if let Some(verdict) = model.verdict() {
        out.push_str(&labelled("WHY", 5, &verdict.answer.why, style.prose()));
        let act = verdict.answer.act.iter().map(|act| labelled("DO", 5, act, style.prose()));
        act.for_each(|act| out.push_str(&act));
        out.push('\n');
    }
    for (label, line) in head_lines(figures) {
        out.push_str(&labelled(label, 5, &line, style.prose()));
    }
    for kind in Kind::ALL {
        let table = Table::of(kind, figures);
        if table.rows.is_empty() {
            continue;
        }
        out.push_str(&format!("\n{}\n", style.heading(kind.title())));
        table
            .grid(kind.columns(), SHOWN)
            .lines(style.table())
            .iter()
            .for_each(|line| out.push_str(&format!("{line}\n")));
    }
    for row in model.latency.pools() {
        let lines = lines(&row, style.table());
        let title = format!("Latency of {}, {}", plain(&row.vdev.name), span(&row));
        out.push_str(&format!("\n{}\n", style.heading(&title)));
        lines.head.iter().chain(&lines.buckets).for_each(|line| out.push_str(&format!("{line}\n")));
    }
    for sentence in model.all_missing() {
        out.push_str(&format!("\n{}", labelled("missing:", 9, sentence, style.prose())));
    }
    out
}

/// Of which time the requests of a vdev are.
pub(crate) fn span(row: &LatencyRow) -> String {
    row.seconds.map_or_else(|| "since import".to_owned(), |seconds| format!("the last {seconds:.0} s"))
}

/// The host's CPU, the ARC, the dbuf cache and writers held up, one line each with what it is about.
pub fn head_lines(figures: &Figures) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    if let Some(cpu) = figures.cpu {
        let text = format!(
            "{} user, {} system, {} irq, {} iowait, {} steal, {} idle of {} CPUs",
            percent(cpu.user),
            percent(cpu.system),
            percent(cpu.irq),
            percent(cpu.iowait),
            percent(cpu.steal),
            percent(cpu.idle),
            figures.cpus
        );
        lines.push(("CPU", text));
    }
    lines.extend(figures.arc.map(|arc| ("ARC", arc_line(&arc))));
    lines.extend(figures.dbuf.map(|dbuf| ("DBUF", dbuf_line(&dbuf))));
    if let (Some(delays), Some(stops)) = (figures.tx_delays_s, figures.tx_stops_s) {
        let commits =
            figures.zil_commits_s.map_or(String::new(), |n| format!(", {} ZIL commits/s", count(n)));
        let text = format!("{} writers delayed/s, {} stopped/s{commits}", count(delays), count(stops));
        lines.push(("TX", text));
    }
    lines
}

pub(crate) fn hit_rate(hits: &CacheHits) -> String {
    hits.hit_pct.map_or_else(|| NONE.to_owned(), |pct| percent(pct / 100.0))
}

fn arc_line(arc: &ArcFigures) -> String {
    let of = |n: Option<i64>| n.map_or_else(|| NONE.to_owned(), |n| bytes(n as f64));
    let l2 = arc.l2.map_or(String::new(), |l2| format!(", L2 {}", hit_rate(&l2)));
    format!(
        "{} of {} reads/s hit (data {}, metadata {}, prefetch {}{l2}), size {}, target {}, most {}",
        hit_rate(&arc.all),
        count(arc.all.accesses_s),
        hit_rate(&arc.demand_data),
        hit_rate(&arc.demand_metadata),
        hit_rate(&arc.prefetch),
        bytes(arc.size_bytes as f64),
        of(arc.target_bytes),
        of(arc.max_bytes),
    )
}

fn dbuf_line(dbuf: &DbufFigures) -> String {
    let of = |n: Option<i64>| n.map_or_else(|| NONE.to_owned(), |n| bytes(n as f64));
    format!(
        "{} of {} lookups/s hit, cache {}, target {}",
        hit_rate(&dbuf.hits),
        count(dbuf.hits.accesses_s),
        of(dbuf.cache_bytes),
        of(dbuf.target_bytes)
    )
}
