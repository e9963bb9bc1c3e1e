//! Stacks as plain lists, leaf first, each ended by its count: DTrace aggregations and bcc tools.
//!
//! DTrace prints ``module`function+0x12`` and a number on a line of its own, in tuples of several stacks
//! with blank lines between them; its `stack()` action prints no number, that is one sample. bcc adds
//! `-  comm (pid)`. Whether the counts are CPU samples, calls or microseconds asleep is told by the lines
//! that the tools print first.

use super::bcc;
use super::line::{ListLine, Told};
use super::push::{push_stack, push_time};
use crate::text::blocks::{Block, Line, Sink, Taken};
use crate::text::names;
use crate::text::numbers;
use zwhy_profile::Event;

/// Frames of one list that are followed.
const MAX_LINES: usize = 40_000;

/// Lines of keys before the frames of a list.
const MAX_KEYS: usize = 4;

/// Lines of one list that are looked at without a sign that a tracer printed it.
const UNSURE_LINES: usize = 200;

/// A run of such lists.
pub(crate) struct StackList;

impl Block for StackList {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let mut taken = Taken::default();
        let mut told: Option<Told> = None;
        let mut at = 0;
        let mut any = false;
        let mut list = List::default();
        let mut asked = false;
        while let Some(line) = lines.get(at) {
            let text = &*line.text;
            match read(text, every_line(told)) {
                ListLine::Blank if list.goes_on(&lines[at..], every_line(told)) => {
                    taken.drop("blank line", 1)
                }
                ListLine::Tool(says) => {
                    any |= list.finish(1, told, sink, &mut taken);
                    told = says.or(told);
                    taken.kept += 1;
                }
                // What the tool or its user typed between stacks.
                ListLine::Remark if every_line(told) => {
                    any |= list.finish(1, told, sink, &mut taken);
                    taken.drop("line that is no stack", 1);
                }
                ListLine::Probe => {
                    any |= list.finish(1, told, sink, &mut taken);
                    list.open = true;
                    taken.kept += 1;
                }
                ListLine::Frame(name) if list.lines < MAX_LINES => {
                    list.push(name);
                    list.sure |= every_line(told);
                }
                ListLine::Thread { comm, pid } if !list.frames.is_empty() || every_line(told) => {
                    list.thread(comm, pid);
                }
                ListLine::Waker if every_line(told) => list.lines += 1,
                ListLine::Delimiter if every_line(told) => list.delimiter(told, &mut taken),
                ListLine::Key(key) if list.frames.is_empty() && list.lines < MAX_KEYS => list.key(key),
                ListLine::Count(count) if !list.frames.is_empty() => {
                    list.lines += 1;
                    if told.is_none() && !asked {
                        asked = true;
                        told = off_cpu(lines);
                    }
                    any |= list.finish(count, told, sink, &mut taken);
                }
                _ => break,
            }
            at += 1;
            // Lists without any sign of a tracer are prose; look no further than one of them.
            // Nor does another recogniser know so long a list of single words.
            if !any && !list.sure && list.lines > UNSURE_LINES {
                taken.drop(crate::text::blocks::NOT_RECOGNISED, list.lines);
                return Some(taken);
            }
        }
        if list.open {
            any |= list.finish(1, told, sink, &mut taken);
        }
        if list.sure {
            taken.drop("stack without a count", list.lines);
            return Some(taken);
        }
        taken.drop(crate::text::blocks::NOT_RECOGNISED, list.lines);
        if !any && taken.used() > UNSURE_LINES {
            let used = taken.used();
            taken = Taken::default();
            taken.drop(crate::text::blocks::NOT_RECOGNISED, used);
            return Some(taken);
        }
        if !any {
            return None;
        }
        Some(taken)
    }
}

fn read(text: &str, told: bool) -> ListLine<'_> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return ListLine::Blank;
    }
    if let Some(tool) = bcc::tool(trimmed) {
        return ListLine::Tool(tool);
    }
    if told && let Some(line) = bcc::line(text) {
        return line;
    }
    if !text.starts_with([' ', '\t']) {
        return ListLine::Other;
    }
    if let Some(rest) = trimmed.strip_prefix("- ") {
        let thread = rest.trim().strip_suffix(')').and_then(|r| r.rsplit_once(" ("));
        if let Some((comm, pid)) = thread
            && let Ok(pid) = pid.parse()
        {
            return ListLine::Thread { comm: comm.trim(), pid };
        }
        return ListLine::Other;
    }
    if let Some(count) = numbers::count(trimmed).filter(|_| trimmed.bytes().all(|b| b.is_ascii_digit())) {
        return ListLine::Count(count);
    }
    let words = trimmed.split_whitespace().count();
    // `  0  66712   :profile-997`
    if words == 3 && trimmed.split_whitespace().take(2).all(|w| w.bytes().all(|b| b.is_ascii_digit())) {
        return if trimmed.contains(':') { ListLine::Probe } else { ListLine::Other };
    }
    let name = bcc::without_address(trimmed);
    let name = name.strip_prefix("b'").and_then(|n| n.strip_suffix('\'')).unwrap_or(name);
    let indent = text.len() - text.trim_start().len();
    if (is_frame(name) && (indent >= 4 || name.contains(['`', '+']))) || (told && indent >= 2) {
        ListLine::Frame(name)
    } else if words <= 3 && indent <= 3 && text.len() < 120 {
        ListLine::Key(trimmed)
    } else {
        ListLine::Other
    }
}

