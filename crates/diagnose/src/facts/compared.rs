//! Experiments that reporters made: a table of runs with different values of one setting.
//!
//! Maintainers ask for them (`zfs_prefetch_disable`, `zvol_request_sync`, `spl_taskq_thread_dynamic`): where the same load
//! behaves differently with another value, the setting matters, whatever a profile shows.

use super::number::leading_number;
use crate::pattern::Pattern;
use std::collections::BTreeMap;
use zwhy_evidence::Table;

/// Results that are so many times as large differ; less is what runs of one setting differ by.
const DIFFERENT: f64 = 1.2;
/// Where something differs, what else differs by so much tells which way.
const ALONG: f64 = 1.1;
/// Words of headings of what is set or counted, not measured.
const SET: [&str; 12] = [
    "jobs",
    "threads",
    "bs",
    "iodepth",
    "qd",
    "depth",
    "size",
    "run",
    "files",
    "cpus",
    "count",
    "recordsize",
];
/// Words of headings and units of which more is better. What has `/s` in it is one, too.
const RATES: [&str; 11] =
    ["iops", "kiops", "tps", "qps", "ops", "bw", "bandwidth", "throughput", "speed", "mbps", "hit"];
/// Words of headings and units of which less is better: time, and what a load costs.
const COSTS: [&str; 30] = [
    "s", "sec", "secs", "second", "seconds", "ms", "us", "usec", "ns", "min", "minutes", "h", "hours",
    "real", "time", "elapsed", "duration", "lat", "latency", "await", "wait", "p50", "p95", "p99", "cpu",
    "sys", "sy", "load", "stalls", "faults",
];

/// What was measured of one thing with several values of a setting.
pub struct Contrast<'t> {
    pub heading: &'t str,
    pub least: Outcome<'t>,
    pub most: Outcome<'t>,
    more_is_better: Option<bool>,
}

/// What came of the runs with one value of the setting.
#[derive(Clone)]
pub struct Outcome<'t> {
    /// Empty where the setting is not named.
    pub value: String,
    mean: f64,
    /// The result that is nearest to the mean, as the table has it.
    pub result: &'t str,
}

impl Contrast<'_> {
    fn differs(&self) -> bool {
        self.differs_by(DIFFERENT)
    }

    fn differs_by(&self, times: f64) -> bool {
        self.most.mean > times * self.least.mean
    }

    /// The value of the setting with the better result, where that can be told.
    fn best(&self) -> Option<&str> {
        Some(if self.more_is_better? { &self.most.value } else { &self.least.value })
    }
}

/// Whether runs with different values of the setting are compared, and differ; `None` where nobody compares them.
pub fn compared(table: &Table, setting: &Pattern) -> Option<bool> {
    let all = contrasts(table, setting);
    (!all.is_empty()).then(|| all.iter().any(Contrast::differs))
}

/// Whether such a value of the setting gave the better results; `None` where nobody compares them, or where it is not
/// known which results are better.
pub fn better(table: &Table, setting: &Pattern, value: &Pattern) -> Option<bool> {
    let all = contrasts(table, setting);
    let known = || all.iter().filter(|c| c.more_is_better.is_some());
    known().next()?;
    let apart = all.iter().any(Contrast::differs);
    let with_it: Vec<bool> = known()
        .filter(|c| apart && c.differs_by(ALONG))
        .filter_map(Contrast::best)
        .map(|best| value.matches_any_case(best))
        .collect();
    let votes = with_it.iter().filter(|yes| **yes).count();
    Some(2 * votes > with_it.len())
}

/// What differs most; where a value is said to be better, of what it is better in.
pub fn furthest_apart<'t>(
    table: &'t Table,
    setting: &Pattern,
    better: Option<&Pattern>,
) -> Option<Contrast<'t>> {
    let shows = |c: &Contrast| match better {
        Some(value) => c.differs_by(ALONG) && c.best().is_some_and(|best| value.matches_any_case(best)),
        None => c.differs(),
    };
    let times = |c: &Contrast| c.most.mean / c.least.mean.max(f64::MIN_POSITIVE);
    // What is done in a second says more than what it costs.
    let rate = |c: &Contrast| c.more_is_better == Some(true);
    let all = contrasts(table, setting).into_iter().filter(shows);
    all.max_by(|a, b| rate(a).cmp(&rate(b)).then(times(a).total_cmp(&times(b))))
}

