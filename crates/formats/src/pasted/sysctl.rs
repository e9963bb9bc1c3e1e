//! Statistics and tunables of other systems: FreeBSD's and Linux's sysctl, `kstat -p` and mdb's `::arc` of
//! illumos.
//!
//! `vfs.zfs.…` becomes the parameter's name on Linux, `kstat.zfs.misc.arcstats.size` the kstat; a few
//! sysctls that decide about time and memory are parameters under their own name.

use super::cells;
use crate::blocks::{Block, Line, Sink, Taken};
use zwhy_evidence::Param;

pub struct Sysctl;

impl Block for Sysctl {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let used = lines.iter().take_while(|l| sysctl(&l.text).is_some()).count();
        if used == 0 {
            return None;
        }
        let origin = sink.origin("sysctl", &lines[..used]);
        let mut taken = Taken::default();
        for (key, value) in lines[..used].iter().filter_map(|l| sysctl(&l.text)) {
            if let Some(name) = key.strip_prefix("vfs.zfs.") {
                let (name, value) = (parameter(name), value.to_owned());
                sink.evidence.params.push(Param { name, value, origin });
            } else if !key.starts_with("kstat.") {
                if key == "hw.model" && sink.evidence.host.cpu_model.is_none() {
                    sink.evidence.host.cpu_model = Some(value.to_owned());
                }
                sink.evidence.params.push(Param { name: key.to_owned(), value: value.to_owned(), origin });
            } else if let (Some((source, name)), Ok(value)) = (key.rsplit_once('.'), value.parse::<f64>()) {
                let source = source
                    .trim_start_matches("kstat.zfs.")
                    .trim_start_matches("misc.")
                    .replace(".misc.", "/")
                    .replace(".dataset.", "/");
                cells::kstat(sink, &source, name, value, origin);
            } else {
                taken.drop("kstat value that is no number", 1);
                continue;
            }
            taken.kept += 1;
        }
        Some(taken)
    }
}

fn sysctl(text: &str) -> Option<(&str, &str)> {
    const OTHERS: [&str; 12] = [
        "kern.timecounter.hardware",
        "kern.timecounter.choice",
        "vm.swappiness",
        "vm.min_free_kbytes",
        "vm.zone_reclaim_mode",
        "vm.vfs_cache_pressure",
        "vm.drop_caches",
        "kern.maxvnodes",
        "hw.model",
        "hw.ncpu",
        "hw.physmem",
        "vfs.numvnodes",
    ];
    let (key, value) = text.trim().split_once([':', '='])?;
    let (key, value) = (key.trim(), value.trim());
    let known = key.starts_with("kstat.zfs.") || key.starts_with("vfs.zfs.") || OTHERS.contains(&key);
    (known && !key.contains(' ') && !value.is_empty() && value.len() < 300).then_some((key, value))
}

/// The module parameter that a FreeBSD tunable is: `arc.max` and `arc_max` are `zfs_arc_max`,
/// `l2arc.feed_secs` is `l2arc_feed_secs` (include/os/freebsd/spl/sys/mod_os.h).
fn parameter(name: &str) -> String {
    const WITHOUT: [&str; 12] = [
        "l2arc_",
        "dbuf_",
        "dbuf.",
        "metaslab_",
        "metaslab.",
        "zfetch_",
        "zfetch.",
        "zvol_",
        "zil_",
        "spa_",
        "send_",
        "dmu_",
    ];
    let name_ = name.replace('.', "_");
    let bare = WITHOUT.iter().any(|p| name.starts_with(p)) || name.starts_with("l2arc.");
    if bare { name_ } else { format!("zfs_{name_}") }
}

/// `zfs:0:arcstats:size<TAB>12884258792` of `kstat -p`.
pub struct KstatP;

impl Block for KstatP {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let rows: Vec<_> = lines.iter().map_while(|l| kstat_p(&l.text)).collect();
        if rows.is_empty() {
            return None;
        }
        let used = rows.len();
        let origin = sink.origin("kstat -p", &lines[..used]);
        let mut taken = Taken::default();
        for (source, name, value) in rows {
            match value.parse::<f64>().ok().filter(|v| v.is_finite()) {
                Some(value) => {
                    cells::kstat(sink, source, name, value, origin);
                    taken.kept += 1;
                }
                None => taken.drop("kstat value that is no number", 1),
            }
        }
        Some(taken)
    }
}

fn kstat_p(text: &str) -> Option<(&str, &str, &str)> {
    let (key, value) = text.trim().split_once(char::is_whitespace)?;
    let mut parts = key.splitn(4, ':');
    let (module, instance) = (parts.next()?, parts.next()?);
    let (source, name) = (parts.next()?, parts.next()?);
    let of_zfs = module == "zfs" || module == "unix" && source.starts_with("vopstats");
    (of_zfs && instance.bytes().all(|b| b.is_ascii_digit()) && !source.is_empty() && !name.is_empty())
        .then_some((source, name, value.trim()))
}

/// `size   =   512 MB` lines of mdb's `::arc`.
pub struct MdbArc;

impl Block for MdbArc {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        const MOST: usize = 200;
        lines.first()?.text.trim_start().starts_with("hits ").then_some(())?;
        let rows: Vec<(&str, f64)> = lines.iter().take(MOST).map_while(|l| mdb(&l.text)).collect();
        let arc = ["hits", "c", "c_max", "arc_meta_used"];
        // A few assignments in prose are not it.
        if rows.len() < 6 || arc.iter().filter(|a| rows.iter().any(|r| r.0 == **a)).count() < 3 {
            return None;
        }
        let used = rows.len();
        let origin = sink.origin("mdb ::arc", &lines[..used]);
        for (name, value) in rows {
            cells::kstat(sink, "arcstats", name, value, origin);
        }
        Taken::kept(used)
    }
}

fn mdb(text: &str) -> Option<(&str, f64)> {
    let (name, value) = text.trim().split_once('=')?;
    let name = name.trim();
    let is_name = !name.is_empty()
        && name.len() < 40
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    is_name.then_some(())?;
    Some((name, cells::bytes(value)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_systems_become_ours() {
        for (name, want) in [
            ("arc_max", "zfs_arc_max"),
            ("arc.max", "zfs_arc_max"),
            ("prefetch.disable", "zfs_prefetch_disable"),
            ("l2arc.feed_secs", "l2arc_feed_secs"),
            ("vdev.sync_read_max_active", "zfs_vdev_sync_read_max_active"),
            ("zfetch.max_distance", "zfetch_max_distance"),
        ] {
            assert_eq!(parameter(name), want);
        }
        assert_eq!(kstat_p("zfs:0:arcstats:size\t128"), Some(("arcstats", "size", "128")));
        assert_eq!(kstat_p("cpu:0:sys:idle 3"), None);
        assert_eq!(mdb("c_max                     =     16384 MB"), Some(("c_max", 16384.0 * 1048576.0)));
        assert_eq!(sysctl("vm.swappiness = 60"), Some(("vm.swappiness", "60")));
        assert_eq!(sysctl("note: vfs.zfs"), None);
    }
}
