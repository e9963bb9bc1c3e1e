//! `zpool status`: pool, state, scan, the tree of vdevs with their errors, and the DDT histogram of -D.
//!
//! Emits the table `zpool status` (pool, name, state, read, write, cksum, note and columns of -s and -d),
//! the properties `health` and `scan` of the pool, kstats `POOL/ddt` and the table `zpool status -D`.

use super::ddt_histogram::DdtHistogram;
use crate::blocks::{Block, Line, Sink, Taken};
use crate::cells;
use crate::report_lines::report_lines;
use crate::words::WORDS;
use std::collections::BTreeSet;

pub struct ZpoolStatus;

impl Block for ZpoolStatus {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let first = lines.first()?.text.trim();
        let starts =
            first.starts_with("pool: ") && lines.iter().take(4).any(|l| l.text.trim().starts_with("state: "));
        let progress = is_progress(first);
        if !starts && !progress && !is_vdev_header(first) && !first.starts_with("dedup: DDT entries") {
            return None;
        }
        let mut reader = Reader::default();
        if progress {
            "scan:".clone_into(&mut reader.field);
        }
        let mut taken = Taken::default();
        for (blanks, line) in report_lines(lines) {
            let text = line.text.trim();
            // The next pool, or a scan that stands alone, looked at again. A report has several before its tree: a scrub and a rebuild.
            let whole = reader.pool.is_empty() || !reader.vdevs.is_empty();
            let again = is_scan(text) && whole && !reader.scan.is_empty();
            let next = text.starts_with("pool: ") || again;
            if (next && taken.used() > 0) || !reader.line(&line.text, blanks > 0) {
                break;
            }
            taken.drop("blank line", blanks);
            taken.kept += 1;
        }
        reader.finish(&lines[..taken.used()], sink);
        (taken.kept > 0).then_some(taken)
    }
}

fn is_scan(text: &str) -> bool {
    ["scan: ", "scrub: "].iter().any(|field| text.starts_with(field))
}

fn is_vdev_header(text: &str) -> bool {
    let mut words = text.split_whitespace();
    ["NAME", "STATE", "READ", "WRITE", "CKSUM"].iter().all(|w| words.next() == Some(w))
}

/// The lines on a scan that is under way, which people paste without the rest: `scan: resilver in progress since
/// …`, `512G scanned out of 20.1T at 18.2M/s, 313h21m to go`, `5.12T scanned at 1.2G/s, 4.1T issued at …`.
fn is_progress(text: &str) -> bool {
    let scan = text.strip_prefix("scan: ").or_else(|| text.strip_prefix("scrub: "));
    if let Some(rest) = scan {
        return rest.contains(" in progress");
    }
    let mut words = text.split_whitespace();
    let amount = words.next().is_some_and(|w| w.starts_with(|c: char| c.is_ascii_digit()));
    let verb = words.next().is_some_and(|w| w == "scanned" || w == "/" && text.contains(" scanned"));
    amount && verb && (text.contains("/s") || text.contains(" to go"))
}

#[derive(Default)]
struct Reader {
    pool: String,
    state: String,
    scan: String,
    /// Scans that the report told before that one.
    scans: Vec<String>,
    /// The field whose text may go on over the next lines.
    field: String,
    columns: Vec<String>,
    vdevs: Vec<Vec<String>>,
    ddt: Option<[f64; 3]>,
    ddt_rows: DdtHistogram,
    in_ddt: bool,
}

impl Reader {
    /// Takes one line; `false` when it is not of this report.
    fn line(&mut self, raw: &str, after_blank: bool) -> bool {
        let text = raw.trim();
        if let Some(field) = WORDS.pool_fields.beginning(text) {
            let value = text[field.len()..].trim().to_owned();
            match field {
                "pool:" => self.pool = value,
                "state:" => self.state = value,
                "scan:" | "scrub:" => {
                    let before = std::mem::replace(&mut self.scan, value);
                    self.scans.extend(Some(before).filter(|scan| !scan.is_empty()));
                }
                _ => {}
            }
            field.clone_into(&mut self.field);
            return true;
        }
        if is_progress(text) && matches!(self.field.as_str(), "scan:" | "scrub:") {
            self.scan = format!("{} {text}", self.scan).trim().to_owned();
            return true;
        }
        if is_vdev_header(text) {
            let extra = text.split_whitespace().skip(5).map(str::to_ascii_lowercase);
            self.columns = cells::names(&["pool", "name", "state", "read", "write", "cksum"]);
            self.columns.extend(extra);
            "config:".clone_into(&mut self.field);
            return true;
        }
        if let Some(ddt) = ddt_summary(text) {
            (self.ddt, self.in_ddt) = (Some(ddt), true);
            return true;
        }
        if self.in_ddt {
            return self.ddt_rows.line(text);
        }
        if !self.columns.is_empty() && self.field == "config:" && self.vdev(text) {
            return true;
        }
        // Text of status, action and scan goes on, indented, without a gap.
        let goes_on = !after_blank && raw.starts_with([' ', '\t']);
        if goes_on && matches!(self.field.as_str(), "scan:" | "scrub:") {
            self.scan = format!("{} {text}", self.scan);
        }
        goes_on && !self.field.is_empty() && self.field != "config:"
            || (self.field == "errors:" && text.starts_with('/'))
    }

