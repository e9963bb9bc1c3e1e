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
        let first = usize::from(header.is_some());
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
        Taken::kept(used)
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
}

/// `PID USER PR NI VIRT RES SHR S %CPU %MEM TIME+ COMMAND`.
const TOP: Columns = Columns { cpu: 8, command: 11, state: Some(7), nice: Some(3) };

impl Columns {
    fn of(header: &str) -> Option<Columns> {
        let words: Vec<&str> = header.split_whitespace().take(30).collect();
        let at = |names: &[&str]| words.iter().position(|w| names.contains(w));
        let command = at(&["COMMAND", "Command", "CMD", "COMM", "command"])?;
        let cpu = at(&["%CPU", "CPU%", "%cpu", "C%", "WCPU", "CPU▽%", "%CPU▽"])?;
        at(&["PID", "TID", "LWP", "SPID", "USER"])?;
        let (state, nice) = (at(&["S"]), at(&["NI"]));
        (command + 1 == words.len() && cpu < command).then_some(Columns { cpu, command, state, nice })
    }

    /// Command, per cent of a CPU, nice value.
    fn row(&self, text: &str) -> Option<(String, f64, Option<i32>)> {
        let words: Vec<&str> = text.split_whitespace().take(self.command + 12).collect();
        if words.len() <= self.command || !words.iter().take(3).any(|w| w.bytes().all(|b| b.is_ascii_digit()))
        {
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
        let comm = words[self.command..].join(" ");
        // Real-time threads have a `-` there.
        let nice = self.nice.and_then(|at| words.get(at)?.parse().ok()).filter(|n| (-20..=19).contains(n));
        Some((thread_name(&comm), cpu, nice))
    }
}

/// A command as a thread name: kernel threads lose their brackets, programs their path and arguments.
fn thread_name(command: &str) -> String {
    let command = command.trim_start_matches(['`', '-', '|', ' ', '├', '│', '└', '─']);
    if let Some(inner) = command.strip_prefix('[').and_then(|c| c.split_once(']')).map(|(inner, _)| inner) {
        return inner.to_owned();
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
        const OTHER: [&str; 10] = [
            "Tasks:", "Threads:", "MiB Mem", "KiB Mem", "GiB Mem", "MiB Swap", "KiB Swap", "GiB Swap",
            "Mem:", "Swap:",
        ];
        if OTHER.iter().any(|o| text.starts_with(o)) && text.contains("total") {
            taken.drop("header of top without CPU figures", 1);
            return Some(taken);
        }
        None
    }
}

/// `%Cpu(s):  0.1 us, 49.8 sy`, `Cpu(s):  0.2%us, 50.4%sy`.
fn cpu_line(text: &str) -> Option<(Vec<String>, Vec<String>)> {
    let (name, rest) = text.split_once(':')?;
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

/// `top - 12:34:56 up 3 days,  load average: 12.01, 11.50, 9.70`.
fn load_line(text: &str) -> Option<(Vec<String>, Vec<String>)> {
    let (before, loads) = text.split_once("load average:")?;
    if !before.contains(" up ") {
        return None;
    }
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
        assert!(TOP.row("a sentence of many words that is longer than a row of top is").is_none());
        assert_eq!(
            cpu_line("%Cpu(s):  0,1 us, 49,8 sy,  0,0 ni, 40,0 id").unwrap().1,
            ["0.1", "49.8", "0", "40"]
        );
        assert_eq!(cpu_line("Cpu(s):  0.2%us, 50.4%sy,  0.0%ni").unwrap().0, ["us", "sy", "ni"]);
    }
}