fn contrasts<'t>(table: &'t Table, setting: &Pattern) -> Vec<Contrast<'t>> {
    let own = table.columns.iter().position(|c| names(c, setting));
    let label = |row: &Vec<String>| row.iter().find(|cell| names(cell, setting)).cloned();
    if own.is_none() && !table.rows.iter().any(|row| label(row).is_some()) {
        return Vec::new();
    }
    let value = |row: &'t Vec<String>| match own {
        Some(at) => Some(value_in(row.get(at)?, setting)),
        None => Some(label(row).map_or(String::new(), |label| value_in(&label, setting))),
    };
    let groups: Vec<(String, &'t Vec<String>)> =
        table.rows.iter().filter_map(|row| Some((value(row)?, row))).collect();
    let measured = (0..table.columns.len()).filter(|at| Some(*at) != own && !is_set(&table.columns[*at]));
    let contrast = |at: usize| {
        let mut of_value: BTreeMap<&str, Vec<(f64, &'t str)>> = BTreeMap::new();
        for (value, row) in &groups {
            let Some(cell) = row.get(at).map(String::as_str) else { continue };
            if let Some(figure) = leading_number(cell).filter(|f| *f >= 0.0) {
                of_value.entry(value).or_default().push((figure, cell));
            }
        }
        let outcome = |(value, runs): (&&str, &Vec<(f64, &'t str)>)| {
            let mean = runs.iter().map(|run| run.0).sum::<f64>() / runs.len() as f64;
            let off = |run: &(f64, &str)| (run.0 - mean).abs();
            let nearest = runs.iter().min_by(|a, b| off(a).total_cmp(&off(b)))?;
            Some(Outcome { value: (*value).to_owned(), mean, result: nearest.1 })
        };
        let outcomes = || of_value.iter().filter_map(outcome);
        let least = outcomes().min_by(|a, b| a.mean.total_cmp(&b.mean))?;
        let most = outcomes().max_by(|a, b| a.mean.total_cmp(&b.mean))?;
        let cells = groups.iter().filter_map(|(_, row)| row.get(at).map(String::as_str));
        let more_is_better = more_is_better(&table.columns[at], cells);
        (of_value.len() >= 2).then_some(Contrast { heading: &table.columns[at], least, most, more_is_better })
    };
    measured.filter_map(contrast).collect()
}

/// `1` of `zfs_prefetch_disable=1 (echo)`, of `zfs_prefetch_disable 1`, and of `1 (tried)` in a column of its own.
fn value_in(cell: &str, setting: &Pattern) -> String {
    let separates =
        |c: char| c.is_whitespace() || matches!(c, '=' | ',' | ';' | ':' | '"' | '\'' | '(' | ')');
    let mut words = cell.split(separates).filter(|word| !word.is_empty()).peekable();
    let first = words.peek().copied().unwrap_or_default();
    if !words.clone().any(|word| names(word, setting)) {
        return first.to_owned();
    }
    words.find(|word| names(word, setting));
    words.next().unwrap_or_default().to_owned()
}

fn more_is_better<'c>(heading: &str, mut cells: impl Iterator<Item = &'c str>) -> Option<bool> {
    of_words(heading).or_else(|| {
        let unit =
            |cell: &'c str| cell.trim().trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim();
        cells.find_map(|cell| of_words(unit(cell)))
    })
}

fn of_words(text: &str) -> Option<bool> {
    let text = text.to_ascii_lowercase();
    let has = |of: &[&str]| text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| of.contains(&word));
    if text.contains("/s") || has(&RATES) { Some(true) } else { has(&COSTS).then_some(false) }
}

/// Whether a word of the text is called like that: `zfs_prefetch_disable` of `zfs_prefetch_disable=1 (echo)`.
fn names(text: &str, setting: &Pattern) -> bool {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.')));
    words.filter(|word| word.len() > 3).any(|word| setting.matches_any_case(word))
}

