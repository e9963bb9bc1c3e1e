//! What the samples are a share of, in words: of a host only where all of it was recorded, its idle time included.
//!
//! The recorder says what it recorded; of perf the command line does, and the idle task, which only
//! a recording of whole CPUs holds. Where nothing says, it is "the CPU time recorded".

use crate::answer::{ShareOf, WholeAnswer};
use crate::facts::{FactBase, OF_BUSY, Quality, Query, Reading};
use crate::figures::percent;
use zwhy_evidence::{Kind, RecorderFacts};
use zwhy_profile::{Event, Unit};

/// What causes call the whole that their share is of.
pub const OF_HOST: &str = " of this host's CPU";
const BUSY_HOST: &str = " of this host's busy CPU time";
/// Only some of the idle time has samples: a timer that samples may stop where a CPU sleeps.
const SAMPLED_HOST: &str = " of the CPU time sampled on this host";
const RECORDED: &str = " of the CPU time recorded";
/// Part of all ticks that have a sample from which a recording is one of all that the CPUs did.
const FULL: f64 = 0.95;
/// Processes that are named.
const NAMED: usize = 3;

/// What a share is of.
#[derive(Clone, Debug, PartialEq)]
pub struct Whole {
    /// In place of [`OF_HOST`] in a sentence, with a space before it.
    pub text: String,
    /// Seconds of CPU time that the samples stand for; where idle time is part of the whole, those that were busy.
    pub cpu_s: Option<f64>,
    /// The same as a part of all that the CPUs of the host had, where the host's own counters stand beside it.
    pub of_host: Option<f64>,
    /// Idle time is part of the whole.
    pub idle: bool,
}

impl Whole {
    pub fn of(facts: &FactBase<'_>) -> Whole {
        let alone = |text: String| Whole { text, cpu_s: None, of_host: None, idle: false };
        // A list of percentages counts busy time alone, and may be of one process.
        if !facts.has_samples() {
            return alone(" of the CPU time in the list".to_owned());
        }
        let (cpu_s, recorder) = (cpu_seconds(facts), &facts.evidence.facts.recorder);
        match scope(facts) {
            Scope::Host if has_idle(facts) => {
                Whole { cpu_s, idle: true, ..alone(format!("{OF_HOST}{}", part_of_code(recorder))) }
            }
            Scope::Host => {
                let text = match (part_of_code(recorder), facts.cpu.busy < facts.cpu.all) {
                    ("", false) => BUSY_HOST.to_owned(),
                    (code, _) => format!("{SAMPLED_HOST}{code}"),
                };
                Whole { cpu_s, of_host: part_of_host(facts), ..alone(text) }
            }
            Scope::Of(what) => {
                let text = format!(" of the CPU time of {what}");
                Whole { cpu_s, of_host: part_of_host(facts), ..alone(text) }
            }
            Scope::Unknown => Whole { cpu_s, ..alone(RECORDED.to_owned()) },
        }
    }

    /// As the answer has it; `None` where there are no samples.
    pub fn answer(facts: &FactBase<'_>) -> Option<WholeAnswer> {
        let Whole { text, cpu_s, of_host, idle } = Whole::of(facts);
        let what = text.strip_prefix(" of ").unwrap_or(&text);
        let what = if idle { format!("{what}, idle time included") } else { what.to_owned() };
        facts.has_samples().then_some(WholeAnswer { what, cpu_s, of_host, idle })
    }

    /// What a share of it is of the host, in words.
    pub fn of_host(&self, share: f64) -> Option<String> {
        self.of_host.map(|part| format!("{}{OF_HOST}", percent(share * part, false)))
    }
}

/// How busy the CPUs of the host were, 0 to 1; `None` where only a part of it was recorded and nothing tells.
pub fn host_busy(facts: &FactBase<'_>) -> Option<f64> {
    let told = facts.evidence.facts.cpu_time.get("idle").map(|idle| 1.0 - idle);
    if facts.has_samples() && matches!(scope(facts), Scope::Host) && has_idle(facts) {
        return Some(facts.cpu.busy as f64 / facts.cpu.all as f64);
    }
    told
}

