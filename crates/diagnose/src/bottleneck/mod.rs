//! What limits the load: decided from what programs wait for, the disks' counters, and who uses the CPU.
//!
//! Only of a recorded host, whose own counters say how much CPU was left: where they are missing there is no
//! bottleneck, and nothing is guessed. What cannot be told apart is not named either.

mod answer;
mod cpu;
mod disks;
mod first_line;
mod pressed;
mod programs;
mod queues;
mod words;

#[cfg(test)]
mod tests;

pub use answer::{Bottleneck, DiskRow, LimitKind, ProgramTime, QueueRow, TimePart};
pub(crate) use disks::alone_slow;
pub use disks::{is_real as is_real_disk, pools_of as pools_of_disks};
pub use first_line::{TELLING, Told, first_line};
pub use programs::process_names;
pub use words::MOST as MOST_CHARACTERS;

use crate::answer::CONFIDENT;
use crate::facts::FactBase;
use cpu::Cpu;
use disks::{HARDLY_BUSY, SATURATED};
use programs::Program;
use words::{Busy, name, whole};
use zwhy_evidence::Kind;
use zwhy_zfs::WaitsFor;

/// CPU left over, below which the CPUs of the host are the limit.
const FULL: f64 = 0.1;
/// CPU time that others got, from which the hypervisor is the limit.
const STOLEN: f64 = 0.1;
/// Part of one CPU from which a thread uses all of it.
const WHOLE_THREAD: f64 = 0.88;
/// Part of its wall time that the limit of a program is waited for, at least.
const WAITS: f64 = 0.3;
/// Seconds of waiting, as a part of the recording, from which it counts.
const WAITS_LONG: f64 = 0.1;
/// CPU left over from which the CPUs are plainly not the limit, and how busy a disk may be that is not.
const ROOM: f64 = 0.2;
const ROOM_ON_DISK: f64 = 0.5;
/// A finding is told from here on where nothing is at its limit.
const LIKELIER_THAN_NOT: f64 = 0.6;
/// Part of the host's CPU below which ZFS has little to do.
const ZFS_IDLE: f64 = 0.02;
/// Part of its CPU that a program spends in ZFS, below which it computes.
const COMPUTES: f64 = 0.1;
/// Part of one CPU from which a program is said to compute.
const COMPUTING: f64 = 0.25;
/// Part of the time in which some task waits for I/O or memory, from which it counts.
const PRESSURE: f64 = 0.25;

/// The same of I/O, where a disk is busy for a part of the time only: so much of it, at least.
const HELD_UP: f64 = 0.1;
const PART_BUSY: f64 = 0.2;
/// Times a second that ZFS delays a writer or commits to its intent log, from which it counts.
const A_FEW: f64 = 2.0;

/// What everything is decided from.
struct Seen<'a, 'e> {
    facts: &'a FactBase<'e>,
    cpu: Cpu,
    disks: Vec<DiskRow>,
    programs: Vec<Program>,
    seconds: f64,
}

/// What is decided.
struct Limit {
    kind: LimitKind,
    what: String,
    /// Said before the text where it stands alone: that the CPU is not the limit.
    lead: String,
    text: String,
}

impl Limit {
    fn new(kind: LimitKind, what: &str, text: String) -> Limit {
        Limit { kind, text, what: what.to_owned(), lead: String::new() }
    }

    /// As [`Limit::new`], of what is not the CPU.
    fn beside(cpu: &Cpu, kind: LimitKind, what: &str, text: String) -> Limit {
        let lead = format!("The CPU is not the limit ({} idle): ", whole(cpu.idle));
        Limit { lead, ..Limit::new(kind, what, text) }
    }

    /// As it stands alone; without its lead where names are long.
    fn sentence(&self) -> String {
        let whole = format!("{}{}.", self.lead, self.text);
        let alone = || format!("{}.", words::capital(self.text.clone()));
        if whole.chars().count() <= MOST_CHARACTERS { whole } else { alone() }
    }
}

/// A bottleneck with what it says where something else is said first.
pub struct Decided {
    pub bottleneck: Bottleneck,
    pub beside: Option<String>,
    /// Disks that are busy enough to be waited for, in words.
    pub disks: Option<String>,
    /// Confidence from which a finding is told although nothing is at its limit.
    pub least: f64,
}