fn is_set(heading: &str) -> bool {
    heading
        .split(|c: char| !c.is_ascii_alphanumeric())
        .any(|word| SET.contains(&word.to_ascii_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: &[&str], rows: &[&[&str]]) -> Table {
        let owned = |cells: &[&str]| cells.iter().map(|c| (*c).to_owned()).collect::<Vec<_>>();
        let rows = rows.iter().map(|row| owned(row)).collect();
        Table { columns: owned(columns), rows, ..Table::default() }
    }

    fn of(columns: &[&str], rows: &[&[&str]], setting: &str) -> Option<bool> {
        compared(&table(columns, rows), &Pattern::new(setting))
    }

    #[test]
    fn runs_with_different_values_are_compared_by_what_was_measured() {
        let columns = ["zfs_prefetch_disable", "GiB/s"];
        assert_eq!(of(&columns, &[&["0", "41"], &["1", "79"]], "zfs_prefetch_disable"), Some(true));
        assert_eq!(of(&columns, &[&["0", "41"], &["1", "42"]], "zfs_prefetch_disable"), Some(false));
        assert_eq!(of(&columns, &[&["0", "41"], &["1", "79"]], "zvol_request_sync"), None);
        assert_eq!(of(&columns, &[&["0", "41"]], "zfs_prefetch_disable"), None, "one run compares nothing");
        let jobs = [&["0", "1", "38000"][..], &["0", "64", "52000"], &["1", "64", "174000"]];
        assert_eq!(of(&["zvol_request_sync", "jobs", "IOPS"], &jobs, "zvol_request_sync"), Some(true));
        let only_jobs = [&["0", "1", "100"][..], &["1", "64", "100"]];
        assert_eq!(of(&["zvol_request_sync", "jobs", "IOPS"], &only_jobs, "zvol_request_sync"), Some(false));
    }

    #[test]
    fn settings_in_the_label_of_a_row() {
        let rows = [&["default", "9.4"][..], &["init_on_alloc=0", "13.1"]];
        assert_eq!(of(&["boot option", "GiB/s"], &rows, "init_on_alloc"), Some(true));
        let same = [&["zfs_a=1", "9"][..], &["zfs_a=1", "20"]];
        assert_eq!(of(&["what", "s"], &same, "zfs_a"), None, "the same value twice");
        assert_eq!(of(&[], &[], "zfs_a"), None);
    }

    #[test]
    fn which_value_is_better_depends_on_what_was_measured() {
        let is = |columns: &[&str], rows: &[&[&str]], setting: &str, value: &str| {
            better(&table(columns, rows), &Pattern::new(setting), &Pattern::new(value))
        };
        let name = "zfs_prefetch_disable";
        assert_eq!(is(&[name, "GiB/s"], &[&["0", "41"], &["1", "79"]], name, "1"), Some(true));
        assert_eq!(is(&[name, "GiB/s"], &[&["0", "41"], &["1", "79"]], name, "0"), Some(false));
        assert_eq!(is(&[name, "minutes"], &[&["0", "171"], &["1", "64"]], name, "1"), Some(true));
        assert_eq!(
            is(&[name, "result"], &[&["0", "41 s"], &["1", "79 s"]], name, "0"),
            Some(true),
            "by its unit"
        );
        assert_eq!(is(&[name, "result"], &[&["0", "41"], &["1", "79"]], name, "1"), None, "better or worse?");
        assert_eq!(is(&[name, "GiB/s"], &[&["0", "41"], &["1", "42"]], name, "1"), Some(false), "the same");
        let along = [&["0", "41.2", "31"][..], &["1", "47.9", "17"]];
        assert_eq!(is(&[name, "GiB/s", "lz4 samples %"], &along, name, "1"), Some(true));
        let labels = [&["default", "9.4"][..], &["init_on_alloc=0 (boot)", "13.1"]];
        assert_eq!(is(&["boot option", "GiB/s"], &labels, "init_on_alloc", "0"), Some(true));
        let back = [&["default", "13.4"][..], &["init_on_alloc=0 (boot)", "9.1"]];
        assert_eq!(is(&["boot option", "GiB/s"], &back, "init_on_alloc", "0"), Some(false));
    }

    #[test]
    fn what_differs_is_told_as_the_table_has_it() {
        let runs = table(
            &["zfs_prefetch_disable", "speed"],
            &[&["0", "171 MB/s"], &["0", "180 MB/s"], &["0", "165 MB/s"], &["1", "640 MB/s"]],
        );
        let setting = Pattern::new("zfs_prefetch_disable");
        let apart = furthest_apart(&runs, &setting, None).unwrap();
        assert_eq!((apart.least.value.as_str(), apart.least.result), ("0", "171 MB/s"));
        assert_eq!((apart.most.value.as_str(), apart.most.result), ("1", "640 MB/s"));
        let along = table(
            &["zfs_prefetch_disable", "GiB/s", "lz4 samples %"],
            &[&["0", "41.2", "31"], &["1", "47.9", "17"]],
        );
        let told = furthest_apart(&along, &setting, Some(&Pattern::new("1"))).unwrap();
        assert_eq!(told.heading, "GiB/s", "a claim that one is better needs what it is better in");
        assert!(furthest_apart(&along, &setting, Some(&Pattern::new("0"))).is_none());
    }
}
