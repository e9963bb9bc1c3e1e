//! The page's types, written from the answer's: `web/src/data/answer.ts`, and the same as data, `answer-shapes.ts`.

use crate::model::{Field, Kind, Model, Type};
use std::fmt::Write;

const TYPES_HEAD: &str = "\
// The types of the answer that `zwhy explain --json` prints, for the page.
";

const SHAPES_HEAD: &str = "\
// The types of answer.ts as data, for reading JSON that nobody vouches for.
";

const GENERATED: &str = "\
//
// Generated from the Rust types (crates/diagnose/src/answer.rs): do not edit. After a change there,
// `BLESS=1 cargo test -p zwhy-report --test faces` writes it anew.
";

const SHAPES: &str = "
/**
 * A type a line, with its fields: NAME is text, NAME:n a number, NAME:f a flag, NAME:a anything, NAME:TYPE another type.
 * Behind it `?` is or null, `[]` a list, `{}` a map by name. A type that knows only some words has `=` and those.
 * Types but the answer have numbers, as every report holds this text.
 */
export const SHAPES = `";

/// The file of types.
pub fn types(model: &Model) -> String {
    let mut out = format!("{TYPES_HEAD}{GENERATED}");
    for (name, (doc, kind)) in &model.types {
        out.push('\n');
        out.push_str(&comment("", doc));
        match kind {
            Type::Struct(fields) => {
                let _ = writeln!(out, "export interface {name} {{");
                fields.iter().for_each(|field| out.push_str(&property(field)));
                out.push_str("}\n");
            }
            Type::Words(words) => {
                let words: Vec<String> = words.iter().map(|w| format!("{w:?}")).collect();
                // What was damaged is the empty word.
                let line = format!("export type {name} = {} | \"\";", words.join(" | "));
                // As the formatter of the page breaks it.
                let long = || format!("export type {name} =\n  | {}\n  | \"\";", words.join("\n  | "));
                let _ = writeln!(out, "{}", if line.chars().count() > 100 { long() } else { line });
            }
        }
    }
    out
}

/// The file of the same as data: one text, which takes half of the room in the page that objects take.
pub fn shapes(model: &Model) -> String {
    let number = |name: &str| match model.types.keys().position(|known| known == name) {
        Some(at) if name != "Answer" => at.to_string(),
        _ => name.to_owned(),
    };
    let lines: Vec<String> = model
        .types
        .iter()
        .map(|(name, (_, kind))| (number(name), kind))
        .map(|(name, kind)| match kind {
            Type::Struct(fields) => fields.iter().fold(name, |line, field| {
                let sign = shape(&field.kind, &number);
                let colon = if sign.starts_with(|c: char| c.is_alphanumeric()) { ":" } else { "" };
                format!("{line} {}{colon}{sign}", field.name)
            }),
            Type::Words(words) => format!("{name}={}", words.join(" ")),
        })
        .collect();
    format!("{SHAPES_HEAD}{GENERATED}{SHAPES}{}`;\n", lines.join("\n"))
}

fn property(field: &Field) -> String {
    format!("{}  readonly {}: {};\n", comment("  ", &field.doc), field.name, typed(&field.kind))
}

fn comment(indent: &str, doc: &str) -> String {
    let doc =
        doc.split_whitespace().collect::<Vec<_>>().join(" ").replace("*/", "* /").replace("`None`", "null");
    if doc.is_empty() { String::new() } else { format!("{indent}/** {doc} */\n") }
}

fn typed(kind: &Kind) -> String {
    match kind {
        Kind::Text => "string".to_owned(),
        Kind::Number => "number".to_owned(),
        Kind::Flag => "boolean".to_owned(),
        Kind::Any => "unknown".to_owned(),
        Kind::Named(name) => name.clone(),
        Kind::List(of) => match typed(of) {
            of if of.contains(' ') => format!("readonly ({of})[]"),
            of => format!("readonly {of}[]"),
        },
        Kind::Map(of) => format!("ReadonlyMap<string, {}>", typed(of)),
        Kind::Maybe(of) => format!("{} | null", typed(of)),
    }
}

fn shape(kind: &Kind, number: &impl Fn(&str) -> String) -> String {
    match kind {
        Kind::Text => String::new(),
        Kind::Number => "n".to_owned(),
        Kind::Flag => "f".to_owned(),
        Kind::Any => "a".to_owned(),
        Kind::Named(name) => number(name),
        Kind::List(of) => shape(of, number) + "[]",
        Kind::Map(of) => shape(of, number) + "{}",
        Kind::Maybe(of) => shape(of, number) + "?",
    }
}
