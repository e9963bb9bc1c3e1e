//! Which disks belong to a pool: the system's own disk may be slow, and no pool waits for it.

use super::tables::columns_like;
use crate::pattern::Pattern;
use std::collections::{BTreeSet, HashSet};
use zwhy_evidence::{Evidence, Table};

/// Vdevs that are no disks, alone or with a number behind a `-`: `mirror-0`, `logs`. A cell without a name is `-`.
const GROUPS: [&str; 12] = [
    "mirror",
    "raidz",
    "draid",
    "spare",
    "replacing",
    "indirect",
    "logs",
    "cache",
    "special",
    "dedup",
    "spares",
    "",
];

/// The disks of the pools, where a report lists those of every pool that it speaks of.
#[derive(Default)]
pub struct PoolDisks {
    disks: BTreeSet<String>,
    /// Names of the disks, and of those whose partitions they are.
    names: HashSet<String>,
}

impl PoolDisks {
    pub fn of(evidence: &Evidence) -> PoolDisks {
        let tables = |like: &str| {
            let like = Pattern::new(like);
            evidence.tables.iter().filter(move |t| like.matches_any_case(&t.tool))
        };
        let column = |table: &Table, name: &str| table.columns.iter().position(|c| c == name);
        let cells = |table: &'_ Table, at: usize| -> Vec<String> {
            table.rows.iter().filter_map(|row| row.get(at).cloned()).collect()
        };
        let (mut pools, mut disks) = (HashSet::new(), BTreeSet::new());
        for table in tables("zpool status|zpool status -*") {
            let (Some(pool), Some(name)) = (column(table, "pool"), column(table, "name")) else { continue };
            for row in &table.rows {
                let (Some(pool), Some(name)) = (row.get(pool), row.get(name)) else { continue };
                pools.insert(pool.clone());
                if pool != name && !is_group(name) {
                    disks.insert(name.clone());
                }
            }
        }
        let of_pools = tables("zpool iostat*").filter_map(|t| Some((t, column(t, "pool")?)));
        let listed = tables("zpool list").filter_map(|t| Some((t, column(t, "name")?)));
        let others = of_pools.chain(listed).flat_map(|(table, at)| cells(table, at));
        let all = others.into_iter().all(|pool| pools.contains(&pool));
        let disks = if all { disks } else { BTreeSet::new() };
        let names = disks.iter().flat_map(|disk| spellings(disk)).map(str::to_owned).collect();
        PoolDisks { disks, names }
    }

    /// The column of a table that names disks as the pools do, so that it can be told which of them are of a pool.
    pub fn named_in(&self, table: &Table) -> Option<usize> {
        if self.disks.is_empty() {
            return None;
        }
        let at = disk_column(table)?;
        let rows: HashSet<&str> = table.rows.iter().filter_map(|row| Some(row.get(at)?.as_str())).collect();
        let listed = |disk: &String| spellings(disk).iter().any(|name| rows.contains(name));
        self.disks.iter().all(listed).then_some(at)
    }

    /// Whether this disk of such a table, or a partition of it, is in a pool.
    pub fn include(&self, name: &str) -> bool {
        self.names.contains(name)
    }
}

/// The column with the names of disks: of gstat it is the last one.
pub fn disk_column(table: &Table) -> Option<usize> {
    columns_like(table, &Pattern::new("device|device:|dev|disk|name")).first().copied()
}

fn is_group(name: &str) -> bool {
    let rest = |group: &&str| name.strip_prefix(*group);
    let ends = |rest: &str| rest.is_empty() || rest.starts_with('-');
    // `raidz2-1`, `draid2:8d:12c:1s-0`.
    let with_parity =
        ["raidz", "draid"].iter().filter_map(rest).any(|r| r.starts_with(|c: char| c.is_ascii_digit()));
    with_parity || GROUPS.iter().filter_map(rest).any(ends)
}

/// A device and the disk that it may be a partition of: `sda3` of `sda`, `nvme0n1p2` of `nvme0n1`, `ada0p3` of `ada0`.
fn spellings(device: &str) -> Vec<&str> {
    let device = device.strip_prefix("/dev/").unwrap_or(device);
    let disk = device.trim_end_matches(|c: char| c.is_ascii_digit());
    let mut all = vec![device];
    if disk.len() < device.len() {
        let before = disk.strip_suffix(['p', 's']).filter(|d| d.ends_with(|c: char| c.is_ascii_digit()));
        all.push(before.unwrap_or(disk));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(tool: &str, columns: &[&str], rows: &[&[&str]]) -> Table {
        Table {
            tool: tool.into(),
            columns: columns.iter().map(ToString::to_string).collect(),
            rows: rows.iter().map(|r| r.iter().map(ToString::to_string).collect()).collect(),
            ..Table::default()
        }
    }

    fn with(leaf: &str, more: Vec<Table>) -> PoolDisks {
        let rows: [&[&str]; 4] =
            [&["tank", "tank"], &["tank", "mirror-0"], &["tank", leaf], &["tank", "sdc"]];
        let mut tables = vec![table("zpool status", &["pool", "name"], &rows)];
        tables.extend(more);
        PoolDisks::of(&Evidence { tables, ..Evidence::default() })
    }

    #[test]
    fn a_partition_is_of_its_disk() {
        for (device, name) in [
            ("sda3", "sda"),
            ("sda", "sda"),
            ("nvme0n1p2", "nvme0n1"),
            ("/dev/ada0p3", "ada0"),
            ("da10", "da10"),
        ] {
            assert!(spellings(device).contains(&name), "{device} {name}");
        }
        for (device, name) in [("sdaa", "sda"), ("nvme0n11", "nvme0n1"), ("ata-WDC_1", "sda")] {
            assert!(!spellings(device).contains(&name), "{device} {name}");
        }
    }

    #[test]
    fn groups_of_vdevs_are_no_disks() {
        for name in ["mirror-0", "raidz2-1", "draid2:8d:12c:1s-0", "logs", "cache", "spare-3", "raidz1", "-"]
        {
            assert!(is_group(name), "{name}");
        }
        for name in ["sda", "cache0", "special_nvme", "logs1p2", "mirrored"] {
            assert!(!is_group(name), "{name}");
        }
    }

    #[test]
    fn only_lists_with_the_names_of_all_pools_tell() {
        let iostat = table("iostat", &["Device"], &[&["sda"], &["sdb"], &["sdc"]]);
        let disks = with("sdb1", Vec::new());
        assert_eq!(disks.named_in(&iostat), Some(0));
        assert!(disks.include("sdb") && disks.include("sdc") && !disks.include("sda"));
        let gstat = table("gstat", &["ms/w", "Name"], &[&["1", "sdb"], &["900", "sda"], &["1", "sdc"]]);
        assert_eq!(disks.named_in(&gstat), Some(1));
        assert_eq!(with("ata-WDC_WD40EFRX", Vec::new()).named_in(&iostat), None, "which is which?");
        let list = table("zpool list", &["name"], &[&["tank"], &["rpool"]]);
        assert_eq!(with("sdb1", vec![list]).named_in(&iostat), None, "of rpool no disk is known");
        assert_eq!(PoolDisks::default().named_in(&iostat), None);
    }
}