/// Whether the samples are of all that the host's CPUs did, idle time included: every CPU has one at every tick.
/// Where nothing tells how many ticks there were, samples of idle time are taken to be all of it.
fn has_idle(facts: &FactBase<'_>) -> bool {
    match ticks(facts) {
        Some(ticks) => ticks_seen(facts) >= FULL * ticks,
        None => facts.cpu.busy < facts.cpu.all,
    }
}

/// How many samples all CPUs could have had.
fn ticks(facts: &FactBase<'_>) -> Option<f64> {
    let all = &facts.evidence.facts;
    Some(all.recorder.hz? * all.recorder.duration_s? * all.host.cpus? as f64).filter(|ticks| *ticks > 0.0)
}

fn ticks_seen(facts: &FactBase<'_>) -> f64 {
    let itself = facts.evidence.itself.as_ref().map_or(0, |itself| itself.samples);
    facts.cpu.sampling.samples_in(facts.cpu.all) + itself as f64
}

/// What was recorded.
#[derive(Debug, PartialEq)]
enum Scope {
    Host,
    Of(String),
    Unknown,
}

fn scope(facts: &FactBase<'_>) -> Scope {
    let recorder = &facts.evidence.facts.recorder;
    if facts.evidence.facts.kind == Some(Kind::Lab) {
        return Scope::Of("zwhy-lab".to_owned());
    }
    match recorder.target.as_deref() {
        Some("system") => return Scope::Host,
        Some(target) => return Scope::Of(of_target(target, facts)),
        None => {}
    }
    match recorder.command.as_deref().and_then(perf_scope) {
        Some(scope) => scope,
        None if has_idle_task(facts) => Scope::Host,
        None => Scope::Unknown,
    }
}

/// `pid 12,13`, `cgroup /x`, `command fio --rw=read`, as recordings have it, in words.
fn of_target(target: &str, facts: &FactBase<'_>) -> String {
    let (kind, what) = target.split_once(' ').unwrap_or((target, ""));
    match kind {
        "pid" => {
            let pids: Vec<i32> = what.split(',').filter_map(|pid| pid.parse().ok()).collect();
            let mut names: Vec<String> = Vec::new();
            for name in pids.iter().map(|pid| comm(facts, *pid).unwrap_or_else(|| format!("process {pid}"))) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            if names.len() > NAMED { format!("{} processes", pids.len()) } else { names.join(" and ") }
        }
        "cgroup" => format!("the control group {what}"),
        _ => {
            let program = what.split(' ').next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
            // Names of processes are what `--redact` takes out; the command line itself is not shown.
            let cut: String = program.chars().take(15).collect();
            let ran =
                facts.evidence.profile.threads.iter().any(|(_, thread)| {
                    !cut.is_empty() && facts.evidence.profile.strings.get(thread.comm) == cut
                });
            if ran { cut } else { "the command".to_owned() }
        }
    }
}

/// The name of a process, which is that of its first thread.
fn comm(facts: &FactBase<'_>, pid: i32) -> Option<String> {
    let profile = &facts.evidence.profile;
    let (_, thread) = profile.threads.iter().find(|(_, t)| t.tid == pid)?;
    Some(profile.strings.get(thread.comm).to_owned()).filter(|comm| !comm.is_empty())
}

/// Whether samples are of the idle task, which belongs to no process.
fn has_idle_task(facts: &FactBase<'_>) -> bool {
    let profile = &facts.evidence.profile;
    let is_idle = |comm: &str| comm == "swapper" || comm.starts_with("swapper/");
    profile.threads.iter().any(|(_, t)| t.tid == 0 || is_idle(profile.strings.get(t.comm)))
}

/// Options of `perf record` that take a value, perf-record(1).
const LONG_WITH_VALUE: &str =
    "cpu pid tid uid cgroup event freq count output call-graph mmap-pages delay filter max-size";
const SHORT_WITH_VALUE: &str = "CptuGeFcomDkj";

