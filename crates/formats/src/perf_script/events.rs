//! Which events are CPU time and which are counts of something else.

use zwhy_evidence::ImportStats;
use zwhy_profile::Event;

/// Distinct event names that are told apart; the rest are one event.
const MAX_EVENTS: usize = 256;

/// Event names of a file, in order of appearance, with their samples.
#[derive(Debug, Default)]
pub struct EventNames {
    names: Vec<(Box<[u8]>, u64)>,
    last: usize,
}

/// Index of an event name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventIndex(u16);

impl EventNames {
    /// The index of a name, counting one sample of it.
    pub fn count(&mut self, name: &[u8]) -> EventIndex {
        if self.names.get(self.last).is_none_or(|(n, _)| **n != *name) {
            self.last = match self.names.iter().position(|(n, _)| **n == *name) {
                Some(at) => at,
                None if self.names.len() < MAX_EVENTS => {
                    self.names.push((name.into(), 0));
                    self.names.len() - 1
                }
                None => MAX_EVENTS - 1,
            };
        }
        self.names[self.last].1 += 1;
        EventIndex(self.last as u16)
    }

    /// What each event means beside the others in this file; says in the stats what is not CPU time.
    pub fn meanings(&self, stats: &mut ImportStats) -> Vec<Event> {
        let clock = |name: &[u8]| matches!(kind(name), Kind::Clock);
        let has_clock = self.names.iter().any(|(name, _)| clock(name));
        let mut meanings = Vec::with_capacity(self.names.len());
        for (name, samples) in &self.names {
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
pub fn counts_nanoseconds(event: &[u8]) -> bool {
    event.starts_with(b"cpu-clock") || event.starts_with(b"task-clock")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_sorted_by_what_they_measure() {
        let mut names = EventNames::default();
        for name in ["cycles:ppp", "sched:sched_switch", "cpu_core/cycles/", "instructions:u", "cycles:ppp"] {
            names.count(name.as_bytes());
        }
        let mut stats = ImportStats::default();
        assert_eq!(names.meanings(&mut stats), [Event::Cpu, Event::Count, Event::Cpu, Event::Count]);
        assert_eq!(stats.warnings.len(), 2);
        let mut alone = EventNames::default();
        alone.count(b"instructions");
        assert_eq!(alone.meanings(&mut stats), [Event::Cpu]);
    }
}