/// ``zfs`dmu_read+0x10``, `dmu_read+0x10`, `dmu_read`, `0xfffffb80`, `[unknown]`, C++ names.
fn is_frame(name: &str) -> bool {
    // bcc puts the kernel module behind the name: `f+0x10 [zfs]`.
    let name = match name.split_once(" [") {
        Some((before, module)) if module.ends_with(']') => before,
        _ => name,
    };
    let plain = !name.contains(' ') || name.contains("::") || name.contains('(') || name.contains('`');
    let begins = name.starts_with(|c: char| {
        c.is_ascii_alphabetic() || matches!(c, '_' | '[' | '<' | '~' | '.' | '$' | '@')
    }) || name.starts_with("0x")
        || names::is_address(name);
    plain && begins && !name.ends_with([',', ';', ':', '.'])
}

#[derive(Default)]
struct List {
    /// Leaf first.
    frames: Vec<String>,
    comm: String,
    pid: i32,
    /// Lines that are in it.
    lines: usize,
    /// Something in it that only tracers print.
    sure: bool,
    /// A probe fired: the stack needs no count.
    open: bool,
    /// A line said whose stack it is.
    named: bool,
}

impl List {
    fn push(&mut self, name: &str) {
        self.sure |= name.contains('`') || (name.contains("+0x") && !name.contains("/0x")) || self.open;
        self.frames.push(name.to_owned());
        self.lines += 1;
    }

    fn thread(&mut self, comm: &str, pid: i32) {
        (self.comm, self.pid, self.sure) = (comm.to_owned(), pid, true);
        self.named = true;
        self.lines += 1;
    }

    /// What is above is the waker's stack where two threads are told of; else the program goes on.
    fn delimiter(&mut self, told: Option<Told>, taken: &mut Taken) {
        self.lines += 1;
        if told.is_some_and(|t| t.two_threads) {
            self.lines -= self.frames.len();
            taken.drop("stack of the waker", self.frames.len());
            self.frames.clear();
        }
    }

    fn key(&mut self, key: &str) {
        self.comm = key.to_owned();
        self.lines += 1;
    }

    /// After a blank line there is more of this list, or another one.
    fn goes_on(&self, lines: &[Line], told: bool) -> bool {
        let next = lines.iter().take(4).find(|l| !l.is_blank());
        next.is_some_and(|l| !matches!(read(&l.text, told), ListLine::Other))
    }

    /// Makes the list a sample; `false` where it is none.
    fn finish(&mut self, count: u64, told: Option<Told>, sink: &mut Sink, taken: &mut Taken) -> bool {
        let mut list = std::mem::take(self);
        let told = told.unwrap_or_default();
        if told.name_is_last && !list.named && list.frames.len() > 1 {
            // Printed like a frame, between the root and the time.
            list.comm = list.frames.pop().unwrap_or_default();
        }
        if list.frames.is_empty() {
            taken.drop(crate::text::blocks::NOT_RECOGNISED, list.lines);
            return false;
        }
        if !list.sure {
            taken.drop("list of words without a sign of a tracer", list.lines);
            return false;
        }
        let pid = if list.pid > 0 { list.pid } else { -1 };
        match told.nanos {
            0 => push_stack(sink, &list.frames, &list.comm, pid, told.event, count),
            nanos => push_time(sink, &list.frames, &list.comm, pid, count.saturating_mul(nanos)),
        }
        taken.kept += list.lines;
        true
    }
}

/// What lists count of whose tool nothing is said: where each stack is of a named thread and ends where the scheduler takes
/// it off its CPU, they are from offcputime of bcc, which adds up microseconds. One stack that ends elsewhere, and they
/// are samples: a clock often ticks there, too.
fn off_cpu(lines: &[Line]) -> Option<Told> {
    let (mut starts, mut named, mut any) = (true, false, false);
    for line in lines {
        match read(&line.text, false) {
            ListLine::Blank => {}
            ListLine::Frame(name) => {
                if starts && !switches(name) {
                    return None;
                }
                starts = false;
            }
            ListLine::Thread { .. } => named = true,
            ListLine::Count(_) => {
                if !named {
                    return None;
                }
                (starts, named, any) = (true, false, true);
            }
            _ => break,
        }
    }
    any.then(|| Told { event: Event::Wait, nanos: 1000, ..Told::default() })
}

fn switches(leaf: &str) -> bool {
    let name = names::without_offset(names::backtick(leaf).1);
    name.starts_with("finish_task_switch") || matches!(name, "__schedule" | "schedule")
}

fn every_line(told: Option<Told>) -> bool {
    told.is_some_and(|t| t.every_line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(stacks: &[&str]) -> bool {
        let text: String = stacks
            .iter()
            .map(|leaf| {
                format!(
                    "    {leaf}\n    zil_commit\n    do_fsync\n    -                fio (42)\n        700\n\n"
                )
            })
            .collect();
        let lines: Vec<Line> = text.lines().map(|text| Line { number: 1, text: text.into() }).collect();
        off_cpu(&lines).is_some_and(|told| told.event == Event::Wait && told.nanos == 1000)
    }

    #[test]
    fn where_every_named_thread_left_its_cpu_they_waited() {
        assert!(waits(&["finish_task_switch.isra.0", "__schedule"]));
        assert!(!waits(&["finish_task_switch", "lz4_compress"]), "a profile");
        assert!(!waits(&["scheduler_tick"]) && !waits(&[]));
    }
}
