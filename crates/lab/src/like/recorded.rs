//! What a capture tells of one dataset of its host, as settings of the lab: properties, the layout of the pool, changed
//! parameters, and how programs read and write there.

use super::{LeftOut, Taken};
use crate::Bytes;
use crate::spec::names::{self, Kind};
use crate::spec::near;
use crate::spec::{Experiment, Verb};
use std::collections::{BTreeMap, BTreeSet};
use zwhy_evidence::{CaptureFacts, DatasetFacts, Evidence, PoolFacts};
use zwhy_profile::{Profile, StackId};
use zwhy_zfs::Vdev;

/// What an experiment measures first: of calls that do this, a host's size is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    Reads,
    Writes,
    /// Neither: what there is more of.
    Either,
}

impl Asked {
    pub fn by(experiment: &Experiment) -> Asked {
        let answering = experiment.steps.iter().find(|step| step.name() == experiment.compare.step);
        match answering.map(|step| step.verb) {
            Some(Verb::Read | Verb::Verify) => Asked::Reads,
            Some(Verb::Write | Verb::Overwrite) => Asked::Writes,
            _ => Asked::Either,
        }
    }
}

/// What a capture tells.
#[derive(Debug, Default)]
pub struct Recorded {
    pub dataset: Option<String>,
    /// Settings that only fit together are one group.
    pub told: Vec<Vec<Taken>>,
    pub untold: Vec<LeftOut>,
}

/// Properties that are taken, with the value that is not worth a word; those without one are always taken, because the
/// lab's own differ from the defaults of OpenZFS.
const TAKEN: [(&str, Option<&str>); 13] = [
    ("recordsize", None),
    ("compression", None),
    ("checksum", None),
    ("encryption", None),
    ("copies", Some("1")),
    ("dedup", Some("off")),
    ("direct", Some("standard")),
    ("logbias", Some("latency")),
    ("primarycache", Some("all")),
    ("redundant_metadata", Some("all")),
    ("secondarycache", Some("all")),
    ("special_small_blocks", Some("0")),
    ("sync", Some("standard")),
];

/// Parameters that fit the memory of that host, and not an experiment.
const OF_ITS_MEMORY: [&str; 6] = [
    "zfs_arc_max",
    "zfs_arc_min",
    "zfs_arc_meta_limit",
    "zfs_arc_sys_free",
    "zfs_dirty_data_max",
    "zfs_dirty_data_max_max",
];

impl Recorded {
    /// # Errors
    /// When `wanted` is no dataset of the capture.
    pub fn of(evidence: &Evidence, wanted: Option<&str>, asked: Asked) -> Result<Recorded, String> {
        let calls = Calls::of(evidence);
        let facts = &evidence.facts;
        let mut recorded = Recorded { dataset: choose(facts, &calls, wanted)?, ..Recorded::default() };
        match recorded.dataset.clone() {
            Some(name) => {
                recorded.properties(&name, facts.dataset(&name));
                recorded.calls(&name, calls.get(&name), asked);
            }
            None => recorded.no_dataset(facts),
        }
        recorded.threads(&evidence.profile, asked);
        recorded.layout(facts);
        recorded.parameters(facts);
        Ok(recorded)
    }

    fn tell(&mut self, setting: &str, value: impl Into<String>, from: impl Into<String>) {
        self.told.push(vec![taken(setting, value, from)]);
    }

    fn leave(&mut self, what: impl Into<String>, why: impl Into<String>) {
        self.untold.push(LeftOut::new(what, why));
    }

    fn no_dataset(&mut self, facts: &CaptureFacts) {
        let why = match facts.datasets.as_deref() {
            None | Some([]) => "the capture has no facts of datasets: what another tool recorded has none",
            Some(_) => "it has several and counters of none: name one with --like-dataset",
        };
        self.leave("properties and I/O size of a dataset", why);
    }

