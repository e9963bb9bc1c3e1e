//! Threads with their CPU: rows of top, htop, ps and pidstat.
//!
//! Columns are found by the header; without one only rows of top's own shape are taken. What iotop shows
//! is time waiting for I/O, not CPU, and is left to the tables.

use crate::blocks::{Block, Line, Sink, Taken};
use crate::text::numbers;
use zwhy_evidence::{Table, ThreadCpu};

pub struct Threads;

impl Block for Threads {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let header = Columns::of(&lines.first()?.text);
        let columns = header.unwrap_or(TOP);
        // A web page may have put a blank line below the header.
        let blank = header.is_some() && lines.get(1).is_some_and(Line::is_blank);
        let first = usize::from(header.is_some()) + usize::from(blank);
        let rows: Vec<(String, f64, Option<i32>)> =
            lines[first..].iter().map_while(|l| columns.row(&l.text)).collect();
        if rows.is_empty() {
            return None;
        }
        let used = first + rows.len();
        let origin = sink.origin("threads with CPU", &lines[..used]);
        let thread = |(comm, pct, nice)| ThreadCpu { comm, cpu_pct: Some(pct), nice, origin };
        let threads = rows.into_iter().map(thread);
        sink.evidence.threads.extend(threads);
        let mut taken = Taken { kept: used - usize::from(blank), dropped: Vec::new() };
        taken.drop("blank line", usize::from(blank));
        Some(taken)
    }
}

/// Where in a row the figures are, in words from the left.
#[derive(Clone, Copy)]
struct Columns {
    cpu: usize,
    command: usize,
    /// A word that is one letter, the task's state; tells rows from prose.
    state: Option<usize>,
    nice: Option<usize>,
    /// Columns; the command takes what a row has beyond them where it is the last.
    count: usize,
}

/// `PID USER PR NI VIRT RES SHR S %CPU %MEM TIME+ COMMAND`.
const TOP: Columns = Columns { cpu: 8, command: 11, state: Some(7), nice: Some(3), count: 12 };

impl Columns {
    fn of(header: &str) -> Option<Columns> {
        let words: Vec<&str> = header.split_whitespace().take(30).collect();
        let at = |names: &[&str]| words.iter().position(|w| names.contains(w));
        let command = at(&["COMMAND", "Command", "CMD", "COMM", "command", "THREAD"])?;
        let cpu = at(&["%CPU", "CPU%", "%cpu", "C%", "WCPU", "CPU▽%", "%CPU▽", "PCPU"])
            // `ps -f` and `ps -L`: C is the CPU in per cent.
            .or_else(|| at(&["C"]).filter(|_| words.contains(&"PPID") && words.contains(&"STIME")))?;
        at(&["PID", "TID", "LWP", "SPID", "USER", "UID", "COMMAND", "COMM"])?;
        let headings = words.iter().all(|w| w.len() <= 10 && !w.ends_with(['.', ',']));
        let columns =
            Columns { cpu, command, state: at(&["S"]), nice: at(&["NI", "NICE"]), count: words.len() };
        (headings && words.len() >= 2).then_some(columns)
    }

    /// Command, per cent of a CPU, nice value.
    fn row(&self, text: &str) -> Option<(String, f64, Option<i32>)> {
        let words: Vec<&str> = text.split_whitespace().take(self.count + 12).collect();
        let last = self.command + 1 == self.count;
        if words.len() < self.count || (!last && words.len() > self.count) {
            return None;
        }
        let whole = |w: &&str| w.bytes().all(|b| b.is_ascii_digit());
        if self.count > 3 && !words.iter().take(3).any(whole) {
            return None;
        }
        if self.state.is_some_and(|s| {
            !matches!(words[s].as_bytes(), [b'R' | b'S' | b'D' | b'I' | b'Z' | b'T' | b't' | b'X', ..])
                || words[s].len() > 3
        }) {
            return None;
        }
        let cpu =
            numbers::decimal(words[self.cpu].trim_end_matches('%')).filter(|c| (0.0..1e6).contains(c))?;
        let comm = if last { words[self.command..].join(" ") } else { words[self.command].to_owned() };
        // Real-time threads have a `-` there.
        let nice = self.nice.and_then(|at| words.get(at)?.parse().ok()).filter(|n| (-20..=20).contains(n));
        Some((thread_name(&comm), cpu, nice)).filter(|(comm, ..)| !comm.is_empty())
    }
}

