//! Memory of the host: /proc/meminfo, /proc/buddyinfo, `free` in any unit, /proc/slabinfo.
//!
//! Tables keep the units of their tool; meminfo is also the kstat `meminfo` in bytes.

use super::cells;
use crate::blocks::{Block, Line, Sink, Taken};

const MIB: f64 = 1048576.0;

pub struct Meminfo;

impl Block for Meminfo {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let found: Vec<(&str, &str)> = lines.iter().map_while(|l| row(&l.text)).collect();
        if found.is_empty() {
            return None;
        }
        let used = found.len();
        let origin = sink.origin("/proc/meminfo", &lines[..used]);
        for (name, kb) in &found {
            if let Some(value) = kb.parse::<f64>().ok().filter(|_| !name.starts_with("HugePages_")) {
                cells::kstat(sink, "meminfo", name, value * 1024.0, origin);
            }
        }
        let rows = found.into_iter().map(|(name, kb)| cells::names(&[name, kb])).collect();
        cells::table(sink, "/proc/meminfo", cells::names(&["name", "kB"]), rows, origin);
        Taken::kept(used)
    }
}

fn row(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    // `grep . /proc/meminfo /proc/…` puts the file before each line.
    let (name, value) = text.strip_prefix("/proc/meminfo:").unwrap_or(text).split_once(':')?;
    let value = value.trim();
    let number = value
        .strip_suffix("kB")
        .map(str::trim_end)
        .or_else(|| name.starts_with("HugePages_").then_some(value))?;
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_()".contains(&b));
    (is_name && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())).then_some((name, number))
}

/// `Node 0, zone   Normal   4410   1122 …`: free blocks of each order.
pub struct Buddyinfo;

impl Block for Buddyinfo {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let rows: Vec<Vec<String>> = lines.iter().map_while(|l| zone(&l.text)).collect();
        let orders = rows.iter().map(Vec::len).max()?.saturating_sub(2);
        let used = rows.len();
        let origin = sink.origin("/proc/buddyinfo", &lines[..used]);
        let mut columns = cells::names(&["node", "zone"]);
        columns.extend((0..orders).map(|o| format!("order {o}")));
        cells::table(sink, "/proc/buddyinfo", columns, rows, origin);
        Taken::kept(used)
    }
}

fn zone(text: &str) -> Option<Vec<String>> {
    let (node, rest) = text.trim().strip_prefix("Node ")?.split_once(", zone ")?;
    let words: Vec<&str> = rest.split_whitespace().take(24).collect();
    let figures = words.len() > 5 && words[1..].iter().all(|w| w.bytes().all(|b| b.is_ascii_digit()));
    (figures && node.bytes().all(|b| b.is_ascii_digit()))
        .then(|| std::iter::once(node).chain(words).map(str::to_owned).collect())
}

/// The five lines above the rows of slabtop: ` Active / Total Size (% used)  : 49650.94K / 59513.12K (83.4%)`.
pub struct SlabtopHead;

impl Block for SlabtopHead {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let rows: Vec<Vec<String>> = lines.iter().map_while(|l| total(&l.text)).collect();
        if rows.is_empty() {
            return None;
        }
        let mut taken = Taken { kept: rows.len(), dropped: Vec::new() };
        let sizes =
            lines.get(rows.len()).is_some_and(|l| l.text.trim().starts_with("Minimum / Average / Max"));
        taken.drop("sizes of the smallest and largest slab object", usize::from(sizes));
        let origin = sink.origin("slabtop", &lines[..taken.used()]);
        cells::table(sink, "slabtop totals", cells::names(&["what", "active", "total"]), rows, origin);
        Some(taken)
    }
}

fn total(text: &str) -> Option<Vec<String>> {
    let (what, rest) = text.trim().strip_prefix("Active / Total ")?.split_once('(')?;
    let (active, total) = rest.split_once(':')?.1.split_once('/')?;
    let figure = |t: &str| t.split_whitespace().next().map(cells::plain);
    Some(vec![what.trim().to_lowercase(), figure(active)?, figure(total)?])
}

/// `free`, `free -m`, `free -h`, old and new: `Mem:  64316  9212  …` under a line of names.
pub struct Free;

impl Block for Free {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let header: Vec<&str> = lines.first()?.text.split_whitespace().take(12).collect();
        if header.len() < 3 || header[..3] != ["total", "used", "free"] {
            return None;
        }
        // Without a suffix the unit is in the command; kibibytes are the default. All become MiB.
        let command = sink.command.as_deref().unwrap_or("");
        let unit = ["-b", "-m", "-g", "--mega", "--giga", "-h"]
            .iter()
            .find(|u| command.split(' ').any(|w| w == **u));
        let scale = match unit {
            Some(&"-b") => 1.0,
            Some(&"-m" | &"--mega") => MIB,
            Some(&"-g" | &"--giga") => 1024.0 * MIB,
            _ => 1024.0,
        };
        let mut rows = Vec::new();
        for line in &lines[1..] {
            let Some((name, figures)) = line.text.trim().split_once(':') else { break };
            if !matches!(name, "Mem" | "Swap" | "-/+ buffers/cache" | "Total" | "Low" | "High") {
                break;
            }
            let cell = |w: &str| match w.parse::<f64>() {
                Ok(value) => Some(cells::show(value * scale / MIB)),
                Err(_) => cells::bytes(w).map(|bytes| cells::show(bytes / MIB)),
            };
            let Some(cells) = figures.split_whitespace().map(cell).collect::<Option<Vec<String>>>() else {
                break;
            };
            let mut row = vec![name.to_owned()];
            row.extend(cells);
            if name.starts_with("-/+") {
                row.insert(1, String::new());
            }
            row.resize(header.len() + 1, String::new());
            rows.push(row);
        }
        if rows.is_empty() {
            return None;
        }
        let used = rows.len() + 1;
        let origin = sink.origin("free", &lines[..used]);
        let columns = cells::names(&[&["name"], &header[..]].concat());
        cells::table(sink, "free (MiB)", columns, rows, origin);
        Taken::kept(used)
    }
}

/// /proc/slabinfo: active and all objects of a cache, with the bytes they take.
pub struct Slabinfo;

impl Block for Slabinfo {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let headers = lines
            .iter()
            .take(2)
            .take_while(|l| {
                l.text.starts_with("slabinfo - version") || l.text.contains("<active_objs> <num_objs>")
            })
            .count();
        let rows: Vec<Vec<String>> = lines[headers..].iter().map_while(|l| slab(&l.text)).collect();
        if rows.is_empty() {
            return None;
        }
        let used = headers + rows.len();
        let origin = sink.origin("/proc/slabinfo", &lines[..used]);
        let columns = cells::names(&["name", "active objs", "num objs", "total bytes"]);
        cells::table(sink, "slabinfo", columns, rows, origin);
        Taken::kept(used)
    }
}

fn slab(text: &str) -> Option<Vec<String>> {
    let (figures, rest) = text.split_once(" : tunables ")?;
    rest.contains("slabdata").then_some(())?;
    let words: Vec<&str> = figures.split_whitespace().collect();
    let [name, active, all, size, ..] = words[..] else { return None };
    let (count, size): (f64, f64) = (all.parse().ok()?, size.parse().ok()?);
    active.parse::<u64>().ok()?;
    Some(vec![name.to_owned(), active.to_owned(), all.to_owned(), cells::show(count * size)])
}