    fn vdev(&mut self, text: &str) -> bool {
        const STATES: [&str; 8] =
            ["ONLINE", "DEGRADED", "FAULTED", "OFFLINE", "UNAVAIL", "REMOVED", "AVAIL", "INUSE"];
        let words: Vec<&str> = text.split_whitespace().take(40).collect();
        let group = matches!(words[..], ["logs" | "cache" | "spares" | "special" | "dedup" | "mirrors"]);
        let errors = self.columns.len() - 3;
        let mut row = vec![self.pool.clone()];
        if group {
            row.extend(words.iter().map(|w| (*w).to_owned()));
        } else if words.len() >= 2 && STATES.contains(&words[1]) {
            let figures = words[2..].iter().take(errors);
            let figures = figures.take_while(|w| **w == "-" || w.starts_with(|c: char| c.is_ascii_digit()));
            row.extend(cells::names(&words[..2]));
            row.extend(figures.map(|w| cells::plain(w)));
        } else {
            return false;
        }
        let note = words.get(row.len() - 1..).unwrap_or(&[]).join(" ");
        row.resize(self.columns.len(), String::new());
        row.push(note);
        self.vdevs.push(row);
        true
    }

    fn finish(self, lines: &[Line], sink: &mut Sink) {
        if lines.is_empty() {
            return;
        }
        let origin = sink.origin("zpool status", lines);
        if !self.pool.is_empty() {
            cells::property(sink, &self.pool, "health", &self.state, origin);
        }
        if !self.pool.is_empty() || !self.scan.is_empty() {
            for scan in self.scans.iter().chain([&self.scan]) {
                cells::property(sink, &self.pool, "scan", scan, origin);
            }
            count_starts(sink, &self.pool);
        }
        if !self.vdevs.is_empty() {
            let mut columns = self.columns;
            columns.push("note".to_owned());
            cells::table(sink, "zpool status", columns, self.vdevs, origin);
        }
        let source = if self.pool.is_empty() { "ddt".to_owned() } else { format!("{}/ddt", self.pool) };
        for (name, value) in ["entries", "dspace", "mspace"].iter().zip(self.ddt.into_iter().flatten()) {
            cells::kstat(sink, &source, name, value, origin);
        }
        self.ddt_rows.finish("zpool status -D", origin, sink);
    }
}

/// Columns of `zpool status of scans`.
pub(super) const SCANS: [&str; 2] = ["pool", "starts"];

/// Resilvers of a pool that were seen under way, by the time at which each started: in a table once there are two.
fn count_starts(sink: &mut Sink, pool: &str) {
    const TABLE: &str = "zpool status of scans";
    let of_pool = |dataset: &Option<String>| dataset.as_deref().unwrap_or("") == pool;
    let scans = sink.evidence.properties.iter().filter(|p| p.name == "scan" && of_pool(&p.dataset));
    let since = scans.filter_map(|p| {
        let rest = p.value.split_once("resilver in progress since ")?.1;
        Some(rest.split_whitespace().take(5).collect::<Vec<_>>().join(" "))
    });
    let starts: BTreeSet<String> = since.collect();
    if starts.len() < 2 {
        return;
    }
    let row = vec![pool.to_owned(), starts.len().to_string()];
    let table = sink.evidence.tables.iter_mut().find(|t| t.tool == TABLE);
    let Some(rows) = table.map(|t| &mut t.rows) else {
        let origin = sink.evidence.origin("scans of zpool status");
        cells::table(sink, TABLE, SCANS.map(str::to_owned).to_vec(), vec![row], origin);
        return;
    };
    rows.retain(|r| r.first().is_none_or(|name| name != pool));
    rows.push(row);
}

/// `dedup: DDT entries 12345, size 320B on disk, 170B in core`: entries and the two sizes.
fn ddt_summary(text: &str) -> Option<[f64; 3]> {
    let rest = text.strip_prefix("dedup: DDT entries ")?;
    let (entries, rest) = rest.split_once(", size ")?;
    let (disk, rest) = rest.split_once(" on disk")?;
    let core = rest.trim_start_matches(',').trim().split(" in core").next()?;
    Some([cells::bytes(entries)?, cells::bytes(disk)?, cells::bytes(core)?])
}
