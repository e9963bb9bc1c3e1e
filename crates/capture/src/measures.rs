//! Units of samples in the facts of a capture: `{"cpu": {"unit": "nanoseconds", "counted": true}}`.

use std::collections::BTreeMap;
use zwhy_evidence::MeasureFacts;
use zwhy_profile::{Event, Measure, Profile, Unit};

/// What differs from plain numbers of samples.
pub(crate) fn to_facts(profile: &Profile) -> BTreeMap<String, MeasureFacts> {
    let fact = |event: &Event| {
        let measure = profile.measure(*event);
        let (unit, counted) = (Some(measure.unit.name().to_owned()), Some(measure.counted));
        let fact = MeasureFacts { unit, counted, ..MeasureFacts::default() };
        (*measure != Measure::default()).then(|| (event.name().to_owned(), fact))
    };
    Event::ALL.iter().filter_map(fact).collect()
}

/// Takes over what [`to_facts`] wrote; anything else is left as numbers of samples.
pub(crate) fn from_facts(facts: &BTreeMap<String, MeasureFacts>, profile: &mut Profile) {
    for event in Event::ALL {
        let Some(measure) = facts.get(event.name()) else { continue };
        if let Some(unit) = &measure.unit {
            let counted = measure.counted.unwrap_or(true);
            profile.set_measure(event, Measure { unit: Unit::from_name(unit), counted });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_come_back_and_plain_counts_are_not_written() {
        let mut profile = Profile::new();
        assert!(to_facts(&profile).is_empty());
        let measure = Measure { unit: Unit::Other("cycles".into()), counted: false };
        profile.set_measure(Event::Wait, measure.clone());
        let facts = to_facts(&profile);
        let mut back = Profile::new();
        from_facts(&facts, &mut back);
        assert_eq!((back.measure(Event::Wait), back.measure(Event::Cpu)), (&measure, &Measure::default()));
    }
}
