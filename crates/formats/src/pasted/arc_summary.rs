//! `arc_summary` of Python 2 and 3: sections of `name:   percentage   size` lines.
//!
//! All lines become the table `arc_summary`; those that show a value of arcstats become that kstat too.
//! Counts are shortened by powers of 1000 there, sizes by powers of 1024 (cmd/arc_summary, `f_hits`,
//! `f_bytes`).

use super::cells;
use super::report_lines::report_lines;
use crate::blocks::{Block, Line, Sink, Taken};

pub struct ArcSummary;

impl Block for ArcSummary {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        if !starts(lines.first()?.text.trim()) {
            return None;
        }
        let (mut rows, mut section) = (Vec::new(), String::new());
        let mut taken = Taken::default();
        for (blanks, line) in report_lines(lines) {
            let text = line.text.trim();
            let rule = text.len() > 10 && text.bytes().all(|b| b == b'-');
            match split(&line.text) {
                Some((name, values)) => {
                    if !line.text.starts_with([' ', '\t']) {
                        name.clone_into(&mut section);
                    }
                    rows.push(vec![section.clone(), name.to_owned(), values]);
                }
                None if rule || starts(text) => {}
                None => break,
            }
            taken.drop("blank line", blanks);
            taken.kept += 1;
        }
        if rows.is_empty() {
            return None;
        }
        let origin = sink.origin("arc_summary", &lines[..taken.used()]);
        for row in &rows {
            if let Some((name, value)) = arcstat(&row[0], &row[1], &row[2]) {
                cells::kstat(sink, "arcstats", name, value, origin);
            }
        }
        cells::table(sink, "arc_summary", cells::names(&["section", "name", "value"]), rows, origin);
        Some(taken)
    }
}

fn starts(text: &str) -> bool {
    const HEADS: [&str; 15] = [
        "ZFS Subsystem Report",
        "ARC status:",
        "ARC Summary:",
        "ARC size (current):",
        "ARC Size:",
        "ARC Size Breakdown:",
        "ARC hash breakdown:",
        "ARC Hash Breakdown:",
        "ARC total accesses",
        "ARC Total accesses:",
        "ARC misc:",
        "L2ARC status:",
        "L2 ARC Summary:",
        "ARC Misc:",
        "DMU predictive prefetcher",
    ];
    HEADS.iter().any(|head| text.starts_with(head))
}

/// `Target size (adaptive):   100.0 %   15.5 GiB`: figures behind a gap, as no sentence has.
fn split(text: &str) -> Option<(&str, String)> {
    let (name, value) = text.trim().split_once(':')?;
    let gap = value.starts_with("  ") || value.contains('\t') || value.is_empty();
    let named = !name.is_empty() && name.len() < 60;
    (gap && named).then(|| (name.trim(), value.split_whitespace().collect::<Vec<_>>().join(" ")))
}

/// Names of lines in lower case (outside L2ARC sections) and the arcstats they show.
const KSTATS: [(&str, &str); 36] = [
    ("arc size (current)", "size"),
    ("arc size", "size"),
    ("target size (adaptive)", "c"),
    ("target size", "c"),
    ("min size (hard limit)", "c_min"),
    ("max size (high water)", "c_max"),
    ("metadata cache size (hard limit)", "arc_meta_limit"),
    ("metadata cache size (current)", "arc_meta_used"),
    ("dnode cache size (hard limit)", "arc_dnode_limit"),
    ("dnode cache size (current)", "dnode_size"),
    ("most frequently used (mfu) cache size", "mfu_size"),
    ("most recently used (mru) cache size", "mru_size"),
    ("frequently used cache size", "mfu_size"),
    ("recently used cache size", "mru_size"),
    ("anonymous data size", "anon_data"),
    ("memory throttle count", "memory_throttle_count"),
    ("memory direct count", "memory_direct_count"),
    ("memory indirect count", "memory_indirect_count"),
    ("memory available size", "memory_available_bytes"),
    ("deleted", "deleted"),
    ("mutex misses", "mutex_miss"),
    ("eviction skips", "evict_skip"),
    ("evict skips", "evict_skip"),
    ("eviction skips due to l2 writes", "evict_l2_skip"),
    ("l2 cached evictions", "evict_l2_cached"),
    ("l2 eligible evictions", "evict_l2_eligible"),
    ("l2 ineligible evictions", "evict_l2_ineligible"),
    ("elements max", "hash_elements_max"),
    ("elements current", "hash_elements"),
    ("collisions", "hash_collisions"),
    ("chain max", "hash_chain_max"),
    ("chains", "hash_chains"),
    ("bonus size", "bonus_size"),
    ("dbuf size", "dbuf_size"),
    ("header size", "hdr_size"),
    ("abd chunk waste size", "abd_chunk_waste_size"),
];

