//! Which events are CPU time and which are counts of something else.

use crate::periods::{self, Periods};
use zwhy_evidence::ImportStats;
use zwhy_profile::{Event, Measure, Profile, Unit};

/// Distinct event names that are told apart; the rest are one event.
const MAX_EVENTS: usize = 256;

/// Event names of a file, in order of appearance, with their samples.
#[derive(Debug, Default)]
pub struct EventNames {
    names: Vec<Name>,
    last: usize,
}

#[derive(Debug)]
struct Name {
    text: Box<[u8]>,
    samples: u64,
    /// Of the samples that say theirs.
    periods: Periods,
}

/// Index of an event name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventIndex(u16);

impl EventNames {
    /// The index of a name, counting one sample of it.
    pub fn count(&mut self, name: &[u8], period: Option<u64>) -> EventIndex {
        if self.names.get(self.last).is_none_or(|n| *n.text != *name) {
            self.last = match self.names.iter().position(|n| *n.text == *name) {
                Some(at) => at,
                None if self.names.len() < MAX_EVENTS => {
                    self.names.push(Name { text: name.into(), samples: 0, periods: Periods::default() });
                    self.names.len() - 1
                }
                None => MAX_EVENTS - 1,
            };
        }
        let known = &mut self.names[self.last];
        known.samples += 1;
        if let Some(period) = period {
            known.periods.add(period);
        }
        EventIndex(self.last as u16)
    }

    /// What each event means beside the others in this file; says in the stats what is not CPU time.
    pub fn meanings(&self, stats: &mut ImportStats) -> Vec<Event> {
        let clock = |name: &[u8]| matches!(kind(name), Kind::Clock);
        let has_clock = self.names.iter().any(|n| clock(&n.text));
        let mut meanings = Vec::with_capacity(self.names.len());
        for Name { text: name, samples, .. } in &self.names {
            let shown = String::from_utf8_lossy(name);
            let (meaning, warning) = match kind(name) {
                Kind::Clock => (Event::Cpu, None),
                Kind::Trace => (Event::Count, Some("are calls, not CPU time: kept as counts")),
                Kind::Other if has_clock => {
                    (Event::Count, Some("are kept as counts: another event of the file measures CPU time"))
                }
                Kind::Other => (Event::Cpu, Some("are taken for CPU time, which this event only resembles")),
            };
            if let Some(warning) = warning {
                stats.warnings.push(format!("{samples} samples of event `{shown}` {warning}"));
            }
            meanings.push(meaning);
        }
        meanings
    }
}

/// How a period of each event becomes the weight of its sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weight {
    None,
    Period,
    Scaled(f64),
}

impl Weight {
    pub fn of(self, period: i64) -> i64 {
        match self {
            Weight::None => 0,
            Weight::Period => period,
            Weight::Scaled(scale) => periods::scaled(period.max(0).cast_unsigned(), scale),
        }
    }
}

impl EventNames {
    /// What makes weights of the periods of each event, given what each means. Shares follow them where
    /// periods of one event differ; says so.
    pub fn weights(
        &self,
        meanings: &[Event],
        by_samples: bool,
        profile: &mut Profile,
        stats: &mut ImportStats,
    ) -> Vec<Weight> {
        let all = || self.names.iter().zip(meanings.iter().copied());
        let whole = |n: &Name| n.periods.samples == n.samples;
        let mut uneven = periods::uneven_kinds(all().map(|(n, event)| (event, &n.periods)));
        for (_, event) in all().filter(|(n, _)| !whole(n)) {
            uneven[event as usize] = false; // periods that some samples lack cannot be added up
        }
        let cpu = || all().filter(|(_, event)| *event == Event::Cpu).map(|(n, _)| n);
        let in_time = cpu().all(|n| counts_nanoseconds(&n.text));
        let alone = cpu().count() == 1;
        let unit = match cpu().next() {
            _ if in_time => Unit::Nanos,
            Some(n) if alone => {
                Unit::Other(periods::bare_event(&String::from_utf8_lossy(&n.text)).to_owned())
            }

            _ => Unit::Other(periods::COMMON_UNIT.to_owned()),
        };
        let calls = Unit::Other(periods::CALLS_UNIT.to_owned());
        let noted = uneven;
        if by_samples {
            uneven = Default::default();
        }
        for (event, unit) in [(Event::Cpu, unit), (Event::Count, calls)] {
            if uneven[event as usize] {
                profile.set_measure(event, Measure { unit, counted: true });
            }
        }
        for (n, event) in all().filter(|(n, event)| n.periods.are_uneven() && noted[*event as usize]) {
            let name = String::from_utf8_lossy(&n.text);
            stats.warnings.push(n.periods.told(&name, uneven[event as usize]));
        }
        let weight = |(n, event): (&Name, Event)| match event {
            Event::Cpu if in_time => Weight::Period,
            Event::Cpu if uneven[event as usize] && !alone => {
                Weight::Scaled(n.periods.scale_to(periods::COMMON_MEAN))
            }
            _ if uneven[event as usize] => Weight::Period,
            _ => Weight::None,
        };
        all().map(weight).collect()
    }
}

impl EventIndex {
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

enum Kind {
    /// Measures CPU time.
    Clock,
    /// A tracepoint or probe.
    Trace,
    Other,
}

fn kind(event: &[u8]) -> Kind {
    let (name, modifiers) = match memchr::memrchr(b':', event) {
        Some(colon) => (&event[..colon], &event[colon + 1..]),
        None => (event, &b""[..]),
    };
    // `sched:sched_switch` has a name where `cycles:ppp` has modifiers.
    if modifiers.iter().any(|b| !b"ukhGHIpPSDWeb".contains(b)) {
        return Kind::Trace;
    }
    let name = name.strip_suffix(b"/").unwrap_or(name);
    let name = name.rsplit(|b| *b == b'/').next().unwrap_or(name);
    match name {
        b"" | b"cycles" | b"cpu-cycles" | b"cpu-clock" | b"task-clock" | b"ref-cycles" => Kind::Clock,
        _ => Kind::Other,
    }
}

/// `true` when a period of this event is nanoseconds of CPU time.
fn counts_nanoseconds(event: &[u8]) -> bool {
    event.starts_with(b"cpu-clock") || event.starts_with(b"task-clock")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_sorted_by_what_they_measure() {
        let mut names = EventNames::default();
        for name in ["cycles:ppp", "sched:sched_switch", "cpu_core/cycles/", "instructions:u", "cycles:ppp"] {
            names.count(name.as_bytes(), None);
        }
        let mut stats = ImportStats::default();
        assert_eq!(names.meanings(&mut stats), [Event::Cpu, Event::Count, Event::Cpu, Event::Count]);
        assert_eq!(stats.warnings.len(), 2);
        let mut alone = EventNames::default();
        alone.count(b"instructions", None);
        assert_eq!(alone.meanings(&mut stats), [Event::Cpu]);
    }
}
