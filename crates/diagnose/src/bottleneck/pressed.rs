//! What presses from outside of ZFS: a control group that may use no more CPU, and a program that takes the memory
//! which the ARC had.

use super::answer::LimitKind;
use super::words::{name, whole};
use super::{Limit, Seen};
use crate::figures::percent;
use rustc_hash::FxHashMap;
use zwhy_profile::{Thread, ThreadId};

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
        let (path, part, quota) = found.max_by(|a, b| a.1.total_cmp(&b.1).then_with(|| b.0.cmp(&a.0)))?;
        let group = path.rsplit('/').next().unwrap_or(&path).to_owned();
        let busiest = groups.get(path.as_str()).and_then(|of| self.comm(of.get("busiest_pid")?.0 as i32));
        let who = busiest.map_or(String::new(), |comm| format!(" ({})", name(comm)));
        let text = format!(
            "control group {}{who} may use {} of one CPU (cpu.max) and is stopped in {} of its periods",
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
        let left = size_words(size);
        let (program, text) = match self.largest(total) {
            Some((program, bytes)) => {
                let (who, holds, of) = (name(&program), size_words(bytes), size_words(total));
                let text = format!(
                    "{who} holds {holds} of the {of} of memory, so the ARC (ZFS's cache) has {left} left"
                );
                (program, text)
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
        Some((self.comm(pid)?.to_owned(), bytes))
    }

    /// The name of a process.
    fn comm(&self, pid: i32) -> Option<&str> {
        let profile = &self.facts.evidence.profile;
        let named = |(_, thread): (ThreadId, Thread)| {
            let comm = profile.strings.get(thread.comm);
            (thread.tid == pid && !comm.is_empty()).then_some(comm)
        };
        profile.threads.iter().find_map(named)
    }
}

/// `3.4 GiB`, `124 MiB`: as memory is spoken of.
fn size_words(bytes: f64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = bytes.max(0.0) / 1024.0;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = usize::from(value < 9.95);
    format!("{value:.digits$} {}", UNITS[unit])
}
