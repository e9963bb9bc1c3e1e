//! The parts of evidence JSON, one function each, and the account of what was not taken.

use super::counters::counters;
use super::printed;
use super::settings::settings;
use super::{VERSION, scalar};
use crate::text::names;
use crate::{ImportStats, Imported};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use zwhy_evidence::{Evidence, FlatRow, Kstat, OriginId, Param, PctStack, Property, Table, ThreadCpu};
use zwhy_paste::blocks;

/// Percentages of all samples cannot exceed 100.
const ALL_SAMPLES: f64 = 100.0;
/// Per cent of one CPU: a process of many threads uses many.
const ALL_CPUS: f64 = 1e6;

#[derive(Default)]
pub struct Reader {
    evidence: Evidence,
    /// What tables say whose cells are a tool's lines; it fills what the rest does not tell.
    printed: Evidence,
    origin: OriginId,
    stats: ImportStats,
    /// Things inside kept items that were left out: reason → count.
    inside: BTreeMap<String, u64>,
    unknown_keys: BTreeMap<String, u64>,
}

impl Reader {
    pub fn new(name: &str) -> Reader {
        let mut evidence = Evidence::default();
        let origin = evidence.origin(name);
        Reader { evidence, origin, stats: ImportStats::new("evidence-json", "items"), ..Reader::default() }
    }

    pub fn check_version(&mut self, version: Option<&Value>) {
        match version.and_then(Value::as_u64) {
            Some(VERSION) => {}
            Some(newer) if newer > VERSION => self.stats.warnings.push(format!(
                "the file is version {newer} of evidence JSON, this zwhy knows version {VERSION}: what it does not know is counted as unknown keys"
            )),
            _ => self.stats.warnings.push(format!(
                "`zwhy_evidence` is not a version number; the file is read as version {VERSION}"
            )),
        }
    }

    /// Reads one key of the root object.
    pub fn part(&mut self, key: &str, value: &Value) {
        match key {
            "zwhy_evidence" => {}
            "zfs_version" => self.host_text(value, |host| &mut host.zfs_version),
            "kernel" => self.host_text(value, |host| &mut host.kernel),
            "os" => self.host_text(value, |host| &mut host.os),
            "perf_top" => self.list(key, value, Reader::perf_row),
            "stacks" => self.list(key, value, Reader::stack),
            "threads_cpu" => self.list(key, value, Reader::thread),
            "tables" => self.list(key, value, Reader::table),
            "arcstats" => self.map(key, value, Reader::arcstat),
            "params" => self.map(key, value, Reader::param),
            "props" => self.map(key, value, Reader::prop),
            _ => {
                self.drop("unknown key");
                *self.unknown_keys.entry(key.to_owned()).or_default() += 1;
            }
        }
    }

    pub fn finish(mut self) -> Imported {
        for (reason, count) in &self.inside {
            self.stats.warnings.push(format!("{reason}: {count} times, left out"));
        }
        if !self.unknown_keys.is_empty() {
            let total: u64 = self.unknown_keys.values().sum();
            let some: Vec<&str> = self.unknown_keys.keys().take(8).map(String::as_str).collect();
            self.stats.warnings.push(format!("{total} unknown keys were not read: {}", some.join(", ")));
        }
        blocks::fold(&mut self.evidence, self.printed);
        Imported { evidence: self.evidence, stats: self.stats }
    }

    fn keep(&mut self) {
        self.stats.read += 1;
        self.stats.kept += 1;
    }

    fn drop(&mut self, reason: &str) {
        self.stats.read += 1;
        self.stats.drop(reason, 1);
    }

    fn note(&mut self, reason: impl Into<String>) {
        *self.inside.entry(reason.into()).or_default() += 1;
    }

    fn host_text(&mut self, value: &Value, slot: impl Fn(&mut zwhy_evidence::Host) -> &mut Option<String>) {
        match value {
            Value::Null => {}
            Value::String(_) | Value::Number(_) => {
                *slot(&mut self.evidence.host) = scalar::text(value);
                self.keep();
            }
            _ => self.drop("version is not text"),
        }
    }