/// What limits the load; `None` where that is not known, or nothing stands out.
pub fn bottleneck(facts: &FactBase<'_>) -> Option<Decided> {
    let known = &facts.evidence.facts;
    if known.kind != Some(Kind::Record) {
        return None;
    }
    let seconds = known.recorder.duration_s.filter(|s| *s > 0.0)?;
    let (cpu, disks) = (Cpu::of(facts)?, disks::disks(facts.evidence));
    let seen = Seen { facts, cpu, disks, programs: programs::programs(facts), seconds };
    let (limit, least) = match seen.limit() {
        Some(limit) => (limit, CONFIDENT),
        None => (seen.room_left()?, LIKELIER_THAN_NOT),
    };
    let busy = disks::busiest(&seen.disks);
    let busy = busy.first().filter(|d| d.busy >= HARDLY_BUSY).map(|_| words::which(&busy));
    // Where the CPU is the limit, what else presses is said beside it.
    let beside = match limit.kind {
        LimitKind::Cpu | LimitKind::Thread => seen.squeezed().map(|other| other.text),
        LimitKind::Idle | LimitKind::Client => None,
        _ => Some(limit.text.clone()),
    };
    let bottleneck = Bottleneck {
        kind: limit.kind,
        text: limit.sentence(),
        what: limit.what,
        cpu_idle: Some(seen.cpu.idle),
        cpu_stolen: Some(seen.cpu.stolen).filter(|stolen| *stolen > 0.0),
        programs: programs::listed(&seen.programs, seconds),
        disks: seen.disks,
        queues: queues::queues(facts.evidence, facts.vdev_loads()),
    };
    let beside = beside.map(|text| format!("{}.", words::capital(text)));
    Some(Decided { bottleneck, beside, disks: busy, least })
}

impl Seen<'_, '_> {
    /// The first of these that holds: what takes CPU away, what fills it, who waits for what, what is busy.
    fn limit(&self) -> Option<Limit> {
        self.stolen()
            .or_else(|| self.stopped_group())
            .or_else(|| self.full())
            .or_else(|| self.thread())
            .or_else(|| self.squeezed())
            .or_else(|| self.waiting())
            .or_else(|| self.client())
            .or_else(|| self.device())
            .or_else(|| self.memory())
            .or_else(|| self.idle())
    }

    fn stolen(&self) -> Option<Limit> {
        let stolen = self.cpu.stolen;
        (stolen >= STOLEN && stolen > self.cpu.idle).then(|| {
            let text = format!(
                "The hypervisor holds this host back: it gave {} of its CPU time to others",
                whole(stolen)
            );
            Limit::new(LimitKind::Throttle, "hypervisor", text)
        })
    }

    /// All CPUs are busy, with ZFS or with a program.
    fn full(&self) -> Option<Limit> {
        if self.cpu.idle >= FULL {
            return None;
        }
        let (idle, zfs) = (whole(self.cpu.idle), self.cpu.zfs?);
        let computes = self.computing();
        if let Some(program) = computes.filter(|_| zfs < COMPUTES) {
            let text = format!(
                "{} computes: it fills the CPUs ({idle} idle) with work of its own, ZFS takes {}",
                name(&program.name),
                whole(zfs)
            );
            return Some(Limit::new(LimitKind::Client, &program.name, text));
        }
        let text = format!("The CPUs are full ({idle} idle): ZFS takes {} of them", whole(zfs));
        Some(Limit::new(LimitKind::Cpu, "", text))
    }

    /// A thread of ZFS that has no more than its one CPU.
    fn thread(&self) -> Option<Limit> {
        let (thread, cpu) = self.cpu.thread.as_ref().filter(|(_, cpu)| *cpu >= WHOLE_THREAD)?;
        self.cpu.cpus.filter(|cpus| *cpus > 1.0)?;
        let text = format!(
            "One thread is the limit ({} of the CPU is idle): {} takes {} of one CPU",
            whole(self.cpu.idle),
            name(thread),
            whole(*cpu)
        );
        // What comes after a colon are the parts of it.
        let what = zwhy_zfs::thread_role(thread).map_or("", |role| role.what);
        let forms =
            [what, what.split(':').next().unwrap_or_default()].map(|what| format!("{text}, which {what}"));
        let told = forms.into_iter().find(|told| !what.is_empty() && told.chars().count() < MOST_CHARACTERS);
        Some(Limit::new(LimitKind::Thread, thread, told.unwrap_or(text)))
    }

