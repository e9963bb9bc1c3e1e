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

/// Whether runs with different values of the setting are compared, and differ; `None` where nobody compares them.
pub fn compared(table: &Table, setting: &Pattern) -> Option<bool> {
    let label = |row: &Vec<String>| row.iter().find(|cell| names(cell, setting)).cloned();
    let groups: Vec<(String, &Vec<String>)> = match table.columns.iter().position(|c| names(c, setting)) {
        Some(at) => table.rows.iter().filter_map(|row| Some((row.get(at)?.trim().to_owned(), row))).collect(),
        None if table.rows.iter().any(|row| label(row).is_some()) => {
            table.rows.iter().map(|row| (label(row).unwrap_or_default(), row)).collect()
        }
        None => return None,
    };
    let own = table.columns.iter().position(|c| names(c, setting));
    let measured = (0..table.columns.len()).filter(|at| Some(*at) != own && !is_set(&table.columns[*at]));
    let mut known = None;
    for at in measured {
        let mut of_value: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
        for (value, row) in &groups {
            if let Some(figure) = row.get(at).and_then(|cell| leading_number(cell)).filter(|f| *f >= 0.0) {
                let (sum, n) = of_value.entry(value).or_default();
                (*sum, *n) = (*sum + figure, *n + 1.0);
            }
        }
        if of_value.len() >= 2 {
            let means = || of_value.values().map(|(sum, n)| sum / n);
            let (least, most) = (means().fold(f64::MAX, f64::min), means().fold(0.0, f64::max));
            known = Some(known.unwrap_or(false) || most > DIFFERENT * least);
        }
    }
    known
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

    fn of(columns: &[&str], rows: &[&[&str]], setting: &str) -> Option<bool> {
        let owned = |cells: &[&str]| cells.iter().map(|c| (*c).to_owned()).collect::<Vec<_>>();
        let rows = rows.iter().map(|row| owned(row)).collect();
        compared(&Table { columns: owned(columns), rows, ..Table::default() }, &Pattern::new(setting))
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
}