    /// Reads each object of a list.
    fn list(&mut self, part: &str, value: &Value, row: fn(&mut Reader, &Map<String, Value>)) {
        match value {
            Value::Null => {}
            Value::Array(rows) => {
                for value in rows {
                    match value {
                        Value::Object(fields) => row(self, fields),
                        _ => self.drop(&format!("{part}: entry is not an object")),
                    }
                }
            }
            _ => self.drop(&format!("{part}: not a list")),
        }
    }

    /// Reads each value of an object.
    fn map(&mut self, part: &str, value: &Value, entry: fn(&mut Reader, &str, &Value)) {
        match value {
            Value::Null => {}
            Value::Object(fields) => {
                for (name, value) in fields {
                    if value.is_null() {
                        self.drop("null value");
                    } else {
                        entry(self, name, value);
                    }
                }
            }
            _ => self.drop(&format!("{part}: not an object")),
        }
    }

    fn unknown_fields(&mut self, part: &str, row: &Map<String, Value>, known: &[&str]) {
        for key in row.keys().filter(|k| !known.contains(&k.as_str())) {
            *self.unknown_keys.entry(format!("{part}.{key}")).or_default() += 1;
        }
    }

    /// A field as `read` understands it; one that it does not is noted as not `what` and left out.
    fn field<'v, T>(
        &mut self,
        row: &'v Map<String, Value>,
        (part, field): (&str, &str),
        what: &str,
        read: impl FnOnce(&'v Value) -> Option<T>,
    ) -> Option<T> {
        let found = read(row.get(field).filter(|v| !v.is_null())?);
        if found.is_none() {
            self.note(format!("{part}.{field} is not {what}"));
        }
        found
    }

    fn percent(&mut self, row: &Map<String, Value>, field: &str, part: &str, most: f64) -> Option<f64> {
        self.field(row, (part, field), "a percentage", |value| scalar::percent(value, most))
    }

    fn name(&mut self, row: &Map<String, Value>, field: &str, part: &str) -> Option<String> {
        self.field(row, (part, field), "text", scalar::name)
    }

