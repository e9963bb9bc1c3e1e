//! Counters over time, and moments that were marked: what is drawn over the length of a recording.
//!
//! Only the few counters that people look at are kept as they were read; of all others the evidence has the last
//! value and the rate.

/// Readings of one counter or gauge, in order of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// `cpu/all`, `disk/nvme0n1`, `arcstats`, `tank/objset-0x36`.
    pub source: String,
    pub name: String,
    /// It only grows while its source lives; a gauge goes up and down.
    pub counter: bool,
    /// Nanoseconds since the start of the recording, and the value.
    pub points: Vec<(i64, i64)>,
}

impl Line {
    /// When any of some lines was read, in order.
    pub fn times(lines: &[&Line]) -> Vec<i64> {
        let mut times: Vec<i64> = lines.iter().flat_map(|line| line.points.iter().map(|(t, _)| *t)).collect();
        times.sort_unstable();
        times.dedup();
        times
    }
}

/// A moment: what a trigger saw, a module that was loaded, a phase of an experiment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// Nanoseconds since the start of the recording.
    pub t: i64,
    pub name: String,
    pub text: String,
}

/// All of them; empty where the source has none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    pub lines: Vec<Line>,
    pub marks: Vec<Moment>,
}

/// Counters that are kept over time: a source, which may end with `*`, and its names.
const KEPT: [(&str, &[&str]); 9] = [
    ("cpu/all", &["usr_ns", "nice_ns", "sys_ns", "idle_ns", "iowait_ns", "irq_ns", "softirq_ns", "steal_ns"]),
    ("arcstats", &["hits", "misses", "size", "c"]),
    ("disk/*", &["read_bytes", "write_bytes", "io_ns"]),
    ("*/objset-*", &["nread", "nwritten"]),
    ("zil", &["zil_commit_count"]),
    ("zfetchstats", &["hits", "misses"]),
    ("meminfo", &["MemAvailable"]),
    ("pressure/*", &["some_ns"]),
    ("vdev/*", &zwhy_zfs::IOSTAT_NAMES),
];

impl Timeline {
    /// Whether a counter is one of those that are kept over time.
    pub fn keeps(source: &str, name: &str) -> bool {
        KEPT.iter().any(|(of, names)| is_like(of, source) && names.contains(&name))
    }

    /// The lines of the sources like `of`, which may begin and end with `*`.
    pub fn of<'a>(&'a self, of: &'a str, name: &'a str) -> impl Iterator<Item = &'a Line> {
        self.lines.iter().filter(move |line| is_like(of, &line.source) && line.name == name)
    }
}

fn is_like(pattern: &str, source: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(_), Some(_)) => source.contains(pattern.trim_matches('*')),
        (_, Some(start)) => source.starts_with(start),
        _ => pattern == source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_look_at_is_kept() {
        assert!(Timeline::keeps("cpu/all", "sys_ns") && !Timeline::keeps("cpu/3", "sys_ns"));
        assert!(Timeline::keeps("disk/sda", "read_bytes") && !Timeline::keeps("disk/sda", "reads_merged"));
        assert!(Timeline::keeps("vdev/tank/sda", "syncq_read_pending") && !Timeline::keeps("vdev/tank", "x"));
        assert!(Timeline::keeps("tank/objset-0x36", "nread") && !Timeline::keeps("tank/iostats", "nread"));
    }
}
