//! OTLP as JSON, turned into the same message as protobuf.
//!
//! Rules: docs/specification.md of opentelemetry-proto, "JSON Protobuf Encoding": names in lowerCamelCase (the
//! names of the protocol are taken too), numbers of 64 bits as text or as numbers, unknown names are
//! ignored. A file may hold several messages, one after another: the file exporter of the collector writes
//! one a line. Samples are written in the layout of version 1.10, whatever version named them. A sample with a
//! cell that cannot be is lost; a message that breaks off is lost as a whole: its names are at its end.

use super::Taken;
use super::sample::Layout;
use crate::interchange::json;
use crate::interchange::protobuf::{Fields, put_bytes, put_fixed64s, put_number, put_numbers};
use crate::{FormatError, ImportOptions, Input};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// A JSON object with a key of the message.
pub fn looks_like(head: &[u8]) -> bool {
    let has = |key| json::head_has_key(head, key);
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let object = text.strip_prefix(b"{").is_some_and(|t| t.trim_ascii_start().first() == Some(&b'"'));
    object
        && (has("resourceProfiles")
            || has("resource_profiles")
            || (has("dictionary") && (has("mappingTable") || has("locationTable") || has("stringTable"))))
}

/// Takes the samples of all messages of a file.
pub fn read(input: &Input, options: &ImportOptions, taken: &mut Taken) -> Result<(), FormatError> {
    let text = json::text(input, &options.limits)?;
    let mut rest = &text[..];
    let mut refused = None;
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return match refused {
                Some(error) if taken.all.rows.is_empty() => Err(error),
                Some(error) => {
                    taken.all.warn(format!("messages of the file are not taken: {error}"));
                    Ok(())
                }
                None => Ok(()),
            };
        }
        let mut deserializer = serde_json::Deserializer::from_str(rest).into_iter::<Data>();
        match deserializer.next() {
            Some(Ok(Data(bytes))) => {
                let end = deserializer.byte_offset();
                if let Err(error) = taken.message(input, &bytes, Some(Layout::From110)) {
                    taken.all.stats.lost_bytes += end as u64;
                    refused.get_or_insert(error);
                }
                rest = &rest[end..];
            }
            Some(Err(error)) if taken.all.rows.is_empty() => {
                return Err(json::damaged(input, &error)
                    .hint("check that it was copied whole: the names are usually at its end"));
            }
            _ => {
                let at = (text.len() - rest.len()) as u64;
                taken.all.stats.lost_bytes += rest.len() as u64;
                taken.all.stats.cut_at = Some(at);
                taken.all.warn(format!(
                    "from byte {at} on the file is no valid JSON: the messages there are lost: copy it again"
                ));
                return Ok(());
            }
        }
    }
}

/// How a field is written.
#[derive(Clone, Copy)]
enum Kind {
    Number,
    Numbers,
    Fixed64s,
    Text,
    /// One message, or the next one of a list.
    Message(&'static Message),
    List(&'static Message),
    /// A list of texts, each a field.
    Texts,
}

/// Names and numbers of the fields that matter.
struct Message {
    fields: &'static [(&'static str, u32, Kind)],
    /// A cell that cannot be makes the message one that protobuf readers refuse.
    strict: bool,
}

const fn message(fields: &'static [(&'static str, u32, Kind)]) -> Message {
    Message { fields, strict: false }
}

static DATA: Message = message(&[
    ("resourceprofiles", 1, Kind::List(&RESOURCE_PROFILES)),
    ("dictionary", 2, Kind::Message(&DICTIONARY)),
]);
static RESOURCE_PROFILES: Message =
    message(&[("resource", 1, Kind::Message(&RESOURCE)), ("scopeprofiles", 2, Kind::List(&SCOPE_PROFILES))]);
