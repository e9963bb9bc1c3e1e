//! What the value types of foreign profiles mean: CPU time, waiting or counts, and in which unit.

use zwhy_profile::{Event, Unit as Amounts};

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

    /// What amounts of a type called `name` are in, values of times in nanoseconds.
    pub fn of_amounts(self, name: &str, unit: &str) -> Amounts {
        match self {
            Unit::Time(_) => Amounts::Nanos,
            Unit::Other if matches!(unit, "bytes" | "byte") => Amounts::Bytes,
            Unit::Other => Amounts::Other(super::shown(unit)),
            Unit::Count => Amounts::Other(super::shown(name.strip_suffix("_event").unwrap_or(name))),
        }
    }
}

/// A value type of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meaning {
    pub event: Event,
    pub unit: Unit,
    /// How surely the type is of the event; wall clock time is 1.
    preference: u8,
    /// Whether a count of this type is a number of samples, and not of events such as cycles.
    pub samples: bool,
}

impl Meaning {
    /// The meaning of a type (`samples`, `cpu`, `off_cpu`, `alloc_space`) in a unit (`count`, `nanoseconds`).
    pub fn of(name: &str, unit: &str) -> Meaning {
        let (event, preference) = event_of(name);
        let lower = name.to_ascii_lowercase();
        let samples = !EVENTS.contains(&lower.as_str()) && !lower.ends_with("_event");
        Meaning { event, unit: Unit::from_name(unit), preference, samples }
    }
}

/// Hardware events, by which CPUs are sampled.
const EVENTS: [&str; 3] = ["cycles", "instructions", "cpu-cycles"];

fn event_of(name: &str) -> (Event, u8) {
    let lower = name.to_ascii_lowercase().replace('-', "_");
    match lower.as_str() {
        "samples" | "sample" | "cpu" | "cpu_samples" | "cpu_time" => return (Event::Cpu, 3),
        "process_cpu" | "on_cpu" | "oncpu" | "time" | "cpu_clock" | "cycles" | "cpu_cycles"
        | "instructions" => return (Event::Cpu, 2),
        "waits" | "contentions" | "delay" | "wait" | "sleep" => return (Event::Wait, 3),
        _ if is_wall(name) => return (Event::Cpu, 1),
        _ => {}
    }
    // perf_to_profile names the columns EVENT_sample and EVENT_event.
    if lower.ends_with("_sample") || lower.ends_with("_event") {
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
    /// Column of amounts.
    pub amount: Option<usize>,
    /// Column of numbers of samples; may be the same one.
    pub count: Option<usize>,
    /// Where the amounts are numbers of samples: the time beside them, with nanoseconds of one unit.
    pub time: Option<(usize, u32)>,
}

impl Choice {
    /// CPU samples if there are any, else waiting, else what is counted; of several columns the file's own
    /// default, else the last one, as pprof does. CPU time goes before wall clock time.
    pub fn among(meanings: &[Meaning], default: Option<usize>) -> Choice {
        let has = |event: Event| meanings.iter().any(|m| m.event == event);
        let event = Event::ALL.into_iter().find(|e| has(*e)).unwrap_or_default();
        let of_event = || meanings.iter().enumerate().filter(|(_, m)| m.event == event);
        let amount =
            of_event().max_by_key(|(i, m)| (m.preference > 1, Some(*i) == default, *i)).map(|(i, _)| i);
        let is_amount = |i: usize| amount == Some(i);
        let counts = of_event().filter(|(i, m)| m.unit == Unit::Count && (m.samples || is_amount(*i)));
        // Allocated objects are no samples of the space that is shown.
        let count = counts.max_by_key(|(i, m)| (m.samples, is_amount(*i), m.preference, *i)).map(|(i, _)| i);
        let count = count.filter(|_| event != Event::Count || count == amount);
        let times = of_event().filter(|_| amount.is_some() && count == amount);
        let time = times.filter_map(|(i, m)| match m.unit {
            Unit::Time(ns) => Some((m.preference, i, ns)),
            _ => None,
        });
        Choice { event, amount, count, time: time.max().map(|(_, i, ns)| (i, ns)) }
    }

    pub fn takes(&self, column: usize) -> bool {
        self.count == Some(column)
            || self.amount == Some(column)
            || self.time.is_some_and(|(i, _)| i == column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(types: &[(&str, &str)], default: Option<usize>) -> (Event, Option<usize>, Option<usize>) {
        let meanings: Vec<Meaning> = types.iter().map(|(name, unit)| Meaning::of(name, unit)).collect();
        let c = Choice::among(&meanings, default);
        (c.event, c.amount, c.count)
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
            (&[("samples", "count"), ("cpu", "nanoseconds")][..], None, (Event::Cpu, Some(1), Some(0))),
            (&[("samples", "count"), ("cpu", "nanoseconds")], Some(0), (Event::Cpu, Some(0), Some(0))),
            (&heap[..], None, (Event::Count, Some(3), None)),
            (&heap[..], Some(2), (Event::Count, Some(2), Some(2))),
            (&[("contentions", "count"), ("delay", "nanoseconds")], None, (Event::Wait, Some(1), Some(0))),
            // perf_to_profile
            (&[("cycles_sample", "count"), ("cycles_event", "count")], None, (Event::Cpu, Some(1), Some(0))),
            // Datadog
            (
                &[("wall", "nanoseconds"), ("cpu", "nanoseconds"), ("cpu-samples", "count")],
                None,
                (Event::Cpu, Some(2), Some(2)),
            ),
            (&[("cpu", "nanoseconds")], None, (Event::Cpu, Some(0), None)),
            (&[("wall", "nanoseconds")], None, (Event::Cpu, Some(0), None)),
            (&[("cycles", "count")], None, (Event::Cpu, Some(0), Some(0))),
            (&[("space", "bytes")], None, (Event::Count, Some(0), None)),
            (&[], None, (Event::Cpu, None, None)),
        ] {
            assert_eq!(choose(types, default), want, "{types:?}");
        }
    }
}
