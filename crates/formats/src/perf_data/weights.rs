//! What a sample of each event stands for: CPU time where that is known, else its period.

use super::survey::Survey;
use crate::periods::{self, Periods};
use zwhy_perf::Sample;
use zwhy_perf::attr::{Attr, Schema, has};
use zwhy_profile::{Event, Measure, Nanos, Profile, Unit as Measured};

/// The weights of all events of a file.
pub struct Weights {
    rules: Vec<(Event, Weight)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Weight {
    None,
    /// The period, in what the event counts; of a clock that is nanoseconds.
    Period,
    /// The period by a factor.
    Scaled(f64),
    Fixed(Nanos),
}

impl Weights {
    pub fn of(schema: &Schema, survey: &Survey, by_samples: bool) -> Weights {
        let events = survey.events(schema);
        let plan = Plan::of(schema, survey, &events, by_samples);
        let rule = |(i, attr): (usize, &Attr)| (events[i], plan.weight(attr, events[i], &survey.periods(i)));
        Weights { rules: schema.attrs.iter().enumerate().map(rule).collect() }
    }

    /// How many events it knows.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    #[inline]
    pub fn of_sample(&self, sample: &Sample<'_>) -> (Event, Nanos) {
        let (event, weight) =
            self.rules.get(sample.event as usize).copied().unwrap_or((Event::Cpu, Weight::None));
        let nanos = match weight {
            Weight::None => 0,
            Weight::Period => periods::whole(sample.period),
            Weight::Scaled(scale) => periods::scaled(sample.period, scale),
            Weight::Fixed(nanos) => nanos.0,
        };
        (event, Nanos(nanos))
    }
}

/// The unit of the weights of CPU samples and of counted ones, and whether shares follow them.
struct Plan {
    /// Of CPU samples.
    unit: Unit,
    /// By kind of samples; none where samples are to count alike.
    uneven: [bool; Event::ALL.len()],
}

enum Unit {
    Time,
    /// The only event, by name.
    OfEvent(String),
    /// Several events that have no unit in common.
    Common,
}

impl Plan {
    fn of(schema: &Schema, survey: &Survey, events: &[Event], by_samples: bool) -> Plan {
        let sampled = |i: &usize| survey.samples_by_event.get(*i).is_some_and(|n| *n > 0);
        let periods: Vec<Periods> = (0..schema.attrs.len()).map(|i| survey.periods(i)).collect();
        let with_period = |i: &usize| schema.attrs[*i].sample_type & has::PERIOD != 0;
        let weighed = (0..schema.attrs.len()).filter(|_| !by_samples).filter(sampled).filter(with_period);
        let uneven = periods::uneven_kinds(weighed.map(|i| (events[i], &periods[i])));
        let mut cpu = (0..schema.attrs.len()).filter(|i| events[*i] == Event::Cpu).filter(sampled);
        let unit = if cpu.clone().all(|i| says_time(&schema.attrs[i])) {
            Unit::Time
        } else {
            match (cpu.next(), cpu.next()) {
                (Some(i), None) => Unit::OfEvent(periods::bare_event(&schema.attrs[i].title()).to_owned()),
                _ => Unit::Common,
            }
        };
        Plan { unit, uneven }
    }

    fn weight(&self, attr: &Attr, event: Event, periods: &Periods) -> Weight {
        let uneven = self.uneven[event as usize];
        let has_period = attr.sample_type & has::PERIOD != 0;
        match (event, &self.unit) {
            (Event::Cpu, Unit::Time) if attr.is_clock() && has_period => Weight::Period,
            (Event::Cpu, Unit::Time) if attr.frequency && attr.rate > 0 => {
                let each = 1e9 / attr.rate as f64;
                match periods.are_uneven() && has_period {
                    true => Weight::Scaled(periods.scale_to(each)),
                    false => Weight::Fixed(Nanos((1_000_000_000 / attr.rate).cast_signed())),
                }
            }
            (Event::Cpu, Unit::Time) => Weight::Fixed(Nanos(periods::whole(attr.rate))),
            (Event::Cpu, Unit::Common) if uneven && has_period => {
                Weight::Scaled(periods.scale_to(periods::COMMON_MEAN))
            }
            (Event::Cpu, Unit::Common) if uneven => Weight::Fixed(Nanos(periods::COMMON_MEAN as i64)),
            (Event::Cpu | Event::Count, _) if uneven && has_period => Weight::Period,
            (Event::Count, _) if uneven && !attr.frequency => {
                Weight::Fixed(Nanos(periods::whole(attr.rate.max(1))))
            }
            (Event::Count, _) if uneven => Weight::Fixed(Nanos(1)),
            _ => Weight::None,
        }
    }
}

/// The CPU time that a sample of it stands for is known.
fn says_time(attr: &Attr) -> bool {
    attr.is_clock() || (attr.is_cpu_time() && attr.frequency && attr.rate > 0)
}

/// Measures of the events whose shares follow their weights.
pub fn set_measures(schema: &Schema, survey: &Survey, by_samples: bool, profile: &mut Profile) {
    let plan = Plan::of(schema, survey, &survey.events(schema), by_samples);
    let cpu = match plan.unit {
        Unit::Time => Measured::Nanos,
        Unit::OfEvent(name) => Measured::Other(name),
        Unit::Common => Measured::Other(periods::COMMON_UNIT.to_owned()),
    };
    for (event, unit) in [(Event::Cpu, cpu), (Event::Count, Measured::Other(periods::CALLS_UNIT.to_owned()))]
    {
        if plan.uneven[event as usize] {
            profile.set_measure(event, Measure { unit, counted: true });
        }
    }
}
