//! What the value types of foreign profiles mean: CPU time, waiting or counts, and in which unit.

use zwhy_profile::Event;

/// Unit of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A number of samples or events.
    Count,
    /// A time; nanoseconds of one.
    Time(u32),
    /// Memory or anything else that is no time.
    Other,
}

impl Unit {
    pub fn from_name(unit: &str) -> Unit {
        match unit {
            "count" | "counts" | "samples" | "none" | "1" | "" => Unit::Count,
            "nanoseconds" | "nanosecond" | "ns" => Unit::Time(1),
            "microseconds" | "microsecond" | "us" | "µs" => Unit::Time(1_000),
            "milliseconds" | "millisecond" | "ms" => Unit::Time(1_000_000),
            "seconds" | "second" | "s" => Unit::Time(1_000_000_000),
            _ => Unit::Other,
        }
    }
}

/// A value type of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meaning {
    pub event: Event,
    pub unit: Unit,
    /// How well a count of this type says how many samples there were; larger is better.
    preference: u8,
}

impl Meaning {
    /// The meaning of a type (`samples`, `cpu`, `off_cpu`, `alloc_space`) in a unit (`count`, `nanoseconds`).
    pub fn of(name: &str, unit: &str) -> Meaning {
        let (event, preference) = event_of(name);
        Meaning { event, unit: Unit::from_name(unit), preference }
    }
}

fn event_of(name: &str) -> (Event, u8) {
    let lower = name.to_ascii_lowercase().replace('-', "_");
    match lower.as_str() {
        "samples" | "sample" | "cpu" | "cpu_samples" | "cpu_time" => return (Event::Cpu, 3),
        "process_cpu" | "on_cpu" | "oncpu" | "time" | "cpu_clock" | "cycles" => return (Event::Cpu, 2),
        "waits" | "contentions" | "delay" | "wait" | "sleep" => return (Event::Wait, 3),
        _ if is_wall(name) => return (Event::Cpu, 1),
        _ => {}
    }
    // perf_to_profile names the columns EVENT_sample and EVENT_event.
    if lower.ends_with("_sample") {
        return (Event::Cpu, 2);
    }
    let waiting = ["off_cpu", "offcpu", "lock", "mutex", "block"];
    if waiting.iter().any(|word| lower.starts_with(word)) {
        return (Event::Wait, 2);
    }
    (Event::Count, 0)
}

/// A wall clock profile: its samples are of sleeping threads too.
pub fn is_wall(name: &str) -> bool {
    name.to_ascii_lowercase().starts_with("wall")
}

/// Which columns of a file with several value types are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    pub event: Event,
    /// Column of counts.
    pub count: Option<usize>,
    /// Column of times, with nanoseconds of one unit.
    pub time: Option<(usize, u32)>,
    /// Column of something else, taken where there is neither.
    pub other: Option<usize>,
}

impl Choice {
    /// CPU samples if there are any, else waiting, else what is counted; of several the file's own default.
    pub fn among(meanings: &[Meaning], default: Option<usize>) -> Choice {
        let has = |event: Event| meanings.iter().any(|m| m.event == event);
        let event = Event::ALL.into_iter().find(|e| has(*e)).unwrap_or_default();
        let of_event = || meanings.iter().enumerate().filter(|(_, m)| m.event == event);
        // Of equals the first one is taken.
        let best = |accept: fn(Unit) -> bool| {
            of_event()
                .filter(|(_, m)| accept(m.unit))
                .max_by_key(|(i, m)| (m.preference, Some(*i) == default, std::cmp::Reverse(*i)))
        };
        let count = best(|unit| unit == Unit::Count).map(|(i, _)| i);
        let time = best(|unit| matches!(unit, Unit::Time(_))).and_then(|(i, m)| match m.unit {
            Unit::Time(ns) => Some((i, ns)),
            _ => None,
        });
        let other = if count.is_none() && time.is_none() { best(|_| true).map(|(i, _)| i) } else { None };
        Choice { event, count, time, other }
    }

    pub fn takes(&self, column: usize) -> bool {
        self.count == Some(column)
            || self.time.is_some_and(|(i, _)| i == column)
            || self.other == Some(column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(
        types: &[(&str, &str)],
        default: Option<usize>,
    ) -> (Event, Option<usize>, Option<usize>, Option<usize>) {
        let meanings: Vec<Meaning> = types.iter().map(|(name, unit)| Meaning::of(name, unit)).collect();
        let c = Choice::among(&meanings, default);
        (c.event, c.count, c.time.map(|t| t.0), c.other)
    }

    #[test]
    fn columns_of_known_writers() {
        let heap = [
            ("alloc_objects", "count"),
            ("alloc_space", "bytes"),
            ("inuse_objects", "count"),
            ("inuse_space", "bytes"),
        ];
        for (types, default, want) in [
            // Go CPU, heap and mutex
            (&[("samples", "count"), ("cpu", "nanoseconds")][..], None, (Event::Cpu, Some(0), Some(1), None)),
            (&heap[..], Some(2), (Event::Count, Some(2), None, None)),
            (
                &[("contentions", "count"), ("delay", "nanoseconds")],
                None,
                (Event::Wait, Some(0), Some(1), None),
            ),
            // perf_to_profile
            (
                &[("cycles_sample", "count"), ("cycles_event", "count")],
                None,
                (Event::Cpu, Some(0), None, None),
            ),
            // Datadog
            (
                &[("wall", "nanoseconds"), ("cpu", "nanoseconds"), ("cpu-samples", "count")],
                None,
                (Event::Cpu, Some(2), Some(1), None),
            ),
            (&[("space", "bytes")], None, (Event::Count, None, None, Some(0))),
            (&[], None, (Event::Cpu, None, None, None)),
        ] {
            assert_eq!(choose(types, default), want, "{types:?}");
        }
    }
}
