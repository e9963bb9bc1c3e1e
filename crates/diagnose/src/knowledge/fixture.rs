//! Evidence written by hand for the tests of a cause, in a few lines of TOML.

use crate::facts::leading_number;
use serde::Deserialize;
use std::collections::BTreeMap;
use zwhy_evidence::{
    CaptureFacts, Evidence, FlatRow, Kstat, OriginId, Param, PctKind, PctStack, Property, Table, ThreadCpu,
};
use zwhy_profile::{Event, FrameKind};

/// What a test case demands of its cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expectation {
    /// First finding, confidence at least 0.7.
    Confident,
    /// First finding, confidence 0.15 to below 0.7.
    Candidate,
    /// Among the findings at all.
    Listed,
    /// Not found, or below 0.3.
    Absent,
}

/// Numbers or text, as TOML has them.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Scalar {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
}

impl Scalar {
    fn text(&self) -> String {
        match self {
            Scalar::Bool(b) => b.to_string(),
            Scalar::Int(i) => i.to_string(),
            Scalar::Float(f) => f.to_string(),
            Scalar::Text(s) => s.clone(),
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum PropertyEntry {
    OfDataset(BTreeMap<String, Scalar>),
    Value(Scalar),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TableEntry {
    tool: String,
    columns: Vec<String>,
    rows: Vec<Vec<Scalar>>,
}

/// Every part is optional.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Fixture {
    zfs: Option<String>,
    kernel: Option<String>,
    os: Option<String>,
    cpu_flags: Vec<String>,
    cpu_model: Option<String>,
    /// Counted samples: `comm;root;…;leaf count`.
    samples: Vec<String>,
    /// Rows of a flat list: `per cent [module] symbol`.
    flat: Vec<String>,
    /// Pasted stacks: `comm;root;…;leaf` with a percentage at the end or nothing.
    stacks: Vec<String>,
    /// Stacks of threads that wait: `comm;root;…;leaf`.
    waiting: Vec<String>,
    /// `comm per-cent-of-one-CPU`, or a name alone.
    threads: Vec<String>,
    /// Nice value by thread name; threads that are not listed are added without a figure.
    nice: BTreeMap<String, i32>,
    /// Kstat source → name → value.
    kstats: BTreeMap<String, BTreeMap<String, f64>>,
    /// Kstat source → name → growth a second.
    rates: BTreeMap<String, BTreeMap<String, f64>>,
    params: BTreeMap<String, Scalar>,
    /// Name → value, or dataset → names and values.
    props: BTreeMap<String, PropertyEntry>,
    tables: Vec<TableEntry>,
    /// facts.json
    facts: Option<CaptureFacts>,
    /// A report as people paste it, which the importer reads; instead of everything else.
    pasted: Option<String>,
}

impl Fixture {
    /// The text that an importer has to read.
    pub fn pasted(&self) -> Option<&str> {
        self.pasted.as_deref()
    }

    /// As evidence. What does not fit its line format is left out and named.
    pub fn evidence(&self) -> (Evidence, Vec<String>) {
        let mut evidence = Evidence::default();
        let origin = evidence.origin("test");
        let mut bad = Vec::new();
        evidence.host.zfs_version.clone_from(&self.zfs);
        evidence.host.kernel.clone_from(&self.kernel);
        evidence.host.os.clone_from(&self.os);
        evidence.host.cpu_model.clone_from(&self.cpu_model);
        evidence.host.cpu_flags.clone_from(&self.cpu_flags);
        for line in &self.samples {
            if !add_sample(&mut evidence, line) {
                bad.push(line.clone());
            }
        }
        for line in &self.flat {
            match flat_row(line, origin) {
                Some(row) => evidence.flat.push(row),
                None => bad.push(line.clone()),
            }
        }
        evidence.trees.extend(self.stacks.iter().map(|line| stack(line, false, origin)));
        evidence.trees.extend(self.waiting.iter().map(|line| stack(line, true, origin)));
        evidence.threads.extend(self.threads.iter().map(|line| thread(line, origin)));
        for (comm, nice) in &self.nice {
            let mut found = false;
            for thread in evidence.threads.iter_mut().filter(|t| t.comm == *comm) {
                (thread.nice, found) = (Some(*nice), true);
            }
            if !found {
                let (comm, nice) = (comm.clone(), Some(*nice));
                evidence.threads.push(ThreadCpu { comm, nice, origin, ..ThreadCpu::default() });
            }
        }
        self.add_values(&mut evidence, origin);
        (evidence, bad)
    }

    fn add_values(&self, evidence: &mut Evidence, origin: OriginId) {
        let rate = |source: &str, name: &str| self.rates.get(source).and_then(|r| r.get(name)).copied();
        for (source, values) in &self.kstats {
            for (name, value) in values {
                let rate = rate(source, name);
                let (source, name) = (source.clone(), name.clone());
                evidence.kstats.push(Kstat { source, name, value: *value, rate, origin });
            }
        }
        for (source, rates) in &self.rates {
            let given = |name: &String| self.kstats.get(source).is_some_and(|v| v.contains_key(name));
            for (name, rate) in rates.iter().filter(|(name, _)| !given(name)) {
                let (source, name) = (source.clone(), name.clone());
                evidence.kstats.push(Kstat { source, name, value: *rate, rate: Some(*rate), origin });
            }
        }
        for (name, value) in &self.params {
            evidence.params.push(Param { name: name.clone(), value: value.text(), origin });
        }
        let mut push = |dataset: Option<String>, name: &str, value: &Scalar| {
            let (name, value) = (name.to_owned(), value.text());
            evidence.properties.push(Property { dataset, name, value, origin });
        };
        for (key, entry) in &self.props {
            match entry {
                PropertyEntry::Value(value) => push(None, key, value),
                PropertyEntry::OfDataset(values) => {
                    values.iter().for_each(|(name, value)| push(Some(key.clone()), name, value));
                }
            }
        }
        for table in &self.tables {
            let rows = table.rows.iter().map(|row| row.iter().map(Scalar::text).collect()).collect();
            let (tool, columns) = (table.tool.clone(), table.columns.clone());
            evidence.tables.push(Table { tool, columns, rows, origin });
        }
        if let Some(facts) = &self.facts {
            evidence.facts = facts.clone();
        }
    }
}

fn add_sample(evidence: &mut Evidence, line: &str) -> bool {
    let Some((stack, count)) = line.rsplit_once(' ') else { return false };
    let Ok(count) = count.parse::<u32>() else { return false };
    let mut parts = stack.split(';');
    let comm = parts.next().unwrap_or("");
    let profile = &mut evidence.profile;
    let frames: Vec<_> = parts
        .map(|frame| match frame.rsplit_once('`') {
            Some((module, function)) => profile.frame(function, module, FrameKind::Unknown),
            None => profile.frame(frame, "", FrameKind::Unknown),
        })
        .collect();
    let stack = profile.stack(&frames);
    let (comm, pid, tid) = numbered(comm);
    let thread = profile.thread(pid.unwrap_or(-1), tid.unwrap_or(-1), comm);
    profile.samples.push_counted(thread, stack, Event::Cpu, count);
    true
}

/// Of `java@40/41` the name, the process and the thread; `arc_evict@712` is the only thread of its process.
fn numbered(text: &str) -> (&str, Option<i32>, Option<i32>) {
    let numbers = text.rsplit_once('@').and_then(|(comm, numbers)| {
        let (pid, tid) = numbers.split_once('/').unwrap_or((numbers, numbers));
        Some((comm, pid.parse().ok()?, tid.parse().ok()?))
    });
    numbers.map_or((text, None, None), |(comm, pid, tid)| (comm, Some(pid), Some(tid)))
}

fn flat_row(line: &str, origin: OriginId) -> Option<FlatRow> {
    let (pct, rest) = line.trim().split_once(' ')?;
    let pct: f64 = pct.trim_end_matches('%').parse().ok()?;
    let rest = rest.trim();
    let (module, symbol) = match rest.strip_prefix('[').and_then(|r| r.split_once(']')) {
        Some((module, symbol)) => (Some(module.to_owned()), symbol.trim()),
        None => (None, rest),
    };
    Some(FlatRow { pct: Some(pct), module, symbol: symbol.to_owned(), origin, ..FlatRow::default() })
}

fn stack(line: &str, waiting: bool, origin: OriginId) -> PctStack {
    let (text, pct) = match line.rsplit_once(' ') {
        Some((text, pct)) if pct.parse::<f64>().is_ok() => (text, pct.parse().ok()),
        _ => (line, None),
    };
    let mut parts = text.split(';').map(str::to_owned);
    let comm = parts.next().filter(|c| !c.is_empty());
    PctStack { pct, kind: PctKind::Unclear, comm, waiting, frames: parts.collect(), origin }
}

fn thread(line: &str, origin: OriginId) -> ThreadCpu {
    let (name, cpu_pct) = match line.rsplit_once(' ') {
        Some((name, pct)) if leading_number(pct).is_some() => (name, leading_number(pct)),
        _ => (line, None),
    };
    let (comm, pid, tid) = numbered(name);
    ThreadCpu { comm: comm.to_owned(), cpu_pct, pid, tid, origin, ..ThreadCpu::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_becomes_evidence() {
        let text = r#"
            zfs = "0.8.3"
            samples = ["z_rd_int;taskq_thread;zfs`zio_execute 7"]
            flat = ["52.6 [zfs] SHA256Transform", "nonsense"]
            stacks = ["txg_sync;spa_sync;dnode_sync 12.5", ";getdents64;dmu_zfetch"]
            waiting = ["dd;zil_commit;cv_wait"]
            threads = ["dbuf_evict 93.8", "arc_prune", "java@40/41 7"]
            nice = { arc_prune = 19, z_wr_iss = -15 }
            kstats = { arcstats = { size = 1 } }
            rates = { arcstats = { hits = 10 } }
            params = { zfs_arc_max = 0 }
            props = { encryption = "on", "tank/a" = { compression = "gzip-9" } }
            tables = [{ tool = "dd", columns = ["MB/s"], rows = [[4.5]] }]
            facts = { zfs = { in_use = false } }
        "#;
        let fixture: Fixture = toml::from_str(text).unwrap();
        let (e, bad) = fixture.evidence();
        assert_eq!(bad, ["nonsense"]);
        assert_eq!(e.profile.total(Event::Cpu), 7);
        assert_eq!((e.flat.len(), e.trees.len(), e.threads.len()), (1, 3, 4));
        assert_eq!(
            (e.trees[0].pct, e.trees[1].comm.as_deref(), e.trees[2].waiting),
            (Some(12.5), None, true)
        );
        assert_eq!((e.threads[0].cpu_pct, e.threads[1].cpu_pct), (Some(93.8), None));
        assert_eq!(e.threads.iter().map(|t| t.nice).collect::<Vec<_>>(), [None, Some(19), None, Some(-15)]);
        let java = &e.threads[2];
        assert_eq!(
            (java.comm.as_str(), java.pid, java.tid, java.cpu_pct),
            ("java", Some(40), Some(41), Some(7.0))
        );
        assert_eq!((e.kstats.len(), e.properties.len(), e.facts.zfs.in_use), (2, 2, Some(false)));
        assert_eq!(e.properties[1].dataset.as_deref(), Some("tank/a"));
    }
}
