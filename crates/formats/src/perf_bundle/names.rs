//! The names of user code as JSON: objects by path, build-id and inode; names by offset.

use crate::perf_data::{ImageKey, KnownName, KnownNames};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// `[{"path", "build_id"?, "inode"?, "names": {"offset": "function" | [offset, "reason", [before, after]?]}},
/// …]`, bytes in hexadecimal, as a path need not be text.
///
/// `before` and `after` are the named functions next to one that has no name; bundles of earlier
/// versions have none.
pub fn encode(objects: &FxHashMap<ImageKey, KnownNames>) -> Vec<u8> {
    let mut list: Vec<(&ImageKey, &KnownNames)> = objects.iter().collect();
    list.sort_by(|a, b| a.0.path.cmp(&b.0.path).then(a.0.build_id.cmp(&b.0.build_id)));
    let object = |(key, names): (&ImageKey, &KnownNames)| {
        let names: BTreeMap<String, Value> = names
            .iter()
            .map(|(offset, name)| {
                let value = match name {
                    KnownName::Function(function) => json!(function),
                    KnownName::Unnamed(start, reason, between) => json!([start, reason, between]),
                };
                (offset.to_string(), value)
            })
            .collect();
        json!({ "path": hex(&key.path), "build_id": key.build_id.as_deref().map(hex), "inode": key.inode, "names": names })
    };
    Value::Array(list.into_iter().map(object).collect()).to_string().into_bytes()
}

/// What cannot be understood is left out: those frames stay without a name.
pub fn decode(text: &[u8]) -> FxHashMap<ImageKey, KnownNames> {
    let list: Vec<Value> = serde_json::from_slice(text).unwrap_or_default();
    list.iter().filter_map(object).collect()
}

fn object(value: &Value) -> Option<(ImageKey, KnownNames)> {
    let key = ImageKey {
        path: unhex(value["path"].as_str()?)?,
        build_id: value["build_id"].as_str().and_then(unhex),
        inode: value["inode"].as_u64(),
    };
    let names = value["names"].as_object()?.iter().filter_map(|(offset, name)| {
        let name = match name {
            Value::String(function) => KnownName::Function(function.clone()),
            unnamed => {
                let name = |at: usize| unnamed[2][at].as_str().map(str::to_owned);
                let between = name(0).zip(name(1));
                KnownName::Unnamed(unnamed[0].as_u64()?, unnamed[1].as_str()?.to_owned(), between)
            }
        };
        Some((offset.parse().ok()?, name))
    });
    Some((key, names.collect()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.len().is_multiple_of(2).then(|| digits.chunks(2).map(byte).collect())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_as_they_went() {
        let key = ImageKey { path: b"/x/\xff".to_vec(), build_id: Some(vec![1, 255]), inode: Some(7) };
        let between = Some(("a".to_owned(), "b".to_owned()));
        let names: KnownNames = [
            (16, KnownName::Function("a\"b".into())),
            (17, KnownName::Unnamed(3, "no symbol".into(), between)),
            (u64::MAX, KnownName::Unnamed(3, "no symbol".into(), None)),
        ]
        .into_iter()
        .collect();
        let objects: FxHashMap<ImageKey, KnownNames> = [(key, names)].into_iter().collect();
        assert_eq!(decode(&encode(&objects)), objects);
        assert!(decode(b"[{\"path\": \"zz\"}, 3, {\"path\": \"1\"}]").is_empty());
    }
}
