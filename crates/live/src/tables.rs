//! Figures as tables that can be sorted and filtered, the same for the terminal view and for text.
//!
//! Invariant: every cell is harmless for a terminal; figures keep their number for sorting.

use crate::figures::{Figures, PoolFigures, ProcessFigures};
use crate::words::{NONE, bytes, count, ms, percent, whole};
use std::cmp::Ordering;
use zwhy_diagnose::DiskRow;
use zwhy_report::{Align, Grid, plain};

/// What a table is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kind {
    #[default]
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

    /// Title, one word of it, and the columns.
    fn head(self) -> (&'static str, &'static str, &'static [&'static str]) {
        match self {
            Kind::Stages => ("CPU by stage", "Stages", &["stage", "of all CPU"]),
            Kind::Threads => ("ZFS threads", "Threads", &["thread", "number", "CPU", "busiest"]),
            Kind::Processes => {
                ("Processes", "Processes", &["process", "pid", "CPU", "read/s", "write/s", "memory"])
            }
            Kind::Datasets => {
                ("Datasets", "Datasets", &["dataset", "reads/s", "writes/s", "read/s", "write/s"])
            }
            Kind::Disks => (
                "Disks",
                "Disks",
                &[
                    "disk", "pool", "busy", "reads/s", "writes/s", "read/s", "write/s", "r ms", "w ms",
                    "queue",
                ],
            ),
            Kind::Pools => (
                "Pools and transaction groups",
                "Pools",
                &["pool", "txg", "open ms", "wait ms", "sync ms", "dirty", "of", "direct r/s", "direct w/s"],
            ),
            Kind::Queues => ("Task queues", "Queues", &["queue", "pending", "active"]),
        }
    }

    pub fn title(self) -> &'static str {
        self.head().0
    }

    /// One word of it.
    pub fn short(self) -> &'static str {
        self.head().1
    }

    /// Names of the columns; the first is what a row is about.
    pub fn columns(self) -> &'static [&'static str] {
        self.head().2
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
        let f = figures;
        let rows = match kind {
            Kind::Stages => rows(&f.stages, |s| [Cell::name(&s.stage), Cell::of(s.share, percent)].into()),
            Kind::Threads => rows(&f.threads, |t| {
                let number = Cell::of(t.threads as f64, whole);
                vec![Cell::name(&t.name), number, Cell::of(t.cpu, percent), Cell::of(t.busiest, percent)]
            }),
            Kind::Processes => rows(&f.processes, process),
            Kind::Datasets => rows(&f.datasets, |d| {
                let mut row = vec![Cell::name(&d.dataset)];
                row.extend([d.reads_s, d.writes_s].map(|n| Cell::of(n, count)));
                row.extend([d.read_bytes_s, d.write_bytes_s].map(|n| Cell::of(n, bytes)));
                row
            }),
            Kind::Disks => rows(&f.disks, disk),
            Kind::Pools => rows(&f.pools, pool),
            Kind::Queues => rows(&f.queues, |q| {
                let numbers = [q.pending, q.threads_active].map(|n| Cell::of(n as f64, whole));
                [Cell::name(&q.queue)].into_iter().chain(numbers).collect()
            }),
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

fn rows<T>(of: &[T], row: impl Fn(&T) -> Vec<Cell>) -> Vec<Vec<Cell>> {
    of.iter().map(row).collect()
}

fn process(p: &ProcessFigures) -> Vec<Cell> {
    let name = if p.name.is_empty() { "(unnamed)" } else { &p.name };
    vec![
        Cell::name(name),
        Cell { text: p.pid.to_string(), number: Some(f64::from(p.pid)) },
        Cell::some(p.cpu, percent),
        Cell::some(p.read_bytes_s, bytes),
        Cell::some(p.write_bytes_s, bytes),
        Cell::some(p.rss_bytes.map(|n| n as f64), bytes),
    ]
}

fn disk(d: &DiskRow) -> Vec<Cell> {
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
}

fn pool(p: &PoolFigures) -> Vec<Cell> {
    let name = if p.suspended { format!("{} SUSPENDED", p.pool) } else { p.pool.clone() };
    let mut row = vec![Cell::name(&name), Cell::some(p.txg.map(|n| n as f64), |n| format!("{n:.0}"))];
    row.extend([p.open_ms, p.wait_ms, p.sync_ms].map(|n| Cell::some(n, ms)));
    row.extend([p.dirty_bytes, p.dirty_most_bytes].map(|n| Cell::some(n.map(|n| n as f64), bytes)));
    row.extend([p.direct_reads_s, p.direct_writes_s].map(|n| Cell::some(n, count)));
    row
}
