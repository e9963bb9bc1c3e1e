//! Who asks ZFS for work: programs, datasets and what runs in the background, on a terminal and in Markdown.

use crate::escape::{markdown_code as code, markdown_text as text};
use crate::figures::percent;
use crate::layout::{Align, Grid};
use crate::markdown::table;
use crate::style::Style;
use std::fmt::Write;
use zwhy_diagnose::{Answer, BackgroundWork, DatasetDemand, Demand, ProgramDemand, duration_words};
use zwhy_zfs::format_bytes;

/// Rows of each kind that are shown where not all are.
const SHOWN: usize = 3;

/// `postgres (container 3f2a)`
fn named(name: &str, owner: Option<&String>) -> String {
    owner.map_or_else(|| name.to_owned(), |owner| format!("{name} ({owner})"))
}

fn bytes(n: Option<f64>) -> String {
    n.map_or(String::new(), |n| format_bytes(n.max(0.0) as u64))
}

/// `reads 67.0 %, commits 33.0 %`
fn calls(program: &ProgramDemand) -> String {
    let part = |part: &zwhy_diagnose::CallPart| format!("{} {}", part.call, percent(part.share));
    program.calls.iter().map(part).collect::<Vec<_>>().join(", ")
}

fn per_second(n: Option<f64>) -> String {
    n.map_or(String::new(), |n| if n < 9.95 { format!("{n:.1}") } else { format!("{n:.0}") })
}

/// `25.0 % done, 4K left, about 10 min to go, 62.0 % of what its disks work on`
fn progress(work: &BackgroundWork) -> String {
    let done = work.done.map(|done| format!("{} done", percent(done)));
    let left = work.left_bytes.map(|n| format!("{} left", bytes(Some(n))));
    let time = work.left_s.map(|s| format!("about {} to go", duration_words(s)));
    let share = work.disk_share.map(|share| format!("{} of what its disks work on", percent(share)));
    [done, left, time, share].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// `slows postgres, rsync`
fn slows(work: &BackgroundWork) -> Option<String> {
    (!work.slows.is_empty()).then(|| format!("slows {}", work.slows.join(", ")))
}

/// `scrub of tank`
fn work_name(work: &BackgroundWork) -> String {
    if work.pool.is_empty() { work.work.clone() } else { format!("{} of {}", work.work, work.pool) }
}

pub(crate) fn tables(answer: &Answer, verbose: bool, style: Style) -> String {
    let Some(demand) = &answer.demand else { return String::new() };
    let most = if verbose { usize::MAX } else { SHOWN };
    let calls = if verbose { Some(calls_of(demand)) } else { None };
    let tables =
        [Some(programs(demand, most)), calls, Some(datasets(demand, most)), Some(background(demand))];
    tables.iter().flatten().map(|grid| grid.titled("", style)).collect()
}

fn programs(demand: &Demand, most: usize) -> Grid {
    let right = Align::Right;
    let mut grid = Grid::new(2, &[Align::Left, right, right, right, right, right]);
    grid.header(["Who asks", "processes", "of ZFS calls", "read/s", "written/s", "memory"]);
    for row in demand.programs.iter().take(most) {
        grid.row([
            named(&row.program, row.owner.as_ref()).as_str(),
            &row.processes.to_string(),
            &row.zfs_part.map_or(String::new(), percent),
            &bytes(row.read_bytes_s),
            &bytes(row.written_bytes_s),
            &bytes(row.memory_bytes),
        ]);
    }
    grid
}

/// What the calls are, and where the programs run.
fn calls_of(demand: &Demand) -> Grid {
    let mut grid = Grid::new(2, &[Align::Left; 3]);
    grid.header(["Calls of", "in", "are"]);
    let rows = demand.programs.iter().filter(|row| row.owner.is_some() || !row.calls.is_empty());
    for row in rows {
        grid.row([row.program.as_str(), row.owner.as_deref().unwrap_or_default(), &calls(row)]);
    }
    grid
}

fn datasets(demand: &Demand, most: usize) -> Grid {
    let right = Align::Right;
    let mut grid = Grid::new(2, &[Align::Left, right, right, right, right, right]);
    grid.header(["Asked of dataset", "reads/s", "read/s", "writes/s", "written/s", "commits/s"]);
    for row in demand.datasets.iter().take(most) {
        let DatasetDemand { reads_s, writes_s, read_bytes_s, written_bytes_s, .. } = row;
        grid.row([
            named(&row.dataset, row.owner.as_ref()).as_str(),
            &per_second(Some(*reads_s)),
            &bytes(Some(*read_bytes_s)),
            &per_second(Some(*writes_s)),
            &bytes(Some(*written_bytes_s)),
            &per_second(row.commits_s),
        ]);
    }
    grid
}

fn background(demand: &Demand) -> Grid {
    let mut grid = Grid::new(2, &[Align::Left, Align::Left]);
    grid.header(["In the background", ""]);
    for work in &demand.background {
        grid.row([work_name(work), progress(work)]);
        slows(work).into_iter().for_each(|slows| grid.row([String::new(), slows]));
    }
    grid
}

/// The same in Markdown.
pub(crate) fn markdown(out: &mut String, answer: &Answer) {
    let Some(demand) = &answer.demand else { return };
    let program = |row: &ProgramDemand| {
        let (name, processes) = (named(&row.program, row.owner.as_ref()), row.processes.to_string());
        let [read, written, memory] = [row.read_bytes_s, row.written_bytes_s, row.memory_bytes].map(bytes);
        let part = row.zfs_part.map_or(String::new(), percent);
        [code(&name), processes, part, read, written, memory, calls(row)]
    };
    let head = ["who asks", ">processes", ">of ZFS calls", ">read/s", ">written/s", ">memory", "calls"];
    table(out, "", head, demand.programs.iter().map(program));
    let dataset = |row: &DatasetDemand| {
        let (read, written) = (bytes(Some(row.read_bytes_s)), bytes(Some(row.written_bytes_s)));
        let [reads, writes, commits] = [Some(row.reads_s), Some(row.writes_s), row.commits_s].map(per_second);
        [code(&named(&row.dataset, row.owner.as_ref())), reads, read, writes, written, commits]
    };
    let head = ["asked of dataset", ">reads/s", ">read/s", ">writes/s", ">written/s", ">commits/s"];
    table(out, "\n", head, demand.datasets.iter().map(dataset));
    out.push('\n');
    for work in &demand.background {
        let all = [progress(work)].into_iter().chain(slows(work)).filter(|part| !part.is_empty());
        let all = all.collect::<Vec<_>>().join(", ");
        let _ = writeln!(out, "- in the background: {} {}", code(&work_name(work)), text(&all));
    }
    out.push('\n');
}
