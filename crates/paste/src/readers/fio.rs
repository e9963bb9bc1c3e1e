//! fio's report for people, of fio 2 and 3: one row of the table `fio` a job and direction.
//!
//! Sizes are bytes, times nanoseconds. Lines of a report that hold nothing of that are counted as such.

use crate::blocks::{Block, Line, Sink, Taken};
use crate::cells;
use crate::report_lines::report_lines;
use crate::words::WORDS;

pub struct Fio;

pub const COLUMNS: [&str; 13] = [
    "job",
    "rw",
    "bs",
    "direction",
    "iops",
    "bytes/s",
    "lat avg ns",
    "clat avg ns",
    "p50 ns",
    "p99 ns",
    "p99.9 ns",
    "usr %",
    "sys %",
];

impl Block for Fio {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        if !starts(lines.first()?.text.trim()) {
            return None;
        }
        let mut reader = Reader::default();
        let mut taken = Taken::default();
        for (blanks, line) in report_lines(lines) {
            // Announcements without a result are looked at once, not from each of them.
            const UNSURE_LINES: usize = 300;
            if reader.rows.is_empty() && taken.used() > UNSURE_LINES {
                break;
            }
            let Some(kept) = reader.line(&line.text) else { break };
            taken.drop("blank line", blanks);
            if kept {
                taken.kept += 1;
            } else {
                taken.drop("line of fio without a figure that is used", 1);
            }
        }
        if reader.rows.is_empty() {
            // One line may be a sentence; several are of fio, cut before its result.
            let used = taken.used();
            taken = Taken::default();
            taken.drop("fio job without a result", used);
            return (used > 1).then_some(taken);
        }
        let origin = sink.origin("fio", &lines[..taken.used()]);
        let rows = reader.rows.into_iter().map(|r| r.to_vec()).collect();
        cells::table(sink, "fio", cells::names(&COLUMNS), rows, origin);
        Some(taken)
    }
}

fn starts(text: &str) -> bool {
    job_line(text).is_some() || result_job(text).is_some() || direction(text).is_some()
}

/// `randread: (g=0): rw=randread, bs=(R) 4096B-4096B, …`: name, pattern, block size.
fn job_line(text: &str) -> Option<(&str, &str, &str)> {
    let (name, rest) = text.split_once(": (g=")?;
    let (_, rest) = rest.split_once("rw=")?;
    let rw = rest.split(',').next()?;
    let (_, rest) = rest.split_once("bs=")?;
    let rest = rest.trim_start_matches("(R) ");
    let bs = rest.split([',', '-']).next()?;
    Some((name, rw, bs.trim_end_matches('B')))
}

/// `seqread: (groupid=0, jobs=1): err= 0: pid=1234: …`.
fn result_job(text: &str) -> Option<&str> {
    text.split_once(": (groupid=").map(|(name, _)| name)
}

/// `read: IOPS=12.3k, BW=48.2MiB/s (…)`, `write: io=2893.4MB, bw=49363KB/s, iops=12340, …`.
fn direction(text: &str) -> Option<(&str, Option<f64>, Option<f64>)> {
    let (name, rest) = text.split_once(':')?;
    let name = name.trim();
    if !matches!(name, "read" | "write" | "trim") {
        return None;
    }
    let value = |key: &str| {
        let rest = rest.split_once(key)?.1;
        Some(rest.split([',', ' ', '(']).find(|w| !w.is_empty())?.trim_end_matches("/s"))
    };
    if let Some(iops) = value("IOPS=") {
        return Some((name, cells::count(iops), value("BW=").and_then(rate)));
    }
    let iops = value("iops=")?;
    Some((name, cells::count(iops), value("bw=").and_then(rate)))
}

/// Bytes of `48.2MiB`, `49363KB` (fio 2 means 1024 by KB), `870B`.
fn rate(text: &str) -> Option<f64> {
    cells::bytes(text)
}

#[derive(Default)]
struct Reader {
    /// Name, pattern and block size of each job that was announced.
    jobs: Vec<[String; 3]>,
    job: String,
    rows: Vec<[String; 13]>,
    /// Rows before this are of jobs whose CPU line was read.
    done: usize,
    /// Nanoseconds of the unit of the percentile lines at hand.
    percentiles: Option<f64>,
}

