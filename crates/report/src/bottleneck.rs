//! What limits the load: who waits for what, and how busy the disks are, on a terminal and in Markdown.

use crate::escape::{markdown_code as code, markdown_text as text};
use crate::figures::percent;
use crate::layout::{Align, Grid, labelled};
use crate::markdown::table;
use crate::style::Style;
use std::borrow::Cow;
use std::fmt::Write;
use zwhy_diagnose::{Answer, Bottleneck, DiskRow, LimitKind, ProgramTime, QueueRow};
use zwhy_zfs::format_bytes;

const PROGRAMS: usize = 2;
const DISKS: usize = 3;
const QUEUES: usize = 2;
/// Disks that are less busy are only listed in full.
const WORTH_A_LINE: f64 = 0.05;

/// What limits the load, as far as the first line does not say it.
pub(crate) fn line(answer: &Answer) -> Option<Cow<'_, str>> {
    let text = answer.bottleneck.as_ref()?.text.trim_end_matches('.');
    let told = |part: &str| answer.why.contains(part);
    match text.split_once(": ") {
        _ if told(text) => None,
        Some((whether, what)) if told(what) => Some(Cow::Owned(format!("{whether}."))),
        _ => Some(Cow::Borrowed(&answer.bottleneck.as_ref()?.text)),
    }
}

/// The kind of limit as people call it.
pub(crate) fn kind(kind: LimitKind) -> &'static str {
    match kind {
        LimitKind::Cpu => "all CPUs",
        LimitKind::Thread => "one thread",
        LimitKind::Device => "disk",
        LimitKind::Queue => "a queue",
        LimitKind::Lock => "a lock",
        LimitKind::Memory => "memory",
        LimitKind::Throttle => "a throttle",
        LimitKind::Client => "the program itself",
        LimitKind::Idle => "nothing",
    }
}

/// `disk nvme0n1; CPU 64.0 % idle, 2.0 % taken by the hypervisor`
pub(crate) fn figures(limit: &Bottleneck) -> String {
    let what = if limit.what.is_empty() { String::new() } else { format!(" {}", limit.what) };
    let idle = limit.cpu_idle.map(|idle| format!("{} idle", percent(idle)));
    let stolen = limit.cpu_stolen.map(|stolen| format!("{} taken by the hypervisor", percent(stolen)));
    let cpu: Vec<String> = [idle, stolen].into_iter().flatten().collect();
    let cpu = if cpu.is_empty() { String::new() } else { format!("; CPU {}", cpu.join(", ")) };
    format!("{}{what}{cpu}", kind(limit.kind))
}

/// `disk reads 95.0 %, a lock 1.0 %`
fn waits(program: &ProgramTime) -> String {
    let part = |part: &zwhy_diagnose::TimePart| format!("{} {}", part.waits_for, percent(part.share));
    program.waits.iter().map(part).collect::<Vec<_>>().join(", ")
}

fn ms(time: Option<f64>) -> String {
    let text = |ms: f64| match ms {
        ms if ms < 1.0 => format!("{ms:.2} ms"),
        ms if ms < 1000.0 => format!("{ms:.1} ms"),
        ms => format!("{ms:.0} ms"),
    };
    time.map_or(String::new(), text)
}

fn bytes(n: f64) -> String {
    format_bytes(n.max(0.0) as u64)
}

fn disk_name(disk: &DiskRow) -> String {
    disk.pool.as_ref().map_or_else(|| disk.disk.clone(), |pool| format!("{} ({pool})", disk.disk))
}

/// Tables of programs that wait and of disks, on a terminal.
pub(crate) fn tables(answer: &Answer, verbose: bool, style: Style) -> String {
    let Some(limit) = &answer.bottleneck else { return String::new() };
    let mut out = String::new();
    if verbose {
        out.push_str(&format!("\n{}", labelled("Limit", 7, &figures(limit), style.prose())));
    }
    out.push_str(&programs(limit, verbose, style));
    out.push_str(&disks(limit, verbose, style));
    out.push_str(&queues(limit, verbose, style));
    out
}

