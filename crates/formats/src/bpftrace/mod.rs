//! Maps that bpftrace prints at its end, keyed by stacks: `@[…frames…, comm]: 12`.
//!
//! Frames are leaf first, kernel before user. Keys that are no stack name the thread. What is counted is
//! told by the probe in the command, where it was pasted with it; else it is taken for CPU samples.

use crate::dtrace::push::push_stack;
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
        let told = sink.command.as_deref().and_then(preamble).flatten();
        let (mut at, mut any, mut event) = (0, false, told.unwrap_or(Event::Cpu));
        while let Some(line) = lines.get(at) {
            let text = line.text.trim();
            if let Some(said) = preamble(text) {
                event = said.unwrap_or(event);
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
                push_stack(sink, &entry.frames, &entry.comm, entry.pid, event, entry.count);
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

/// `Attaching 2 probes...`, or the command itself.
fn preamble(text: &str) -> Option<Option<Event>> {
    if text.starts_with("Attaching ") && text.contains("probe") {
        return Some(None);
    }
    if !text.contains("bpftrace -e") {
        return None;
    }
    let calls = ["kprobe:", "kfunc:", "fentry:", "kretprobe:", "tracepoint:", "uprobe:", "usdt:"];
    if text.contains("profile:") {
        Some(Some(Event::Cpu))
    } else if calls.iter().any(|c| text.contains(c)) {
        Some(Some(Event::Count))
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
    entry.keys(first.split_once('[')?.1);
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