static RESOURCE: Message = message(&[("attributes", 1, Kind::List(&KEY_VALUE))]);
static KEY_VALUE: Message = message(&[("key", 1, Kind::Text), ("value", 2, Kind::Message(&ANY_VALUE))]);
static ANY_VALUE: Message = message(&[
    ("stringvalue", 1, Kind::Text),
    ("intvalue", 3, Kind::Number),
    ("stringvaluestrindex", 8, Kind::Number),
]);
// Version 1.8 said `sample`, later ones `samples`.
static SCOPE_PROFILES: Message = message(&[("profiles", 2, Kind::List(&PROFILE))]);
static PROFILE: Message = message(&[
    ("sampletype", 1, Kind::Message(&VALUE_TYPE)),
    ("samples", 2, Kind::List(&SAMPLE)),
    ("sample", 2, Kind::List(&SAMPLE)),
    ("periodtype", 5, Kind::Message(&VALUE_TYPE)),
    ("period", 6, Kind::Number),
]);
static VALUE_TYPE: Message = message(&[("typestrindex", 1, Kind::Number), ("unitstrindex", 2, Kind::Number)]);
static SAMPLE: Message = Message {
    fields: &[
        ("stackindex", 1, Kind::Number),
        ("attributeindices", 2, Kind::Numbers),
        ("values", 4, Kind::Numbers),
        ("timestampsunixnano", 5, Kind::Fixed64s),
    ],
    strict: true,
};
static DICTIONARY: Message = message(&[
    ("mappingtable", 1, Kind::List(&MAPPING)),
    ("locationtable", 2, Kind::List(&LOCATION)),
    ("functiontable", 3, Kind::List(&FUNCTION)),
    ("stringtable", 5, Kind::Texts),
    ("attributetable", 6, Kind::List(&ATTRIBUTE)),
    ("stacktable", 7, Kind::List(&STACK)),
]);
static MAPPING: Message = message(&[
    ("memorystart", 1, Kind::Number),
    ("fileoffset", 3, Kind::Number),
    ("filenamestrindex", 4, Kind::Number),
]);
static LOCATION: Message = message(&[
    ("mappingindex", 1, Kind::Number),
    ("address", 2, Kind::Number),
    ("lines", 3, Kind::List(&LINE)),
    ("line", 3, Kind::List(&LINE)),
    ("attributeindices", 4, Kind::Numbers),
]);
static LINE: Message = message(&[("functionindex", 1, Kind::Number), ("line", 2, Kind::Number)]);
static FUNCTION: Message = message(&[
    ("namestrindex", 1, Kind::Number),
    ("systemnamestrindex", 2, Kind::Number),
    ("filenamestrindex", 3, Kind::Number),
]);
static ATTRIBUTE: Message =
    message(&[("keystrindex", 1, Kind::Number), ("value", 2, Kind::Message(&ANY_VALUE))]);
static STACK: Message = message(&[("locationindices", 1, Kind::Numbers)]);

impl Message {
    /// The field of a name, whether written `stackIndex` or `stack_index`.
    fn field(&self, name: &str) -> Option<(u32, Kind)> {
        let plain = |name: &str| -> Vec<u8> {
            name.bytes().filter(|b| *b != b'_').map(|b| b.to_ascii_lowercase()).collect()
        };
        let name = plain(name);
        self.fields
            .iter()
            .find(|(known, ..)| known.as_bytes() == name)
            .map(|(_, number, kind)| (*number, *kind))
    }
}

/// What no message can hold: no field has the number 0.
const NO_FIELD: [u8; 1] = [0];

/// A whole message as protobuf.
struct Data(Vec<u8>);

impl<'de> Deserialize<'de> for Data {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Data, D::Error> {
        let mut out = Vec::new();
        deserializer.deserialize_any(Writer { kind: Kind::Message(&DATA), number: 0, out: &mut out })?;
        Ok(Data(out))
    }
}

/// Writes what comes as a field; whether it could be one.
struct Writer<'o> {
    kind: Kind,
    /// 0 for the outermost message, which is no field.
    number: u32,
    out: &'o mut Vec<u8>,
}

