//! Who asks ZFS for work: programs, datasets and what runs in the background, on a terminal and in Markdown.

use crate::escape::{markdown_code as code, markdown_text as text};
use crate::layout::{Align, Grid};
use crate::style::Style;
use std::fmt::Write;
use zwhy_diagnose::{Answer, BackgroundWork, DatasetDemand, Demand, ProgramDemand};
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

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
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
    let time = work.left_s.map(|s| format!("about {} to go", duration(s)));
    let share = work.disk_share.map(|share| format!("{} of what its disks work on", percent(share)));
    [done, left, time, share].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.0} h", s / 3600.0),
        s => format!("{:.0} days", s / 86_400.0),
    }
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
    let calls = Some(demand).filter(|_| verbose).and_then(calls_of);
    let tables = [programs(demand, most), calls, datasets(demand, most), background(demand)];
    let shown = tables.into_iter().flatten().map(|grid| {
        let mut lines = grid.lines(style.table());
        lines[0] = style.bold(&lines[0]);
        format!("\n{}\n", lines.join("\n"))
    });
    shown.collect()
}

fn programs(demand: &Demand, most: usize) -> Option<Grid> {
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
    (!demand.programs.is_empty()).then_some(grid)
}

/// What the calls are, and where the programs run.
fn calls_of(demand: &Demand) -> Option<Grid> {
    let mut grid = Grid::new(2, &[Align::Left; 3]);
    grid.header(["Calls of", "in", "are"]);
    let rows = demand.programs.iter().filter(|row| row.owner.is_some() || !row.calls.is_empty());
    for row in rows.clone() {
        grid.row([row.program.as_str(), row.owner.as_deref().unwrap_or_default(), &calls(row)]);
    }
    (rows.count() > 0).then_some(grid)
}

fn datasets(demand: &Demand, most: usize) -> Option<Grid> {
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
    (!demand.datasets.is_empty()).then_some(grid)
}

fn background(demand: &Demand) -> Option<Grid> {
    let mut grid = Grid::new(2, &[Align::Left, Align::Left]);
    grid.header(["In the background", ""]);
    for work in &demand.background {
        grid.row([work_name(work), progress(work)]);
        slows(work).into_iter().for_each(|slows| grid.row([String::new(), slows]));
    }
    (!demand.background.is_empty()).then_some(grid)
}

/// The same in Markdown.
pub(crate) fn markdown(out: &mut String, answer: &Answer) {
    let Some(demand) = &answer.demand else { return };
    if !demand.programs.is_empty() {
        out.push_str(
            "| who asks | processes | of ZFS calls | read/s | written/s | memory | calls |\n\
             |---|--:|--:|--:|--:|--:|---|\n",
        );
    }
    for row in &demand.programs {
        let name = code(&named(&row.program, row.owner.as_ref()));
        let part = row.zfs_part.map_or(String::new(), percent);
        let (read, written) = (bytes(row.read_bytes_s), bytes(row.written_bytes_s));
        let (memory, calls) = (bytes(row.memory_bytes), calls(row));
        let _ = writeln!(
            out,
            "| {name} | {} | {part} | {read} | {written} | {memory} | {calls} |",
            row.processes
        );
    }
    if !demand.datasets.is_empty() {
        out.push_str(
            "\n| asked of dataset | reads/s | read/s | writes/s | written/s | commits/s |\n\
             |---|--:|--:|--:|--:|--:|\n",
        );
    }
    for row in &demand.datasets {
        let name = code(&named(&row.dataset, row.owner.as_ref()));
        let (reads, writes) = (per_second(Some(row.reads_s)), per_second(Some(row.writes_s)));
        let (read, written) = (bytes(Some(row.read_bytes_s)), bytes(Some(row.written_bytes_s)));
        let commits = per_second(row.commits_s);
        let _ = writeln!(out, "| {name} | {reads} | {read} | {writes} | {written} | {commits} |");
    }
    out.push('\n');
    for work in &demand.background {
        let all = [progress(work)].into_iter().chain(slows(work)).filter(|part| !part.is_empty());
        let all = all.collect::<Vec<_>>().join(", ");
        let _ = writeln!(out, "- in the background: {} {}", code(&work_name(work)), text(&all));
    }
    out.push('\n');
}