    fn properties(&mut self, name: &str, dataset: Option<&DatasetFacts>) {
        let Some(properties) = dataset.and_then(|dataset| dataset.properties.as_ref()) else {
            return self.leave(format!("properties of {name}"), "the capture has none of it");
        };
        for (property, usual) in TAKEN {
            // Blocks of a volume have the size of another property.
            let of_volume = (property == "recordsize").then(|| properties.get("volblocksize")).flatten();
            let of_volume = of_volume.filter(|size| size.parse::<Bytes>().is_ok());
            let (told, value) = match (of_volume, properties.get(property)) {
                (Some(size), _) => ("volblocksize", size),
                (None, Some(value)) => (property, value),
                (None, None) if usual.is_none() => {
                    self.leave(property, format!("the capture does not tell it of {name}"));
                    continue;
                }
                (None, None) => continue,
            };
            if usual != Some(value.as_str()) {
                self.tell(property, size_or_word(value), format!("{told} of {name}"));
            }
        }
        if let Some(ratio) = properties.get("compressratio") {
            self.leave(
                format!("how well its data compresses ({ratio})"),
                "made-up data compresses as the experiment says; --data DIR writes a sample of real files",
            );
        }
    }

    /// What programs asked for, cached or not.
    fn calls(&mut self, name: &str, calls: Option<&Calls>, asked: Asked) {
        let Some(calls) = calls.filter(|calls| calls.reads + calls.writes > 0.0) else {
            return self.leave("io_size", format!("the capture counts no reads and writes of {name}"));
        };
        let reads = ("reads", calls.reads, calls.read_bytes);
        let writes = ("writes", calls.writes, calls.written_bytes);
        let (first, other) = match asked {
            Asked::Reads => (reads, writes),
            Asked::Writes => (writes, reads),
            Asked::Either if calls.read_bytes >= calls.written_bytes => (reads, writes),
            Asked::Either => (writes, reads),
        };
        let (used, unused) = if first.1 > 0.0 { (first, other) } else { (other, first) };
        let mean = used.2 / used.1;
        let size = io_size(mean);
        let from = format!("{} of {name}, {} each on average", used.0, told_size(mean));
        self.tell("io_size", size.to_string(), from);
        if unused.1 > 0.0 {
            let mean = unused.2 / unused.1;
            self.leave(
                format!("the size of {} ({} each)", unused.0, told_size(mean)),
                format!("an experiment has one io_size, here that of its {}", used.0),
            );
            self.leave(
                format!("the mix ({:.0} % reads)", 100.0 * calls.reads / (calls.reads + calls.writes)),
                "an experiment reads and writes in steps of its own, one after the other",
            );
        }
        /// Commits for each write from which most writes wait.
        const MOST: f64 = 0.5;
        if let Some(commits) = calls.commits.filter(|_| calls.writes > 0.0) {
            let each = commits / calls.writes;
            if each >= MOST {
                self.tell("fsync", "each-write", format!("{each:.1} commits for each write of {name}"));
            }
        }
    }

    /// Threads of programs that were sampled while they read or wrote, of whatever dataset.
    fn threads(&mut self, profile: &Profile, asked: Asked) {
        const MOST: usize = 64;
        let (doing, entries): (&str, &[&str]) = match asked {
            Asked::Reads => ("reads", &READS),
            Asked::Writes => ("writes", &WRITES),
            Asked::Either => ("reads and writes", &BOTH),
        };
        let mut known: BTreeMap<StackId, bool> = BTreeMap::new();
        let mut threads = BTreeSet::new();
        for (stack, thread) in profile.samples.stack.iter().zip(&profile.samples.thread) {
            let inside = known.entry(*stack).or_insert_with(|| {
                profile.stacks.leaf_to_root(*stack).any(|f| entries.contains(&profile.function_of(f)))
            });
            if *inside {
                threads.insert(profile.threads.get(*thread).tid);
            }
        }
        match threads.len() {
            0 => self.leave("threads", format!("no thread was sampled in {doing} of ZFS")),
            many => {
                let from = format!("{many} threads were sampled in {doing} of ZFS");
                self.tell("threads", many.min(MOST).to_string(), from);
            }
        }
    }