const L2_KSTATS: [(&str, &str); 7] = [
    ("l2arc size (adaptive)", "l2_size"),
    ("l2 arc size", "l2_size"),
    ("header size", "l2_hdr_size"),
    ("compressed", "l2_asize"),
    ("hits", "l2_hits"),
    ("misses", "l2_misses"),
    ("feeds", "l2_feeds"),
];

/// The kstat that a line shows, in bytes or events.
fn arcstat(section: &str, name: &str, value: &str) -> Option<(&'static str, f64)> {
    let list = if section.starts_with("L2") { &L2_KSTATS[..] } else { &KSTATS[..] };
    let key = name.to_ascii_lowercase();
    let kstat = list.iter().find(|(line, _)| *line == key)?.1;
    // Before the value there may be a share (`98.6 %`, `98.60%`) or a ratio (`16:1`).
    let words: Vec<&str> = value.split(' ').filter(|w| !w.contains([':', '(']) && !w.is_empty()).collect();
    let from = words.iter().position(|w| w.ends_with('%')).map_or(0, |at| at + 1);
    let text = words.get(from..)?.join("");
    let size = text.ends_with("iB") || text.ends_with("Bytes") || text.ends_with('B');
    let number = if size { cells::bytes(text.trim_end_matches("ytes")) } else { cells::count(&text) };
    Some((kstat, number?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_both_pythons_are_the_same_kstats() {
        let gib = 1024f64.powi(3);
        for (section, name, value, want) in [
            ("ARC size (current)", "ARC size (current)", "98.6 % 15.5 GiB", Some(("size", 15.5 * gib))),
            ("ARC Size", "ARC Size", "98.60% 15.50 GiB", Some(("size", 15.5 * gib))),
            ("x", "Max size (high water)", "16:1 31.0 GiB", Some(("c_max", 31.0 * gib))),
            ("x", "Max Size (High Water)", "16:1 31.0 GiB", Some(("c_max", 31.0 * gib))),
            ("ARC Misc", "Mutex Misses", "1.5k", Some(("mutex_miss", 1500.0))),
            ("ARC misc", "L2 cached evictions", "0 Bytes", Some(("evict_l2_cached", 0.0))),
            ("L2ARC status", "Header size", "0.1 % 12.0 MiB", Some(("l2_hdr_size", 12.0 * 1024.0 * 1024.0))),
            ("x", "Deleted", "12.3M", Some(("deleted", 12.3e6))),
            ("ARC Size", "Target Size", "(Adaptive) 100.00% 15.50 GiB", Some(("c", 15.5 * gib))),
            ("x", "Deleted", "many", None),
            ("x", "Something else", "1", None),
        ] {
            let got = arcstat(section, name, value);
            let near = match (got, want) {
                (Some((a, x)), Some((b, y))) => a == b && (x - y).abs() <= 1.0,
                (None, None) => true,
                _ => false,
            };
            assert!(near, "{name} {value}: {got:?}");
        }
    }
}
