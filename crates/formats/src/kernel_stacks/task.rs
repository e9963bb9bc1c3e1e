//! The stack of one task, put together from its lines.

use super::line::Head;
use zwhy_evidence::PctStack;

/// The task whose stack is being read.
#[derive(Debug, Default)]
pub struct Task {
    comm: Option<String>,
    waiting: Option<bool>,
    /// Where it was executing; the leaf.
    instruction: Option<String>,
    /// Leaf first.
    frames: Vec<String>,
    /// Frames marked as unsure, leaf first.
    unsure: Vec<String>,
    /// It stands in a log, or a line said that a call trace follows: /proc/PID/stack prints neither.
    traced: bool,
}

/// What became of frames that the kernel marked as unsure.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unsure {
    pub kept: usize,
    pub dropped: usize,
}

impl Task {
    pub fn begin(&mut self, head: Head) {
        *self = Task { comm: head.comm.map(str::to_owned), waiting: head.waiting, ..Task::default() };
    }

    /// A processor's state names the task that ran on it.
    pub fn running(&mut self, comm: &str, out: &mut Vec<PctStack>) -> Unsure {
        let unsure = if self.is_empty() { Unsure::default() } else { self.finish(out) };
        self.comm = Some(comm.to_owned());
        self.waiting.get_or_insert(false);
        unsure
    }

    /// A second call trace without a new head is of the same task.
    pub fn call_trace(&mut self, out: &mut Vec<PctStack>) -> Unsure {
        let mut unsure = Unsure::default();
        if !self.is_empty() {
            let (comm, waiting) = (self.comm.clone(), self.waiting);
            unsure = self.finish(out);
            (self.comm, self.waiting) = (comm, waiting);
        }
        self.traced = true;
        unsure
    }

    pub fn push(&mut self, name: &str, logged: bool) {
        self.traced |= logged;
        self.frames.push(name.to_owned());
    }

    pub fn push_unsure(&mut self, name: &str) {
        self.unsure.push(name.to_owned());
    }

    /// Nothing of the task was read yet.
    fn is_empty(&self) -> bool {
        self.frames.is_empty() && self.unsure.is_empty()
    }

    /// The frames so far are those of the interrupt that came upon this instruction.
    pub fn instruction(&mut self, name: &str) {
        self.frames.clear();
        self.instruction = Some(name.to_owned());
    }

    pub fn end_of_interrupt(&mut self) {
        self.frames.clear();
    }

    /// Gives the stack out, if there is one, and forgets the task.
    ///
    /// Of a task that ran on another processor the kernel is sure of no frame: then all that are marked as
    /// unsure are the stack, else none of them.
    pub fn finish(&mut self, out: &mut Vec<PctStack>) -> Unsure {
        const FEWEST: usize = 2;
        let task = std::mem::take(self);
        let mut unsure = Unsure { kept: 0, dropped: task.unsure.len() };
        let mut frames = task.frames;
        if frames.is_empty() && task.instruction.is_none() && task.unsure.len() >= FEWEST {
            unsure = Unsure { kept: task.unsure.len(), dropped: 0 };
            frames = task.unsure;
        }
        // A register dump is of a processor, so the task was on it.
        let ran = task.instruction.is_some();
        if let Some(leaf) = task.instruction.filter(|leaf| frames.first() != Some(leaf)) {
            frames.insert(0, leaf);
        }
        let Some(leaf) = frames.first() else { return unsure };
        // Who sleeps is in the scheduler; /proc/PID/stack leaves that frame out and says nothing else.
        // arm64 and ppc64 print the switch itself above it.
        let asleep = zwhy_zfs::puts_to_sleep(leaf);
        let waiting = task.waiting.unwrap_or(asleep || (task.comm.is_none() && !ran && !task.traced));
        frames.reverse();
        out.push(PctStack { comm: task.comm, waiting, frames, ..PctStack::default() });
        unsure
    }
}