/// A command as a thread name: kernel threads lose their brackets, programs their path and arguments,
/// FreeBSD's `zfskern{arc_evict}` the process.
pub fn thread_name(command: &str) -> String {
    let command = command.trim_start_matches(['`', '-', '|', ' ', '├', '│', '└', '─', '_']);
    let inside = command.strip_suffix('}').and_then(|c| c.split_once('{')).filter(|(p, _)| !p.contains(' '));
    if let Some((_, thread)) = inside {
        return thread.to_owned();
    }
    if let Some(inner) = command.strip_prefix('[').and_then(|c| c.split_once(']')).map(|(inner, _)| inner) {
        let inner = inner.split_once('{').and_then(|(_, t)| t.strip_suffix('}')).unwrap_or(inner);
        return inner
            .split_once('/')
            .filter(|(p, _)| *p == "kernel" || *p == "zfskern")
            .map_or(inner, |(_, t)| t)
            .to_owned();
    }
    if command.starts_with('/') {
        let program = command.split(' ').next().unwrap_or(command);
        return program.rsplit('/').next().unwrap_or(program).to_owned();
    }
    command.to_owned()
}

/// The lines above top's rows: `%Cpu(s):  0,1 us, 49,8 sy, …`.
pub struct TopHeader;

impl Block for TopHeader {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let line = lines.first()?;
        let text = line.text.trim();
        let mut taken = Taken::default();
        if let Some((columns, row)) = cpu_line(text).or_else(|| load_line(text)) {
            let origin = sink.origin("top header", &lines[..1]);
            sink.evidence.tables.push(Table { tool: "top".to_owned(), columns, rows: vec![row], origin });
            taken.kept = 1;
            return Some(taken);
        }
        if let Some(sizes) = freebsd_arc(text) {
            let origin = sink.origin("top header", &lines[..1]);
            for (name, bytes) in sizes {
                super::cells::kstat(sink, "arcstats", name, bytes, origin);
            }
            taken.kept = 1;
            return Some(taken);
        }
        if let Some((columns, row)) = memory_line(text) {
            let origin = sink.origin("top header", &lines[..1]);
            sink.evidence.tables.push(Table { tool: "top".to_owned(), columns, rows: vec![row], origin });
            taken.kept = 1;
            return Some(taken);
        }
        const OTHER: [&str; 3] = ["Tasks:", "Threads:", "Processes:"];
        let freebsd = text.split_once(' ').is_some_and(|(n, rest)| {
            n.bytes().all(|b| b.is_ascii_digit())
                && rest.starts_with("processes: ")
                && rest.contains("running")
        });
        if freebsd || OTHER.iter().any(|o| text.starts_with(o)) && text.contains("total") {
            taken.drop("header of top without CPU figures", 1);
            return Some(taken);
        }
        None
    }
}

/// `MiB Mem : 385086,8 total,  20213,4 free, …`, `KiB Swap:  …`, `Mem:  65843064k total, …`, in MiB.
fn memory_line(text: &str) -> Option<(Vec<String>, Vec<String>)> {
    let (head, rest) = text.split_once(':')?;
    let (unit, what) = match head.split_whitespace().collect::<Vec<_>>()[..] {
        [unit @ ("MiB" | "KiB" | "GiB"), what] => (unit, what),
        [what] => ("", what),
        _ => return None,
    };
    let kind = match what {
        "Mem" => "mem",
        "Swap" => "swap",
        _ => return None,
    };
    // FreeBSD: `404M Active, 998M Inact, 13G Wired, 741M Free`; the unit is with each figure.
    const FREEBSD: [&str; 7] = ["Active", "Inact", "Laundry", "Wired", "Buf", "Free", "Inuse"];
    let freebsd = rest.contains(" Wired") || rest.contains("M Total");
    (freebsd || rest.contains("total")).then_some(())?;
    let (mut columns, mut row) = (Vec::new(), Vec::new());
    let words: Vec<&str> = rest.split_whitespace().collect();
    for pair in words.windows(2) {
        let name = pair[1].trim_end_matches([',', '.']);
        let figure = pair[0].trim_end_matches('+');
        let told = matches!(name, "total" | "free" | "used")
            || (freebsd && (FREEBSD.contains(&name) || matches!(name, "Total" | "Used")));
        if !told || !figure.starts_with(|c: char| c.is_ascii_digit()) {
            continue;
        }
        let letter = figure.chars().last().filter(char::is_ascii_alphabetic);
        let value = numbers::decimal(figure.trim_end_matches(|c: char| c.is_ascii_alphabetic()))?;
        let mib = match (unit, letter) {
            ("MiB", _) | ("", Some('m' | 'M')) => value,
            ("GiB", _) | ("", Some('g' | 'G')) => value * 1024.0,
            ("KiB", _) | ("", Some('k' | 'K')) => value / 1024.0,
            _ => return None,
        };
        columns.push(format!("{kind}_{}_MiB", name.to_lowercase()));
        row.push(super::cells::show(mib));
    }
    (!row.is_empty()).then_some((columns, row))
}

