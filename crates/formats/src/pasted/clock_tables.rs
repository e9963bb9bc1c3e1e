//! Tables of the sysstat tools, whose rows may begin with the time: mpstat, pidstat, sar.
//!
//! Time words (`12:00:01 PM`, `Average:`) become one column; pidstat's rows are threads.

use super::cells::{self, time_words};
use super::threads::thread_name;
use crate::blocks::{Block, Line, Sink, Taken};
use crate::text::numbers;
use zwhy_evidence::ThreadCpu;

/// A column that only one report has, and what the report is called.
const REPORTS: [(&str, &str); 24] = [
    ("pgpgin/s", "sar -B"),
    ("kbmemfree", "sar -r"),
    ("kbswpfree", "sar -S"),
    ("pswpin/s", "sar -W"),
    ("cswch/s", "sar -w"),
    ("intr/s", "sar -I"),
    ("runq-sz", "sar -q"),
    ("rxpck/s", "sar -n DEV"),
    ("bread/s", "sar -b"),
    ("DEV", "sar -d"),
    ("dentunusd", "sar -v"),
    ("%gnice", "mpstat"),
    ("%usr", "mpstat"),
    ("%user", "sar -u"),
    ("MHz", "sar -m"),
    ("%smem", "sar -P"),
    ("%scpu-10", "sar -q CPU"),
    ("%sio-10", "sar -q IO"),
    ("%smem-10", "sar -q MEM"),
    ("call/s", "sar -n NFS"),
    ("scall/s", "sar -n NFSD"),
    ("totsck", "sar -n SOCK"),
    ("kbhugfree", "sar -H"),
    ("TTY", "sar -y"),
];

pub struct ClockTable;

impl Block for ClockTable {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let (columns, report) = header(&lines.first()?.text)?;
        let pid = columns.iter().any(|c| matches!(c.as_str(), "PID" | "TID" | "TGID"));
        let mut rows: Vec<Vec<String>> = Vec::new();
        let mut used = 1;
        let mut headers = 1;
        for line in &lines[1..] {
            const MOST_HEADERS: usize = 8;
            if header(&line.text).is_some_and(|(c, _)| c == columns) {
                headers += 1;
                if rows.is_empty() && headers > MOST_HEADERS {
                    break;
                }
                used += 1;
                continue;
            }
            let Some(row) = row(&line.text, &columns, pid) else { break };
            rows.push(row);
            used += 1;
        }
        if rows.is_empty() {
            return None;
        }
        let origin = sink.origin(report, &lines[..used]);
        if pid {
            let at = |name: &[&str]| columns.iter().position(|c| name.contains(&c.as_str()));
            let cpu = at(&["%CPU"])?;
            // Figures of threads are added up: only those of one interval, the last or the average.
            let last = rows.last().map(|r| r[0].clone()).filter(|_| columns[0] == "time");
            let of_last = rows.iter().filter(|r| last.as_ref().is_none_or(|time| r[0] == *time));
            let threads = of_last.map(|r| ThreadCpu {
                comm: thread_name(r.last().map_or("", String::as_str)),
                cpu_pct: numbers::number(&r[cpu]),
                nice: None,
                origin,
            });
            sink.evidence.threads.extend(threads);
        } else {
            cells::table(sink, report, columns, rows, origin);
        }
        Taken::kept(used)
    }
}

/// Columns, the first of them `time` where rows begin with it, and the report.
fn header(text: &str) -> Option<(Vec<String>, &'static str)> {
    let words: Vec<&str> = text.trim().trim_start_matches('#').split_whitespace().take(40).collect();
    let times = time_words(&words);
    let names = &words[times..];
    let is_names = names.len() >= 3 && names.iter().all(|w| w.bytes().any(|b| b.is_ascii_alphabetic()));
    if !is_names {
        return None;
    }
    let command = names.last().is_some_and(|w| *w == "Command");
    let threads = command
        && names.contains(&"%CPU")
        && (names.contains(&"PID") || names.contains(&"TID") || names.contains(&"TGID"));
    let report = if threads {
        // Of top and ps, whose rows have no time and other columns, the threads recogniser knows more.
        names.contains(&"%system").then_some("pidstat")?
    } else {
        REPORTS.iter().find(|(own, _)| names.contains(own)).filter(|_| times > 0 || names[0] == "CPU")?.1
    };
    let mut columns = Vec::new();
    if times > 0 {
        columns.push("time".to_owned());
    }
    columns.extend(cells::names(names));
    Some((columns, report))
}

fn row(text: &str, columns: &[String], pid: bool) -> Option<Vec<String>> {
    let words: Vec<&str> = text.split_whitespace().take(columns.len() + 12).collect();
    let times = time_words(&words);
    let timed = columns.first().is_some_and(|c| c == "time");
    if timed != (times > 0) {
        return None;
    }
    let mut out = Vec::new();
    if timed {
        out.push(words[..times].join(" "));
    }
    out.extend(words[times..].iter().map(|w| cells::plain(w)));
    if pid && out.len() > columns.len() {
        let command = out.split_off(columns.len() - 1).join(" ");
        out.push(command);
    }
    let figures =
        out.iter().skip(1).filter(|c| c.starts_with(|c: char| c.is_ascii_digit() || c == '-')).count();
    (out.len() == columns.len() && figures * 2 >= out.len() - 1).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_one_column() {
        let (columns, report) = header("12:00:01 PM  CPU    %usr   %nice    %sys %iowait").unwrap();
        assert_eq!((columns[0].as_str(), columns.len(), report), ("time", 6, "mpstat"));
        assert_eq!(row("Average:  all  1,00 0,00 90,10 0,00", &columns, false).unwrap()[4], "90.1");
        assert_eq!(row("12:00:02 PM  all  1.00 0.00 90.10 0.00", &columns, false).unwrap()[0], "12:00:02 PM");
        assert!(header("12:00:01 I saw that it was slow").is_none());
        assert!(header("  PID USER PR NI VIRT RES SHR S %CPU %MEM TIME+ COMMAND").is_none());
    }
}