fn programs(limit: &Bottleneck, verbose: bool, style: Style) -> String {
    let right = Align::Right;
    let mut grid = Grid::new(2, &[Align::Left, right, right, right, Align::Left]);
    grid.header(["Programs that wait", "threads", "time", "on a CPU", "waits for"]);
    let most = if verbose { usize::MAX } else { PROGRAMS };
    for row in limit.programs.iter().take(most) {
        let time = format!("{:.1} s", row.wall_s);
        let cpu = row.on_cpu.map_or(String::new(), percent);
        grid.row([row.program.as_str(), &row.threads.to_string(), &time, &cpu, &waits(row)]);
    }
    grid.titled("", style)
}

fn disks(limit: &Bottleneck, verbose: bool, style: Style) -> String {
    let right = Align::Right;
    let mut grid = Grid::new(2, &[Align::Left, right, right, right, right, right, right, right]);
    grid.header(["Disks", "busy", "reads/s", "each", "writes/s", "each", "queue", "B/s"]);
    let shown = |row: &&DiskRow| verbose || row.busy >= WORTH_A_LINE;
    let most = if verbose { usize::MAX } else { DISKS };
    for row in limit.disks.iter().filter(shown).take(most) {
        grid.row([
            disk_name(row).as_str(),
            &format!("{:.0} %", row.busy * 100.0),
            &format!("{:.0}", row.reads_s),
            &ms(row.read_ms),
            &format!("{:.0}", row.writes_s),
            &ms(row.write_ms),
            &format!("{:.1}", row.queue),
            &bytes(row.read_bytes_s + row.written_bytes_s),
        ]);
    }
    grid.titled("", style)
}

/// Queues in which requests wait longer than they take on the disk.
fn queues(limit: &Bottleneck, verbose: bool, style: Style) -> String {
    let right = Align::Right;
    let mut grid = Grid::new(2, &[Align::Left, right, right, right, right]);
    grid.header(["Queues of ZFS", "waiting", "each", "at the disk", "each"]);
    let most = if verbose { usize::MAX } else { QUEUES };
    for row in limit.queues.iter().take(most) {
        let (waiting, wait, disk) = (format!("{:.1}", row.waiting), ms(Some(row.wait_ms)), ms(row.disk_ms));
        let name = format!("{} of {}", row.queue, queue_disk(row));
        grid.row([name.as_str(), &waiting, &wait, &at_disk(row), &disk]);
    }
    grid.titled("", style)
}

fn queue_disk(row: &QueueRow) -> String {
    format!("{} ({})", row.disk, row.pool)
}

/// `9.8 of at most 10`
fn at_disk(row: &QueueRow) -> String {
    let limit = row.limit.map_or(String::new(), |limit| format!(" of at most {limit}"));
    format!("{:.1}{limit}", row.active)
}

/// The same in Markdown.
pub(crate) fn markdown(out: &mut String, answer: &Answer) {
    let Some(limit) = &answer.bottleneck else { return };
    if let Some(line) = line(answer) {
        let _ = writeln!(out, "{}\n", text(&line));
    }
    let _ = writeln!(out, "- limit: {}\n", text(&figures(limit)));
    let program = |row: &ProgramTime| {
        let (threads, time) = (row.threads.to_string(), format!("{:.1}", row.wall_s));
        [code(&row.program), threads, time, row.on_cpu.map_or(String::new(), percent), text(&waits(row))]
    };
    let head = ["program that waits", ">threads", ">s", ">on a CPU", "waits for"];
    table(out, "", head, limit.programs.iter().map(program));
    let disk = |row: &DiskRow| {
        let whole = |n: f64| format!("{n:.0}");
        [
            code(&disk_name(row)),
            percent(row.busy),
            whole(row.reads_s),
            ms(row.read_ms),
            whole(row.writes_s),
            ms(row.write_ms),
            format!("{:.1}", row.queue),
            bytes(row.read_bytes_s),
            bytes(row.written_bytes_s),
        ]
    };
    let head =
        ["disk", ">busy", ">reads/s", ">each", ">writes/s", ">each", ">queue", ">read/s", ">written/s"];
    table(out, "\n", head, limit.disks.iter().map(disk));
    let queue = |row: &QueueRow| {
        let (waiting, wait) = (format!("{:.1}", row.waiting), ms(Some(row.wait_ms)));
        [text(&row.queue), code(&queue_disk(row)), waiting, wait, at_disk(row), ms(row.disk_ms)]
    };
    let head = ["queue of ZFS", "of", ">waiting", ">each", ">at the disk", ">each"];
    table(out, "\n", head, limit.queues.iter().map(queue));
    out.push('\n');
}