/// What the command line of `perf record` says was recorded; `None` when it is another command.
fn perf_scope(command: &str) -> Option<Scope> {
    let mut words = command.split_ascii_whitespace();
    words.find(|word| *word == "record" || *word == "top")?;
    let mut others = false;
    let mut workload = false;
    while let Some(word) = words.next() {
        let Some(option) = word.strip_prefix('-') else {
            workload = true;
            break;
        };
        if option == "-" {
            workload = words.next().is_some();
            break;
        }
        if let Some(long) = option.strip_prefix('-') {
            let (name, value) = long.split_once('=').map_or((long, false), |(name, _)| (name, true));
            match name {
                "all-cpus" => return Some(Scope::Host),
                "cpu" | "pid" | "tid" | "uid" | "cgroup" => others = true,
                _ => {}
            }
            if !value && LONG_WITH_VALUE.split(' ').any(|option| option == name) {
                words.next();
            }
            continue;
        }
        // `-ag`, `-F99`, `-F 99`: letters up to one that takes a value.
        for (at, letter) in option.char_indices() {
            match letter {
                'a' => return Some(Scope::Host),
                'C' | 'p' | 't' | 'u' | 'G' => others = true,
                _ => {}
            }
            if SHORT_WITH_VALUE.contains(letter) {
                if at + 1 == option.len() {
                    words.next();
                }
                break;
            }
        }
    }
    // Without any target perf records all CPUs.
    Some(if others || workload { Scope::Unknown } else { Scope::Host })
}

/// Where only user or only kernel code was recorded, that is said.
fn part_of_code(recorder: &RecorderFacts) -> &'static str {
    match (recorder.user_only, recorder.kernel_only) {
        (Some(true), Some(true)) => "",
        (Some(true), _) => " in user code",
        (_, Some(true)) => " in the kernel",
        _ => "",
    }
}

/// What the samples stand for, where the source says how often it sampled; of a whole host what was busy.
fn cpu_seconds(facts: &FactBase<'_>) -> Option<f64> {
    let (cpu, profile) = (&facts.cpu, &facts.evidence.profile);
    let whole_host = matches!(scope(facts), Scope::Host) && has_idle(facts);
    let amount = if whole_host { cpu.busy } else { cpu.all };
    if profile.measure(Event::Cpu).unit == Unit::Nanos {
        return Some(amount as f64 / 1e9);
    }
    let hz = facts.evidence.facts.recorder.hz.filter(|hz| *hz > 0.0)?;
    Some(cpu.sampling.samples_in(amount) / hz)
}

/// The CPU time of what was recorded as a share of what the CPUs of the host have, where the host's
/// own counters were read beside it.
fn part_of_host(facts: &FactBase<'_>) -> Option<f64> {
    let spent = facts.evidence.facts.cpu_time.get("idle").map(|idle| 1.0 - idle)?;
    let share = facts.cpu.sampling.samples_in(facts.cpu.all) / ticks(facts)?;
    // Samples estimate; the host cannot have spent less than a part of it, idle time apart.
    let idle = (facts.cpu.all - facts.cpu.busy) as f64 / facts.cpu.all.max(1) as f64;
    (share.is_finite() && spent > 0.0).then(|| share.min(spent / (1.0 - idle).max(f64::EPSILON)).min(1.0))
}

