//! Whether a trigger holds, from reading to reading.
//!
//! Invariants: what needs two readings says nothing at the first; a trigger fires once when its
//! condition begins to hold, and again only after it did not hold.

use super::grammar::{Measure, Trigger};
use crate::proc_stat::KINDS;
use rustc_hash::FxHashMap;
use std::time::Duration;
use zwhy_profile::Nanos;

/// What was read last.
pub(crate) trait Readings {
    /// The last reading of a series.
    fn reading(&self, source: &str, name: &str) -> Option<i64>;
    /// CPU time in nanoseconds of the threads of a name or role, by tid.
    fn threads(&self, name: &str) -> Vec<(i32, i64)>;
}

pub(crate) struct Watch {
    trigger: Trigger,
    /// Readings before, by tid or by position, and when.
    before: Option<(Nanos, FxHashMap<i32, i64>)>,
    /// Since when the condition holds.
    since: Option<Nanos>,
    fired: bool,
    seen: Seen,
}

/// What came of the trigger over the whole recording.
#[derive(Default)]
struct Seen {
    /// When it fired first, and how often.
    first: Option<Nanos>,
    times: u32,
    /// The value that came closest to the limit.
    nearest: Option<f64>,
    /// Longest time for which the condition held.
    longest: Duration,
}

impl Watch {
    pub(crate) fn new(trigger: Trigger) -> Watch {
        Watch { trigger, before: None, since: None, fired: false, seen: Seen::default() }
    }

    /// Takes the readings of time `t`; when the trigger fires, a sentence that says on what.
    pub(crate) fn check(&mut self, t: Nanos, now: &dyn Readings) -> Option<String> {
        let value = self.value(t, now);
        let Trigger { compare, limit, hold, .. } = self.trigger;
        if let Some(value) = value {
            let best = self.seen.nearest.get_or_insert(value);
            *best = if compare.wants_more() { best.max(value) } else { best.min(value) };
        }
        if !value.is_some_and(|value| compare.holds(value, limit)) {
            (self.since, self.fired) = (None, false);
            return None;
        }
        let since = *self.since.get_or_insert(t);
        let held = Duration::from_nanos(u64::try_from(t.0 - since.0).unwrap_or(0));
        self.seen.longest = self.seen.longest.max(held);
        if self.fired || held < hold {
            return None;
        }
        self.fired = true;
        self.seen.first.get_or_insert(t);
        self.seen.times += 1;
        Some(format!("{}: it was {}", self.trigger, self.told(value.unwrap_or_default())))
    }

    fn told(&self, value: f64) -> String {
        match self.trigger.measure {
            Measure::ThreadCpu(_) | Measure::HostCpu(_) => format!("{:.1} %", value * 100.0),
            Measure::Value { .. } => format!("{value:.0}"),
            Measure::Rate { .. } => format!("{value:.0}/s"),
        }
    }

    /// Whether and when the condition held, and how close it came where it did not.
    pub(crate) fn account(&self) -> String {
        let (trigger, seen) = (&self.trigger, &self.seen);
        let Some(nearest) = seen.nearest else {
            let once = self.before.as_ref().is_some_and(|(_, readings)| !readings.is_empty());
            let why = match once {
                true => "it was read only once, and growth takes two readings; record longer",
                false => {
                    "nothing of that name was read; check its spelling, or whether it is there on this host"
                }
            };
            return format!("the trigger '{trigger}' never held: {why}");
        };
        let bound = if trigger.compare.wants_more() { "most" } else { "least" };
        let nearest = format!("it was at {bound} {}", self.told(nearest));
        match seen.first {
            Some(first) => {
                let again = match seen.times {
                    1 => String::new(),
                    n => format!(", and {} more times after that", n - 1),
                };
                let after = first.0 as f64 / 1e9;
                format!("the trigger '{trigger}' held {after:.1} s after the start{again}; {nearest}")
            }
            None if trigger.compare.holds(seen.nearest.unwrap_or_default(), trigger.limit) => format!(
                "the trigger '{trigger}' never held long enough: {:.1} s at most; {nearest}",
                seen.longest.as_secs_f64()
            ),
            None => format!("the trigger '{trigger}' never held: {nearest}"),
        }
    }