impl Writer<'_> {
    fn one(self, value: Option<u64>) -> bool {
        let Some(value) = value else { return false };
        let number = matches!(self.kind, Kind::Number);
        if number {
            put_number(self.out, self.number, value);
        }
        number
    }

    fn object<'de, A: MapAccess<'de>>(self, message: &'static Message, mut map: A) -> Result<bool, A::Error> {
        let mut inner = Vec::new();
        let mut good = true;
        {
            let out = if self.number == 0 { &mut *self.out } else { &mut inner };
            while let Some(name) = map.next_key::<String>()? {
                match message.field(&name) {
                    Some((number, kind)) => {
                        good &= map.next_value_seed(Writer { kind, number, out: &mut *out })?
                    }
                    None => drop(map.next_value::<IgnoredAny>()?),
                }
            }
            if message.strict && !good {
                out.extend(NO_FIELD);
            }
        }
        if self.number > 0 {
            put_bytes(self.out, self.number, &inner);
        }
        Ok(true)
    }
}

impl<'de> DeserializeSeed<'de> for Writer<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Writer<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(if self.number == 0 { "an OTLP message" } else { "a field of OTLP" })
    }

    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(true) // null is an absent field
    }

    fn visit_bool<E>(self, _: bool) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_u64<E>(self, value: u64) -> Result<bool, E> {
        Ok(self.one(Some(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<bool, E> {
        Ok(self.one(Some(value as u64)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<bool, E> {
        const WHOLE: f64 = 9_007_199_254_740_992.0; // 2^53: beyond it not every number is one
        let whole = value.fract() == 0.0 && value.abs() <= WHOLE;
        Ok(self.one(whole.then_some(value as i64 as u64)))
    }

    fn visit_str<E>(self, text: &str) -> Result<bool, E> {
        if let Kind::Text = self.kind {
            put_bytes(self.out, self.number, text.as_bytes());
            return Ok(true);
        }
        Ok(self.one(number_in(text)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        match self.kind {
            Kind::Message(message) => self.object(message, map),
            _ => {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(false)
            }
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<bool, A::Error> {
        let Writer { kind, number, out } = self;
        match kind {
            Kind::List(message) => {
                loop {
                    let before = out.len();
                    let kind = Kind::Message(message);
                    let Some(_) = seq.next_element_seed(Writer { kind, number, out: &mut *out })? else {
                        return Ok(true);
                    };
                    // What is no object keeps its place, as indexes count it.
                    if out.len() == before {
                        put_bytes(out, number, if message.strict { &NO_FIELD } else { b"" });
                    }
                }
            }
            Kind::Texts => {
                while let Some(json::Text(text)) = seq.next_element()? {
                    put_bytes(out, number, text.as_bytes());
                }
                Ok(true)
            }
            Kind::Numbers | Kind::Fixed64s => {
                let (mut numbers, mut good) = (Vec::new(), true);
                while let Some(Number(value)) = seq.next_element()? {
                    good &= value.is_some();
                    numbers.push(value.unwrap_or(0));
                }
                match kind {
                    Kind::Numbers => put_numbers(out, number, numbers),
                    _ => put_fixed64s(out, number, numbers),
                }
                Ok(good)
            }
            _ => {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(false)
            }
        }
    }
}

/// A number of up to 64 bits, as text or as a number.
struct Number(Option<u64>);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Number, D::Error> {
        let mut out = Vec::new();
        let good = deserializer.deserialize_any(Writer { kind: Kind::Number, number: 1, out: &mut out })?;
        // Null is no entry of a list, and a zero is written as nothing.
        let number = Fields::new(&out).next().map_or(0, |field| field.value.number());
        Ok(Number(good.then_some(number)))
    }
}

/// `-5` and `18446744073709551615` are both numbers of 64 bits.
fn number_in(text: &str) -> Option<u64> {
    text.parse::<u64>().ok().or_else(|| text.parse::<i64>().ok().map(|n| n as u64))
}