impl Reader {
    /// `Some(true)` for a line with figures, `Some(false)` for another of fio's, `None` for the rest.
    fn line(&mut self, raw: &str) -> Option<bool> {
        let text = raw.trim();
        if let Some((name, rw, bs)) = job_line(text) {
            self.jobs.push([name.to_owned(), rw.to_owned(), bs.to_owned()]);
            return Some(true);
        }
        if let Some(name) = result_job(text) {
            name.clone_into(&mut self.job);
            return Some(true);
        }
        if let Some((name, iops, bw)) = direction(text) {
            let known = self
                .jobs
                .iter()
                .find(|j| j[0] == self.job)
                .or(self.jobs.first().filter(|_| self.job.is_empty()));
            let mut row: [String; 13] = Default::default();
            self.job.clone_into(&mut row[0]);
            if let Some([job, rw, bs]) = known {
                if self.job.is_empty() {
                    job.clone_into(&mut row[0]);
                }
                (row[1], row[2]) = (rw.clone(), bs.clone());
            }
            name.clone_into(&mut row[3]);
            row[4] = iops.map_or_else(String::new, cells::show);
            row[5] = bw.map_or_else(String::new, cells::show);
            self.rows.push(row);
            self.percentiles = None;
            return Some(true);
        }
        self.latency(text).or_else(|| self.cpu(text)).or_else(|| is_other(text).then_some(false))
    }

    fn latency(&mut self, text: &str) -> Option<bool> {
        let last = self.rows.last_mut()?;
        if let Some(rest) = text.strip_prefix('|').filter(|r| r.contains("th=[")) {
            let scale = self.percentiles?;
            for part in rest.split("],") {
                let Some((percent, value)) = part.split_once("th=[") else { continue };
                let at = match percent.trim() {
                    "50.00" => 8,
                    "99.00" => 9,
                    "99.90" => 10,
                    _ => continue,
                };
                let value: f64 = value.trim_matches([' ', ']']).parse().ok()?;
                last[at] = cells::show(value * scale);
            }
            return Some(true);
        }
        // `clat (usec): min=…, avg= 5.67, …`, `lat percentiles (nsec):`.
        let (name, rest) = text.split_once('(')?;
        let (unit, rest) = rest.split_once(')')?;
        let scale = cells::unit_nanos(unit)?;
        if name.ends_with("percentiles ") {
            self.percentiles = Some(scale);
            return Some(true);
        }
        let average = rest.split_once("avg=")?.1.split(',').next()?.trim();
        let value = cells::show(average.parse::<f64>().ok()? * scale);
        match name.trim() {
            "clat" => last[7] = value,
            "lat" => last[6] = value,
            _ => return Some(false),
        }
        Some(true)
    }

    /// `cpu          : usr=1.23%, sys=45.67%, ctx=…`: of all rows of the job.
    fn cpu(&mut self, text: &str) -> Option<bool> {
        let rest = text.strip_prefix("cpu")?.trim_start().strip_prefix(':')?;
        let value = |key: &str| rest.split_once(key)?.1.split('%').next().map(str::to_owned);
        for row in &mut self.rows[self.done..] {
            (row[11], row[12]) = (value("usr=").unwrap_or_default(), value("sys=").unwrap_or_default());
        }
        self.done = self.rows.len();
        Some(true)
    }
}

/// The other lines of a report.
fn is_other(text: &str) -> bool {
    WORDS.fio_lines.beginning(text).is_some()
        || text.contains(": Laying out IO file")
        || text.contains("ios=")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_generations_of_result_lines() {
        let new = direction("read: IOPS=12.3k, BW=48.2MiB/s (50.5MB/s)(2893MiB/60001msec)").unwrap();
        assert_eq!((new.0, new.1, new.2), ("read", Some(12300.0), Some(50_541_363.0)));
        let old = direction("write: io=2893.4MB, bw=49363KB/s, iops=12340, runt= 60001msec").unwrap();
        assert_eq!((old.0, old.1, old.2), ("write", Some(12340.0), Some(49363.0 * 1024.0)));
        assert!(direction("read: this first").is_none());
    }
}
