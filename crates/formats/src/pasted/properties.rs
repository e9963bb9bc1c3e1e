//! `zfs get` and `zpool get`: aligned columns or tabs.

use crate::blocks::{Block, Line, Sink, Taken};
use zwhy_evidence::Property;
use zwhy_zfs::{PropertyRow, parse_properties};

pub struct Properties;

impl Block for Properties {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let header =
            usize::from(lines.first()?.text.split_whitespace().eq(["NAME", "PROPERTY", "VALUE", "SOURCE"]));
        let rows: Vec<PropertyRow> = lines[header..].iter().map_while(|l| row(&l.text, header > 0)).collect();
        if rows.is_empty() {
            return None;
        }
        let used = header + rows.len();
        let origin = sink.origin("zfs or zpool get", &lines[..used]);
        sink.evidence.properties.extend(rows.into_iter().map(|row| Property {
            dataset: Some(row.name),
            name: row.property,
            value: row.value,
            origin,
        }));
        Taken::kept(used)
    }
}

/// A row; without a header only one with a source that nothing else prints.
fn row(text: &str, under_header: bool) -> Option<PropertyRow> {
    let text = text.trim();
    let joined = if text.matches('\t').count() >= 3 {
        text.to_owned()
    } else {
        let mut fields: Vec<&str> = text.split("  ").map(str::trim).filter(|f| !f.is_empty()).collect();
        if fields.len() != 4 {
            fields = text.split_whitespace().collect();
        }
        let [name, property, value, source] = fields[..] else { return None };
        [name, property, value, source].join("\t")
    };
    let (mut rows, _) = parse_properties(&joined);
    let row = rows.pop()?;
    let source = joined.rsplit('\t').next().unwrap_or("").trim();
    let plain = matches!(source, "default" | "local" | "received" | "temporary" | "none");
    let known = plain || source.starts_with("inherited from ") || (under_header && source == "-");
    let is_property = row.property.bytes().all(|b| b.is_ascii_alphanumeric() || b"_:@#.-".contains(&b));
    (known && is_property && !row.property.is_empty() && !row.name.is_empty()).then_some(row)
}
