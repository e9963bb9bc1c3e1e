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
 * The fields of each type. A kind is `text`, `number`, `flag`, `any` or another type; behind it `?` is or
 * null, `[]` a list, `{}` a map by name. Words are those of a type that knows no others.
 */
export const SHAPES = {
";

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

/// The file of the same as data.
pub fn shapes(model: &Model) -> String {
    let mut out = format!("{SHAPES_HEAD}{GENERATED}{SHAPES}");
    for (name, (_, kind)) in &model.types {
        match kind {
            Type::Struct(fields) => {
                let _ = writeln!(out, "  {name}: {{");
                for field in fields {
                    let _ = writeln!(out, "    {}: \"{}\",", field.name, shape(&field.kind));
                }
                out.push_str("  },\n");
            }
            Type::Words(words) => {
                let _ = writeln!(out, "  {name}: {words:?},");
            }
        }
    }
    out.push_str("} as const;\n");
    out
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

fn shape(kind: &Kind) -> String {
    match kind {
        Kind::Text => "text".to_owned(),
        Kind::Number => "number".to_owned(),
        Kind::Flag => "flag".to_owned(),
        Kind::Any => "any".to_owned(),
        Kind::Named(name) => name.clone(),
        Kind::List(of) => shape(of) + "[]",
        Kind::Map(of) => shape(of) + "{}",
        Kind::Maybe(of) => shape(of) + "?",
    }
}
