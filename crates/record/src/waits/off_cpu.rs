//! Time off the CPU by kernel stack, from the context switches of the whole host.
//!
//! Invariants: every wait of at least [`LEAST`] becomes one sample of event `wait` at its end, whose
//! weight is its length and whose root frame says why; shorter ones are counted by thread. What found
//! no room is counted. Of a control group the processes count that were in it when it was last read, at
//! most a second before. A thread that was away when recording began is not seen until it leaves again.

use super::pairing::{MOST_AWAY, Pairing, Wait};
use super::switches::{Layout, Why};
use crate::cgroup;
use crate::collect::Collector;
use crate::error::RecordError;
use crate::perf::open::open_attr;
use crate::perf::permission;
use crate::perf::record::record_len;
use crate::perf::ring::Ring;
use rustc_hash::{FxHashMap, FxHashSet};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use zwhy_profile::{Event, Nanos, Sample, StackId};

/// Shorter waits are counted by thread and get no sample.
const LEAST: Duration = Duration::from_millis(1);
/// Room of all CPUs together, and of one: 3,000 to 13,000 switches of 310 bytes. A ring that is half
/// full is emptied at once, so the room is for the time until the recorder is given a CPU.
const ALL_RINGS: usize = 64 << 20;
const RING_BYTES: std::ops::RangeInclusive<usize> = 1 << 20..=4 << 20;
/// A record may be stamped and not yet be in its ring; what is younger than this waits a round.
const SETTLE_NS: u64 = 10_000_000;
/// Threads with the most time in short waits that the facts name.
const THREADS_NAMED: usize = 20;
/// Named stacks that are kept; beyond, they are named again.
const MOST_STACKS: usize = 16_384;
/// Who is in a control group is read again after this time, and after so many times what reading took.
const MEMBERS_PAUSE: Duration = Duration::from_secs(1);
const MEMBERS_REST: u32 = 50;

/// Processes of a control group. Context switches are not seen by group: they are those of all.
struct Group {
    path: PathBuf,
    members: FxHashSet<i32>,
    next: Instant,
}

impl Group {
    fn of(path: &Path) -> Group {
        let mut group = Group { path: path.to_owned(), members: FxHashSet::default(), next: Instant::now() };
        group.refresh();
        group
    }

    fn refresh(&mut self) {
        let begin = Instant::now();
        if begin >= self.next {
            self.members = cgroup::members(&self.path).into_iter().collect();
            self.next = begin + MEMBERS_PAUSE.max(begin.elapsed() * MEMBERS_REST);
        }
    }
}

pub(crate) struct OffCpu {
    layout: Layout,
    /// One event a CPU; it lives as long as its ring.
    rings: Vec<(OwnedFd, Ring)>,
    /// Rings say when they are half full. No more when a CPU has gone, whose event is always ready.
    tell: bool,
    pairing: Pairing,
    /// Whose waits count, where a control group is recorded.
    group: Option<Group>,
    /// Records that are too young, and room for the next drain.
    bytes: Vec<u8>,
    young: Vec<u8>,
    /// Times and places of records.
    order: Vec<(u64, u32)>,
    stacks: FxHashMap<(Why, Arc<[u64]>), StackId>,
    samples: u64,
}

impl OffCpu {
    /// Begins to see the context switches of these CPUs; those of a control group where one is given.
    ///
    /// # Errors
    /// When the tracepoint may not be read or the kernel refuses its event.
    pub(crate) fn open(cpus: &[u32], group: Option<&Path>) -> Result<OffCpu, RecordError> {
        let layout = Layout::read()?;
        let refused = |e| permission::explain(e, "context switches (--off-cpu)", true);
        let mut rings = Vec::new();
        let bytes = ring_bytes(cpus.len());
        for cpu in cpus {
            let event = match open_attr(&mut layout.attr(bytes), -1, *cpu as i32) {
                // The CPU went away since it was listed.
                Err(e) if Errno::from_io_error(&e) == Some(Errno::NODEV) => continue,
                other => other.map_err(refused)?,
            };
            layout.leave_idle_out(&event);
            let ring = Ring::map(&event, bytes).map_err(|e| refused(e.into()))?;
            rings.push((event, ring));
        }
        let least = u64::try_from(LEAST.as_nanos()).unwrap_or(u64::MAX);
        Ok(OffCpu {
            layout,
            rings,
            tell: true,
            pairing: Pairing::new(least),
            group: group.map(Group::of),
            bytes: Vec::new(),
            young: Vec::new(),
            order: Vec::new(),
            stacks: FxHashMap::default(),
            samples: 0,
        })
    }

