//! What of a report a person may have said: without headings, rows of figures and finished scans, which tools print.
//!
//! `DEDUP` and `FREE` head columns of every `zpool list`; they do not say that anybody frees deduplicated data.

/// A heading has this many words at least.
const HEADING: usize = 3;
/// A row has this many figures at least.
const FIGURES: usize = 3;

/// The text without the lines that speak for no person.
pub fn prose(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    for line in text.lines().filter(|line| !printed(line)) {
        if is_search(line) {
            // Every second part is quoted.
            line.split(['\'', '"']).step_by(2).for_each(|part| kept.push_str(part));
        } else {
            kept.push_str(line);
        }
        kept.push('\n');
    }
    kept
}

/// A command that picks lines by a pattern, which names what is looked for and not what is wrong.
fn is_search(line: &str) -> bool {
    let search = |word: &str| {
        matches!(word.trim_start_matches("z"), "grep" | "egrep" | "fgrep" | "awk" | "gawk" | "sed")
    };
    line.split_whitespace().any(search) && line.contains(['\'', '"'])
}

fn printed(line: &str) -> bool {
    let line = line.trim();
    let cells: Vec<&str> = line.split_whitespace().collect();
    heading(&cells) || row(&cells) || finished_scan(line)
}

/// Words in capitals alone: `NAME SIZE ALLOC FREE`.
fn heading(cells: &[&str]) -> bool {
    let capitals = |cell: &&str| cell.chars().all(|c| !c.is_lowercase());
    let named = cells.iter().filter(|cell| cell.chars().any(char::is_alphabetic)).count();
    named >= HEADING && cells.iter().all(capitals)
}

/// A name and figures, a disk's state between them: `sda ONLINE 0 0 0`, `tank 27.4T 16.1T 543 223 56.2M 3.13M`.
fn row(cells: &[&str]) -> bool {
    let Some((_, rest)) = cells.split_first() else { return false };
    let states = ["ONLINE", "DEGRADED", "FAULTED", "OFFLINE", "UNAVAIL", "REMOVED", "AVAIL"];
    let rest = match rest.split_first() {
        Some((state, rest)) if states.contains(state) => rest,
        _ => rest,
    };
    rest.len() >= FIGURES && rest.iter().all(|cell| figure(cell))
}

/// `27.4T`, `0`, `-`, `62%`, `1.00x`; an address has digits and letters, too.
fn figure(cell: &str) -> bool {
    cell == "-" || cell.starts_with(|c: char| c.is_ascii_digit()) && cell.len() <= 20
}

/// What zpool status says of a scan that is over; one in progress is news.
fn finished_scan(line: &str) -> bool {
    let of_scan = line.strip_prefix("scan:").or_else(|| line.strip_prefix("scrub:"));
    of_scan.is_some_and(|rest| {
        ["repaired", "resilvered", "none requested", "canceled"].iter().any(|over| rest.contains(over))
            && !rest.contains("in progress")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tools_print_is_not_said() {
        for line in [
            "FREE  EXPANDSZ   FRAG    CAP  DEDUP  HEALTH  ALTROOT",
            "        NAME        STATE     READ WRITE CKSUM",
            "   d1      ONLINE       0     0     0",
            "    ata-WDC_WD30EFRX-68EUZN0_WD-1      -      -    402     34  61.6M   233K",
            "tank        27.4T  16.1T    543    223  56.2M  3.13M",
            " scan: scrub repaired 0 in 53h10m with 0 errors on Fri Apr  6 18:49:24 2012",
            " scan: none requested",
        ] {
            assert_eq!(prose(line), "", "{line}");
        }
    }

    #[test]
    fn a_pattern_says_nothing() {
        let line = "# egrep '^(c|arc_meta_used|arc_prune)' /proc/spl/kstat/zfs/arcstats";
        assert_eq!(prose(line), "# egrep  /proc/spl/kstat/zfs/arcstats\n");
        assert_eq!(prose("it doesn't stop, I can't find it"), "it doesn't stop, I can't find it\n");
    }

    #[test]
    fn sentences_functions_threads_and_running_scans_stay() {
        for line in [
            "ZFS is slow when dedup frees",
            "VERY SLOW zfs list",
            "  74.70%  [kernel]                   [k] osq_lock",
            "4085 root       0 -20     0    0    0 R   98  0.0  38:56.32 zfs_iput_taskq/",
            " scan: resilver in progress since Sun Jul  3 19:53:09 2016",
            "it took 12 34 56 minutes",
        ] {
            assert_eq!(prose(line), format!("{line}\n"));
        }
    }
}
