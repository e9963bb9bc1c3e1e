//! Maps that bpftrace prints at its end, keyed by stacks: `@[…frames…, comm]: 12`.
//!
//! Frames are leaf first, kernel before user. Keys that are no stack name the thread. What is counted is
//! told by the probe in the command, where it was pasted with it; else it is taken for CPU samples.

use crate::dtrace::push::{push_stack, push_time};
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
        let mut told = sink.command.as_deref().and_then(preamble).flatten();
        let (mut at, mut any) = (0, false);
        while let Some(line) = lines.get(at) {
            let text = line.text.trim();
            if let Some(said) = preamble(text) {
                told = said.or(told);
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
                let Entry { frames, comm, pid, count, .. } = &entry;
                match told.or(of_name(&entry.map)).unwrap_or(Told::Counted(Event::Cpu)) {
                    Told::Counted(event) => push_stack(sink, frames, comm, *pid, event, *count),
                    Told::Summed(nanos) => push_time(sink, frames, comm, *pid, count.saturating_mul(nanos)),
                }
                at += used;
            } else {
                break;
            }
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
    /// Time between two probes, of so many nanoseconds each.
    Summed(u64),
}

/// `@us[`, `@wait_ns[`: a map that is named after a unit of time adds up time.
fn of_name(map: &str) -> Option<Told> {
    let nanos = match map.rsplit('_').next()? {
        "ns" | "nsecs" => 1,
        "us" | "usecs" => 1_000,
        "ms" | "msecs" => 1_000_000,
        _ => return None,
    };
    Some(Told::Summed(nanos))
}

/// What a script that adds up differences of time stamps divides them by.
fn summed(script: &str) -> Option<Told> {
    let (_, sum) = script
        .split_once("sum(")
        .filter(|(before, sum)| before.contains("nsecs") || sum.contains("nsecs"))?;
    let divisor = sum.split_once('/').and_then(|(_, rest)| {
        let digits: String =
            rest.trim_start().chars().take_while(|c| c.is_ascii_digit() || *c == '_').collect();
        digits.replace('_', "").parse().ok()
    });
    Some(Told::Summed(divisor.filter(|d| matches!(d, 1_000 | 1_000_000)).unwrap_or(1)))
}

/// `Attaching 2 probes...`, or the command itself.
fn preamble(text: &str) -> Option<Option<Told>> {
    if text.starts_with("Attaching ") && text.contains("probe") {
        return Some(None);
    }
    if !text.contains("bpftrace -e") {
        return None;
    }
    let calls = ["kprobe:", "kfunc:", "fentry:", "kretprobe:", "tracepoint:", "uprobe:", "usdt:"];
    if text.contains("profile:") {
        Some(Some(Told::Counted(Event::Cpu)))
    } else if let Some(time) = summed(text) {
        Some(Some(time))
    } else if calls.iter().any(|c| text.contains(c)) {
        Some(Some(Told::Counted(Event::Count)))
    } else {
        Some(None)
    }
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
        let wait = "bpftrace -e 'kprobe:f { @t[tid] = nsecs; } kretprobe:f /@t[tid]/ { @[kstack] = sum(nsecs - @t[tid]); }'";
        assert_eq!(preamble(wait), Some(Some(Told::Summed(1))));
        let micros =
            "bpftrace -e 'kretprobe:f /@t[tid]/ { @us[comm, kstack(5)] = sum((nsecs - @t[tid])/1000); }'";
        assert_eq!(preamble(micros), Some(Some(Told::Summed(1000))));
        let calls = "bpftrace -e 'kprobe:f { @[kstack] = count(); }'";
        assert_eq!(preamble(calls), Some(Some(Told::Counted(Event::Count))));
        let bytes = "bpftrace -e 'kprobe:f { @[kstack] = sum(arg2); }'";
        assert_eq!(preamble(bytes), Some(Some(Told::Counted(Event::Count))));
        assert_eq!(of_name("wait_us"), Some(Told::Summed(1000)));
        assert_eq!(of_name("status"), None);
    }
}
