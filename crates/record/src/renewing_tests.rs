//! An hour beside compilers, made of records: new processes and new stacks all the time.

use super::*;
use crate::naming::{ADDRESS_BUDGET, Names};
use crate::processes::Processes;
use crate::sampler::{Attached, Taken};
use crate::thread_clock::ThreadClocks;
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use zwhy_capture::{Capture, Writer};
use zwhy_perf::ask::{Clock, Sampling};
use zwhy_perf::attr::{Attr, Schema};
use zwhy_perf::chain::MARK_USER;
use zwhy_perf::record::{self, Record};
use zwhy_perf::{Family, Identity, Mmap, SideBand};
use zwhy_profile::{FoldedStacks, Nanos};

/// Numbers that no process has.
const FIRST_PID: i32 = 10_000_000;
/// Where the program of this test is mapped, and how many places in its code are callers.
const MAPPED_AT: u64 = 0x5000_0000_0000;
const PLACES: u64 = 6_000;

/// A recording without a kernel: records go in, a capture comes out.
struct Made {
    scene: Scene,
    taken: Taken,
    schema: Schema,
    writer: Writer,
    renewals: Renewals,
    out: PathBuf,
    program: (String, u64, u64),
    /// State of a linear congruential generator.
    random: u64,
    time: u64,
    pid: i32,
}

impl Made {
    fn new(out: PathBuf, budget: usize, seed: u64) -> Made {
        let sampling = Sampling {
            hz: 99,
            clock: Clock::Cycles,
            user_only: false,
            inherit: false,
            on_exec: false,
            count_lost: false,
        };
        let clocks = ThreadClocks::new(Path::new("/nonexistent"));
        let program = std::env::current_exe().unwrap();
        let file = std::fs::metadata(&program).unwrap();
        let (names, processes) = (Names::new(false), Processes::default());
        Made {
            scene: Scene::new(names, processes, Some(clocks), Family::everyone()),
            taken: Taken::new(99, false),
            schema: Schema::of_one(Attr::of(&sampling.attr())),
            writer: Writer::create(&out).unwrap(),
            renewals: Renewals { budget, ..Renewals::default() },
            out,
            program: (program.to_str().unwrap().to_owned(), file.ino(), file.len()),
            random: seed,
            time: 0,
            pid: FIRST_PID,
        }
    }

    fn random(&mut self, below: u64) -> u64 {
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) % below
    }

    fn tell(&mut self, told: SideBand<'_>) {
        self.time += 1;
        self.scene.told(self.time, &told);
    }

    fn map(&mut self, pid: i32, start: u64, len: u64, (path, inode): (&str, u64)) {
        let (path, identity) = (path.as_bytes(), Identity::Inode(inode));
        self.tell(SideBand::Mmap(Mmap { pid, start, len, offset: 0, path, identity, mode: 2, data: false }));
    }

    fn sample(&mut self, pid: i32, chain: &[u64]) {
        self.time += 1;
        let ids = u64::from(pid.cast_unsigned());
        let head = [0, 0, ids << 32 | ids, self.time, 0, 1, chain.len() as u64];
        let words: Vec<u64> = head.iter().chain(chain).copied().collect();
        let mut bytes = record::SAMPLE.to_ne_bytes().to_vec();
        bytes.extend([2u16.to_ne_bytes(), (8 + 8 * words.len() as u16).to_ne_bytes()].concat());
        words.iter().for_each(|word| bytes.extend(word.to_ne_bytes()));
        let record = Record::first(&bytes).unwrap();
        self.taken.record(&mut self.scene, &Attached::default(), self.time, &record, &self.schema);
    }

    /// A compiler starts, is sampled `samples` times in stacks of its own, and ends.
    fn compiler(&mut self, samples: u64) {
        self.pid += 1;
        let pid = self.pid;
        let (path, inode, len) = self.program.clone();
        self.tell(SideBand::Fork { pid, ppid: FIRST_PID, tid: pid, ptid: FIRST_PID });
        let comm = format!("cc\n\u{1b}{}", pid % 1000);
        self.tell(SideBand::Comm { pid, tid: pid, exec: true, comm: comm.as_bytes() });
        self.map(pid, MAPPED_AT, len, (&path, inode));
        // What each build makes and runs once.
        let script = format!("/build/{pid}/build-script");
        self.map(pid, 1 << 40, 4096, (&script, u64::from(pid.cast_unsigned())));
        for _ in 0..samples {
            let mut chain = vec![MARK_USER];
            let step = len / PLACES;
            for _ in 0..=self.random(10) {
                let place = MAPPED_AT + self.random(PLACES) * step;
                chain.push(place);
            }
            self.sample(pid, &chain);
        }
        self.tell(SideBand::Exit { pid, tid: pid });
    }

    /// As a recording does every few seconds.
    fn flush(&mut self) {
        let t = Nanos(self.time as i64);
        let Scene { clocks, pen, .. } = &mut self.scene;
        clocks.iter_mut().for_each(|clocks| clocks.tick(t, pen));
        self.taken.name(&mut self.scene);
        let Scene { processes, names, profile, pen, .. } = &mut self.scene;
        processes.flushed();
        names.trim(processes);
        self.writer.flush(profile).unwrap();
        self.writer.append_series(&pen.series).unwrap();
        pen.series.clear();
        pen.trim();
        if self.renewals.taken(&mut self.scene, &mut []) {
            self.writer.reset_names();
        }
    }

    fn finish(self) -> Capture {
        self.writer.finish().unwrap();
        Capture::open(&self.out).unwrap()
    }
}