/// `%Cpu(s):  0.1 us, 49.8 sy`, `Cpu(s):  0.2%us, 50.4%sy`.
fn cpu_line(text: &str) -> Option<(Vec<String>, Vec<String>)> {
    let (name, rest) = text.split_once(':')?;
    if name == "CPU" && rest.contains("% idle") {
        return freebsd_cpu(rest);
    }
    if !matches!(name.trim_end(), "%Cpu(s)" | "Cpu(s)") && !name.starts_with("%Cpu") {
        return None;
    }
    let (mut columns, mut row) = (Vec::new(), Vec::new());
    // Letters end a figure; commas may be decimal, so they do not.
    let mut figure = String::new();
    let mut unit = String::new();
    for c in rest.chars().chain([' ']) {
        if c.is_ascii_lowercase() {
            unit.push(c);
        } else {
            if !unit.is_empty() {
                let value = numbers::decimal(figure.trim_matches([',', ' ', '%']))?;
                columns.push(std::mem::take(&mut unit));
                row.push(value.to_string());
                figure.clear();
            }
            figure.push(c);
        }
    }
    (columns.len() > 2).then_some((columns, row))
}

/// `CPU:  0.2% user,  0.0% nice, 59.3% system,  0.0% interrupt, 40.5% idle` of FreeBSD, under the names
/// that Linux uses.
fn freebsd_cpu(rest: &str) -> Option<(Vec<String>, Vec<String>)> {
    let (mut columns, mut row) = (Vec::new(), Vec::new());
    for part in rest.split(',') {
        let (figure, what) = part.trim().split_once("% ")?;
        let name = match what.trim() {
            "user" => "us",
            "nice" => "ni",
            "system" => "sy",
            "interrupt" => "hi",
            "idle" => "id",
            _ => continue,
        };
        columns.push(name.to_owned());
        row.push(numbers::decimal(figure)?.to_string());
    }
    (columns.len() > 2).then_some((columns, row))
}

/// `ARC: 11G Total, 2633M MFU, 7893M MRU, 36M Anon, 256M Header, 935M Other` of FreeBSD, in bytes.
fn freebsd_arc(text: &str) -> Option<Vec<(&'static str, f64)>> {
    let rest = text.strip_prefix("ARC: ").filter(|r| r.contains(" Total"))?;
    let size = |part: &str| {
        let (figure, what) = part.trim().split_once(' ')?;
        // `Header` adds up two counters of the kernel, so it is no kstat of its own.
        let name = match what.trim() {
            "Total" => "size",
            "MFU" => "mfu_size",
            "MRU" => "mru_size",
            "Anon" => "anon_size",
            _ => return None,
        };
        Some((name, super::cells::bytes(figure)?))
    };
    Some(rest.split(',').filter_map(size).collect())
}

