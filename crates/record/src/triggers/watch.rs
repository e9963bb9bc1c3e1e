//! Whether a trigger holds, from reading to reading.
//!
//! Invariants: what needs two readings says nothing at the first; a trigger fires once when its
//! condition begins to hold, and again only after it did not hold.

use super::grammar::{Measure, Trigger};
use crate::proc_stat::KINDS;
use rustc_hash::FxHashMap;
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
}

impl Watch {
    pub(crate) fn new(trigger: Trigger) -> Watch {
        Watch { trigger, before: None, since: None, fired: false }
    }

    /// Takes the readings of time `t`; when the trigger fires, a sentence that says on what.
    pub(crate) fn check(&mut self, t: Nanos, now: &dyn Readings) -> Option<String> {
        let value = self.value(t, now);
        let Trigger { compare, limit, hold, .. } = self.trigger;
        if !value.is_some_and(|value| compare.holds(value, limit)) {
            (self.since, self.fired) = (None, false);
            return None;
        }
        let since = *self.since.get_or_insert(t);
        let held = u64::try_from(t.0 - since.0).unwrap_or(0);
        if self.fired || u128::from(held) < hold.as_nanos() {
            return None;
        }
        self.fired = true;
        let value = value.unwrap_or_default();
        Some(match self.trigger.measure {
            Measure::ThreadCpu(_) | Measure::HostCpu(_) => {
                format!("{}: it was {:.1} %", self.trigger, value * 100.0)
            }
            Measure::Value { .. } => format!("{}: it was {value:.0}", self.trigger),
            Measure::Rate { .. } => format!("{}: it was {value:.0}/s", self.trigger),
        })
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
        // A counter that fell back was set anew, and a thread that is new may have run long before.
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
