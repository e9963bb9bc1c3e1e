//! Events that are open, and one ring of each CPU that they write to.
//!
//! Invariants: every event of a CPU writes to that CPU's ring; the first one owns it.

use crate::attr::Schema;
use crate::open::{disable, enable, event_id, join, set_period};
use crate::record::Record;
use crate::ring::Ring;
use crate::sorter::{Sorter, Until};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::io;
use std::ops::RangeInclusive;

/// Smallest ring that is tried where the user may lock no more memory.
const SMALLEST_RING: usize = 64 << 10;

/// Bytes of each ring, where all are to take no more than `all`: the greatest power of two of a CPU's share,
/// within `each`.
pub fn ring_bytes(cpus: usize, all: usize, each: RangeInclusive<usize>) -> usize {
    let share = (all / cpus.max(1)).max(1);
    (1 << share.ilog2()).clamp(*each.start(), (*each.end()).max(*each.start()))
}

struct Event {
    fd: OwnedFd,
    cpu: u32,
}

struct CpuRing {
    cpu: u32,
    /// Index of the event that owns the mapping.
    owner: usize,
    ring: Ring,
}

/// All events of one purpose.
pub struct Rings {
    events: Vec<Event>,
    rings: Vec<CpuRing>,
    bytes: usize,
    /// How the records are laid out.
    pub schema: Schema,
    sorter: Sorter,
}

impl Rings {
    /// No event yet; rings will have `bytes` where that may be locked.
    pub fn new(schema: Schema, bytes: usize) -> Rings {
        Rings { events: Vec::new(), rings: Vec::new(), bytes, schema, sorter: Sorter::default() }
    }

    /// Gives an event of a CPU a ring: that of its CPU, or a new one. Returns its identifier.
    ///
    /// # Errors
    /// When the kernel refuses to map even the smallest ring.
    pub fn add(&mut self, fd: OwnedFd, cpu: u32) -> io::Result<u64> {
        let id = event_id(fd.as_fd())?;
        match self.rings.iter().find(|r| r.cpu == cpu).and_then(|r| self.events.get(r.owner)) {
            Some(owner) => join(fd.as_fd(), owner.fd.as_fd())?,
            None => {
                let ring = self.map(&fd)?;
                self.rings.push(CpuRing { cpu, owner: self.events.len(), ring });
            }
        }
        self.events.push(Event { fd, cpu });
        Ok(id)
    }

    /// An unprivileged user may lock kernel.perf_event_mlock_kb in all: takes less rather than fail.
    fn map(&mut self, fd: &OwnedFd) -> io::Result<Ring> {
        loop {
            match Ring::map(fd, self.bytes) {
                Ok(ring) => return Ok(ring),
                Err(Errno::PERM | Errno::NOMEM) if self.bytes > SMALLEST_RING => self.bytes /= 2,
                Err(e) => return Err(e.into()),
            }
        }
    }

    /// Has a ring of this CPU.
    pub fn has(&self, cpu: u32) -> bool {
        self.rings.iter().any(|r| r.cpu == cpu)
    }

    pub fn events(&self) -> usize {
        self.events.len()
    }

    /// Bytes of all rings.
    pub fn all_bytes(&self) -> usize {
        self.rings.iter().map(|r| r.ring.data_bytes()).sum()
    }

    /// Descriptors of the events that own a ring: readable when it has to be emptied, where that was asked
    /// for.
    pub fn owners(&self) -> impl Iterator<Item = &OwnedFd> {
        self.rings.iter().filter_map(|r| self.events.get(r.owner)).map(|event| &event.fd)
    }

    /// Gives out what the rings hold, in order of time.
    pub fn drain(&mut self, until: Until, sink: impl FnMut(u64, Record<'_>, &Schema)) {
        let Rings { rings, schema, sorter, .. } = self;
        let mut sink = sink;
        let fill = |bytes: &mut Vec<u8>| rings.iter_mut().for_each(|r| r.ring.drain(bytes));
        sorter.drain(schema, until, fill, |time, record| sink(time, record, schema));
    }

    pub fn enable(&self) -> io::Result<()> {
        self.events.iter().try_for_each(|e| enable(e.fd.as_fd()))
    }

    pub fn disable(&self) {
        for event in &self.events {
            // Of a thread that has ended or a CPU that went away it is off already.
            let _ = disable(event.fd.as_fd());
        }
    }

    /// From now on only every so many-th event on a CPU is sampled; all are counted.
    pub fn set_period(&self, period: u64) -> io::Result<()> {
        self.events.iter().try_for_each(|e| set_period(e.fd.as_fd(), period))
    }

    /// How often each event counted, in the order in which they were added.
    pub fn counts(&self) -> impl Iterator<Item = u64> {
        self.events.iter().map(|event| read_words::<1>(&event.fd).map_or(0, |[count]| count))
    }

    /// Samples that found no room, by CPU, as the kernel counted them; only of events that were opened with
    /// the count of lost samples.
    pub fn lost(&self) -> BTreeMap<u32, u64> {
        let mut lost = BTreeMap::new();
        for event in &self.events {
            if let Some([_, count]) = read_words::<2>(&event.fd) {
                *lost.entry(event.cpu).or_default() += count;
            }
        }
        lost
    }

    /// Closes every event: a probe that is only switched off still traps. Everything must have been drained.
    pub fn close(&mut self) {
        // A ring keeps its event alive.
        self.rings.clear();
        self.events.clear();
    }
}

fn read_words<const N: usize>(fd: &OwnedFd) -> Option<[u64; N]> {
    let mut bytes = [0u8; 16];
    let read = rustix::io::read(fd, bytes.get_mut(..8 * N)?).ok()?;
    let (words, _) = bytes.as_chunks::<8>();
    let mut out = [0; N];
    out.iter_mut().zip(words).for_each(|(to, word)| *to = u64::from_ne_bytes(*word));
    (read == 8 * N).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_share_their_room_as_powers_of_two() {
        let each = 1 << 20..=4 << 20;
        let of = |cpus| ring_bytes(cpus, 64 << 20, each.clone()) >> 20;
        assert_eq!([1, 2, 16, 32, 64, 512].map(of), [4, 4, 4, 2, 1, 1]);
        assert_eq!(ring_bytes(96, 64 << 20, 64 << 10..=4 << 20), 512 << 10);
        assert_eq!(ring_bytes(100_000, 64 << 20, 64 << 10..=4 << 20), 64 << 10);
    }
}
