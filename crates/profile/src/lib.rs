//! The profile model every source fills and every answer reads: interned strings, frames,
//! prefix-tree stacks, threads and columns of samples.
//!
//! Invariants: ids are dense `u32` indices into their table; index 0 is the empty value
//! (`""`, the root stack). Nothing here does I/O, reads a clock or prints.

mod compare;
mod fold;
mod frames;
mod functions;
mod measure;
mod merge;
mod moving;
mod samples;
mod stacks;
mod strings;
mod threads;
mod units;

pub use compare::{Delta, Pair, compare};
pub use fold::{FoldedStacks, StackTotals};
pub use frames::{Frame, FrameId, FrameKind, FrameTable, NamedFrame};
pub use functions::{FunctionCounts, FunctionTotals};
pub use measure::{Amounts, Measure, Sampling, Unit, grouped};
pub use merge::Remap;
pub use moving::Move;
pub use samples::{Event, Sample, Samples};
pub use stacks::{StackId, StackTable};
pub use strings::{StringId, StringTable};
pub use threads::{Thread, ThreadId, ThreadTable};
pub use units::{Interval, Nanos, Share};

/// Everything that was sampled on one host (or read from one file).
#[derive(Clone, Debug, Default)]
pub struct Profile {
    pub strings: StringTable,
    pub frames: FrameTable,
    pub stacks: StackTable,
    pub threads: ThreadTable,
    pub samples: Samples,
    /// By event; what samples amount to.
    measures: [Measure; Event::ALL.len()],
}

impl Profile {
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes that the tables of names hold in memory, about; samples are not counted.
    pub fn memory(&self) -> usize {
        self.strings.memory() + self.frames.memory() + self.stacks.memory() + self.threads.memory()
    }

    /// Interns a frame given by name only (`function`, `module`), for sources without addresses.
    pub fn frame(&mut self, function: &str, module: &str, kind: FrameKind) -> FrameId {
        self.named_frame(NamedFrame { function, module, kind, ..NamedFrame::default() })
    }

    /// Interns a frame with all that is known of it.
    pub fn named_frame(&mut self, named: NamedFrame<'_>) -> FrameId {
        let mut text = |text| self.strings.intern(text);
        let (function, module, file) = (text(named.function), text(named.module), text(named.file));
        let (line, kind, reason) = (named.line, named.kind, text(named.reason));
        self.frames.intern(Frame { function, module, file, line, kind, reason })
    }

    /// Interns a stack given root first.
    pub fn stack(&mut self, root_first: &[FrameId]) -> StackId {
        let mut at = StackId::ROOT;
        for &frame in root_first {
            at = self.stacks.child(at, frame);
        }
        at
    }

    /// Interns a thread by its ids and current name.
    pub fn thread(&mut self, pid: i32, tid: i32, comm: &str) -> ThreadId {
        let comm = self.strings.intern(comm);
        self.threads.intern(Thread { pid, tid, comm })
    }

    pub fn function_of(&self, frame: FrameId) -> &str {
        self.strings.get(self.frames.get(frame).function)
    }

    pub fn module_of(&self, frame: FrameId) -> &str {
        self.strings.get(self.frames.get(frame).module)
    }

    /// Function names of a stack, root first.
    pub fn function_names(&self, stack: StackId) -> Vec<&str> {
        let mut names: Vec<&str> = self.stacks.leaf_to_root(stack).map(|f| self.function_of(f)).collect();
        names.reverse();
        names
    }
}
