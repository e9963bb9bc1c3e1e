//! Tables that hold what a tool printed: whole lines, or figures under headings that were shortened by hand.
//!
//! Lines are read as if they had been pasted. Of `zpool iostat` the headings become those that the reader of its
//! pasted output gives (`knowledge/tools/zpool-iostat.toml`), with latencies in nanoseconds.

use zwhy_evidence::{Evidence, Table};
use zwhy_paste::{Tools, blocks, cells};

/// Headings of a column that holds lines.
const LINES: [&str; 9] = ["line", "lines", "output", "text", "log", "message", "msg", "entry", "status"];
/// Stacks in lines are no deeper than this.
const MOST_FRAMES: usize = 128;

/// What the lines of a table say; nothing where it holds none.
pub fn lines(table: &Table, name: &str) -> Option<Evidence> {
    let is_line = |column: &String| LINES.contains(&column.trim().to_ascii_lowercase().as_str());
    let at = table.columns.iter().position(is_line)?;
    let mut text = format!("$ {}\n", table.tool.lines().next().unwrap_or_default());
    for cell in table.rows.iter().filter_map(|row| row.get(at)) {
        text.push_str(&as_printed(&table.tool, cell.trim()));
        text.push('\n');
    }
    let tools = Tools::embedded();
    let read =
        blocks::read("evidence-json", name, text.as_bytes(), &zwhy_paste::ranked(&tools, &[]), MOST_FRAMES);
    Some(Evidence { text: String::new(), said: String::new(), ..read.evidence })
}

/// `scrub in progress since …` stands behind `scan:` in `zpool status`.
fn as_printed(tool: &str, line: &str) -> String {
    let of_scan = ["scrub ", "resilver ", "resilvered "].iter().any(|begin| line.starts_with(begin));
    match of_scan && tool.contains("zpool status") {
        true => format!("  scan: {line}"),
        false => line.to_owned(),
    }
}

/// Gives columns of `zpool iostat` their full names.
pub fn full_headings(table: &mut Table) {
    if !table.tool.contains("zpool iostat") {
        return;
    }
    let usual = only_direction(table);
    for at in 0..table.columns.len() {
        let Some(full) = full_heading(&table.columns[at], usual) else { continue };
        if full.ends_with(" ns") {
            for cell in table.rows.iter_mut().filter_map(|row| row.get_mut(at)) {
                if let Some(nanos) = cells::nanos(cell) {
                    *cell = format!("{nanos}");
                }
            }
        }
        table.columns[at] = full;
    }
}

/// The direction of a table that has only one: waits in it are of that one.
fn only_direction(table: &Table) -> Option<&'static str> {
    let words = || table.columns.iter().flat_map(|column| column.split(BETWEEN));
    let some = |of: &[&str]| words().any(|word| of.iter().any(|o| word.eq_ignore_ascii_case(o)));
    match (some(&READ), some(&WRITE)) {
        (true, false) => Some("read"),
        (false, true) => Some("write"),
        _ => None,
    }
}

const BETWEEN: [char; 4] = ['_', ' ', '-', '.'];
const READ: [&str; 5] = ["r", "rd", "read", "reads", "rops"];
const WRITE: [&str; 5] = ["w", "wr", "write", "writes", "wops"];

/// `syncq_read pend` of `syncq_rpend`, `sync_read_pend` or `syncq r pend`; `total_wait read ns` of `total_wait_r`;
/// `r op` of `read ops` or `op_r`. `usual`: the direction where the heading has none.
fn full_heading(column: &str, usual: Option<&str>) -> Option<String> {
    let column = column.trim().to_ascii_lowercase();
    let words: Vec<&str> = column.split(BETWEEN).filter(|word| !word.is_empty()).collect();
    if let Some(full) = rate(&words) {
        return Some(full);
    }
    let (first, rest) = words.split_first()?;
    let (mut direction, mut what) = (None, None);
    for word in rest {
        let (letter, tail) = match word.strip_prefix(['r', 'w']) {
            Some(tail @ ("pend" | "activ" | "wait")) => (&word[..1], tail),
            _ => (*word, ""),
        };
        match letter {
            "r" | "read" | "reads" | "rd" => direction = Some("read"),
            "w" | "write" | "writes" | "wr" => direction = Some("write"),
            _ => {}
        }
        for word in [*word, tail] {
            what = match word {
                "pend" | "pending" => Some("pend"),
                "activ" | "active" => Some("activ"),
                "wait" => Some("wait"),
                _ => what,
            };
        }
    }
    let direction = direction.or(usual.filter(|_| what == Some("wait")));
    let base = first.strip_suffix('q').unwrap_or(first);
    let queue = if base == "sync" || base == "async" { format!("{base}q") } else { base.to_owned() };
    match (base, what?, direction) {
        ("total" | "disk" | "sync" | "async", "wait", Some(direction)) => {
            Some(format!("{queue}_wait {direction} ns"))
        }
        ("scrub" | "trim" | "rebuild", "wait", _) => Some(format!("{base} wait ns")),
        ("sync" | "async", what, Some(direction)) => Some(format!("{queue}_{direction} {what}")),
        ("scrub", what, _) => Some(format!("scrubq_read {what}")),
        ("trim" | "rebuild", what, _) => Some(format!("{base}q_write {what}")),
        _ => None,
    }
}