    /// A program that waits for something most of its time.
    fn waiting(&self) -> Option<Limit> {
        let worth = |p: &&Program| p.waiting_s() >= WAITS_LONG * self.seconds;
        let long = |p: &&Program| p.waiting_s() / p.wall_s.max(1e-9) >= WAITS;
        let program = self.programs.iter().filter(worth).find(long)?;
        let (kind, share) = program.most()?;
        let busy = disks::busiest(&self.disks);
        // A disk that has nothing to do is not what is waited for.
        let busy = if busy.first().is_some_and(|d| d.busy >= HARDLY_BUSY) { busy } else { Vec::new() };
        let slower = disks::slower(self.facts.evidence, &self.disks).filter(|_| !busy.is_empty());
        let lock = program.lock.and_then(|stack| self.lock_place(stack));
        let text = words::waits(program, kind, Some(share), Busy { disks: &busy, slower }, lock.as_deref());
        let what = match (kind, slower.map(|s| s.disk).or(busy.first().copied())) {
            (WaitsFor::Lock, _) => lock.unwrap_or_default(),
            (kind, Some(disk)) if kind.is_disk() => disk.disk.clone(),
            _ => String::new(),
        };
        Some(Limit::beside(&self.cpu, kind_of(kind), &what, text))
    }

    /// A function that asks for the lock.
    fn lock_place(&self, stack: zwhy_profile::StackId) -> Option<String> {
        let profile = &self.facts.evidence.profile;
        let names: Vec<&str> = profile.stacks.leaf_to_root(stack).map(|f| profile.function_of(f)).collect();
        let (inside, _) = crate::waiting::place_of(&names);
        inside.split(" > ").next().map(str::to_owned).filter(|place| !place.is_empty())
    }

    /// A program whose own work fills a CPU.
    fn client(&self) -> Option<Limit> {
        let program = self.computing().filter(|p| p.busiest >= WHOLE_THREAD)?;
        let zfs = self.cpu.zfs?;
        let idle = if zfs < ZFS_IDLE { "is idle: it " } else { "" };
        let text = format!(
            "{} computes: one of its threads takes {} of a CPU for work of its own; ZFS {idle}takes {} of this host's",
            name(&program.name),
            // Clocks of threads and of the recording are read at different times.
            whole(program.busiest.min(1.0)),
            percent_of_little(zfs)
        );
        Some(Limit::new(LimitKind::Client, &program.name, text))
    }

    /// The program that uses most CPU, where that is outside of ZFS and more than half of what all use.
    fn computing(&self) -> Option<&Program> {
        let cpus = |p: &Program| p.cpus.unwrap_or(0.0);
        let by_cpu =
            |a: &&Program, b: &&Program| cpus(a).total_cmp(&cpus(b)).then_with(|| b.name.cmp(&a.name));
        let busiest = self.programs.iter().max_by(by_cpu)?;
        let all: f64 = self.programs.iter().map(cpus).sum();
        let computes = busiest.zfs_part().is_some_and(|part| part < COMPUTES);
        Some(busiest).filter(|p| computes && cpus(p) >= COMPUTING && cpus(p) * 2.0 >= all)
    }

    /// A disk that is busy all the time, or the most of what a program can be waiting for, where its waiting was
    /// not recorded or hardly seen.
    fn device(&self) -> Option<Limit> {
        let busy = disks::busiest(&self.disks);
        let first = *busy.first().filter(|d| d.busy >= PART_BUSY)?;
        let kind = self.disk_work(first);
        let held_up = self.pressure("io").map_or(first.busy >= SATURATED, |p| p >= HELD_UP);
        let held_up = held_up || kind == WaitsFor::IntentLog;
        // Transaction groups are written for programs that went on long ago.
        let free = |p: &&Program| p.is_known_to_run_free(self.seconds);
        let who = self.by_work().filter(|p| held_up && p.cpus.unwrap_or(0.0) < first.busy && !free(p));
        if who.is_none() && first.busy < SATURATED {
            return None;
        }
        let slower = disks::slower(self.facts.evidence, &self.disks);
        let waited = Busy { disks: &busy, slower };
        let text = match who {
            Some(program) => words::waits(program, kind, None, waited, None),
            None => words::busy(waited, kind)?,
        };
        let first = slower.map_or(first, |slower| slower.disk);
        Some(Limit::beside(&self.cpu, kind_of(kind), &first.disk, text))
    }

