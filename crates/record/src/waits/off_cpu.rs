//! Time off the CPU by kernel stack, from the context switches of the whole host.
//!
//! Invariants: every wait of at least [`LEAST`] becomes one sample of event `wait` at its end, whose
//! weight is its length and whose root frame says why; shorter ones are counted by thread. What found
//! no room is counted. A thread that was away when recording began is not seen until it leaves again.

use super::pairing::{MOST_AWAY, Pairing, Wait};
use super::switches::{Layout, Why};
use crate::collect::Collector;
use crate::error::RecordError;
use crate::perf::open::open_attr;
use crate::perf::permission;
use crate::perf::record::record_len;
use crate::perf::ring::Ring;
use rustc_hash::FxHashMap;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use zwhy_profile::{Event, Nanos, Sample, StackId};

/// Shorter waits are counted by thread and get no sample.
const LEAST: Duration = Duration::from_millis(1);
/// Room for the switches of a busy CPU between two drains: 4,000 of 250 bytes.
const RING_BYTES: usize = 1 << 20;
/// A record may be stamped and not yet be in its ring; what is younger than this waits a round.
const SETTLE_NS: u64 = 10_000_000;
/// Threads with the most time in short waits that the facts name.
const THREADS_NAMED: usize = 20;
/// Named stacks that are kept; beyond, they are named again.
const MOST_STACKS: usize = 16_384;

pub(crate) struct OffCpu {
    layout: Layout,
    /// One event a CPU; it lives as long as its ring.
    rings: Vec<(OwnedFd, Ring)>,
    pairing: Pairing,
    young: Vec<u8>,
    stacks: FxHashMap<(Why, Arc<[u64]>), StackId>,
    samples: u64,
}

impl OffCpu {
    /// Begins to see the context switches of these CPUs.
    ///
    /// # Errors
    /// When the tracepoint may not be read or the kernel refuses its event.
    pub(crate) fn open(cpus: &[u32]) -> Result<OffCpu, RecordError> {
        let layout = Layout::read()?;
        let refused = |e| permission::explain(e, "context switches (--off-cpu)", true);
        let mut rings = Vec::new();
        for cpu in cpus {
            let event = match open_attr(&mut layout.attr(), -1, *cpu as i32) {
                // The CPU went away since it was listed.
                Err(e) if Errno::from_io_error(&e) == Some(Errno::NODEV) => continue,
                other => other.map_err(refused)?,
            };
            let ring = Ring::map(&event, RING_BYTES).map_err(|e| refused(e.into()))?;
            rings.push((event, ring));
        }
        let least = u64::try_from(LEAST.as_nanos()).unwrap_or(u64::MAX);
        Ok(OffCpu {
            layout,
            rings,
            pairing: Pairing::new(least),
            young: Vec::new(),
            stacks: FxHashMap::default(),
            samples: 0,
        })
    }

    /// Takes in what the rings hold up to about `now_ns`; with `last`, all of it, and those that are
    /// still away up to now.
    pub(crate) fn drain(&mut self, now_ns: u64, last: bool, collector: &mut Collector) {
        let mut bytes = std::mem::take(&mut self.young);
        for (_, ring) in &mut self.rings {
            ring.drain(&mut bytes);
        }
        let mut order = Vec::new();
        let mut at = 0;
        while let Some(len) = bytes.get(at..).and_then(record_len) {
            if let Some(switch) = self.layout.record(&bytes[at..at + len]) {
                order.push((switch, at, len));
            }
            at += len;
        }
        order.sort_by_key(|(switch, ..)| switch.time);
        let horizon = if last { u64::MAX } else { now_ns.saturating_sub(SETTLE_NS) };
        let mut young = Vec::new();
        for (switch, at, len) in order {
            if switch.time > horizon {
                young.extend_from_slice(&bytes[at..at + len]);
                continue;
            }
            let wanted = |pid| collector.wanted.as_ref().is_none_or(|wanted| wanted.contains(&pid));
            if let Some(wait) = self.pairing.take(&switch, wanted) {
                self.sample(&wait, collector);
            }
        }
        self.young = young;
        if last {
            for wait in self.pairing.finish(now_ns) {
                self.sample(&wait, collector);
            }
        }
    }

    fn sample(&mut self, wait: &Wait, collector: &mut Collector) {
        if collector.own.contains(&wait.pid) {
            return;
        }
        if self.stacks.len() >= MOST_STACKS {
            self.stacks.clear();
        }
        let key = (wait.why, wait.chain.clone());
        let stack =
            *self.stacks.entry(key).or_insert_with(|| collector.kernel_stack(wait.why.frame(), &wait.chain));
        self.samples += 1;
        let sample = Sample {
            t: collector.since_start(wait.until),
            cpu: -1,
            thread: collector.thread(wait.pid, wait.tid),
            stack,
            event: Event::Wait,
            count: 1,
            weight: Nanos(i64::try_from(wait.until.saturating_sub(wait.since)).unwrap_or(i64::MAX)),
        };
        collector.profile.samples.push(sample);
    }

    /// `facts.recorder.wait`.
    pub(crate) fn facts(&self) -> serde_json::Value {
        let Pairing { short, left_out, lost, forgotten, .. } = &self.pairing;
        let mut rows: Vec<_> = short.iter().collect();
        rows.sort_by_key(|(tid, short)| (std::cmp::Reverse(short.ns), **tid));
        let seconds = |ns: u64| ns as f64 / 1e9;
        let named = rows.iter().take(THREADS_NAMED);
        json!({
            "how": "sched:sched_switch",
            "least_s": LEAST.as_secs_f64(),
            "samples": self.samples,
            "shorter": {
                "waits": rows.iter().map(|(_, short)| short.count).sum::<u64>(),
                "seconds": seconds(rows.iter().map(|(_, short)| short.ns).sum()),
                "threads": named
                    .map(|(tid, s)| json!({ "tid": tid, "waits": s.count, "seconds": seconds(s.ns) }))
                    .collect::<Vec<_>>(),
            },
            "most_threads": MOST_AWAY,
            "left_out": left_out,
            "lost": lost,
            "forgotten": forgotten,
        })
    }

    /// Sentences on what is not in the capture.
    pub(crate) fn limits(&self) -> Option<String> {
        let Pairing { left_out, lost, forgotten, .. } = &self.pairing;
        (left_out + lost + forgotten > 0).then(|| {
            format!(
                "waiting is longer than shown: of {} waits {forgotten} have no known end, {lost} context \
                 switches were lost, and {left_out} waits were left out for want of room",
                self.samples
                    + forgotten
                    + left_out
                    + self.pairing.short.values().map(|s| s.count).sum::<u64>()
            )
        })
    }
}
