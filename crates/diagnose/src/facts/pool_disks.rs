//! Which disks belong to a pool: the system's own disk may be slow, and no pool waits for it.

use crate::pattern::Pattern;
use zwhy_evidence::{Evidence, Table};

/// Vdevs that are no disks, by the beginnings of their names.
const GROUPS: [&str; 12] = [
    "mirror-",
    "raidz",
    "draid",
    "spare-",
    "replacing-",
    "logs",
    "cache",
    "special",
    "dedup",
    "spares",
    "indirect-",
    "-",
];

/// The disks of the pools, as far as a report lists them.
#[derive(Default)]
pub struct PoolDisks {
    names: Vec<String>,
}

impl PoolDisks {
    pub fn of(evidence: &Evidence) -> PoolDisks {
        let status = Pattern::new("zpool status|zpool status -*");
        let mut names = Vec::new();
        for table in evidence.tables.iter().filter(|t| status.matches_any_case(&t.tool)) {
            let at = |name: &str| table.columns.iter().position(|c| c == name);
            let (Some(pool), Some(name)) = (at("pool"), at("name")) else { continue };
            let disk = |row: &&Vec<String>| {
                let name = row.get(name).map_or("", String::as_str);
                row.get(pool).is_some_and(|pool| pool != name) && !GROUPS.iter().any(|g| name.starts_with(g))
            };
            names.extend(table.rows.iter().filter(disk).filter_map(|row| row.get(name).cloned()));
        }
        PoolDisks { names }
    }

    /// Whether the rows of this table call disks as the pools do, so that it can be told which of them are of a pool.
    pub fn tell_of(&self, table: &Table) -> bool {
        let listed = |disk: &String| table.rows.iter().any(|row| row.first().is_some_and(|r| is_on(disk, r)));
        !self.names.is_empty() && self.names.iter().all(listed)
    }

    /// Whether this disk of such a table, or a partition of it, is in a pool.
    pub fn include(&self, name: &str) -> bool {
        self.names.iter().any(|disk| is_on(disk, name))
    }
}

/// Whether a device is the disk `name` or a partition of it: `sda3` of `sda`, `nvme0n1p2` of `nvme0n1`, `ada0p3` of `ada0`.
fn is_on(device: &str, name: &str) -> bool {
    let device = device.strip_prefix("/dev/").unwrap_or(device);
    let Some(rest) = device.strip_prefix(name) else { return false };
    let part = if name.ends_with(|c: char| c.is_ascii_digit()) {
        rest.strip_prefix(['p', 's']).unwrap_or("-")
    } else {
        rest
    };
    rest.is_empty() || !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_is_of_its_disk() {
        for (device, name) in
            [("sda3", "sda"), ("sda", "sda"), ("nvme0n1p2", "nvme0n1"), ("/dev/ada0p3", "ada0")]
        {
            assert!(is_on(device, name), "{device} {name}");
        }
        for (device, name) in [("sdaa", "sda"), ("nvme0n11", "nvme0n1"), ("ata-WDC_1", "sda"), ("sd", "sda")]
        {
            assert!(!is_on(device, name), "{device} {name}");
        }
    }

    #[test]
    fn only_lists_with_the_names_of_the_pool_tell() {
        let table = |tool: &str, columns: &[&str], rows: &[&[&str]]| Table {
            tool: tool.into(),
            columns: columns.iter().map(ToString::to_string).collect(),
            rows: rows.iter().map(|r| r.iter().map(ToString::to_string).collect()).collect(),
            ..Table::default()
        };
        let of = |leaf: &'static str| {
            let rows: [&[&str]; 4] =
                [&["tank", "tank"], &["tank", "mirror-0"], &["tank", leaf], &["tank", "sdc"]];
            let tables = vec![table("zpool status", &["pool", "name"], &rows)];
            PoolDisks::of(&Evidence { tables, ..Evidence::default() })
        };
        let iostat = table("iostat", &["Device"], &[&["sda"], &["sdb"], &["sdc"]]);
        let disks = of("sdb1");
        assert!(
            disks.tell_of(&iostat) && disks.include("sdb") && disks.include("sdc") && !disks.include("sda")
        );
        assert!(!of("ata-WDC_WD40EFRX").tell_of(&iostat), "other names: nobody knows which is which");
        assert!(!PoolDisks::default().tell_of(&iostat));
    }
}
