//! /proc/meminfo: `MemTotal:       65843064 kB`.

use crate::blocks::{Block, Line, Sink, Taken};
use zwhy_evidence::Table;

pub struct Meminfo;

impl Block for Meminfo {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let rows: Vec<Vec<String>> = lines
            .iter()
            .map_while(|l| row(&l.text))
            .map(|(name, kb)| vec![name.to_owned(), kb.to_owned()])
            .collect();
        if rows.is_empty() {
            return None;
        }
        let used = rows.len();
        let origin = sink.origin("/proc/meminfo", &lines[..used]);
        let columns = vec!["name".to_owned(), "kB".to_owned()];
        sink.evidence.tables.push(Table { tool: "/proc/meminfo".to_owned(), columns, rows, origin });
        Taken::kept(used)
    }
}

fn row(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.trim().split_once(':')?;
    let value = value.trim();
    let number = value
        .strip_suffix("kB")
        .map(str::trim_end)
        .or_else(|| name.starts_with("HugePages_").then_some(value))?;
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_()".contains(&b));
    (is_name && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())).then_some((name, number))
}
