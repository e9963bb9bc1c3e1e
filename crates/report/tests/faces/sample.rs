//! An answer in which every field holds something that is found again in what a face shows.
//!
//! It is made from the schema, so a new field is in it without anybody adding it.

use crate::model::{Kind, Model, Type};
use serde_json::{Map, Value, json};
use zwhy_diagnose::SCHEMA;

/// Every field set, every list with one row, each text a word of its own.
pub fn every_field(model: &Model) -> Value {
    let mut maker = Maker { model, made: 0, open: Vec::new() };
    let mut answer = maker.value(&Kind::Named("Answer".to_owned()));
    // The page warns of others.
    answer["schema"] = Value::from(SCHEMA);
    answer
}

struct Maker<'m> {
    model: &'m Model,
    made: u32,
    /// Types that are being made.
    open: Vec<String>,
}

impl Maker<'_> {
    fn value(&mut self, kind: &Kind) -> Value {
        match kind {
            Kind::Text | Kind::Any => Value::from(self.word()),
            // Falling, as fields come by name: `high` before `low` before `value`.
            Kind::Number => Value::from(9000 - 10 * self.next()),
            Kind::Flag => Value::from(false),
            Kind::Maybe(of) => self.value(of),
            // A type inside itself once, not without end.
            Kind::List(of) if self.is_within_itself(of) => json!([]),
            Kind::List(of) => json!([self.value(of)]),
            Kind::Map(of) => json!({ self.word(): self.value(of) }),
            Kind::Named(name) => self.named(name),
        }
    }

    fn named(&mut self, name: &str) -> Value {
        let model = self.model;
        match model.get(name) {
            Type::Words(words) => Value::from(words[0].clone()),
            Type::Struct(fields) => {
                self.open.push(name.to_owned());
                let fields: Map<String, Value> =
                    fields.iter().map(|f| (f.name.clone(), self.value(&f.kind))).collect();
                self.open.pop();
                Value::Object(fields)
            }
        }
    }

    fn is_within_itself(&self, kind: &Kind) -> bool {
        matches!(kind, Kind::Named(name) if self.open.iter().filter(|open| *open == name).count() > 1)
    }

    fn next(&mut self) -> u32 {
        self.made += 1;
        self.made
    }

    /// Short, so that no column cuts it.
    fn word(&mut self) -> String {
        format!("w{:03}w", self.next())
    }
}

/// One thing that can be changed in a JSON value.
pub struct Leaf {
    /// JSON pointer.
    pub pointer: String,
    /// As people write it, and as waivers name it: `findings[].evidence[].claim`.
    pub field: String,
    pub value: Value,
}

/// Every leaf of the sample, names of maps included (as `NAME{}`).
pub fn leaves(value: &Value) -> Vec<Leaf> {
    let mut out = Vec::new();
    collect(value, String::new(), String::new(), &mut out);
    out
}

fn collect(value: &Value, pointer: String, field: String, out: &mut Vec<Leaf>) {
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                let at = format!("{pointer}/{name}");
                // Words stand for names that come from the host.
                if is_word(name) {
                    let field = format!("{field}{{}}");
                    out.push(Leaf {
                        pointer: at.clone(),
                        field: format!("{field} name"),
                        value: name.clone().into(),
                    });
                    collect(inner, at, field, out);
                } else {
                    let dot = if field.is_empty() { "" } else { "." };
                    collect(inner, at, format!("{field}{dot}{name}"), out);
                }
            }
        }
        Value::Array(rows) => {
            for (i, row) in rows.iter().enumerate() {
                collect(row, format!("{pointer}/{i}"), format!("{field}[]"), out);
            }
        }
        _ => out.push(Leaf { pointer, field, value: value.clone() }),
    }
}

/// Whether the maker made this word up.
pub fn is_word(text: &str) -> bool {
    text.len() == 5
        && text.starts_with('w')
        && text.ends_with('w')
        && text[1..4].bytes().all(|b| b.is_ascii_digit())
}