    /// The entries of a list that `read` understands; others are noted as not `what`.
    fn entries<T>(
        &mut self,
        row: &Map<String, Value>,
        (part, field): (&str, &str),
        what: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Vec<T> {
        let list = self.field(row, (part, field), "a list", Value::as_array);
        let mut found = Vec::new();
        for value in list.into_iter().flatten() {
            match read(value) {
                Some(entry) => found.push(entry),
                None => self.note(format!("{part}.{field} entry is not {what}")),
            }
        }
        found
    }

    fn perf_row(&mut self, row: &Map<String, Value>) {
        const PART: &str = "perf_top";
        self.unknown_fields(PART, row, &["pct", "comm", "module", "symbol", "children_pct"]);
        let row = FlatRow {
            pct: self.percent(row, "pct", PART, ALL_SAMPLES),
            children_pct: self.percent(row, "children_pct", PART, ALL_SAMPLES),
            comm: self.name(row, "comm", PART),
            module: self.name(row, "module", PART).map(|m| names::module(&m).to_owned()),
            user: false,
            symbol: self.name(row, "symbol", PART).unwrap_or_default(),
            origin: self.origin,
        };
        // A share of a module whose symbol was cut off still says something; nothing at all does not.
        if row.symbol.is_empty() && row.pct.is_none() && row.children_pct.is_none() {
            return self.drop("perf_top: neither symbol nor percentage");
        }
        self.evidence.flat.push(row);
        self.keep();
    }

    fn stack(&mut self, row: &Map<String, Value>) {
        const PART: &str = "stacks";
        self.unknown_fields(PART, row, &["pct", "comm", "frames"]);
        let frames = self.entries(row, (PART, "frames"), "text", scalar::name);
        if frames.is_empty() {
            return self.drop("stacks: no frames");
        }
        let pct = self.percent(row, "pct", PART, ALL_SAMPLES);
        let (comm, origin) = (self.name(row, "comm", PART), self.origin);
        self.evidence.trees.push(PctStack { pct, comm, frames, origin, ..PctStack::default() });
        self.keep();
    }

    fn thread(&mut self, row: &Map<String, Value>) {
        const PART: &str = "threads_cpu";
        self.unknown_fields(PART, row, &["comm", "cpu_pct", "nice"]);
        let Some(comm) = self.name(row, "comm", PART) else {
            return self.drop("threads_cpu: no comm");
        };
        let cpu_pct = self.percent(row, "cpu_pct", PART, ALL_CPUS);
        let nice = self.field(row, (PART, "nice"), "a whole number from -20 to 19", |value| {
            i32::try_from(value.as_i64()?).ok().filter(|n| (-20..=19).contains(n))
        });
        let origin = self.origin;
        self.evidence.threads.push(ThreadCpu { comm, cpu_pct, nice, origin, ..ThreadCpu::default() });
        self.keep();
    }

    fn table(&mut self, row: &Map<String, Value>) {
        const PART: &str = "tables";
        self.unknown_fields(PART, row, &["tool", "columns", "rows"]);
        let cells = |value: &Value| match value {
            Value::Array(cells) => Some(cells.iter().map(|c| scalar::text(c).unwrap_or_default()).collect()),
            _ => None,
        };
        let rows: Vec<Vec<String>> = self.entries(row, (PART, "rows"), "a list", cells);
        let columns: Vec<String> = row.get("columns").and_then(cells).unwrap_or_default();
        if rows.is_empty() && columns.is_empty() {
            return self.drop("tables: neither columns nor rows");
        }
        let tool = self.name(row, "tool", PART).unwrap_or_default();
        let mut table = Table { tool, columns, rows, origin: self.origin };
        self.evidence.kstats.extend(counters(&table, self.origin));
        let (properties, params) = settings(&table, self.origin);
        blocks::fold(&mut self.printed, Evidence { properties, params, ..Evidence::default() });
        if let Some(told) = printed::lines(&table, self.evidence.origin_name(self.origin)) {
            blocks::fold(&mut self.printed, told);
        }
        printed::full_headings(&mut table);
        self.evidence.tables.push(table);
        self.keep();
    }

    fn arcstat(&mut self, name: &str, value: &Value) {
        let Some(value) = scalar::number(value) else {
            return self.drop("arcstats: value is not a number");
        };
        let (name, scale) = scalar::in_bytes(name);
        let origin = self.renamed(name, scale);
        let (source, name, value) = ("arcstats".to_owned(), name.to_owned(), value * scale);
        self.evidence.kstats.push(Kstat { source, name, value, rate: None, origin });
        self.keep();
    }

    fn param(&mut self, name: &str, value: &Value) {
        let (short, scale) = scalar::in_bytes(name);
        // Only a plain number has the unit of its name; `8 tried` and `[on]` stay as they are.
        let (name, value, origin) = match scalar::number(value).filter(|_| scale > 1.0) {
            Some(number) => (short, format!("{:.0}", number * scale), self.renamed(short, scale)),
            None => (name, scalar::text(value).unwrap_or_default(), self.origin),
        };
        self.evidence.params.push(Param { name: name.to_owned(), value, origin });
        self.keep();
    }

    /// The origin of a value; it says so where the value was given in another unit.
    fn renamed(&mut self, name: &str, scale: f64) -> OriginId {
        if scale <= 1.0 {
            return self.origin;
        }
        let from =
            format!("{}: {name}, given in units of {scale} bytes", self.evidence.origin_name(self.origin));
        self.evidence.origin(from)
    }

    /// A property, or an object of properties of one dataset.
    fn prop(&mut self, name: &str, value: &Value) {
        let origin = self.origin;
        let mut push = |dataset: Option<&str>, name: &str, value: &Value| {
            self.evidence.properties.push(Property {
                dataset: dataset.map(str::to_owned),
                name: name.to_owned(),
                value: scalar::text(value).unwrap_or_default(),
                origin,
            });
        };
        match value {
            Value::Object(of_dataset) => {
                of_dataset.iter().for_each(|(prop, value)| push(Some(name), prop, value))
            }
            _ => push(None, name, value),
        }
        self.keep();
    }
}
