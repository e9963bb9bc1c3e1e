//! Kernel stacks that were printed, not sampled: /proc/PID/stack, sysrq, hung tasks, lockups, RCU stalls,
//! crash `bt`.
//!
//! Stacks of blocked tasks are wait stacks; those of lockups, stalls and running tasks are not. Frames the
//! kernel marks with `?` are guesses of its unwinder and are dropped with a count, as are register and
//! memory dumps. Lines are the unit of the stats.

mod event;
mod line;
mod row;
mod task;

use crate::text::blocks::{self, Block, Line, Sink, Taken};
use crate::{Confidence, ErrorKind, FormatError, ImportOptions, Imported, Importer, Input};
use event::LogEvent;
use line::KernelLine;
pub(crate) use row::StackRows;
use task::{Task, Unsure};
use zwhy_evidence::{OriginId, PctStack, Table};

pub(crate) static IMPORTER: Importer = Importer { name: "kernel-stacks", sniff, read };

fn sniff(head: &[u8]) -> Confidence {
    blocks::sniff(head, &KernelStackBlock, 0.9)
}

fn read(input: &Input, options: &ImportOptions) -> Result<Imported, FormatError> {
    let imported =
        blocks::read("kernel-stacks", input, &[&StackRows, &KernelStackBlock], options.limits.max_depth)?;
    if imported.evidence.trees.is_empty() {
        return Err(FormatError::read(ErrorKind::Empty, input.name(), "no line of it is a kernel stack")
            .hint("take one with `cat /proc/PID/stack` or `echo w > /proc/sysrq-trigger; dmesg`"));
    }
    Ok(imported)
}

/// A run of kernel messages with stacks in it.
pub(crate) struct KernelStackBlock;

impl Block for KernelStackBlock {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let first = lines.first()?;
        if !line::read(&first.text).starts_block() {
            return None;
        }
        let mut reader = Reader::default();
        let mut at = 0;
        while let Some(line) = lines.get(at) {
            if line.is_blank() {
                let next = lines[at..].iter().take(3).find(|l| !l.is_blank());
                if !next.is_some_and(|l| line::read(&l.text).goes_on()) {
                    break;
                }
                reader.taken.drop("blank line", 1);
                reader.finish();
            } else if !reader.line(&line.text) {
                break;
            }
            at += 1;
        }
        reader.finish();
        if reader.stacks.is_empty() && !reader.events.is_empty() {
            let origin = sink.origin("kernel log", &lines[..at]);
            push_events(sink, &reader.events, origin);
            return Some(reader.taken);
        }
        if reader.stacks.is_empty() {
            let dropped = vec![("kernel message that is no stack".into(), at)];
            return (at > 0).then_some(Taken { kept: 0, dropped });
        }
        let origin = sink.origin("kernel stacks", &lines[..at]);
        push_events(sink, &reader.events, origin);
        let max_depth = sink.max_depth;
        sink.evidence.trees.extend(reader.stacks.into_iter().map(|mut stack| {
            let skip = stack.frames.len().saturating_sub(max_depth);
            stack.frames.drain(..skip);
            PctStack { origin, ..stack }
        }));
        Some(reader.taken)
    }
}

/// Events of the kernel's log outside any stack.
pub(crate) struct KernelEvents;

impl Block for KernelEvents {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let events: Vec<LogEvent> = lines.iter().map_while(|l| event::read(&l.text)).collect();
        if !events.is_empty() {
            let origin = sink.origin("kernel log", &lines[..events.len()]);
            push_events(sink, &events, origin);
        }
        Taken::kept(events.len())
    }
}

fn push_events(sink: &mut Sink, events: &[LogEvent], origin: OriginId) {
    if events.is_empty() {
        return;
    }
    let row = |e: &LogEvent| {
        vec![e.what.to_owned(), e.task.clone(), e.seconds.map_or_else(String::new, |s| s.to_string())]
    };
    let columns = ["event", "task", "lasted s"].map(str::to_owned).to_vec();
    let rows = events.iter().map(row).collect();
    sink.evidence.tables.push(Table { tool: "kernel log".to_owned(), columns, rows, origin });
}

#[derive(Default)]
struct Reader {
    task: Task,
    events: Vec<LogEvent>,
    stacks: Vec<PctStack>,
    taken: Taken,
}

impl Reader {
    fn finish(&mut self) {
        let unsure = self.task.finish(&mut self.stacks);
        self.account(unsure);
    }

    fn account(&mut self, unsure: Unsure) {
        self.taken.kept += unsure.kept;
        self.taken.drop("unreliable frame (marked ?)", unsure.dropped);
    }

    /// Takes one line; `false` when it is not of the kernel.
    fn line(&mut self, text: &str) -> bool {
        let mut kept = true;
        let event = event::read(text);
        let told = event.is_some();
        self.events.extend(event);
        match line::read(text) {
            KernelLine::Task(head) => {
                self.finish();
                self.task.begin(head);
            }
            KernelLine::Running { comm } => {
                let unsure = self.task.running(comm, &mut self.stacks);
                self.account(unsure);
            }
            KernelLine::CallTrace => {
                let unsure = self.task.call_trace(&mut self.stacks);
                self.account(unsure);
            }
            KernelLine::Frame(name) => self.task.push(name, line::is_logged(text)),
            // Whether it is kept is known at the end of its stack.
            KernelLine::Unreliable(name) => {
                self.task.push_unsure(name);
                kept = false;
            }
            KernelLine::Instruction(name) => self.task.instruction(name),
            KernelLine::EndOfInterrupt => self.task.end_of_interrupt(),
            KernelLine::Marker => {}
            KernelLine::Dump => {
                self.taken.drop("register or memory dump", 1);
                kept = false;
            }
            KernelLine::OtherMessage if told => {}
            KernelLine::OtherMessage => {
                self.taken.drop("kernel message that is no stack", 1);
                kept = false;
            }
            KernelLine::No if told => {}
            KernelLine::No => return false,
        }
        self.taken.kept += usize::from(kept);
        true
    }
}