    /// The first vdev of the dataset's pool: an experiment has one group of disks.
    fn layout(&mut self, facts: &CaptureFacts) {
        let pools = facts.pools.as_deref().unwrap_or_default();
        let name = self.dataset.as_deref().map(|dataset| dataset.split('/').next().unwrap_or(dataset));
        let pool = match name {
            Some(name) => facts.pool(name),
            None => pools.first().filter(|_| pools.len() == 1),
        };
        let Some((pool, vdevs)) = pool.and_then(|pool| Some((pool, pool.vdevs.as_deref()?))) else {
            return self.leave("layout", "the capture does not tell it of the pool");
        };
        let of = |class: &str| vdevs.iter().filter(|vdev| vdev.class == class).collect::<Vec<&Vdev>>();
        let data: Vec<&Vdev> = vdevs.iter().filter(|v| v.class.is_empty() || v.class == "normal").collect();
        self.data_vdevs(pool, &data);
        /// As many as the lab makes.
        const MOST: usize = 8;
        let pool = pool.name.as_deref().unwrap_or_default();
        for (setting, class) in
            [("log_disks", "logs"), ("special_disks", "special"), ("cache_disks", "l2cache")]
        {
            let disks: usize = of(class).iter().map(|vdev| vdev.children.len().max(1)).sum();
            if disks > 0 {
                self.tell(setting, disks.min(MOST).to_string(), format!("{class} of {pool}"));
            }
        }
    }

    fn data_vdevs(&mut self, pool: &PoolFacts, vdevs: &[&Vdev]) {
        let name = pool.name.as_deref().unwrap_or_default();
        let Some(first) = vdevs.first() else {
            return self.leave("layout", format!("the capture tells no vdevs of {name}"));
        };
        let same = vdevs.iter().filter(|vdev| vdev.kind == first.kind).count();
        let (layout, disks) = match first.kind.as_str() {
            kind @ ("mirror" | "raidz1" | "raidz2" | "raidz3" | "draid1" | "draid2" | "draid3") => {
                (kind, first.children.len())
            }
            "raidz" => ("raidz1", first.children.len()),
            "disk" | "file" => ("stripe", same),
            other => return self.leave("layout", format!("the lab makes no vdevs of kind {other}")),
        };
        let from = |what: &str| format!("{what} of {name}");
        self.told.push(vec![
            taken("layout", layout, from("vdevs")),
            taken("disks", disks.to_string(), from("disks")),
        ]);
        if layout != "stripe" && vdevs.len() > 1 {
            self.leave(format!("{} more vdevs of {name}", vdevs.len() - 1), "an experiment has one");
        }
    }

    fn parameters(&mut self, facts: &CaptureFacts) {
        let Some(changed) = facts.parameters_changed.as_ref().and_then(|changed| changed.values.as_ref())
        else {
            return self.leave("parameters", "the capture does not tell which differ from their defaults");
        };
        for (name, change) in changed {
            let value = change.value.trim();
            let what = format!("{name}={value}");
            let from = format!("parameter of the module, by default {}", change.default);
            if OF_ITS_MEMORY.contains(&name.as_str()) {
                self.leave(what, "it fits the memory of that host; an experiment has its own");
                continue;
            }
            match names::kind(name) {
                Some(Kind::Parameter) if value.parse::<i128>().is_ok() => self.tell(name, value, from),
                Some(Kind::Parameter) => self.leave(what, "the lab sets parameters to numbers only"),
                Some(Kind::Implementation) => match facts.implementations.get(name) {
                    Some(chosen) => self.tell(name, chosen.clone(), from),
                    None => self.leave(what, "the capture does not tell which implementation was chosen"),
                },
                _ => self.leave(what, "the lab does not know this parameter"),
            }
        }
    }
}

/// Where programs enter OpenZFS on Linux and FreeBSD.
const READS: [&str; 3] = ["zfs_read", "zpl_iter_read", "zvol_read"];
const WRITES: [&str; 3] = ["zfs_write", "zpl_iter_write", "zvol_write"];
const BOTH: [&str; 6] =
    ["zfs_read", "zpl_iter_read", "zvol_read", "zfs_write", "zpl_iter_write", "zvol_write"];

