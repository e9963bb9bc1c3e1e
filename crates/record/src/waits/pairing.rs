//! Pairs of leaving a CPU and coming back to one: how long each thread was away, and why.
//!
//! Invariants: no time is made up: after a loss of records nothing is known of those that are away,
//! and they are forgotten and counted; so is a wait whose end was not reported. At most
//! [`MOST_AWAY`] threads are held.

use super::switches::{Switch, What, Why};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher;
use std::sync::Arc;

/// Threads that are held at once; those beyond are counted.
pub(super) const MOST_AWAY: usize = 65_536;
/// Distinct call chains that are shared; beyond, the table is reset.
const MOST_CHAINS: usize = 16_384;

struct Away {
    pid: i32,
    since: u64,
    why: Why,
    chain: Arc<[u64]>,
}

/// A thread was away from a CPU from `since` to `until`, in nanoseconds of the monotonic clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wait {
    pub pid: i32,
    pub tid: i32,
    pub since: u64,
    pub until: u64,
    pub why: Why,
    /// Kernel addresses, leaf first, with the kernel's context marks.
    pub chain: Arc<[u64]>,
}

/// Waits of a thread that were too short for samples of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Short {
    pub count: u64,
    pub ns: u64,
}

#[derive(Default)]
pub(super) struct Pairing {
    /// Shorter waits, in nanoseconds, are only counted.
    least: u64,
    away: FxHashMap<i32, Away>,
    /// By the hash of their bytes.
    chains: FxHashMap<u64, Arc<[u64]>>,
    pub short: FxHashMap<i32, Short>,
    /// Waits that began while [`MOST_AWAY`] threads were held, or short ones of as many threads.
    pub left_out: u64,
    /// Records that found no room, and waits whose end is unknown for that.
    pub lost: u64,
    pub forgotten: u64,
}

impl Pairing {
    pub(super) fn new(least: u64) -> Pairing {
        Pairing { least, ..Pairing::default() }
    }

    /// Takes in the next record in order of time; returns the wait that it ended.
    ///
    /// `wanted`: whether the threads of a process count.
    pub(super) fn take(&mut self, switch: &Switch<'_>, wanted: impl Fn(i32) -> bool) -> Option<Wait> {
        match switch.what {
            What::Lost(count) => {
                self.lost += count;
                self.forgotten += self.away.len() as u64;
                self.away.clear();
                None
            }
            What::Came { tid } => {
                let away = self.away.remove(&tid)?;
                self.ended(tid, away, switch.time)
            }
            What::Left { pid, tid, why, chain } => {
                // It came back unseen: when is not known.
                self.forgotten += u64::from(self.away.remove(&tid).is_some());
                if let Some(why) = why.filter(|_| tid > 0 && wanted(pid)) {
                    if self.away.len() < MOST_AWAY {
                        let chain = self.shared(chain);
                        self.away.insert(tid, Away { pid, since: switch.time, why, chain });
                    } else {
                        self.left_out += 1;
                    }
                }
                None
            }
        }
    }

    /// The waits of all that are still away, up to `now`, in order of their thread.
    pub(super) fn finish(&mut self, now: u64) -> Vec<Wait> {
        let waits = self.cut(now);
        self.away.clear();
        waits
    }

    /// As [`Pairing::finish`], and they go on waiting: what follows is a wait of its own.
    pub(super) fn cut(&mut self, now: u64) -> Vec<Wait> {
        let mut tids: Vec<i32> = self.away.keys().copied().collect();
        tids.sort_unstable();
        let mut waits = Vec::new();
        for tid in tids {
            let Some(away) = self.away.get_mut(&tid) else { continue };
            let since = away.since;
            away.since = now.max(since);
            let so_far = Away { pid: away.pid, since, why: away.why, chain: away.chain.clone() };
            waits.extend(self.ended(tid, so_far, now));
        }
        waits
    }

    fn ended(&mut self, tid: i32, away: Away, until: u64) -> Option<Wait> {
        let Away { pid, since, why, chain } = away;
        let ns = until.saturating_sub(since);
        if ns >= self.least {
            return Some(Wait { pid, tid, since, until, why, chain });
        }
        if self.short.len() < MOST_AWAY || self.short.contains_key(&tid) {
            let short = self.short.entry(tid).or_default();
            short.count += 1;
            short.ns += ns;
        } else {
            self.left_out += 1;
        }
        None
    }

