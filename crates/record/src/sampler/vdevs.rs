//! Latencies and queues of vdevs, as `zpool iostat -lqv` tells them: sources `vdev/POOL` and `vdev/POOL/DISK`, names
//! of `zwhy_zfs::IOSTAT_NAMES`.
//!
//! What it costs: one `zpool iostat` goes on for all of a recording. It takes some 0.1 ms for each row it prints, most
//! of it in the kernel, so it prints at most [`ROWS_A_SECOND`]: a host of 20 vdevs once a second, one of 100 pools and
//! 1000 vdevs once in 55 s. A program is started [`MOST_STARTS`] times at most: once, once more where there are so many
//! rows that it has to print less often, and again where it ended by itself. Groups such as mirrors are left out, what
//! they do is that of their disks.

use super::{Ended, Look, Pace, Part, Sampler};
use crate::options::RecordOptions;
use crate::scene::Scene;
use crate::series_pen::SeriesPen;
use crate::target::Target;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use zwhy_capture::SeriesKind;
use zwhy_evidence::RecorderFacts;
use zwhy_host::{ToolStream, entries};
use zwhy_profile::Nanos;
use zwhy_zfs::row_of_iostat;

const ROWS_A_SECOND: u64 = 20;
/// With more rows than this nothing is read.
const MOST_ROWS: u64 = 2400;
const MOST_STARTS: u32 = 4;
/// Between two attempts to start it.
const PAUSE: Duration = Duration::from_secs(10);
/// A shorter recording has too few reports for what starting a program costs.
const SHORTEST: Duration = Duration::from_secs(3);
/// A command may be over at once: beside one it begins so much later.
const LATER: Duration = Duration::from_secs(1);
/// Rows that are no disk and no pool (`kind_of_name` in crates/zfs names the same).
const GROUPS: [&str; 6] = ["mirror-", "raidz", "draid", "spare-", "replacing-", "indirect-"];

#[derive(Default)]
pub(crate) struct Vdevs {
    /// The folder of a kstat folder for each pool.
    pools_in: PathBuf,
    program: PathBuf,
    stream: Option<ToolStream>,
    starts: u32,
    next_start: Duration,
    pace: Pace,
    /// Between two reports, in seconds.
    pause_s: u64,
    report: Report,
    too_many: bool,
}

/// The report that is being read.
#[derive(Default)]
struct Report {
    /// Reports that have begun since the tool was started; the first one is of the time since import.
    number: u32,
    rows: u64,
    /// Rows of the report before it.
    whole: u64,
    pools: FxHashSet<String>,
    pool: String,
    present: FxHashSet<String>,
    before: FxHashSet<String>,
}

impl Vdevs {
    /// `None` where they are not wanted.
    pub(crate) fn new(options: &RecordOptions) -> Option<Vdevs> {
        let short = options.duration.is_some_and(|duration| duration < SHORTEST.max(options.interval * 2));
        let may_be_short = options.duration.is_none() && matches!(options.target, Target::Command(_));
        let next_start = if may_be_short { LATER } else { Duration::ZERO };
        (options.ask_zfs && options.vdevs && !short).then(|| Vdevs {
            pools_in: options.proc_root.join("spl/kstat/zfs"),
            program: PathBuf::from("zpool"),
            next_start,
            pace: Pace::new(options.interval),
            pause_s: whole_seconds(options.interval),
            ..Vdevs::default()
        })
    }

    fn pools(&self) -> FxHashSet<String> {
        let folders = entries(&self.pools_in).into_iter().filter(|(_, _, is_folder)| *is_folder);
        folders.map(|(name, _, _)| name).collect()
    }