    /// Events that become readable when their ring has to be emptied.
    pub(crate) fn rings_to_wait_for(&self) -> impl Iterator<Item = &OwnedFd> {
        self.rings.iter().filter(|_| self.tell).map(|(event, _)| event)
    }

    /// An event has no end of being ready: rings are emptied by time alone from now on.
    pub(crate) fn wait_no_more(&mut self) {
        self.tell = false;
    }

    /// Takes in what the rings hold up to about `now_ns`; with `last`, all of it, and those that are
    /// still away up to now.
    pub(crate) fn drain(&mut self, now_ns: u64, last: bool, collector: &mut Collector) {
        if let Some(group) = &mut self.group {
            group.refresh();
        }
        let (mut bytes, mut order) = (std::mem::take(&mut self.bytes), std::mem::take(&mut self.order));
        for (_, ring) in &mut self.rings {
            ring.drain(&mut bytes);
        }
        let mut at = 0;
        while let Some(len) = bytes.get(at..).and_then(record_len) {
            if let (Some(switch), Ok(place)) = (self.layout.record(&bytes[at..at + len]), u32::try_from(at)) {
                order.push((switch.time, place));
            }
            at += len;
        }
        order.sort_by_key(|(time, _)| *time);
        let horizon = if last { u64::MAX } else { now_ns.saturating_sub(SETTLE_NS) };
        for (time, at) in order.drain(..) {
            let rest = &bytes[at as usize..];
            let Some(record) = record_len(rest).map(|len| &rest[..len]) else { continue };
            if time > horizon {
                self.young.extend_from_slice(record);
                continue;
            }
            let Some(switch) = self.layout.record(record) else { continue };
            let of_group = self.group.as_ref().map(|group| &group.members);
            let wanted =
                |pid| of_group.or(collector.wanted.as_ref()).is_none_or(|wanted| wanted.contains(&pid));
            if let Some(wait) = self.pairing.take(&switch, wanted) {
                self.sample(&wait, collector);
            }
        }
        bytes.clear();
        self.bytes = std::mem::replace(&mut self.young, bytes);
        self.order = order;
        if last {
            for wait in self.pairing.finish(now_ns) {
                self.sample(&wait, collector);
            }
        }
    }

    /// Adds what threads waited up to now that still wait; what follows is a wait of its own.
    pub(crate) fn cut(&mut self, now_ns: u64, collector: &mut Collector) {
        for wait in self.pairing.cut(now_ns) {
            self.sample(&wait, collector);
        }
    }

    /// Names and stacks are others from now on.
    pub(crate) fn forget_stacks(&mut self) {
        self.stacks = FxHashMap::default();
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

    /// `facts.recorder.wait`; with `last_seconds` without what was counted since recording began.
    pub(crate) fn facts(&self, last_seconds: bool) -> serde_json::Value {
        let mut facts = json!({
            "how": "sched:sched_switch",
            "least_s": LEAST.as_secs_f64(),
            "most_threads": MOST_AWAY,
        });
        if let (false, Some(facts), Value::Object(counted)) =
            (last_seconds, facts.as_object_mut(), self.counted())
        {
            facts.extend(counted);
        }
        facts
    }

    fn counted(&self) -> Value {
        let Pairing { short, left_out, lost, forgotten, .. } = &self.pairing;
        let mut rows: Vec<_> = short.iter().collect();
        rows.sort_by_key(|(tid, short)| (std::cmp::Reverse(short.ns), **tid));
        let seconds = |ns: u64| ns as f64 / 1e9;
        let named = rows.iter().take(THREADS_NAMED);
        json!({
            "samples": self.samples,
            "shorter": {
                "waits": rows.iter().map(|(_, short)| short.count).sum::<u64>(),
                "seconds": seconds(rows.iter().map(|(_, short)| short.ns).sum()),
                "threads": named
                    .map(|(tid, s)| json!({ "tid": tid, "waits": s.count, "seconds": seconds(s.ns) }))
                    .collect::<Vec<_>>(),
            },
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

/// Bytes of each ring: a power of two, less on hosts of many CPUs.
fn ring_bytes(cpus: usize) -> usize {
    let share = (ALL_RINGS / cpus.max(1) + 1).next_power_of_two() / 2;
    share.clamp(*RING_BYTES.start(), *RING_BYTES.end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_share_their_room() {
        assert_eq!([1, 2, 16, 32, 64, 512].map(|cpus| ring_bytes(cpus) >> 20), [4, 4, 4, 2, 1, 1]);
    }
}