/// Operations or bytes a second in one direction, in the words of the reader of pasted output.
fn rate(words: &[&str]) -> Option<String> {
    let [a, b] = words else { return None };
    let direction = |word: &str| match word {
        "r" | "read" | "reads" | "rd" => Some("r"),
        "w" | "write" | "writes" | "wr" => Some("w"),
        _ => None,
    };
    let kind = |word: &str| match word {
        "op" | "ops" | "operations" => Some("op"),
        "bw" | "bandwidth" => Some("bw"),
        _ => None,
    };
    let (direction, kind) = direction(a).zip(kind(b)).or_else(|| direction(b).zip(kind(a)))?;
    Some(format!("{direction} {kind}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(tool: &str, columns: &[&str], rows: &[&[&str]]) -> Table {
        Table {
            tool: tool.to_owned(),
            columns: columns.iter().map(|c| (*c).to_owned()).collect(),
            rows: rows.iter().map(|row| row.iter().map(|c| (*c).to_owned()).collect()).collect(),
            ..Table::default()
        }
    }

    #[test]
    fn headings_of_zpool_iostat_have_one_spelling() {
        for (given, full) in [
            ("syncq_rpend", Some("syncq_read pend")),
            ("syncq_read_activ", Some("syncq_read activ")),
            ("sync_write pend", Some("syncq_write pend")),
            ("asyncq wactiv", Some("asyncq_write activ")),
            ("scrubq_rpend", Some("scrubq_read pend")),
            ("trimq_write_activ", Some("trimq_write activ")),
            ("total_wait_r", Some("total_wait read ns")),
            ("disk_wait write", Some("disk_wait write ns")),
            ("syncq_wait_read", Some("syncq_wait read ns")),
            ("scrub_wait", Some("scrub wait ns")),
            ("read ops", Some("r op")),
            ("op_w", Some("w op")),
            ("bw read", Some("r bw")),
            ("disk_wait", None),
            ("pool", None),
            ("rbw", None),
            ("read", None),
        ] {
            assert_eq!(full_heading(given, None).as_deref(), full, "{given}");
        }
        let mut read =
            table("zpool iostat -l 5", &["pool", "disk_wait_r"], &[&["tank", "2ms"], &["tank", "-"]]);
        full_headings(&mut read);
        assert_eq!(read.columns, ["pool", "disk_wait read ns"]);
        assert_eq!(read.rows, [["tank", "2000000"], ["tank", "-"]]);

        let mut only_reads = table(
            "zpool iostat -lq 5",
            &["read ops", "disk_wait", "syncq_read activ"],
            &[&["104", "9ms", "1"]],
        );
        full_headings(&mut only_reads);
        assert_eq!(only_reads.columns, ["r op", "disk_wait read ns", "syncq_read activ"]);
        let mut both = table("zpool iostat -l 5", &["read ops", "write ops", "disk_wait"], &[]);
        full_headings(&mut both);
        assert_eq!(both.columns, ["r op", "w op", "disk_wait"]);
    }

    #[test]
    fn lines_are_read_as_if_they_had_been_pasted() {
        let status = ["scrub in progress since Sun Feb 11 00:24:02 2024", "29.4% done, 07:10:12 to go"];
        let read =
            lines(&table("zpool status", &["t", "line"], &[&["0", status[0]], &["0", status[1]]]), "f")
                .unwrap();
        assert!(
            read.properties.iter().any(|p| p.name == "scan" && p.value.contains("in progress")),
            "{read:?}"
        );
        assert!(read.text.is_empty(), "nobody said it");
        assert!(lines(&table("zpool status", &["vdev", "state"], &[&["sda", "ONLINE"]]), "f").is_none());
    }
}