/// A share of busy CPU as a share of the whole that all shares of the answer are of; `None` of other shares.
///
/// Conditions judge busy time alone, readers see one whole.
pub fn of_the_whole(query: &Query, share: f64, reading: &Reading, facts: &FactBase<'_>) -> Option<ShareOf> {
    let of_busy = reading.quality == Quality::Counted && query.signature().of == OF_BUSY;
    (of_busy && facts.cpu.all > 0).then(|| {
        let part = (share * facts.cpu.busy as f64).round() as u64;
        ShareOf::sampled(&facts.cpu.sampling, part, facts.cpu.all)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knowledge::Knowledge;
    use serde_json::{Value, json};
    use zwhy_evidence::{CaptureFacts, Evidence};
    use zwhy_profile::{Frame, FrameKind, Nanos, Sample, StackId, Thread};

    /// 200 samples of process 12 in two seconds on a host with 4 CPUs.
    fn evidence(facts: Value, comm: &str, tid: i32) -> Evidence {
        let (facts, left_out) = CaptureFacts::from_value(facts);
        assert!(left_out.is_empty(), "{left_out:?}");
        let mut evidence = Evidence { facts, ..Evidence::default() };
        let p = &mut evidence.profile;
        let name = p.strings.intern("work");
        let frame = p.frames.intern(Frame { function: name, kind: FrameKind::Kernel, ..Frame::default() });
        let stack = p.stacks.child(StackId::ROOT, frame);
        let comm = p.strings.intern(comm);
        let thread = p.threads.intern(Thread { pid: tid, tid, comm });
        let (event, count) = (Event::Cpu, 200);
        p.samples.push(Sample { t: Nanos(0), cpu: 0, thread, stack, event, count, weight: Nanos(0) });
        evidence
    }

    fn whole(facts: Value, comm: &str, tid: i32) -> String {
        let (evidence, knowledge) = (evidence(facts, comm, tid), Knowledge::embedded());
        let whole = Whole::of(&FactBase::new(&evidence, &knowledge.anatomy));
        let of_host = whole.of_host(0.5).map(|half| format!(" (half of it: {half})"));
        whole.text + &of_host.unwrap_or_default()
    }

    #[test]
    fn only_what_was_recorded_whole_is_called_the_host() {
        let target = |target: &str| json!({ "recorder": { "target": target } });
        assert_eq!(whole(target("system"), "fio", 12), BUSY_HOST, "nothing says how idle the host was");
        let ticks = |seconds: f64| json!({ "host": { "cpus": 4 }, "recorder": { "target": "system", "hz": 50, "duration_s": seconds } });
        assert_eq!(whole(ticks(1.0), "fio", 12), OF_HOST, "every tick of every CPU has a sample");
        assert_eq!(whole(ticks(2.0), "fio", 12), BUSY_HOST);
        assert_eq!(whole(target("pid 12"), "fio", 12), " of the CPU time of fio");
        assert_eq!(whole(target("pid 99"), "fio", 12), " of the CPU time of process 99");
        assert_eq!(whole(target("pid 12,98,97,96"), "fio", 12), " of the CPU time of 4 processes");
        assert_eq!(whole(target("command /bin/fio --x"), "fio", 12), " of the CPU time of fio");
        assert_eq!(whole(target("command /bin/fio --x"), "proc-1", 12), " of the CPU time of the command");
        assert_eq!(whole(target("cgroup /lxc/7"), "fio", 12), " of the CPU time of the control group /lxc/7");
        let mut user = target("system");
        user["recorder"]["user_only"] = true.into();
        assert_eq!(whole(user, "fio", 12), " of the CPU time sampled on this host in user code");
        assert_eq!(whole(Value::Null, "fio", 12), RECORDED);
        assert_eq!(whole(Value::Null, "swapper", 0), BUSY_HOST, "the idle task is of no process");
    }

    #[test]
    fn a_process_is_told_as_a_part_of_the_host_where_its_counters_are_there() {
        let mut facts = json!({
            "kind": "lab", "host": { "cpus": 4 }, "cpu_time": { "idle": 0.5 },
            "recorder": { "target": "pid 12", "hz": 100, "duration_s": 2.0 },
        });
        assert_eq!(
            whole(facts.clone(), "lab-main", 12),
            " of the CPU time of zwhy-lab (half of it: 12 % of this host's CPU)"
        );
        facts["cpu_time"] = json!({});
        assert_eq!(whole(facts, "lab-main", 12), " of the CPU time of zwhy-lab");
    }

    #[test]
    fn the_command_line_of_perf_says_what_it_recorded() {
        for (command, host) in [
            ("/usr/bin/perf record -F 99 -a -g -- sleep 10", true),
            ("perf record -ag sleep 10", true),
            ("perf record --all-cpus", true),
            ("perf record -g", true),
            ("perf record -F 99 -g -o x.data", true),
            ("perf record --call-graph dwarf", true),
            ("perf record -g -p 12", false),
            ("perf record -p12 -F99", false),
            ("perf record -F 99 dd if=/dev/zero of=-a", false),
            ("perf record -C 0-3 -g", false),
            ("perf record -e cpu-clock -- tar -a", false),
            ("perf record --pid=12", false),
        ] {
            let want = if host { Scope::Host } else { Scope::Unknown };
            assert_eq!(perf_scope(command), Some(want), "{command}");
        }
        assert_eq!(perf_scope("simpleperf"), None);
        let facts = json!({ "recorder": { "command": "perf record -g -p 12" } });
        assert_eq!(whole(facts, "swapper", 0), RECORDED);
    }
}
