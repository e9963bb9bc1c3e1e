//! What a picture is drawn of: the event that was asked for, else the main one, and what is left out by it.

use crate::output;
use anyhow::{Result, bail};
use zwhy_evidence::Imported;
use zwhy_profile::Event;

/// An event by its name.
pub fn event_name(name: &str) -> Result<Event, String> {
    Event::from_name(name).ok_or_else(|| format!("`{name}` is none of cpu, wait and count"))
}

/// The event that was asked for, else the main one.
pub fn event_of(imported: &Imported, asked: Option<Event>) -> Result<Event> {
    asked.map_or_else(|| main_event(imported), |event| asked_event(imported, event))
}

/// The event, if the input has samples of it.
fn asked_event(imported: &Imported, event: Event) -> Result<Event> {
    let profile = &imported.evidence.profile;
    if profile.total(event) > 0 {
        return Ok(event);
    }
    let there: Vec<&str> =
        Event::ALL.into_iter().filter(|e| profile.total(*e) > 0).map(Event::name).collect();
    let has =
        if there.is_empty() { "no samples at all".to_owned() } else { format!("only {}", there.join(", ")) };
    let hint = match event {
        Event::Wait => "; zwhy record --wait records waiting",
        _ => "",
    };
    bail!("there are no samples of {} in the input, {has}{hint}", event.name())
}

/// The event to draw: CPU if there is any, else what there is.
fn main_event(imported: &Imported) -> Result<Event> {
    let profile = &imported.evidence.profile;
    match Event::ALL.into_iter().find(|e| profile.total(*e) > 0) {
        Some(event) => Ok(event),
        None => bail!(
            "there are no samples to draw or write: the input has no stacks and no functions with their share, only other figures; zwhy explain shows what it has"
        ),
    }
}

/// How another event is chosen where there is an option for it.
pub const BY_OPTION: &str = "--event NAME takes them";

/// Says which samples are not in the result, how many they are and, with `how`, how to take them.
pub fn tell_left_out(imported: &Imported, event: Event, how: &str) {
    let profile = &imported.evidence.profile;
    let amount = |event| profile.measure(event).unit.words(profile.total(event));
    let others: Vec<String> = Event::ALL
        .into_iter()
        .filter(|other| *other != event && profile.total(*other) > 0)
        .map(|other| {
            let name = other.name();
            format!("{} of {name} ({})", amount(other), how.replace("NAME", name))
        })
        .collect();
    if !others.is_empty() {
        output::note(&format!(
            "taken: {} of {}; left out: {}",
            amount(event),
            event.name(),
            others.join(", ")
        ));
    }
}