/// `top - 12:34:56 up 3 days,  load average: 12.01, 11.50, 9.70`, `load averages:  4.56,  3.61,  3.89`.
fn load_line(text: &str) -> Option<(Vec<String>, Vec<String>)> {
    let (before, loads) = text.split_once("load average:").or_else(|| {
        text.split_once("load averages:").filter(|(before, _)| before.starts_with("last pid:"))
    })?;
    if !before.contains(" up ") && !before.starts_with("last pid:") {
        return None;
    }
    // FreeBSD puts the time that it is up behind them.
    let loads = loads.split(" up ").next().unwrap_or(loads);
    let loads: Vec<String> = loads.split(", ").filter_map(numbers::decimal).map(|l| l.to_string()).collect();
    let columns = ["load1", "load5", "load15"].map(str::to_owned).to_vec();
    (loads.len() == 3).then_some((columns, loads))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_top_htop_and_ps() {
        let row = TOP.row("  977 root      39  19       0      0      0 R  99,7   0,0  12:34.56 arc_prune");
        assert_eq!(row, Some(("arc_prune".to_owned(), 99.7, Some(19))));
        let row = TOP.row("   17 root      rt   -       0      0      0 S   0,7   0,0  12:34.56 migration/0");
        assert_eq!(row.unwrap().2, None);
        let ps =
            Columns::of("USER       PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND").unwrap();
        assert_eq!(ps.row("root 77 57.9 0.0 0 0 ? S 10:00 5:11 [dbuf_evict]").unwrap().0, "dbuf_evict");
        assert_eq!(ps.row("root 78 1.0 0.0 0 0 ? Sl 10:00 5:11 /usr/sbin/smbd -D").unwrap().0, "smbd");
        assert_eq!(
            memory_line("MiB Mem : 385086,8 total,  20213,4 free").unwrap().1,
            ["385086.8", "20213.4"]
        );
        assert_eq!(memory_line("KiB Swap:  2048 total,  1024 free,  1024 used.").unwrap().1, ["2", "1", "1"]);
        let lwp = Columns::of("UID PID PPID LWP C NLWP STIME TTY TIME CMD").unwrap();
        assert_eq!(
            lwp.row("root 9 2 9 57 1 Nov01 ? 1-02:03:04 [z_wr_iss]").unwrap(),
            ("z_wr_iss".into(), 57.0, None)
        );
        let freebsd = Columns::of("PID USERNAME PRI NICE SIZE RES STATE C TIME WCPU COMMAND").unwrap();
        let row = freebsd.row("6 root -8 - 0B 18M CPU3 3 12:34 98.10% zfskern{arc_evict}").unwrap();
        assert_eq!((row.0.as_str(), row.1), ("arc_evict", 98.1));
        let first = Columns::of("COMMAND %CPU").unwrap();
        assert_eq!(first.row("txg_sync 12.5").unwrap(), ("txg_sync".into(), 12.5, None));
        assert!(first.row("and then 12.5").is_none());
        assert!(Columns::of("the COMMAND took %CPU of it all.").is_none());
        assert!(TOP.row("a sentence of many words that is longer than a row of top is").is_none());
        assert_eq!(
            cpu_line("%Cpu(s):  0,1 us, 49,8 sy,  0,0 ni, 40,0 id").unwrap().1,
            ["0.1", "49.8", "0", "40"]
        );
        assert_eq!(cpu_line("Cpu(s):  0.2%us, 50.4%sy,  0.0%ni").unwrap().0, ["us", "sy", "ni"]);
        let (columns, row) = cpu_line("CPU:  0.2% user, 59.3% system,  0.0% interrupt, 40.5% idle").unwrap();
        assert_eq!((columns.join(" "), row.join(" ")), ("us sy hi id".into(), "0.2 59.3 0 40.5".into()));
        let loads =
            load_line("last pid: 92403;  load averages:  4.56,  3.61,  3.89   up 2+19:45:36  08:26:33");
        assert_eq!(loads.unwrap().1, ["4.56", "3.61", "3.89"]);
        let (columns, row) = memory_line("Mem: 404M Active, 13G Wired, 1624K Cache, 741M Free").unwrap();
        assert_eq!(columns.join(" "), "mem_active_MiB mem_wired_MiB mem_free_MiB");
        assert_eq!(row, ["404", "13312", "741"]);
        let arc = freebsd_arc("ARC: 11G Total, 2633M MFU, 36M Anon, 256M Header").unwrap();
        assert_eq!((arc[0], arc.len()), (("size", 11.0 * 1024f64.powi(3)), 3));
    }
}
