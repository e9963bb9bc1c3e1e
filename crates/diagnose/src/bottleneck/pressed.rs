//! What presses from outside of ZFS: a control group that may use no more CPU, and a program that takes the memory
//! which the ARC had.

use super::answer::LimitKind;
use super::words::{name, whole};
use super::{Limit, Seen};
use crate::figures::percent;
use rustc_hash::FxHashMap;
use zwhy_zfs::format_bytes;

/// Part of its periods in which a group was stopped, from which that is the limit.
const STOPPED: f64 = 0.3;
/// Part of the host's memory that one program holds, from which it is named.
const HOLDS: f64 = 0.3;
/// The ARC was squeezed where it is this part of what it may be, or less, and as near to its least size.
const SQUEEZED: f64 = 0.5;
const NEAR: f64 = 1.25;
/// Part of memory that is left for anybody, at most, and blocks a second that the ARC does not have, at least.
const LEFT: f64 = 0.15;
const MISSES: f64 = 2.0;

impl Seen<'_, '_> {
    /// A control group that was stopped, as it had used all the CPU time that it may.
    pub(super) fn stopped_group(&self) -> Option<Limit> {
        let mut groups: FxHashMap<&str, FxHashMap<&str, (f64, f64)>> = FxHashMap::default();
        for kstat in &self.facts.evidence.kstats {
            if let Some(group) = kstat.source.strip_prefix("cgroup/") {
                let of = groups.entry(group).or_default();
                of.insert(&kstat.name, (kstat.value, kstat.rate.unwrap_or(0.0)));
            }
        }
        let stopped = |(group, of): (&&str, &FxHashMap<&str, (f64, f64)>)| {
            let rate = |name: &str| of.get(name).map(|(_, rate)| *rate).filter(|rate| *rate > 0.0);
            let part = (rate("nr_throttled")? / rate("nr_periods")?).min(1.0);
            let quota = of.get("cpu_quota_ns")?.0 / of.get("cpu_period_ns")?.0.max(1.0);
            (part >= STOPPED).then(|| ((*group).to_owned(), part, quota))
        };
        let found = groups.iter().filter_map(stopped);
        let (group, part, quota) = found.max_by(|a, b| a.1.total_cmp(&b.1).then_with(|| b.0.cmp(&a.0)))?;
        let group = group.rsplit('/').next().unwrap_or(&group).to_owned();
        let text = format!(
            "control group {} may use {} of one CPU (cpu.max) and is stopped in {} of its periods",
            name(&group),
            percent(quota, false),
            whole(part)
        );
        Some(Limit::beside(&self.cpu, LimitKind::Throttle, &group, text))
    }

    /// A program holds so much memory that the ARC shrank, and reads go to the disks again.
    pub(super) fn squeezed(&self) -> Option<Limit> {
        let evidence = self.facts.evidence;
        let value = |source: &str, of: &str| evidence.kstat(source, of).map(|k| k.value);
        let rate = |of: &str| evidence.kstat("arcstats", of).and_then(|k| k.rate).unwrap_or(0.0);
        let (size, least, most) =
            (value("arcstats", "size")?, value("arcstats", "c_min")?, value("arcstats", "c_max")?);
        let (total, available) = (value("meminfo", "MemTotal")?, value("meminfo", "MemAvailable")?);
        let short = size <= SQUEEZED * most && size <= NEAR * least.max(value("arcstats", "c")?);
        if !short || available > LEFT * total || rate("misses") < MISSES {
            return None;
        }
        let left = format_bytes(size as u64);
        let (program, text) = match self.largest(total) {
            Some((program, bytes)) => {
                let (holds, of) = (format_bytes(bytes as u64), format_bytes(total as u64));
                let who = name(&program);
                (
                    program,
                    format!("{who} holds {holds} of {of} memory, which leaves the ARC (ZFS's cache) {left}"),
                )
            }
            None => (
                String::new(),
                format!("programs took the memory of the ARC (ZFS's cache), which has {left} left"),
            ),
        };
        Some(Limit::beside(&self.cpu, LimitKind::Memory, &program, text))
    }

    /// The program that holds most memory, where that is much.
    fn largest(&self, total: f64) -> Option<(String, f64)> {
        let evidence = self.facts.evidence;
        let resident = evidence.kstats.iter().filter(|k| k.name == "rss_bytes");
        let of = |source: &str| source.strip_prefix("process/")?.parse::<i32>().ok();
        let found = resident.filter_map(|k| Some((of(&k.source)?, k.value)));
        let (pid, bytes) = found.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, b)| *b >= HOLDS * total)?;
        let profile = &evidence.profile;
        let (_, thread) = profile.threads.iter().find(|(_, t)| t.tid == pid)?;
        let comm = profile.strings.get(thread.comm);
        (!comm.is_empty()).then(|| (comm.to_owned(), bytes))
    }
}
