//! Maps that bpftrace prints at its end, keyed by stacks: `@[…frames…, comm]: 12`.
//!
//! Frames are leaf first, kernel before user. Keys that are no stack name the thread. What is counted is
//! told by the probe in the command, where it was pasted with it; else it is taken for CPU samples.

use crate::dtrace::push::{push_bare, push_stack, push_time};
use crate::text::blocks::{self, Block, Line, Sink, Taken};
use crate::{Confidence, ErrorKind, FormatError, ImportOptions, Imported, Importer, Input};
use zwhy_profile::Event;

/// Lines of one map entry that are looked at.
const MAX_LINES: usize = 40_000;

pub(crate) static IMPORTER: Importer = Importer { name: "bpftrace", sniff, read };

fn sniff(head: &[u8]) -> Confidence {
    blocks::sniff(head, &BpftraceMap, 0.8)
}

fn read(input: &Input, options: &ImportOptions) -> Result<Imported, FormatError> {
    let mut imported = blocks::read("bpftrace", input, &[&BpftraceMap], options.limits.max_depth)?;
    if imported.evidence.profile.samples.is_empty() {
        return Err(FormatError::read(ErrorKind::Empty, input.name(), "no map of it is keyed by a stack")
            .hint("count stacks with `@[kstack] = count();`"));
    }
    imported.evidence.origin(input.name());
    Ok(imported)
}

/// Entries of stack maps, with the lines bpftrace prints before them.
pub(crate) struct BpftraceMap;

impl Block for BpftraceMap {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let mut taken = Taken::default();
        // The command was read before, or stands among the lines.
        let mut script = sink.command.clone().filter(|command| is_script(command));
        let (mut at, mut any, mut walls) = (0, false, 0);
        while let Some(line) = lines.get(at) {
            let text = line.text.trim();
            if is_preamble(text) {
                script = Some(text.to_owned()).filter(|text| is_script(text)).or(script);
                taken.kept += 1;
                at += 1;
            } else if text.is_empty() {
                let next = lines[at..].iter().take(4).find(|l| !l.is_blank());
                if !next.is_some_and(|l| is_start(&l.text)) {
                    break;
                }
                taken.drop("blank line", 1);
                at += 1;
            } else if let Some((used, entry)) = entry(&lines[at..]) {
                any = true;
                let blank = lines[at..at + used].iter().filter(|l| l.is_blank()).count();
                taken.kept += used - blank;
                taken.drop("blank line", blank);
                walls += usize::from(!entry.push(told(script.as_deref(), &entry.map), sink));
                at += used;
            } else {
                break;
            }
        }
        if walls > 0 {
            sink.warn(format!(
                "{walls} stacks have the time from the start of a function to its end, on a CPU or not: they are kept without it"
            ));
        }
        const MANY: usize = 64;
        if !any && taken.kept > MANY {
            // Announcements without a map are nobody's; a long run of them is passed over at once.
            let used = taken.used();
            taken = Taken::default();
            taken.drop(blocks::NOT_RECOGNISED, used);
            return Some(taken);
        }
        any.then_some(taken)
    }
}

/// What the figures of a map are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Counted(Event),
    /// Time between two probes, of so many nanoseconds each: asleep, where what is traced is known to wait.
    Summed {
        nanos: u64,
        asleep: bool,
    },
}

/// Parts of names of functions that wait: locks, condition variables, the scheduler.
const WAITS: [&str; 11] = [
    "mutex",
    "lock",
    "rwsem",
    "down_",
    "wait",
    "sleep",
    "sched",
    "rw_enter",
    "cv_",
    "task_switch",
    "try_to_wake_up",
];

/// `Attaching 2 probes...`, or the command itself.
fn is_preamble(text: &str) -> bool {
    text.starts_with("Attaching ") && text.contains("probe") || is_script(text)
}

fn is_script(text: &str) -> bool {
    text.contains("bpftrace -e")
}

/// What a map has, by the statement that fills it and the probes of the script, else by its name: one that is named
/// after a unit of time adds up time.
fn told(script: Option<&str>, map: &str) -> Told {
    // Of a script over several lines the first alone is known, which has no end.
    let Some(script) = script.filter(|text| text.matches('\'').count() != 1) else {
        if matches!(map, "offcpu" | "off_cpu" | "off" | "blocked") {
            return Told::Summed { nanos: 1, asleep: true };
        }
        let nanos = match map.rsplit('_').next().unwrap_or_default() {
            "ns" | "nsecs" => 1,
            "us" | "usecs" => 1_000,
            "ms" | "msecs" => 1_000_000,
            _ => return Told::Counted(Event::Cpu),
        };
        return Told::Summed { nanos, asleep: false };
    };
    if let Some(nanos) = summed(script, map) {
        let mut probes = script.split(['\'', '"', '}', ',', ' ']).filter(|word| word.contains(':'));
        return Told::Summed {
            nanos,
            asleep: probes.any(|probe| WAITS.iter().any(|part| probe.contains(part))),
        };
    }
    let calls = ["kprobe:", "kfunc:", "fentry:", "kretprobe:", "tracepoint:", "uprobe:", "usdt:"];
    let counts = !script.contains("profile:") && calls.iter().any(|call| script.contains(call));
    Told::Counted(if counts { Event::Count } else { Event::Cpu })
}