    fn value(&mut self, t: Nanos, now: &dyn Readings) -> Option<f64> {
        let readings: FxHashMap<i32, i64> = match &self.trigger.measure {
            Measure::Value { source, name } => return Some(now.reading(source, name)? as f64),
            Measure::Rate { source, name } => [(0, now.reading(source, name)?)].into_iter().collect(),
            Measure::ThreadCpu(name) => now.threads(name).into_iter().collect(),
            Measure::HostCpu(_) => {
                let kinds = KINDS.iter().zip(0..);
                kinds.filter_map(|(kind, i)| Some((i, now.reading("cpu/all", kind)?))).collect()
            }
        };
        let (before_t, before) = self.before.replace((t, readings))?;
        let (_, readings) = self.before.as_ref()?;
        let seconds = (t.0 - before_t.0) as f64 / 1e9;
        if seconds <= 0.0 {
            return None;
        }
        // A counter that fell was reset, and a thread that is new may have run long before.
        let grown = |key: &i32, value: &i64| before.get(key).map_or(0, |b| value.saturating_sub(*b).max(0));
        let all: i64 = readings.iter().map(|(key, value)| grown(key, value)).sum();
        match &self.trigger.measure {
            Measure::HostCpu(kind) => {
                let of = |kind: &str| {
                    let (_, i) = KINDS.iter().zip(0..).find(|(k, _)| **k == kind)?;
                    readings.get(&i).map(|value| grown(&i, value))
                };
                let idle = of("idle_ns")? + of("iowait_ns").unwrap_or(0);
                let part = if kind == "busy" { all - idle } else { of(kind)? };
                (all > 0).then(|| part as f64 / all as f64)
            }
            Measure::ThreadCpu(_) => Some(all as f64 / 1e9 / seconds),
            _ => Some(all as f64 / seconds),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Fake {
        values: FxHashMap<(&'static str, &'static str), i64>,
        threads: Vec<(i32, i64)>,
    }

    impl Readings for Fake {
        fn reading(&self, source: &str, name: &str) -> Option<i64> {
            self.values.iter().find(|((s, n), _)| *s == source && *n == name).map(|(_, v)| *v)
        }

        fn threads(&self, name: &str) -> Vec<(i32, i64)> {
            if name == "arc_evict" { self.threads.clone() } else { Vec::new() }
        }
    }

    fn at(second: i64) -> Nanos {
        Nanos(second * 1_000_000_000)
    }

    #[test]
    fn the_end_says_whether_and_when_it_held_and_how_close_it_came() {
        let read = |ns| Fake { threads: vec![(1, ns)], ..Fake::default() };
        let mut watch = Watch::new("arc_evict cpu > 50%".parse().unwrap());
        assert!(watch.account().contains("nothing of that name was read"), "{}", watch.account());
        watch.check(at(1), &read(1_000_000_000));
        assert!(watch.account().contains("read only once"), "{}", watch.account());
        watch.check(at(2), &read(1_400_000_000));
        watch.check(at(3), &read(1_500_000_000));
        assert_eq!(watch.account(), "the trigger 'arc_evict cpu > 50%' never held: it was at most 40.0 %");
        watch.check(at(4), &read(2_300_000_000));
        let held = "the trigger 'arc_evict cpu > 50%' held 4.0 s after the start; it was at most 80.0 %";
        assert_eq!(watch.account(), held);
        let mut watch = Watch::new("arc_evict cpu > 50% for 5s".parse().unwrap());
        (1..=4).for_each(|s| drop(watch.check(at(s), &read(s * 900_000_000))));
        let short = "the trigger 'arc_evict cpu > 50% for 5s' never held long enough: 2.0 s at most; it was at most 90.0 %";
        assert_eq!(watch.account(), short);
    }

    #[test]
    fn threads_of_a_role_add_up_and_fire_once() {
        let mut watch = Watch::new("arc_evict cpu > 50%".parse().unwrap());
        let read = |a, b| Fake { threads: vec![(1, a), (2, b)], ..Fake::default() };
        assert_eq!(watch.check(at(1), &read(9_000_000_000, 0)), None);
        assert_eq!(watch.check(at(2), &read(9_200_000_000, 200_000_000)), None);
        let fired = watch.check(at(3), &read(9_500_000_000, 600_000_000)).unwrap();
        assert!(fired.contains("70.0 %"), "{fired}");
        assert_eq!(watch.check(at(4), &read(10_500_000_000, 600_000_000)), None);
        assert_eq!(watch.check(at(5), &read(10_500_000_000, 600_000_000)), None);
        assert!(watch.check(at(6), &read(11_500_000_000, 600_000_000)).is_some());
        // A thread seen for the first time does not count what it did before.
        let mut watch = Watch::new("arc_evict cpu > 50%".parse().unwrap());
        assert_eq!(watch.check(at(1), &Fake::default()), None);
        assert_eq!(watch.check(at(2), &read(9_000_000_000, 0)), None);
    }

    #[test]
    fn host_shares_and_rates_are_taken_between_readings() {
        let mut fake = Fake::default();
        let mut host = Watch::new("host busy >= 40%".parse().unwrap());
        let mut rate = Watch::new("rate(arcstats.hits) > 99/s".parse().unwrap());
        let mut value = Watch::new("kstat arcstats.size > 1K for 2s".parse().unwrap());
        let mut step = |second: i64, sys: i64, idle: i64, hits: i64, size: i64| {
            fake.values = FxHashMap::from_iter([
                (("cpu/all", "sys_ns"), sys),
                (("cpu/all", "idle_ns"), idle),
                (("arcstats", "hits"), hits),
                (("arcstats", "size"), size),
            ]);
            [&mut host, &mut rate, &mut value].map(|w| w.check(at(second), &fake).is_some())
        };
        assert_eq!(step(0, 0, 0, 1000, 2000), [false, false, false]);
        assert_eq!(step(1, 30, 70, 1099, 2000), [false, false, false]);
        assert_eq!(step(2, 70, 130, 1199, 2000), [true, true, true]);
        assert_eq!(step(3, 90, 150, 0, 2000), [false, false, false]);
    }

    #[test]
    fn what_is_not_there_never_fires() {
        for text in ["kstat nosuch.size < 5", "rate(nosuch.x) < 5/s", "host sys < 5%"] {
            let mut watch = Watch::new(text.parse().unwrap());
            assert_eq!((0..3).find_map(|t| watch.check(at(t), &Fake::default())), None, "{text}");
        }
    }
}
