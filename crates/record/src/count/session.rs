//! The events of all probes on all CPUs, and one ring per CPU.
//!
//! Invariant: the first event of a CPU owns its ring and brings the side-band records, once.

use super::error::CountError;
use super::probe::Probe;
use crate::error::RecordError;
use crate::perf::open::{disable, enable, event_id, join, open_attr, set_period};
use crate::perf::ring::Ring;
use rustc_hash::FxHashMap;
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use zwhy_host::raise_descriptor_limit;

const LARGEST_RING: usize = 4 << 20;
const SMALLEST_RING: usize = 64 << 10;
/// Memory of all rings together.
const ALL_RINGS: usize = 64 << 20;

struct Event {
    fd: OwnedFd,
    probe: usize,
}

pub(super) struct Session {
    events: Vec<Event>,
    rings: Vec<Ring>,
    probe_of_event: FxHashMap<u64, usize>,
    /// Calls by probe when all was closed.
    last_hits: Option<Vec<u64>>,
}

impl Session {
    /// Opens every probe on every CPU, for all tasks, switched off.
    ///
    /// Of probes found by a pattern those that the kernel refuses are left out and returned by index;
    /// at least one must be accepted.
    pub(super) fn open(
        probes: &[Probe],
        cpus: &[u32],
        may_leave_out: bool,
    ) -> Result<(Session, Vec<usize>), CountError> {
        raise_descriptor_limit();
        let mut session = Session {
            events: Vec::new(),
            rings: Vec::new(),
            probe_of_event: FxHashMap::default(),
            last_hits: None,
        };
        let mut left_out = Vec::new();
        let mut refused = None;
        // The owner of each CPU's ring, by index of event.
        let mut owners: FxHashMap<u32, usize> = FxHashMap::default();
        let ring_bytes = ring_bytes(cpus.len());
        for (index, probe) in probes.iter().enumerate() {
            let result = session.open_probe(index, probe, cpus, &mut owners, ring_bytes);
            match result {
                Ok(()) => {}
                Err(error @ CountError::Refused { .. }) if may_leave_out => {
                    left_out.push(index);
                    refused = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        match refused {
            Some(error) if left_out.len() == probes.len() => Err(error),
            _ => Ok((session, left_out)),
        }
    }

    fn open_probe(
        &mut self,
        index: usize,
        probe: &Probe,
        cpus: &[u32],
        owners: &mut FxHashMap<u32, usize>,
        ring_bytes: usize,
    ) -> Result<(), CountError> {
        let pmu = probe.pmu()?;
        for cpu in cpus {
            let (mut attr, path) = probe.attr(pmu, !owners.contains_key(cpu));
            let fd = match open_attr(&mut attr, -1, *cpu as i32) {
                Ok(fd) => fd,
                // The CPU went away since it was listed.
                Err(e) if Errno::from_io_error(&e) == Some(Errno::NODEV) => continue,
                Err(e) => return Err(probe.refused(e)),
            };
            drop(path);
            let id = event_id(fd.as_fd()).map_err(RecordError::io("identify an event"))?;
            match owners.get(cpu).and_then(|owner| self.events.get(*owner)) {
                Some(owner) => {
                    join(fd.as_fd(), owner.fd.as_fd()).map_err(RecordError::io("join two events"))?;
                }
                None => {
                    self.rings.push(map_ring(&fd, ring_bytes)?);
                    owners.insert(*cpu, self.events.len());
                }
            }
            self.probe_of_event.insert(id, index);
            self.events.push(Event { fd, probe: index });
        }
        Ok(())
    }

    pub(super) fn probe_of_event(&self, id: u64) -> Option<usize> {
        self.probe_of_event.get(&id).copied()
    }

    pub(super) fn enable(&self) -> Result<(), RecordError> {
        self.events.iter().try_for_each(|e| enable(e.fd.as_fd())).map_err(RecordError::io("switch probes on"))
    }

    pub(super) fn disable(&self) {
        for event in &self.events {
            let _ = disable(event.fd.as_fd()); // of a CPU that went away
        }
    }

    /// Takes the probes out of the code: one that is only switched off still traps at every call.
    /// Everything must have been drained; a ring keeps its event alive.
    pub(super) fn close(&mut self, probes: usize) {
        self.last_hits = Some(self.hits(probes));
        self.rings.clear();
        self.events.clear();
    }

    /// From now on only every so many-th call on a CPU is sampled; all are counted.
    pub(super) fn set_period(&self, period: u64) -> Result<(), RecordError> {
        self.events
            .iter()
            .try_for_each(|e| set_period(e.fd.as_fd(), period))
            .map_err(RecordError::io("sample fewer calls"))
    }

    pub(super) fn drain(&mut self, out: &mut Vec<u8>) {
        self.rings.iter_mut().for_each(|ring| ring.drain(out));
    }

    /// Calls of all tasks by probe, as the kernel counted them.
    pub(super) fn hits(&self, probes: usize) -> Vec<u64> {
        if let Some(hits) = &self.last_hits {
            return hits.clone();
        }
        let mut hits = vec![0u64; probes];
        for event in &self.events {
            let mut word = [0u8; 8];
            if rustix::io::read(&event.fd, &mut word).is_ok_and(|n| n == 8)
                && let Some(sum) = hits.get_mut(event.probe)
            {
                *sum += u64::from_ne_bytes(word);
            }
        }
        hits
    }
}

fn ring_bytes(cpus: usize) -> usize {
    let share = (ALL_RINGS / cpus.max(1)).max(1);
    // The greatest power of two that is not above the share.
    (1 << share.ilog2()).clamp(SMALLEST_RING, LARGEST_RING)
}

fn map_ring(event: &OwnedFd, bytes: usize) -> Result<Ring, RecordError> {
    let mut bytes = bytes;
    loop {
        match Ring::map(event, bytes) {
            Ok(ring) => return Ok(ring),
            // An unprivileged user may lock kernel.perf_event_mlock_kb in all.
            Err(Errno::PERM | Errno::NOMEM) if bytes > SMALLEST_RING => bytes /= 2,
            Err(e) => return Err(RecordError::io("map a ring")(e.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_share_a_bound() {
        assert_eq!(ring_bytes(2), LARGEST_RING);
        assert_eq!(ring_bytes(96), 512 << 10);
        assert_eq!(ring_bytes(100_000), SMALLEST_RING);
    }
}
