//! Figures as tables that can be sorted and filtered, the same for the terminal view and for text.
//!
//! Invariant: every cell is harmless for a terminal; figures keep their number for sorting.

use crate::figures::Figures;
use crate::words::{NONE, bytes, count, ms, percent, whole};
use std::cmp::Ordering;
use zwhy_report::{Align, Grid, plain};

/// What a table is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Stages,
    Threads,
    Processes,
    Datasets,
    Disks,
    Pools,
    Queues,
}

impl Kind {
    pub const ALL: [Kind; 7] = [
        Kind::Stages,
        Kind::Threads,
        Kind::Processes,
        Kind::Datasets,
        Kind::Disks,
        Kind::Pools,
        Kind::Queues,
    ];

    pub fn title(self) -> &'static str {
        match self {
            Kind::Stages => "CPU by stage",
            Kind::Threads => "ZFS threads",
            Kind::Processes => "Processes",
            Kind::Datasets => "Datasets",
            Kind::Disks => "Disks",
            Kind::Pools => "Pools and transaction groups",
            Kind::Queues => "Task queues",
        }
    }

    /// One word of it.
    pub fn short(self) -> &'static str {
        match self {
            Kind::Stages => "Stages",
            Kind::Threads => "Threads",
            Kind::Processes => "Processes",
            Kind::Datasets => "Datasets",
            Kind::Disks => "Disks",
            Kind::Pools => "Pools",
            Kind::Queues => "Queues",
        }
    }

    /// Names of the columns; the first is what a row is about.
    pub fn columns(self) -> &'static [&'static str] {
        match self {
            Kind::Stages => &["stage", "of all CPU"],
            Kind::Threads => &["thread", "number", "CPU", "busiest"],
            Kind::Processes => &["process", "pid", "CPU", "read/s", "write/s", "memory"],
            Kind::Datasets => &["dataset", "reads/s", "writes/s", "read/s", "write/s"],
            Kind::Disks => {
                &["disk", "pool", "busy", "reads/s", "writes/s", "read/s", "write/s", "r ms", "w ms", "queue"]
            }
            Kind::Pools => {
                &["pool", "txg", "open ms", "wait ms", "sync ms", "dirty", "of", "direct r/s", "direct w/s"]
            }
            Kind::Queues => &["queue", "pending", "active"],
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    pub text: String,
    /// What it is sorted by; words have none.
    pub number: Option<f64>,
}

impl Cell {
    fn name(text: &str) -> Cell {
        Cell { text: plain(text).into_owned(), number: None }
    }

    fn of(number: f64, words: impl Fn(f64) -> String) -> Cell {
        Cell { text: words(number), number: Some(number) }
    }

    fn some(number: Option<f64>, words: impl Fn(f64) -> String) -> Cell {
        let text = number.map_or_else(|| NONE.to_owned(), words);
        Cell { text, number: Some(number.unwrap_or(f64::NEG_INFINITY)) }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub kind: Kind,
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    /// The rows of a table, the busiest first.
    pub fn of(kind: Kind, figures: &Figures) -> Table {
        let rows = match kind {
            Kind::Stages => stages(figures),
            Kind::Threads => threads(figures),
            Kind::Processes => processes(figures),
            Kind::Datasets => datasets(figures),
            Kind::Disks => disks(figures),
            Kind::Pools => pools(figures),
            Kind::Queues => queues(figures),
        };
        Table { kind, rows }
    }

    /// Sorts by a column: figures from the highest, words from A; `turned` is the other way round.
    pub fn sort(&mut self, column: usize, turned: bool) {
        self.rows.sort_by(|a, b| {
            let order = match (a.get(column), b.get(column)) {
                (Some(Cell { number: Some(a), .. }), Some(Cell { number: Some(b), .. })) => b.total_cmp(a),
                (Some(a), Some(b)) => a.text.cmp(&b.text),
                _ => Ordering::Equal,
            };
            if turned { order.reverse() } else { order }
        });
    }

    /// The first rows below these names of columns, words to the left and figures to the right.
    pub fn grid<S: AsRef<str>>(&self, columns: &[S], most: usize) -> Grid {
        let words =
            |at: usize| self.rows.iter().any(|row| row.get(at).is_some_and(|cell| cell.number.is_none()));
        let aligns: Vec<Align> =
            (0..columns.len()).map(|at| if words(at) { Align::Left } else { Align::Right }).collect();
        let mut grid = Grid::new(2, &aligns);
        grid.header(columns);
        self.rows.iter().take(most).for_each(|row| grid.row(row.iter().map(|cell| cell.text.as_str())));
        grid
    }

    /// Keeps rows in which a word holds `text`, in any case of letters.
    pub fn filter(&mut self, text: &str) {
        let text = text.to_lowercase();
        let has = |cell: &Cell| cell.number.is_none() && cell.text.to_lowercase().contains(&text);
        self.rows.retain(|row| row.iter().any(has));
    }
}

fn stages(f: &Figures) -> Vec<Vec<Cell>> {
    f.stages.iter().map(|s| vec![Cell::name(&s.stage), Cell::of(s.share, percent)]).collect()
}

fn threads(f: &Figures) -> Vec<Vec<Cell>> {
    let row = |t: &crate::figures::ThreadFigures| {
        vec![
            Cell::name(&t.name),
            Cell::of(t.threads as f64, whole),
            Cell::of(t.cpu, percent),
            Cell::of(t.busiest, percent),
        ]
    };
    f.threads.iter().map(row).collect()
}

fn processes(f: &Figures) -> Vec<Vec<Cell>> {
    let row = |p: &crate::figures::ProcessFigures| {
        let name = if p.name.is_empty() { "(unnamed)" } else { &p.name };
        vec![
            Cell::name(name),
            Cell { text: p.pid.to_string(), number: Some(f64::from(p.pid)) },
            Cell::some(p.cpu, percent),
            Cell::some(p.read_bytes_s, bytes),
            Cell::some(p.write_bytes_s, bytes),
            Cell::some(p.rss_bytes.map(|n| n as f64), bytes),
        ]
    };
    f.processes.iter().map(row).collect()
}

fn datasets(f: &Figures) -> Vec<Vec<Cell>> {
    let row = |d: &crate::figures::DatasetFigures| {
        vec![
            Cell::name(&d.dataset),
            Cell::of(d.reads_s, count),
            Cell::of(d.writes_s, count),
            Cell::of(d.read_bytes_s, bytes),
            Cell::of(d.write_bytes_s, bytes),
        ]
    };
    f.datasets.iter().map(row).collect()
}

fn disks(f: &Figures) -> Vec<Vec<Cell>> {
    let row = |d: &zwhy_diagnose::DiskRow| {
        vec![
            Cell::name(&d.disk),
            Cell::name(d.pool.as_deref().unwrap_or(NONE)),
            Cell::of(d.busy, percent),
            Cell::of(d.reads_s, count),
            Cell::of(d.writes_s, count),
            Cell::of(d.read_bytes_s, bytes),
            Cell::of(d.written_bytes_s, bytes),
            Cell::some(d.read_ms, ms),
            Cell::some(d.write_ms, ms),
            Cell::of(d.queue, count),
        ]
    };
    f.disks.iter().map(row).collect()
}

fn pools(f: &Figures) -> Vec<Vec<Cell>> {
    let row = |p: &crate::figures::PoolFigures| {
        let name = if p.suspended { format!("{} SUSPENDED", p.pool) } else { p.pool.clone() };
        let number = |n: Option<i64>| n.map(|n| n as f64);
        vec![
            Cell::name(&name),
            Cell::some(number(p.txg), |n| format!("{n:.0}")),
            Cell::some(p.open_ms, ms),
            Cell::some(p.wait_ms, ms),
            Cell::some(p.sync_ms, ms),
            Cell::some(number(p.dirty_bytes), bytes),
            Cell::some(number(p.dirty_most_bytes), bytes),
            Cell::some(p.direct_reads_s, count),
            Cell::some(p.direct_writes_s, count),
        ]
    };
    f.pools.iter().map(row).collect()
}

fn queues(f: &Figures) -> Vec<Vec<Cell>> {
    let row = |q: &crate::figures::QueueFigures| {
        vec![
            Cell::name(&q.queue),
            Cell::of(q.pending as f64, whole),
            Cell::of(q.threads_active as f64, whole),
        ]
    };
    f.queues.iter().map(row).collect()
}
