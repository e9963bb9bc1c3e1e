//! Units of samples in the facts of a capture: `{"cpu": {"unit": "nanoseconds", "counted": true}}`.

use serde_json::{Map, Value, json};
use zwhy_profile::{Event, Measure, Profile, Unit};

/// What differs from plain numbers of samples; `None` when nothing does.
pub(crate) fn to_facts(profile: &Profile) -> Option<Value> {
    let mut measures = Map::new();
    for event in Event::ALL {
        let measure = profile.measure(event);
        if *measure != Measure::default() {
            let value = json!({ "unit": measure.unit.name(), "counted": measure.counted });
            measures.insert(event.name().to_owned(), value);
        }
    }
    (!measures.is_empty()).then_some(Value::Object(measures))
}

/// Takes over what [`to_facts`] wrote; anything else is left as numbers of samples.
pub(crate) fn from_facts(facts: &Value, profile: &mut Profile) {
    for event in Event::ALL {
        let measure = &facts["measures"][event.name()];
        if let Some(unit) = measure["unit"].as_str() {
            let counted = measure["counted"].as_bool().unwrap_or(true);
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
        assert_eq!(to_facts(&profile), None);
        let measure = Measure { unit: Unit::Other("cycles".into()), counted: false };
        profile.set_measure(Event::Wait, measure.clone());
        let facts = json!({ "measures": to_facts(&profile) });
        let mut back = Profile::new();
        from_facts(&facts, &mut back);
        assert_eq!((back.measure(Event::Wait), back.measure(Event::Cpu)), (&measure, &Measure::default()));
    }
}