/// Samples by stack and by thread, and the CPU time of threads at their ends.
#[derive(Debug, PartialEq)]
struct Told {
    stacks: String,
    threads: BTreeMap<(i32, String), usize>,
    clocks: Vec<(i64, String, i64)>,
}

fn told(capture: &Capture) -> Told {
    assert!(capture.damage.is_empty(), "{:?}", capture.damage);
    let p = &capture.profile;
    let mut threads = BTreeMap::new();
    for sample in p.samples.iter() {
        let thread = p.threads.get(sample.thread);
        *threads.entry((thread.tid, p.strings.get(thread.comm).to_owned())).or_default() += 1;
    }
    let rows = capture.series.iter().map(|row| (row.t.0, row.source.to_owned(), row.value));
    Told { stacks: FoldedStacks::text(p, zwhy_profile::Event::Cpu), threads, clocks: rows.collect() }
}

#[test]
fn an_hour_of_new_processes_and_stacks_keeps_a_bounded_number_of_names() {
    let dir = tempfile::tempdir().unwrap();
    let mut made = Made::new(dir.path().join("hour.zwhy"), NAMES_BUDGET / 8, 1);
    let (mut most, mut most_rows, mut most_images) = (0, [0; 4], 0);
    for _ in 0..720 {
        for _ in 0..5 {
            made.compiler(10);
        }
        let before = made.scene.names_memory();
        made.flush();
        most = most.max(before).max(made.scene.names_memory());
        let p = &made.scene.profile;
        let rows = [p.strings.len(), p.frames.len(), p.stacks.len(), p.threads.len()];
        most_rows = std::array::from_fn(|i| most_rows[i].max(rows[i]));
        most_images = most_images.max(made.scene.held().0);
        let (_, spaces, addresses) = made.scene.held();
        assert!(spaces < 100 && addresses <= ADDRESS_BUDGET, "{spaces} processes, {addresses} addresses");
    }
    // Nearly each of 36,000 samples has a stack of its own; 3,600 processes ran a program of their own.
    assert!(made.renewals.count >= 5, "{} times", made.renewals.count);
    assert!(most < NAMES_BUDGET / 2, "{most} bytes");
    let [strings, frames, stacks, threads] = most_rows;
    assert!(strings < 12_000 && frames < 8_000 && stacks < 30_000 && threads < 3_000, "{most_rows:?}");
    assert!(most_images < 4_200, "{most_images} images");
    let capture = made.finish();
    // A thread has the name of its parent until it takes its own.
    assert_eq!((capture.profile.samples.len(), capture.profile.threads.len()), (36_000, 7_201));
    assert!(capture.profile.stacks.len() > 100_000, "{}", capture.profile.stacks.len());
}

#[test]
fn names_reset_at_every_flush_change_nothing_that_is_read() {
    let dir = tempfile::tempdir().unwrap();
    for seed in 1..6 {
        let run = |name: &str, budget| {
            let mut made = Made::new(dir.path().join(format!("{name}-{seed}.zwhy")), budget, seed);
            for _ in 0..made.random(12) + 3 {
                for _ in 0..made.random(4) {
                    let samples = made.random(20);
                    made.compiler(samples);
                }
                made.flush();
            }
            (made.renewals.count, told(&made.finish()))
        };
        let ((never, once), (often, many)) = (run("once", usize::MAX), run("often", 1));
        assert!(never == 0 && often >= 2, "{often}");
        assert!(!once.stacks.is_empty() && once.clocks.len() > 1, "{once:?}");
        assert_eq!(once, many);
    }
}