/// Nanoseconds of one of what the script adds up in a map, where that is time: `@us[kstack] = sum((nsecs - @t[tid]) / 1000);`.
fn summed(script: &str, map: &str) -> Option<u64> {
    let (_, rest) = script.split_once(&format!("@{map}["))?;
    let rest = rest.split(';').next()?;
    let (_, sum) = rest.split_once("sum(")?;
    // A variable has the difference of time stamps where the script takes any.
    if !(sum.contains("nsecs") || sum.starts_with('$') && script.contains("nsecs")) {
        return None;
    }
    let divisor = sum.split_once('/').and_then(|(_, rest)| {
        let digits: String =
            rest.trim_start().chars().take_while(|c| c.is_ascii_digit() || *c == '_').collect();
        digits.replace('_', "").parse().ok()
    });
    Some(divisor.filter(|d| matches!(d, 1_000 | 1_000_000)).unwrap_or(1))
}

/// `@[`, `@name[`, with the first keys perhaps on the same line.
fn is_start(text: &str) -> bool {
    let Some((name, _)) = text.trim_start().strip_prefix('@').and_then(|t| t.split_once('[')) else {
        return false;
    };
    name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[derive(Default)]
struct Entry {
    /// Name of the map, without its `@`.
    map: String,
    frames: Vec<String>,
    comm: String,
    pid: i32,
    count: u64,
}

/// Reads one entry and the lines it has; `None` for maps without a stack in the key.
fn entry(lines: &[Line]) -> Option<(usize, Entry)> {
    let first = lines.first()?.text.trim();
    // `@ret[2]: 1204411`: keyed by numbers or names.
    if !is_start(first) || first.contains("]: ") {
        return None;
    }
    let mut entry = Entry { pid: -1, ..Entry::default() };
    let (map, keys) = first.split_once('[')?;
    map.trim_start_matches('@').clone_into(&mut entry.map);
    entry.keys(keys);
    for (i, line) in lines.iter().enumerate().take(MAX_LINES).skip(1) {
        let text = line.text.trim();
        if let Some((keys, count)) =
            text.rsplit_once("]: ").or_else(|| text.strip_prefix("]: ").map(|c| ("", c)))
        {
            entry.keys(keys);
            entry.count = count.trim().parse().ok()?;
            return (!entry.frames.is_empty()).then_some((i + 1, entry));
        }
        if is_start(text) {
            return None;
        }
        if text.starts_with(',') {
            entry.keys(text);
        } else if !text.is_empty() {
            entry.frames.push(without_address(text).to_owned());
        }
    }
    None
}

impl Entry {
    /// Adds the stack; `false` where its figure is time in a function that may have been on a CPU.
    fn push(&self, told: Told, sink: &mut Sink) -> bool {
        let Entry { frames, comm, pid, count, .. } = self;
        match told {
            Told::Counted(event) => push_stack(sink, frames, comm, *pid, event, *count),
            Told::Summed { nanos, asleep } if asleep || self.waits() => {
                push_time(sink, frames, comm, *pid, count.saturating_mul(nanos));
            }
            Told::Summed { .. } => {
                push_bare(sink, frames, comm);
                return false;
            }
        }
        true
    }

    fn waits(&self) -> bool {
        self.frames.first().is_some_and(|leaf| WAITS.iter().any(|part| leaf.contains(part)))
    }

    /// Keys that stand between commas: the first that is no number names the thread.
    fn keys(&mut self, text: &str) {
        for key in text.split(',').map(str::trim).filter(|k| !k.is_empty()) {
            match key.parse::<i32>() {
                Ok(pid) if self.pid < 0 => self.pid = pid,
                Ok(_) => {}
                Err(_) if self.comm.is_empty() => key.clone_into(&mut self.comm),
                Err(_) => {}
            }
        }
    }
}

/// bpftrace's perf mode prints the address first: `ffffffff81 f+1 ([kernel.kallsyms])`.
fn without_address(text: &str) -> &str {
    match text.split_once(' ') {
        Some((address, rest)) if crate::text::names::is_address(address) => rest.trim(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_adds_up_time_is_no_count() {
        let of = |script: &str, map| told(Some(&format!("bpftrace -e '{script}'")), map);
        let wait = "kprobe:mutex_lock { @t[tid] = nsecs; } kretprobe:mutex_lock /@t[tid]/ { @[kstack] = sum(nsecs - @t[tid]); }";
        assert_eq!(of(wait, ""), Told::Summed { nanos: 1, asleep: true });
        let micros = "kprobe:zio_wait { @t[tid] = nsecs; } kretprobe:zio_wait { $d = (nsecs - @t[tid]); @us[kstack] = sum($d / 1000); }";
        assert_eq!(of(micros, "us"), Told::Summed { nanos: 1000, asleep: true });
        // The time from the start to the end of a function that works.
        let work = "kretprobe:lz4_compress_zfs /@t[tid]/ { @n[kstack] = count(); @us[kstack] = sum((nsecs - @t[tid])/1000); }";
        assert_eq!(of(work, "us"), Told::Summed { nanos: 1000, asleep: false });
        assert_eq!(of(work, "n"), Told::Counted(Event::Count));
        assert_eq!(of("kprobe:f { @[kstack] = sum(arg2); }", ""), Told::Counted(Event::Count));
        assert_eq!(of("profile:hz:99 { @[kstack] = count(); }", ""), Told::Counted(Event::Cpu));
        assert_eq!(told(None, "wait_us"), Told::Summed { nanos: 1000, asleep: false });
        assert_eq!(told(None, "status"), Told::Counted(Event::Cpu));
        assert_eq!(told(Some("bpftrace -e '"), "offcpu"), Told::Summed { nanos: 1, asleep: true });
        let off = "kprobe:finish_task_switch { @s[arg0] = nsecs; } kprobe:try_to_wake_up /@s[arg0]/ { @[kstack] = sum(nsecs - @s[arg0]); }";
        assert_eq!(of(off, ""), Told::Summed { nanos: 1, asleep: true });
    }
}