    /// Starts the tool where it is to run and does not.
    fn keep_running(&mut self, now: Duration) {
        if self.stream.is_some() || self.too_many || self.starts >= MOST_STARTS || now < self.next_start {
            return;
        }
        self.next_start = now + PAUSE;
        if self.pools().is_empty() {
            return;
        }
        self.starts += 1;
        self.report = Report { before: std::mem::take(&mut self.report.before), ..Report::default() };
        let pause = self.pause_s.to_string();
        let args = ["iostat", "-T", "u", "-Hplqv", &pause].map(str::to_owned);
        self.stream = ToolStream::start(&self.program, &args).ok();
    }

    /// Takes in what the tool printed, and whether that was the last of it.
    fn read(&mut self, now: Duration, lines: &[(Nanos, String)], ended: bool, pen: &mut SeriesPen) {
        for (t, line) in lines {
            if !line.is_empty() && line.bytes().all(|b| b.is_ascii_digit()) {
                let pools = self.pools();
                self.report.begin(pools, pen);
            } else {
                self.report.row(*t, line, pen);
            }
        }
        if ended {
            self.stream = None;
        }
        let pause_s = self.report.whole.div_ceil(ROWS_A_SECOND);
        if self.report.rows > MOST_ROWS {
            (self.stream, self.too_many) = (None, true);
        } else if pause_s > self.pause_s {
            // Less often, from now on.
            (self.stream, self.pause_s, self.next_start) = (None, pause_s, now);
            self.keep_running(now);
        }
    }
}

/// The tool takes whole seconds.
fn whole_seconds(interval: Duration) -> u64 {
    interval.as_secs() + u64::from(interval.subsec_nanos() > 0)
}

impl Report {
    fn begin(&mut self, pools: FxHashSet<String>, pen: &mut SeriesPen) {
        self.number = self.number.saturating_add(1);
        // The one before the first that counts names nothing.
        if self.number > 2 {
            self.before.difference(&self.present).for_each(|gone| pen.end(gone));
            self.before = std::mem::take(&mut self.present);
        }
        (self.whole, self.rows, self.pools) = (self.rows, 0, pools);
        self.pool.clear();
    }

    fn row(&mut self, t: Nanos, line: &str, pen: &mut SeriesPen) {
        let Some((name, values)) = row_of_iostat(line) else { return };
        self.rows += 1;
        let source = if self.pools.contains(name) {
            name.clone_into(&mut self.pool);
            format!("vdev/{name}")
        } else if GROUPS.iter().any(|group| name.starts_with(group)) || self.pool.is_empty() {
            return;
        } else {
            format!("vdev/{}/{name}", self.pool)
        };
        // A disk that never did anything, such as a spare, is no row.
        let idle = values.iter().all(|(_, value)| *value == 0) && !self.before.contains(&source);
        if self.number < 2 || idle {
            return;
        }
        for (name, value) in values {
            // Of a queue that was never used there is nothing to say.
            if value != 0 || pen.reading(&source, name).is_some() {
                pen.put(t, &source, name, SeriesKind::Gauge, value);
            }
        }
        self.present.insert(source);
    }
}

impl Sampler for Vdevs {
    fn due(&self) -> Duration {
        self.pace.due()
    }

    fn take(&mut self, scene: &mut Scene, look: Look) {
        if !self.pace.begins(&look) {
            return;
        }
        if self.starts == 0 && self.next_start > look.elapsed {
            self.pace.next_at(self.next_start);
        }
        self.keep_running(look.elapsed);
        if let Some(stream) = &self.stream {
            let (lines, ended) = stream.take();
            let lines: Vec<(Nanos, String)> =
                lines.into_iter().map(|(at, line)| (scene.since_start(at), line)).collect();
            self.read(look.elapsed, &lines, ended, &mut scene.pen);
        }
        if look.part == Part::End {
            self.stream = None;
        }
    }

    fn facts(&self, facts: &mut RecorderFacts, _: &Scene, end: Option<&Ended<'_>>) {
        if let Some(series) = facts.series.as_mut().filter(|_| end.is_some() && self.report.number > 1) {
            series.vdev_interval_s = Some(self.pause_s as f64);
        }
    }

