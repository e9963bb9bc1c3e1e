//! Checks of what signs are about: each dataset, pool, vdev, thread or process by itself.

use crate::facts::{Function, Query};
use crate::knowledge::{Cause, Knowledge, Sign};
use crate::rows::Scope;
use std::collections::BTreeSet;

/// Settings of a kernel that people list among properties.
const OF_THE_SYSTEM: [&str; 4] =
    ["timecounter", "clocksource", "current_clocksource", "kern.timecounter.hardware"];

/// A sign asks rows what they can answer, and one that asks them several things says so.
pub(super) fn sign(sign: &Sign, knowledge: &Knowledge, say: &mut impl FnMut(String)) {
    let queries = || sign.when.queries.iter().filter_map(|id| knowledge.bank.get(*id));
    match sign.each {
        Some(scope) if !queries().any(|query| scope.answers(query)) => say(format!(
            "sign `{}` speaks of each {}, and asks nothing that a {} answers by itself",
            sign.when.text,
            scope.word(),
            scope.word()
        )),
        Some(_) => {}
        None => {
            let asked: BTreeSet<&str> = queries().filter_map(of_a_row).collect();
            if asked.len() > 1 {
                let asked: Vec<&str> = asked.into_iter().collect();
                say(format!(
                    "sign `{}` asks for {} of different datasets or pools: say each = \"dataset\" or \"pool\"",
                    sign.when.text,
                    asked.join(" and ")
                ));
            }
        }
    }
}

/// What a question asks of a dataset or pool.
fn of_a_row(query: &Query) -> Option<&str> {
    let name = query.argument(0);
    match query.function {
        Function::Prop | Function::PropNumber if OF_THE_SYSTEM.contains(&name) => None,
        Function::Prop | Function::PropNumber => Some(name),
        Function::Kstat | Function::Rate if name.contains('/') => Some(query.argument(1)),
        _ => None,
    }
}

/// Names that texts of a cause are filled with come from a sign that speaks of such things.
pub(super) fn names(cause: &Cause, say: &mut impl FnMut(String)) {
    let remedy = &cause.remedy;
    let mut texts = vec![&cause.why, &cause.act, &remedy.text, &remedy.undo_note];
    texts.extend(remedy.changes().flat_map(|change| change.commands.iter().chain(&change.undo)));
    texts.extend(remedy.look.iter().chain(&remedy.advice));
    texts.extend(remedy.choices.iter().map(|choice| &choice.text));
    texts.extend(cause.signs.iter().map(|sign| &sign.ask));
    let scopes: BTreeSet<Scope> =
        cause.signs.iter().chain(&cause.against).filter_map(|sign| sign.each).collect();
    let task = scopes.iter().find(|scope| scope.is_task());
    if let Some((task, other)) = task.zip(scopes.iter().find(|scope| !scope.is_task())) {
        say(format!(
            "its signs speak of each {} and of each {}: a finding is about one of them, so ask the other of the host",
            other.word(),
            task.word()
        ));
    }
    for scope in [Scope::Dataset, Scope::Vdev] {
        let blank = format!("{{{}}}", scope.word());
        let used = texts.iter().find(|text| text.contains(&blank));
        if let Some(text) = used.filter(|_| !scopes.contains(&scope)) {
            say(format!(
                "`{text}` names a {}, and no sign speaks of each {}: say each = \"{}\", or write {} for the reader to \
                 fill in",
                scope.word(),
                scope.word(),
                scope.word(),
                scope.word().to_uppercase()
            ));
        }
    }
}
