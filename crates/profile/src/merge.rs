//! Bringing one profile into another: ids of the source are mapped to ids of the target.

use crate::{Frame, FrameId, Profile, Sample, StackId, StringId, Thread, ThreadId};

/// Where each id of a merged-in profile went.
#[derive(Clone, Debug, Default)]
pub struct Remap {
    strings: Vec<StringId>,
    frames: Vec<FrameId>,
    stacks: Vec<StackId>,
    threads: Vec<ThreadId>,
    /// Whether both profiles measured in the same units; else only their counts are kept.
    pub same_units: bool,
}

impl Remap {
    pub fn string(&self, id: StringId) -> StringId {
        self.strings.get(id.index()).copied().unwrap_or_default()
    }

    pub fn frame(&self, id: FrameId) -> FrameId {
        self.frames.get(id.index()).copied().unwrap_or_default()
    }

    pub fn stack(&self, id: StackId) -> StackId {
        self.stacks.get(id.index()).copied().unwrap_or_default()
    }

    pub fn thread(&self, id: ThreadId) -> ThreadId {
        self.threads.get(id.index()).copied().unwrap_or_default()
    }
}

impl Profile {
    /// Adds all of `other`, samples included, and says where its ids went.
    pub fn merge(&mut self, other: &Profile) -> Remap {
        let mut map = Remap::default();
        map.strings = other.strings.iter().map(|(_, text)| self.strings.intern(text)).collect();
        map.frames = other
            .frames
            .iter()
            .map(|(_, f)| {
                self.frames.intern(Frame {
                    function: map.string(f.function),
                    module: map.string(f.module),
                    file: map.string(f.file),
                    reason: map.string(f.reason),
                    ..f
                })
            })
            .collect();
        map.stacks.push(StackId::ROOT);
        for (_, parent, frame, _) in other.stacks.iter() {
            let id = self.stacks.child(map.stack(parent), map.frame(frame));
            map.stacks.push(id);
        }
        map.threads = other
            .threads
            .iter()
            .map(|(_, t)| self.threads.intern(Thread { comm: map.string(t.comm), ..t }))
            .collect();
        map.same_units = self.join_measures(other);
        self.samples.reserve(other.samples.len());
        for s in other.samples.iter() {
            self.samples.push(Sample { thread: map.thread(s.thread), stack: map.stack(s.stack), ..s });
        }
        map
    }

    /// A copy with only the samples that `keep` accepts; tables are kept whole, so ids stay valid.
    pub fn filter(&self, mut keep: impl FnMut(&Sample) -> bool) -> Profile {
        let mut out = Profile { samples: Default::default(), ..self.clone() };
        for s in self.samples.iter().filter(|s| keep(s)) {
            out.samples.push(s);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Event, FrameKind};

    fn one(comm: &str, names: &[&str], count: u32) -> Profile {
        let mut p = Profile::new();
        let frames: Vec<_> = names.iter().map(|n| p.frame(n, "zfs", FrameKind::Kernel)).collect();
        let stack = p.stack(&frames);
        let thread = p.thread(1, 2, comm);
        p.samples.push_counted(thread, stack, Event::Cpu, count);
        p
    }

    #[test]
    fn merging_adds_samples_and_shares_prefixes() {
        let mut a = one("x", &["main", "zio_read"], 3);
        let b = one("y", &["main", "zio_write"], 4);
        let map = a.merge(&b);
        assert_eq!(a.total(Event::Cpu), 7);
        assert_eq!(a.stacks.len(), 4);
        assert_eq!(a.function_names(map.stack(StackId(2))), ["main", "zio_write"]);
        assert_eq!(a.filter(|s| s.count == 4).total(Event::Cpu), 4);
    }
}