    fn caveats(&self, _: &Scene, _: &BTreeMap<u32, u64>) -> Vec<String> {
        let sentence = "the latencies and queues of vdevs are not recorded: there are very many";
        self.too_many.then(|| sentence.to_owned()).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;
    use std::time::Instant;

    /// A host with these pools and a `zpool` that notes its arguments and goes on as the script says.
    fn host(root: &Path, pools: &[String], script: &str) -> Vdevs {
        for pool in pools {
            fs::create_dir_all(root.join("spl/kstat/zfs").join(pool)).unwrap();
        }
        let program = root.join("zpool");
        let log = root.join("starts");
        fs::write(&program, format!("#!/bin/sh\necho \"$*\" >>{}\n{script}\n", log.display())).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let mut options = RecordOptions::new(Target::System, root.join("x.zwhy"));
        options.proc_root = root.to_owned();
        Vdevs { program, ..Vdevs::new(&options).unwrap() }
    }

    /// One look at a time of the recording.
    fn look(vdevs: &mut Vdevs, second: u64, pen: &mut SeriesPen) {
        let now = Duration::from_secs(second);
        vdevs.keep_running(now);
        let Some(stream) = &vdevs.stream else { return };
        let (lines, ended) = stream.take();
        let lines: Vec<(Nanos, String)> = lines.into_iter().map(|(_, l)| (Nanos(second as i64), l)).collect();
        vdevs.read(now, &lines, ended, pen);
    }

    /// Looks at later and later seconds until there is what is asked for; returns the last second.
    fn until(vdevs: &mut Vdevs, pen: &mut SeriesPen, mut is: impl FnMut(&Vdevs, &SeriesPen) -> bool) -> u64 {
        let begin = Instant::now();
        for second in 0.. {
            look(vdevs, second, pen);
            if is(vdevs, pen) {
                return second;
            }
            assert!(begin.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(2));
        }
        unreachable!()
    }

    fn starts(root: &Path) -> Vec<String> {
        let log = fs::read_to_string(root.join("starts")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// A row as OpenZFS 2.3 prints it: reads a second, time of a read on the disk, reads waiting and under way.
    fn row(name: &str, figures: [u64; 4]) -> String {
        let [reads, disk, pending, active] = figures;
        let latencies = format!("{}\t-\t{disk}\t-{}", 2 * disk, "\t-".repeat(7));
        format!("{name}\t0\t0\t{reads}\t0\t4096\t0\t{latencies}\t{pending}\t{active}{}\n", "\t0".repeat(12))
    }

    #[test]
    fn disks_and_pools_have_series_and_the_time_since_import_none() {
        let root = tempfile::tempdir().unwrap();
        let since_import = row("tank", [9, 9, 9, 9]) + &row("sda", [9, 9, 9, 9]);
        let first = row("tank", [80, 5, 3, 1]) + &row("mirror-0", [80, 5, 3, 1]) + &row("sda", [80, 5, 3, 1]);
        let idle = format!("\n{}", row("sdb", [0, 0, 0, 0]));
        let second = row("tank", [0, 0, 0, 0]) + &row("sdc", [1, 1, 0, 1]);
        let script = format!("printf '1\n{since_import}2\n{first}{idle}3\n{second}4\n'; exec sleep 600");
        let mut vdevs = host(root.path(), &["tank".to_owned()], &script);
        let mut pen = SeriesPen::default();
        until(&mut vdevs, &mut pen, |vdevs, _| vdevs.report.number == 4);
        let rows: Vec<(&str, &str, i64)> = pen.series.iter().map(|r| (r.source, r.name, r.value)).collect();
        for row in [
            ("vdev/tank", "syncq_read_pending", 3),
            ("vdev/tank/sda", "disk_read_ns", 5),
            ("vdev/tank/sda", "syncq_read_active", 1),
            ("vdev/tank", "syncq_read_pending", 0),
            ("vdev/tank/sdc", "reads_s", 1),
        ] {
            assert!(rows.contains(&row), "{row:?} {rows:?}");
        }
        assert!(!rows.iter().any(|r| r.0.contains("mirror") || r.0.ends_with("sdb") || r.2 == 9), "{rows:?}");
        assert!(!rows.iter().any(|r| r.1.starts_with("trimq")), "{rows:?}");
        assert_eq!(pen.ended, ["vdev/tank/sda"], "it is gone from the second report");
        assert_eq!(starts(root.path()), ["iostat -T u -Hplqv 1"]);
    }

    /// The bound of what recording a large host may cost: programs that are started, and rows a second.
    #[test]
    fn of_a_hundred_pools_and_a_thousand_vdevs_two_programs_are_started() {
        let root = tempfile::tempdir().unwrap();
        let pools: Vec<String> = (0..100).map(|n| format!("pool{n}")).collect();
        let disks =
            |pool: &String| (0..10).map(|n| row(&format!("{pool}-d{n}"), [1, 1, 0, 1])).collect::<String>();
        let report: String = pools.iter().map(|pool| row(pool, [1, 1, 0, 1]) + &disks(pool)).collect();
        fs::write(root.path().join("report"), report).unwrap();
        let script = format!("echo 1; cat {}; echo 2; exec sleep 600", root.path().join("report").display());
        let mut vdevs = host(root.path(), &pools, &script);
        let mut pen = SeriesPen::default();
        until(&mut vdevs, &mut pen, |vdevs, _| vdevs.starts == 2 && vdevs.report.whole == 1100);
        (0..3600).for_each(|second| look(&mut vdevs, 60 + second, &mut pen));
        assert_eq!(starts(root.path()), ["iostat -T u -Hplqv 1", "iostat -T u -Hplqv 55"]);
        assert!(vdevs.report.whole <= vdevs.pause_s * ROWS_A_SECOND);
    }

    #[test]
    fn a_tool_that_ends_is_started_a_few_times_and_one_of_no_pool_never() {
        let root = tempfile::tempdir().unwrap();
        let mut vdevs = host(root.path(), &["tank".to_owned()], "exit 1");
        let mut pen = SeriesPen::default();
        until(&mut vdevs, &mut pen, |vdevs, _| vdevs.starts == MOST_STARTS && vdevs.stream.is_none());
        (0..1000).for_each(|second| look(&mut vdevs, 100_000 + second, &mut pen));
        assert_eq!(starts(root.path()).len(), MOST_STARTS as usize);

        let empty = tempfile::tempdir().unwrap();
        let mut vdevs = host(empty.path(), &[], "exec sleep 600");
        (0..100).for_each(|second| look(&mut vdevs, second, &mut pen));
        assert!(vdevs.stream.is_none() && starts(empty.path()).is_empty());
    }

    #[test]
    fn a_host_of_very_many_vdevs_says_that_they_are_not_read() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("report"), row("sda", [1, 1, 0, 1]).repeat(3000)).unwrap();
        let script = format!("echo 1; cat {}; exec sleep 600", root.path().join("report").display());
        let mut vdevs = host(root.path(), &["tank".to_owned()], &script);
        let mut pen = SeriesPen::default();
        until(&mut vdevs, &mut pen, |vdevs, _| vdevs.too_many);
        (0..100).for_each(|second| look(&mut vdevs, 1000 + second, &mut pen));
        assert!(vdevs.stream.is_none() && vdevs.starts == 1 && pen.series.is_empty());
    }

    #[test]
    fn a_short_recording_and_one_of_another_openzfs_have_none() {
        let mut options = RecordOptions::new(Target::System, "x.zwhy");
        assert!(Vdevs::new(&options).is_some());
        options.duration = Some(Duration::from_secs(2));
        assert!(Vdevs::new(&options).is_none());
        options.duration = None;
        options.ask_zfs = false;
        assert!(Vdevs::new(&options).is_none());
        assert!(Vdevs::new(&RecordOptions::without_file(Target::System)).is_none());
    }
}
