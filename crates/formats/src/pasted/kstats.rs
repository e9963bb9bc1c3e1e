//! Kernel statistics as text: `name type data` files, their tables, FreeBSD's sysctl.

use crate::blocks::{Block, Line, Sink, Taken};
use zwhy_evidence::{Kstat, Table};
use zwhy_zfs::{Kstat as Parsed, parse_kstat};

/// `hits    4    98577966` lines, with or without the two header lines.
pub struct NamedKstats;

impl Block for NamedKstats {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let headers =
            lines.iter().take(2).take_while(|l| is_spl_header(&l.text) || is_columns(&l.text)).count();
        let rows = lines[headers..].iter().take_while(|l| is_named_row(&l.text)).count();
        if rows == 0 {
            return None;
        }
        let used = headers + rows;
        let mut text = String::from("name type data\n");
        for line in &lines[headers..used] {
            text.push_str(line.text.trim());
            text.push('\n');
        }
        let Ok(Parsed::Named { values, odd }) = parse_kstat(&text) else { return None };
        let names: Vec<&str> = values.iter().map(|v| v.name.as_str()).collect();
        let source = source_of(sink.command.as_deref(), &names);
        let origin = sink.origin(&format!("kstat {source}"), &lines[..used]);
        let mut taken = Taken { kept: used - odd, dropped: Vec::new() };
        taken.drop("kstat value that is no number", odd);
        for value in values {
            // Text values (names, states) are facts of a line that was read, not statistics.
            if let Some(number) = value.value.number() {
                sink.evidence.kstats.push(Kstat {
                    source: source.clone(),
                    name: value.name,
                    value: number as f64,
                    rate: None,
                    origin,
                });
            }
        }
        Some(taken)
    }
}

/// `9 1 0x01 96 4608 5075 103811`.
fn is_spl_header(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.len() == 7
        && words[2].starts_with("0x")
        && [0, 1, 4].iter().all(|i| words[*i].parse::<u64>().is_ok())
}

fn is_columns(text: &str) -> bool {
    text.split_whitespace().eq(["name", "type", "data"])
}

fn is_named_row(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let (Some(name), Some(kind), Some(data)) = (words.next(), words.next(), words.next()) else {
        return false;
    };
    let is_name = name.len() <= 40
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-/".contains(&b));
    let value = match kind {
        "7" => true,
        "1" | "2" | "3" | "4" | "5" | "6" => data.parse::<i128>().is_ok() && words.next().is_none(),
        _ => false,
    };
    is_name && value
}

/// Which kstat the values are of: the file in the command above, else names that only one has.
fn source_of(command: Option<&str>, names: &[&str]) -> String {
    if let Some((_, path)) = command.and_then(|c| c.split_once("/proc/spl/kstat/")) {
        let path = path.split([' ', '|', ';', '>']).next().unwrap_or("");
        let path = path.strip_prefix("zfs/").unwrap_or(path);
        if !path.is_empty() && !path.contains('*') && path.len() < 200 {
            return path.to_owned();
        }
    }
    const MARKS: [(&str, &str); 8] = [
        ("dmu_tx_", "dmu_tx"),
        ("zil_", "zil"),
        ("dbuf_cache_", "dbufstats"),
        ("hash_dbuf_", "dbufstats"),
        ("linear_cnt", "abdstats"),
        ("scatter_cnt", "abdstats"),
        ("max_streams", "zfetchstats"),
        ("trim_extents_", "iostats"),
    ];
    let mark = MARKS.iter().find(|(mark, _)| names.iter().any(|n| n.starts_with(mark)));
    mark.map_or("arcstats", |(_, source)| source).to_owned()
}

/// Table kstats with their header: `txgs`, `fletcher_4_bench`.
pub struct SplTable;

impl Block for SplTable {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let headers = usize::from(is_spl_header(&lines.first()?.text));
        let columns = &lines.get(headers)?.text;
        let words: Vec<&str> = columns.split_whitespace().collect();
        let tool = match words[..] {
            ["txg", "birth", "state", ..] => "txgs",
            ["implementation", ..] => "bench",
            ["original", "scalar", ..] => "vdev_raidz_bench",
            ["taskq", "act", ..] => "taskq",
            _ => return None,
        };
        let is_row = |l: &&Line| {
            let n = l.text.split_whitespace().count();
            n >= 2 && n <= words.len() + 6 && l.text.bytes().any(|b| b.is_ascii_digit())
        };
        let rows = lines[headers + 1..].iter().take_while(is_row).count();
        let used = headers + 1 + rows;
        let mut text = String::from("0 0 0x01 -1 0 1 1\n");
        for line in &lines[headers..used] {
            text.push_str(line.text.trim());
            text.push('\n');
        }
        let Ok(Parsed::Table { columns, rows }) = parse_kstat(&text) else { return None };
        let tool = match sink.command.as_deref().and_then(|c| c.rsplit_once('/')) {
            Some((_, name)) if tool == "bench" && name.ends_with("_bench") => name.to_owned(),
            _ => tool.to_owned(),
        };
        let origin = sink.origin(&format!("kstat {tool}"), &lines[..used]);
        sink.evidence.tables.push(Table { tool, columns, rows, origin });
        Taken::kept(used)
    }
}

/// FreeBSD: `kstat.zfs.misc.arcstats.size: 12884258792`, `vfs.zfs.arc_max: 0`.
pub struct Sysctl;

impl Block for Sysctl {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let used = lines.iter().take_while(|l| sysctl(&l.text).is_some()).count();
        if used == 0 {
            return None;
        }
        let origin = sink.origin("sysctl", &lines[..used]);
        let mut taken = Taken::default();
        for (key, value) in lines[..used].iter().filter_map(|l| sysctl(&l.text)) {
            if let Some(name) = key.strip_prefix("vfs.zfs.") {
                let (name, value) = (format!("zfs_{}", name.replace('.', "_")), value.to_owned());
                sink.evidence.params.push(zwhy_evidence::Param { name, value, origin });
                taken.kept += 1;
            } else if let (Some((source, name)), Ok(value)) = (key.rsplit_once('.'), value.parse::<f64>()) {
                let source = source
                    .trim_start_matches("kstat.zfs.")
                    .trim_start_matches("misc.")
                    .replace(".misc.", "/");
                let name = name.to_owned();
                sink.evidence.kstats.push(Kstat { source, name, value, rate: None, origin });
                taken.kept += 1;
            } else {
                taken.drop("kstat value that is no number", 1);
            }
        }
        Some(taken)
    }
}

fn sysctl(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.trim().split_once([':', '='])?;
    let key = key.trim();
    let known = key.starts_with("kstat.zfs.") || key.starts_with("vfs.zfs.");
    (known && !key.contains(' ')).then_some((key, value.trim()))
}
