//! Samples as columns: one row a sample (or a window of equal samples), no allocation a row.

use crate::stacks::StackId;
use crate::threads::ThreadId;
use crate::units::Nanos;

/// What a sample says of its stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Event {
    /// The stack was on a CPU.
    #[default]
    Cpu,
    /// The stack was asleep or blocked.
    Wait,
    /// The function at the leaf was called `count` times.
    Count,
}

impl Event {
    pub const ALL: [Event; 3] = [Event::Cpu, Event::Wait, Event::Count];

    pub fn name(self) -> &'static str {
        match self {
            Event::Cpu => "cpu",
            Event::Wait => "wait",
            Event::Count => "count",
        }
    }

    pub fn from_name(name: &str) -> Option<Event> {
        Event::ALL.into_iter().find(|event| event.name() == name)
    }
}

/// One row of [`Samples`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Since the start of the recording; of a window, its start.
    pub t: Nanos,
    /// -1 where the source does not say.
    pub cpu: i32,
    pub thread: ThreadId,
    pub stack: StackId,
    pub event: Event,
    pub count: u32,
    /// CPU or waiting time that the row stands for; 0 where the source does not say. In the unit of its
    /// [`crate::Measure`] where that is no number of samples.
    pub weight: Nanos,
}

impl Sample {
    /// `count` samples of a stack with nothing else known.
    pub fn counted(thread: ThreadId, stack: StackId, event: Event, count: u32) -> Sample {
        Sample { t: Nanos(0), cpu: -1, thread, stack, event, count, weight: Nanos(0) }
    }
}

/// Columns of samples, in no particular order.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    pub t: Vec<Nanos>,
    pub cpu: Vec<i32>,
    pub thread: Vec<ThreadId>,
    pub stack: Vec<StackId>,
    pub event: Vec<Event>,
    pub count: Vec<u32>,
    pub weight: Vec<Nanos>,
}

impl Samples {
    pub fn len(&self) -> usize {
        self.stack.len()
    }

    pub fn is_empty(&self) -> bool {
        self.stack.is_empty()
    }

    pub fn reserve(&mut self, more: usize) {
        self.t.reserve(more);
        self.cpu.reserve(more);
        self.thread.reserve(more);
        self.stack.reserve(more);
        self.event.reserve(more);
        self.count.reserve(more);
        self.weight.reserve(more);
    }

    pub fn push(&mut self, sample: Sample) {
        self.t.push(sample.t);
        self.cpu.push(sample.cpu);
        self.thread.push(sample.thread);
        self.stack.push(sample.stack);
        self.event.push(sample.event);
        self.count.push(sample.count);
        self.weight.push(sample.weight);
    }

    /// Adds `count` CPU samples of a stack with nothing else known.
    pub fn push_counted(&mut self, thread: ThreadId, stack: StackId, event: Event, count: u32) {
        self.push(Sample::counted(thread, stack, event, count));
    }

    pub fn get(&self, row: usize) -> Option<Sample> {
        Some(Sample {
            t: *self.t.get(row)?,
            cpu: *self.cpu.get(row)?,
            thread: *self.thread.get(row)?,
            stack: *self.stack.get(row)?,
            event: *self.event.get(row)?,
            count: *self.count.get(row)?,
            weight: *self.weight.get(row)?,
        })
    }

    pub fn iter(&self) -> impl Iterator<Item = Sample> + '_ {
        (0..self.len()).filter_map(|row| self.get(row))
    }

    /// Sum of counts of one event.
    pub fn total(&self, event: Event) -> u64 {
        self.event.iter().zip(&self.count).filter(|(e, _)| **e == event).map(|(_, c)| u64::from(*c)).sum()
    }

    /// Leaves only the rows that `keep` says.
    pub fn retain(&mut self, mut keep: impl FnMut(&Sample) -> bool) {
        let kept: Vec<bool> = self.iter().map(|sample| keep(&sample)).collect();
        retain(&mut self.t, &kept);
        retain(&mut self.cpu, &kept);
        retain(&mut self.thread, &kept);
        retain(&mut self.stack, &kept);
        retain(&mut self.event, &kept);
        retain(&mut self.count, &kept);
        retain(&mut self.weight, &kept);
    }

    pub fn clear(&mut self) {
        *self = Samples::default();
    }
}

fn retain<T>(column: &mut Vec<T>, kept: &[bool]) {
    let mut kept = kept.iter();
    column.retain(|_| kept.next() == Some(&true));
}