    /// Most chains were seen before: nothing is allocated for those.
    fn shared(&mut self, bytes: &[u8]) -> Arc<[u64]> {
        let mut hasher = FxHasher::default();
        hasher.write(bytes);
        let hash = hasher.finish();
        let words = || bytes.chunks_exact(8).filter_map(|b| b.try_into().ok().map(u64::from_ne_bytes));
        if let Some(known) = self.chains.get(&hash).filter(|known| known.iter().copied().eq(words())) {
            return known.clone();
        }
        if self.chains.len() >= MOST_CHAINS {
            self.chains.clear();
        }
        let chain: Arc<[u64]> = words().collect();
        self.chains.insert(hash, chain.clone());
        chain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const CHAIN: [u8; 8] = 0xaau64.to_ne_bytes();

    /// A CPU goes from one thread to another.
    fn switch(ms: u64, prev: i32, why: Option<Why>, next: i32) -> [Switch<'static>; 2] {
        let left = What::Left { pid: prev, tid: prev, why, chain: &CHAIN };
        [left, What::Came { tid: next }].map(|what| Switch { time: ms * MS, what })
    }

    fn run(pairing: &mut Pairing, switches: &[Switch<'_>]) -> Vec<(i32, u64, Why)> {
        let of = |w: Wait| (w.tid, (w.until - w.since) / MS, w.why);
        switches.iter().filter_map(|s| pairing.take(s, |pid| pid < 100).map(of)).collect()
    }

    #[test]
    fn a_thread_is_away_from_its_leaving_to_its_coming_back() {
        let mut pairing = Pairing::new(2 * MS);
        let seen = run(
            &mut pairing,
            &[
                switch(10, 1, Some(Why::Sleeping), 2),
                switch(15, 2, Some(Why::Preempted), 1),
                switch(16, 1, Some(Why::Uninterruptible), 2),
                switch(20, 2, None, 0),
                // The idle task and threads of others do not wait.
                switch(30, 0, Some(Why::Preempted), 100),
                switch(40, 100, Some(Why::Sleeping), 0),
            ]
            .concat(),
        );
        assert_eq!(seen, [(1, 5, Why::Sleeping)]);
        assert_eq!(pairing.short, FxHashMap::from_iter([(2, Short { count: 1, ns: MS })]));
        let rest = pairing.finish(56 * MS);
        assert_eq!(rest.len(), 1);
        let want = Wait {
            pid: 1,
            tid: 1,
            since: 16 * MS,
            until: 56 * MS,
            why: Why::Uninterruptible,
            chain: Arc::from([0xaau64]),
        };
        assert_eq!(rest[0], want);
        assert!(pairing.finish(99 * MS).is_empty());
    }

    #[test]
    fn a_wait_that_is_cut_goes_on_and_is_counted_once() {
        let mut pairing = Pairing::new(MS);
        run(&mut pairing, &switch(10, 1, Some(Why::Sleeping), 2));
        let cut: Vec<_> = pairing.cut(25 * MS).into_iter().map(|w| (w.since / MS, w.until / MS)).collect();
        assert_eq!(cut, [(10, 25)]);
        assert_eq!(run(&mut pairing, &switch(40, 2, None, 1)), [(1, 15, Why::Sleeping)]);
        // A record may be younger than the cut and come after it.
        run(&mut pairing, &switch(50, 1, Some(Why::Sleeping), 2));
        assert_eq!(pairing.cut(60 * MS).len(), 1);
        assert!(run(&mut pairing, &switch(59, 2, None, 1)).is_empty());
    }

    #[test]
    fn what_was_lost_is_not_made_up() {
        let mut pairing = Pairing::new(0);
        let lost = Switch { time: 2 * MS, what: What::Lost(7) };
        let [left, _] = switch(1, 1, Some(Why::Sleeping), 2);
        let [_, came] = switch(9, 2, None, 1);
        assert!(run(&mut pairing, &[left, lost, came]).is_empty());
        // It left twice without having come back.
        let again = [switch(3, 1, Some(Why::Sleeping), 2), switch(4, 2, None, 1)].concat();
        assert_eq!(run(&mut pairing, &[&[left], again.as_slice()].concat()), [(1, 1, Why::Sleeping)]);
        assert_eq!((pairing.lost, pairing.forgotten), (7, 2));
    }

    #[test]
    fn no_more_threads_are_held_than_stated() {
        let mut pairing = Pairing::new(0);
        for tid in 1..=MOST_AWAY as i32 + 5 {
            let what = What::Left { pid: 1, tid, why: Some(Why::Sleeping), chain: &CHAIN };
            pairing.take(&Switch { time: 1, what }, |_| true);
        }
        assert_eq!((pairing.away.len(), pairing.chains.len(), pairing.left_out), (MOST_AWAY, 1, 5));
    }
}
