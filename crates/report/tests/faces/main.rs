//! Every face of the answer shows every field of it, or says why not; the page's types are the answer's.
//!
//! The table of what a face leaves out, and why, is `waived.json`. The page is held to it by
//! `web/test/unit/faces.test.ts`, over the same sample.

mod model;
mod sample;
mod typescript;

use model::Model;
use sample::{Leaf, every_field, is_word, leaves};
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;
use zwhy_diagnose::Answer;
use zwhy_report::{Style, answer_json, answer_markdown, answer_text};

const WAIVED: &str = include_str!("../waived.json");
const FACES: [&str; 4] = ["terminal", "markdown", "json", "page"];

/// Fields that a face does not show.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Waiver {
    fields: Vec<String>,
    faces: Vec<String>,
    why: String,
}

fn waivers() -> Vec<Waiver> {
    serde_json::from_str(WAIVED).expect("tests/waived.json")
}

/// Compares with a file below the repository's root.
#[track_caller]
fn generated(file: &str, got: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, got).expect("the generated file");
    }
    let want = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        got == want,
        "{file} is not what the types of the answer give. \
         Run `BLESS=1 cargo test -p zwhy-report --test faces`, then `npm run build` in web/, and commit both."
    );
}

#[test]
fn the_page_has_the_types_of_the_answer() {
    let model = Model::of_answer();
    generated("web/src/data/answer.ts", &typescript::types(&model));
    generated("web/src/data/answer-shapes.ts", &typescript::shapes(&model));
}

#[test]
fn the_page_is_tested_with_every_field() {
    let text = serde_json::to_string_pretty(&every_field(&Model::of_answer())).expect("JSON");
    generated("crates/report/tests/golden/every-field.json", &(text + "\n"));
}

fn read(answer: &Value) -> Answer {
    serde_json::from_value(answer.clone()).expect("an answer, as the sample is made from its schema")
}

/// The sample with another value in one place.
fn changed(sample: &Value, leaf: &Leaf) -> Answer {
    let mut other = sample.clone();
    let place = other.pointer_mut(&leaf.pointer).expect("a leaf of the sample");
    *place = match &leaf.value {
        Value::Number(n) => Value::from(n.as_u64().unwrap_or_default() * 3 + 1),
        Value::Bool(flag) => Value::from(!flag),
        // The words of `LimitKind` and of `ConfidenceWord`; others are looked for.
        Value::String(word) if word == "cpu" => Value::from("idle"),
        _ => Value::from("low"),
    };
    read(&other)
}

/// A made-up word is looked for; of a figure, a flag and a word of a list, another one has to show.
fn is_shown(leaf: &Leaf, sample: &Value, shown: &str, face: fn(&Answer) -> String) -> bool {
    match leaf.value.as_str() {
        Some(text) if is_word(text) => shown.contains(text),
        _ => face(&changed(sample, leaf)) != shown,
    }
}

#[track_caller]
fn shows_every_field(name: &str, face: fn(&Answer) -> String) {
    let sample = every_field(&Model::of_answer());
    let shown = face(&read(&sample));
    let waived: Vec<String> =
        waivers().into_iter().filter(|w| w.faces.iter().any(|f| f == name)).flat_map(|w| w.fields).collect();
    let mut missing: Vec<String> = Vec::new();
    let mut stale: Vec<String> = Vec::new();
    for leaf in leaves(&sample) {
        let is_waived = waived.contains(&leaf.field);
        match is_shown(&leaf, &sample, &shown, face) {
            false if !is_waived => missing.push(leaf.field),
            true if is_waived => stale.push(leaf.field),
            _ => {}
        }
    }
    assert!(
        missing.is_empty(),
        "the {name} does not show: {}.\nShow them in crates/report/src, or name them in \
         crates/report/tests/waived.json with the reason.\n{shown}",
        missing.join(", ")
    );
    assert!(stale.is_empty(), "the {name} shows, though waived.json says otherwise: {}", stale.join(", "));
}

#[test]
fn the_terminal_shows_every_field() {
    shows_every_field("terminal", |answer| answer_text(answer, true, "x.zwhy", Style::PLAIN));
}

#[test]
fn markdown_shows_every_field() {
    shows_every_field("markdown", answer_markdown);
}

#[test]
fn json_shows_every_field() {
    shows_every_field("json", |answer| answer_json(answer).expect("JSON"));
}

#[test]
fn waivers_name_fields_that_there_are_and_say_why() {
    let known: Vec<String> = leaves(&every_field(&Model::of_answer())).into_iter().map(|l| l.field).collect();
    for waiver in waivers() {
        assert!(waiver.why.len() > 20, "why are these left out: {:?}?", waiver.fields);
        for field in &waiver.fields {
            assert!(known.contains(field), "no field of the answer is called {field}");
        }
        for face in &waiver.faces {
            assert!(FACES.contains(&face.as_str()), "{face} is no face");
        }
    }
}
