//! The answer's types, read from the schema that is derived from them.

use schemars::generate::SchemaSettings;
use serde_json::Value;
use std::collections::BTreeMap;
use zwhy_diagnose::Answer;

/// What a field holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    Text,
    Number,
    Flag,
    /// Anything at all: nothing knows its shape.
    Any,
    /// A type of [`Model::types`].
    Named(String),
    List(Box<Kind>),
    /// By name.
    Map(Box<Kind>),
    /// The thing, or null.
    Maybe(Box<Kind>),
}

/// A type with a name.
pub enum Type {
    Struct(Vec<Field>),
    /// One of these words.
    Words(Vec<String>),
}

pub struct Field {
    pub name: String,
    pub doc: String,
    pub kind: Kind,
}

pub struct Model {
    /// Each with its documentation; `Answer` is one of them.
    pub types: BTreeMap<String, (String, Type)>,
}

impl Model {
    /// Panics at a type that the page could not read, with what to do.
    pub fn of_answer() -> Model {
        let schema =
            SchemaSettings::default().for_serialize().into_generator().into_root_schema_for::<Answer>();
        let schema = schema.to_value();
        let mut types = BTreeMap::from([("Answer".to_owned(), (doc(&schema), named("Answer", &schema)))]);
        for (name, inner) in object(&schema, "$defs") {
            types.insert(name.clone(), (doc(inner), named(name, inner)));
        }
        Model { types }
    }

    pub fn get(&self, name: &str) -> &Type {
        &self.types[name].1
    }
}

fn doc(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().to_owned()
}

fn object<'v>(schema: &'v Value, key: &str) -> impl Iterator<Item = (&'v String, &'v Value)> {
    schema[key].as_object().into_iter().flatten()
}

fn named(name: &str, schema: &Value) -> Type {
    if let Some(words) = words(schema) {
        return Type::Words(words);
    }
    let fields = object(schema, "properties").map(|(field, inner)| Field {
        name: field.clone(),
        doc: doc(inner),
        kind: kind(&format!("{name}.{field}"), inner),
    });
    let fields: Vec<Field> = fields.collect();
    assert!(!fields.is_empty(), "{}", unreadable(name, schema));
    Type::Struct(fields)
}

/// Of an enum without data, whether or not its variants have documentation.
fn words(schema: &Value) -> Option<Vec<String>> {
    let word = |v: &Value| v.as_str().map(str::to_owned);
    if let Some(all) = schema["enum"].as_array() {
        return all.iter().map(word).collect();
    }
    schema["oneOf"].as_array()?.iter().map(|one| word(&one["const"])).collect()
}

fn kind(at: &str, schema: &Value) -> Kind {
    if let Some(name) = schema["$ref"].as_str() {
        return Kind::Named(name.trim_start_matches("#/$defs/").to_owned());
    }
    // `Option` of a type with a name.
    if let Some([some, none]) = schema["anyOf"].as_array().map(Vec::as_slice)
        && none["type"] == "null"
    {
        return Kind::Maybe(Box::new(kind(at, some)));
    }
    // `Option` of a plain type.
    if let Some([some, none]) = schema["type"].as_array().map(Vec::as_slice)
        && none == "null"
    {
        let mut plain = schema.clone();
        plain["type"] = some.clone();
        return Kind::Maybe(Box::new(kind(at, &plain)));
    }
    match schema["type"].as_str() {
        Some("string") => Kind::Text,
        Some("number" | "integer") => Kind::Number,
        Some("boolean") => Kind::Flag,
        Some("array") if schema["items"].is_object() => Kind::List(Box::new(kind(at, &schema["items"]))),
        Some("object") if schema["additionalProperties"].is_object() => {
            Kind::Map(Box::new(kind(at, &schema["additionalProperties"])))
        }
        None if schema.as_object().is_none_or(|o| o.keys().all(|k| k == "description")) => Kind::Any,
        _ => panic!("{}", unreadable(at, schema)),
    }
}

fn unreadable(at: &str, schema: &Value) -> String {
    format!(
        "{at} has a type that the page cannot read: {schema}. The answer is made of texts, numbers, flags, \
         structs with named fields, enums without data, lists, maps by name, and options of these. Use one of \
         them, or teach tests/faces/model.rs and web/src/data/read-answer.ts the new one."
    )
}