fn taken(setting: &str, value: impl Into<String>, from: impl Into<String>) -> Taken {
    Taken { setting: setting.into(), value: value.into(), from: from.into() }
}

/// `16K` for 16384; words as they are.
fn size_or_word(value: &str) -> String {
    value.parse::<Bytes>().map_or_else(|_| value.to_owned(), |size| size.to_string())
}

/// The size that the lab has and that is nearest, by factor.
fn io_size(mean: f64) -> Bytes {
    const LEAST: f64 = 12.0;
    const MOST: f64 = 26.0;
    Bytes(1 << (mean.max(1.0).log2().round().clamp(LEAST, MOST) as u32))
}

fn told_size(bytes: f64) -> String {
    let units = [(1024.0 * 1024.0, "M"), (1024.0, "K")];
    match units.iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, letter)) => format!("{:.1}{letter}", bytes / unit),
        None => format!("{bytes:.0} bytes"),
    }
}

/// The dataset that was wanted, else the busiest, else the only one.
fn choose(
    facts: &CaptureFacts,
    calls: &BTreeMap<String, Calls>,
    wanted: Option<&str>,
) -> Result<Option<String>, String> {
    let listed = facts.datasets.iter().flatten().filter_map(|dataset| dataset.name.as_deref());
    let known: BTreeSet<&str> = listed.chain(calls.keys().map(String::as_str)).collect();
    if let Some(wanted) = wanted {
        /// A part of a long list says enough.
        const SHOWN: usize = 8;
        /// Part of the letters that may differ.
        const NEAR: f64 = 0.6;
        if known.contains(wanted) {
            return Ok(Some(wanted.to_owned()));
        }
        let meant = near::near(wanted, known.iter().copied(), NEAR)
            .map_or(String::new(), |name| format!("; did you mean {name}?"));
        let some: Vec<&str> = known.iter().copied().take(SHOWN).collect();
        let more = if known.len() > SHOWN { ", …" } else { "" };
        let has = if some.is_empty() { "none".to_owned() } else { some.join(", ") + more };
        return Err(
            format!("it has no dataset {wanted:?}{meant} It has {has}").replace(char::is_control, " ")
        );
    }
    let moved = |calls: &Calls| calls.read_bytes + calls.written_bytes;
    let busiest =
        calls.iter().filter(|(_, c)| moved(c) > 0.0).max_by(|a, b| moved(a.1).total_cmp(&moved(b.1)));
    let only = || known.first().filter(|_| known.len() == 1).map(|name| (*name).to_owned());
    Ok(busiest.map(|(name, _)| name.clone()).or_else(only))
}

/// What programs asked of a dataset: a second, or in all where the capture has one reading only.
#[derive(Debug, Default)]
struct Calls {
    reads: f64,
    writes: f64,
    read_bytes: f64,
    written_bytes: f64,
    /// OpenZFS 2.2 and later count them by dataset.
    commits: Option<f64>,
}

impl Calls {
    fn of(evidence: &Evidence) -> BTreeMap<String, Calls> {
        let names = evidence.facts.recorder.series.as_ref().and_then(|series| series.objsets.as_ref());
        let of_datasets = || evidence.kstats.iter().filter(|kstat| kstat.source.contains("/objset-"));
        // Rates of some and sums of others could not be compared.
        let rates = of_datasets().any(|kstat| kstat.rate.is_some());
        let mut calls: BTreeMap<String, Calls> = BTreeMap::new();
        for kstat in of_datasets() {
            let name = names.and_then(|names| names.get(&kstat.source)).filter(|name| !name.is_empty());
            let amount = if rates { kstat.rate } else { Some(kstat.value) };
            let (Some(name), Some(amount)) = (name, amount) else { continue };
            let own = calls.entry(name.clone()).or_default();
            match kstat.name.as_str() {
                "reads" => own.reads += amount,
                "writes" => own.writes += amount,
                "nread" => own.read_bytes += amount,
                "nwritten" => own.written_bytes += amount,
                "zil_commit_count" => *own.commits.get_or_insert(0.0) += amount,
                _ => {}
            }
        }
        calls
    }
}
