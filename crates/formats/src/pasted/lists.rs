//! `zpool list` and `zfs list` with any columns: a table, and the columns that are properties as such.
//!
//! Under a `-v` list only rows that are not indented are pools. Snapshots are counted by dataset in the
//! table `zfs list -t snapshot`; what they hold is no property of theirs that a cause asks for.

use super::cells;
use crate::blocks::{Block, Line, Sink, Taken};
use std::collections::BTreeMap;

/// Headings of columns and the properties that they show.
const COLUMNS: [(&str, &str); 41] = [
    ("SIZE", "size"),
    ("ALLOC", "allocated"),
    ("FREE", "free"),
    ("CKPOINT", "checkpoint"),
    ("EXPANDSZ", "expandsize"),
    ("FRAG", "fragmentation"),
    ("CAP", "capacity"),
    ("DEDUP", "dedup"),
    ("HEALTH", "health"),
    ("ALTROOT", "altroot"),
    ("ASHIFT", "ashift"),
    ("BCLONE_USED", "bcloneused"),
    ("FREEING", "freeing"),
    ("USED", "used"),
    ("AVAIL", "available"),
    ("REFER", "referenced"),
    ("LREFER", "logicalreferenced"),
    ("LUSED", "logicalused"),
    ("MOUNTPOINT", "mountpoint"),
    ("RATIO", "compressratio"),
    ("REFRATIO", "refcompressratio"),
    ("COMPRESS", "compression"),
    ("RECSIZE", "recordsize"),
    ("VOLBLOCK", "volblocksize"),
    ("VOLSIZE", "volsize"),
    ("CHECKSUM", "checksum"),
    ("ENCRYPTION", "encryption"),
    ("ENCROOT", "encryptionroot"),
    ("KEYSTATUS", "keystatus"),
    ("SYNC", "sync"),
    ("ATIME", "atime"),
    ("XATTR", "xattr"),
    ("PRIMARYCACHE", "primarycache"),
    ("SECONDARYCACHE", "secondarycache"),
    ("QUOTA", "quota"),
    ("COPIES", "copies"),
    ("TYPE", "type"),
    ("USEDSNAP", "usedbysnapshots"),
    ("LOGBIAS", "logbias"),
    ("MOUNTED", "mounted"),
    ("DNSIZE", "dnodesize"),
];

pub struct Lists;

impl Block for Lists {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let header: Vec<&str> = lines.first()?.text.split_whitespace().take(40).collect();
        if !is_header(&header) {
            return None;
        }
        let indent = indent_of(&lines[0].text);
        let mut rows: Vec<(bool, Vec<String>)> = Vec::new();
        let mut used = 1;
        for line in &lines[1..] {
            let words: Vec<&str> = line.text.split_whitespace().take(header.len() + 20).collect();
            if words == header {
                const MOST_HEADERS: usize = 8;
                if rows.is_empty() && used > MOST_HEADERS {
                    break;
                }
                used += 1;
                continue;
            }
            let Some(row) = row(&words, &header) else { break };
            rows.push((indent_of(&line.text) <= indent, row));
            used += 1;
        }
        if rows.is_empty() {
            return None;
        }
        let pools = header.contains(&"ALLOC") || header.contains(&"HEALTH") || header.contains(&"CAP");
        let nested = rows.iter().any(|r| !r.0);
        let tool = match (pools, nested) {
            (true, true) => "zpool list -v",
            (true, false) => "zpool list",
            _ => "zfs list",
        };
        let origin = sink.origin(tool, &lines[..used]);
        let mut snapshots: BTreeMap<String, u64> = BTreeMap::new();
        for (own, row) in &rows {
            if let Some((dataset, _)) = row[0].split_once('@') {
                *snapshots.entry(dataset.to_owned()).or_default() += 1;
            } else if *own {
                for (heading, value) in header.iter().zip(row).skip(1) {
                    if let Some((_, name)) = COLUMNS.iter().find(|(h, _)| h == heading) {
                        let name = if pools && *name == "dedup" { "dedupratio" } else { name };
                        cells::property(sink, &row[0], name, value, origin);
                    }
                }
            }
        }
        let rows = rows.into_iter().map(|r| r.1).collect();
        cells::table(sink, tool, cells::names(&header), rows, origin);
        if !snapshots.is_empty() {
            let rows = snapshots.into_iter().map(|(d, n)| vec![d, n.to_string()]).collect();
            let columns = cells::names(&["dataset", "snapshots listed"]);
            cells::table(sink, "zfs list -t snapshot", columns, rows, origin);
        }
        Taken::kept(used)
    }
}

fn indent_of(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

/// `NAME` and at least two more headings that ZFS prints.
fn is_header(words: &[&str]) -> bool {
    let known = |w: &str| COLUMNS.iter().any(|(h, _)| *h == w);
    words.first() == Some(&"NAME")
        && words.iter().filter(|w| known(w)).count() >= 2
        && words.iter().skip(1).all(|w| w.len() < 20 && !w.bytes().any(|b| b.is_ascii_lowercase()))
        && !words.contains(&"STATE")
        && !words.contains(&"MAJ:MIN")
        && !words.contains(&"RO")
}

fn row(words: &[&str], header: &[&str]) -> Option<Vec<String>> {
    let name = words.first().filter(|n| n.len() < 300)?;
    let group = words.len() >= 2 && words[1..].iter().all(|w| *w == "-");
    let mut cells: Vec<String> =
        std::iter::once((*name).to_owned()).chain(words[1..].iter().map(|w| cells::plain(w))).collect();
    // The last columns may be missing (ALTROOT of a vdev) or hold blanks (a mount point).
    if cells.len() > header.len() {
        let end = cells.split_off(header.len() - 1).join(" ");
        cells.push(end);
    }
    let figures = cells.iter().skip(1).filter(|c| is_value(c)).count();
    if cells.len() < 2 || cells.len() + 3 < header.len() || (figures * 2 < cells.len() - 1 && !group) {
        return None;
    }
    cells.resize(header.len(), String::new());
    Some(cells)
}

/// What ZFS prints in such lists: sizes, ratios, states, one-word settings.
fn is_value(cell: &str) -> bool {
    const WORDS: [&str; 12] = [
        "-", "on", "off", "none", "ONLINE", "DEGRADED", "lz4", "zstd", "all", "metadata", "standard",
        "default",
    ];
    WORDS.contains(&cell) || cell.starts_with(|c: char| c.is_ascii_digit()) || cell.starts_with('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_and_rows_are_those_of_zfs() {
        let words = |t: &'static str| t.split_whitespace().collect::<Vec<_>>();
        assert!(is_header(&words("NAME SIZE ALLOC FREE FRAG CAP DEDUP HEALTH ALTROOT")));
        assert!(is_header(&words("NAME RECSIZE COMPRESS RATIO")));
        assert!(!is_header(&words("NAME STATE READ WRITE CKSUM")));
        assert!(!is_header(&words("NAME of the pool")));
        let header = words("NAME USED AVAIL REFER MOUNTPOINT");
        assert_eq!(row(&words("tank 7.65G 45.5M 96K /tank of mine"), &header).unwrap()[4], "/tank of mine");
        assert_eq!(row(&words("and that was all"), &header), None);
    }
}