    /// What a disk is busy with for programs, by the counters of ZFS.
    fn disk_work(&self, disk: &DiskRow) -> WaitsFor {
        let rate = |source: &str, name: &str| {
            self.facts.evidence.kstat(source, name).and_then(|k| k.rate).unwrap_or(0.0)
        };
        let delayed = ["dmu_tx_dirty_delay", "dmu_tx_dirty_over_max", "dmu_tx_dirty_throttle"];
        let delays: f64 = delayed.into_iter().map(|name| rate("dmu_tx", name)).sum();
        match () {
            () if disk.reads_s > disk.writes_s => WaitsFor::Read,
            () if delays >= A_FEW => WaitsFor::DirtyData,
            () if rate("zil", "zil_commit_count") >= A_FEW => WaitsFor::IntentLog,
            () => WaitsFor::Write,
        }
    }

    /// The program that ZFS does most work for, on a CPU.
    fn by_work(&self) -> Option<&Program> {
        let most = self.programs.iter().max_by_key(|p| p.in_zfs)?;
        let all: u64 = self.programs.iter().map(|p| p.in_zfs).sum();
        Some(most).filter(|p| p.in_zfs > 0 && p.in_zfs * 2 > all)
    }

    fn memory(&self) -> Option<Limit> {
        let stalled = self.pressure("memory").filter(|p| *p >= PRESSURE)?;
        let text = format!("programs waited for memory in {} of the time", whole(stalled));
        Some(Limit::beside(&self.cpu, LimitKind::Memory, "", text))
    }

    /// Part of the time in which some task was held up (`/proc/pressure`).
    fn pressure(&self, resource: &str) -> Option<f64> {
        let kstat = self.facts.evidence.kstat(&format!("pressure/{resource}"), "some_ns")?;
        kstat.rate.map(|ns| (ns / 1e9).clamp(0.0, 1.0))
    }

    /// ZFS has little to do, and nobody waits for it.
    fn idle(&self) -> Option<Limit> {
        let system = self.facts.evidence.facts.recorder.target.as_deref() == Some("system");
        let zfs = self.cpu.zfs.filter(|zfs| system && *zfs < ZFS_IDLE)?;
        let busiest = disks::busiest(&self.disks).first().map_or(0.0, |d| d.busy);
        let waits = self.programs.iter().any(|p| p.waiting_s() >= WAITS_LONG * self.seconds);
        if busiest >= HARDLY_BUSY || waits || self.pressure("io").is_some_and(|p| p >= PRESSURE) {
            return None;
        }
        let text = format!(
            "ZFS is idle: it takes {} of the CPU, its disks are {} busy at most, and no program waits for it",
            percent_of_little(zfs),
            percent_of_little(busiest)
        );
        let computes = self.computing();
        let busy = computes.map_or(String::new(), |p| format!("; {} computes", name(&p.name)));
        let kind = if computes.is_some() { LimitKind::Client } else { LimitKind::Idle };
        Some(Limit::new(kind, computes.map_or("", |p| &p.name), format!("{text}{busy}")))
    }
}

impl Seen<'_, '_> {
    /// Nothing is at its limit: there is CPU left, disks have time left, and nobody waits much.
    fn room_left(&self) -> Option<Limit> {
        let system = self.facts.evidence.facts.recorder.target.as_deref() == Some("system");
        let busiest = disks::busiest(&self.disks).first().map_or(0.0, |d| d.busy);
        let calm = |p: &Program| p.waiting_s() < WAITS_LONG * self.seconds;
        let room = self.cpu.idle >= ROOM && busiest < ROOM_ON_DISK && self.programs.iter().all(calm);
        if !system || !room || self.pressure("io").is_some_and(|p| p >= PRESSURE) {
            return None;
        }
        let mut text =
            format!("Nothing is at its limit: {} of the CPU is idle", percent_of_little(self.cpu.idle));
        if !self.disks.is_empty() {
            text += &format!(", disks are {} busy at most", percent_of_little(busiest));
        }
        if self.facts.evidence.facts.recorder.wait.is_some() {
            text += ", and no program waits long for ZFS";
        }
        Some(Limit::new(LimitKind::Idle, "", text))
    }
}

fn percent_of_little(share: f64) -> String {
    if share < 0.0005 { "0 %".to_owned() } else { crate::figures::percent(share, share < 0.1) }
}

fn kind_of(waits: WaitsFor) -> LimitKind {
    match waits {
        WaitsFor::Read | WaitsFor::Write | WaitsFor::Disk | WaitsFor::IntentLog | WaitsFor::Txg => {
            LimitKind::Device
        }
        WaitsFor::DirtyData | WaitsFor::Throttle => LimitKind::Throttle,
        WaitsFor::Memory => LimitKind::Memory,
        WaitsFor::Lock => LimitKind::Lock,
        WaitsFor::Queue | WaitsFor::Work => LimitKind::Queue,
    }
}
