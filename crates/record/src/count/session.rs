//! The events of all probes on all CPUs, and one ring per CPU.
//!
//! Invariant: the first event of a CPU owns its ring and brings the side-band records, once.

use super::error::CountError;
use super::probe::Probe;
use crate::error::RecordError;
use rustc_hash::FxHashMap;
use rustix::io::Errno;
use std::ops::RangeInclusive;
use zwhy_host::raise_descriptor_limit;
use zwhy_perf::attr::{Attr, Schema};
use zwhy_perf::open::{Whose, open_event};
use zwhy_perf::record::Record;
use zwhy_perf::{Rings, Until, ring_bytes};

/// Memory of all rings together, and of one.
const ALL_RINGS: usize = 64 << 20;
const RING_BYTES: RangeInclusive<usize> = 64 << 10..=4 << 20;

pub(super) struct Session {
    rings: Rings,
    /// Of each event, in the order in which they were opened.
    probes: Vec<usize>,
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
        // Samples of the two kinds of probes differ; each event's id says of which it is.
        let mut schema = Schema::default();
        for in_kernel in [false, true] {
            schema.add(Attr::of(&Probe::sampled(in_kernel)), std::iter::empty());
        }
        let mut session = Session {
            rings: Rings::new(schema, ring_bytes(cpus.len(), ALL_RINGS, RING_BYTES)),
            probes: Vec::new(),
            probe_of_event: FxHashMap::default(),
            last_hits: None,
        };
        let mut left_out = Vec::new();
        let mut refused = None;
        for (index, probe) in probes.iter().enumerate() {
            let result = session.open_probe(index, probe, cpus);
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

    fn open_probe(&mut self, index: usize, probe: &Probe, cpus: &[u32]) -> Result<(), CountError> {
        let pmu = probe.pmu()?;
        for cpu in cpus {
            let (mut attr, path) = probe.attr(pmu, !self.rings.has(*cpu));
            let fd = match open_event(&mut attr, Whose::Thread(-1), *cpu as i32) {
                Ok(fd) => fd,
                // The CPU went away since it was listed.
                Err(e) if Errno::from_io_error(&e) == Some(Errno::NODEV) => continue,
                Err(e) => return Err(probe.refused(e)),
            };
            drop(path);
            let id = self.rings.add(fd, *cpu).map_err(RecordError::io("give a probe its ring"))?;
            self.rings.schema.ids.insert(id, u32::from(probe.is_kernel()));
            self.probe_of_event.insert(id, index);
            self.probes.push(index);
        }
        Ok(())
    }

    pub(super) fn enable(&self) -> Result<(), RecordError> {
        self.rings.enable().map_err(RecordError::io("switch probes on"))
    }

    pub(super) fn disable(&self) {
        self.rings.disable();
    }

    /// Takes the probes out of the code: one that is only switched off still traps at every call.
    /// Everything must have been drained.
    pub(super) fn close(&mut self, probes: usize) {
        self.last_hits = Some(self.hits(probes));
        self.rings.close();
    }

    /// From now on only every so many-th call on a CPU is sampled; all are counted.
    pub(super) fn set_period(&self, period: u64) -> Result<(), RecordError> {
        self.rings.set_period(period).map_err(RecordError::io("sample fewer calls"))
    }

    /// Gives out what the rings hold, in order of time, samples with their probe.
    pub(super) fn drain(
        &mut self,
        until: Until,
        mut sink: impl FnMut(u64, Record<'_>, &Schema, &FxHashMap<u64, usize>),
    ) {
        let Session { rings, probe_of_event, .. } = self;
        rings.drain(until, |time, record, schema| sink(time, record, schema, probe_of_event));
    }

    /// Calls of all tasks by probe, as the kernel counted them.
    pub(super) fn hits(&self, probes: usize) -> Vec<u64> {
        if let Some(hits) = &self.last_hits {
            return hits.clone();
        }
        let mut hits = vec![0u64; probes];
        for (probe, count) in self.probes.iter().zip(self.rings.counts()) {
            if let Some(sum) = hits.get_mut(*probe) {
                *sum += count;
            }
        }
        hits
    }
}
