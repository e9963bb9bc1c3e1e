//! Pools and datasets of some evidence, with their properties and counters.
//!
//! Invariants: a dataset has the values that are listed for it; one that is not listed comes from the
//! nearest dataset above, where OpenZFS inherits it, or is one of its pool. Values of which the
//! evidence does not say whose they are belong to the only dataset (or pool) that it names, and to
//! nobody where it names several.

use super::Scope;
use super::column::Column;
use crate::facts::{Function, Query, Value, leading_number, value_like};
use crate::properties::PROPERTIES;
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use zwhy_evidence::{Evidence, Kstat, OriginId};

/// Index into [`Storage::nodes`].
pub(super) type NodeId = u32;

/// A value, and where it was read.
pub(super) type Told<'a> = (Cow<'a, str>, OriginId);

struct Node<'a> {
    name: &'a str,
    /// Its own name is known.
    named: bool,
    parent: Option<NodeId>,
    pool: Option<NodeId>,
    sources: Option<&'a BTreeMap<String, String>>,
    volume: bool,
    /// Bytes read and written a second.
    traffic: Option<[f64; 2]>,
}

/// Kstats of a pool, below its name.
const OF_POOLS: [&str; 8] =
    ["iostats", "txgs", "io", "state", "dmu_tx_assign", "reads", "multihost", "raidz_expand"];

/// First parts of the sources that captures give to counters of the kernel (`crates/record/src/series`).
const OF_KERNEL: [&str; 5] = ["pressure", "disk", "taskq", "process", "cgroup"];

/// Names under which captures keep a pool's figures.
const ALSO: [(&str, &str); 3] =
    [("capacity", "capacity_pct"), ("fragmentation", "fragmentation_pct"), ("size", "size_bytes")];

/// All pools and datasets.
pub(super) struct Storage<'a> {
    evidence: &'a Evidence,
    nodes: Vec<Node<'a>>,
    ids: FxHashMap<&'a str, NodeId>,
    /// Those with values of their own, the busiest first.
    pub(super) datasets: Vec<NodeId>,
    pub(super) pools: Vec<NodeId>,
    by_property: FxHashMap<&'a str, Vec<(NodeId, Told<'a>)>>,
    /// Kstats of pools and datasets by name.
    by_kstat: FxHashMap<&'a str, Vec<(NodeId, bool, &'a Kstat)>>,
    /// A capture counted all datasets: those without counters did nothing.
    idle_known: bool,
    columns: Mutex<FxHashMap<String, Arc<Vec<Option<Told<'a>>>>>>,
}

impl<'a> Storage<'a> {
    pub(super) fn new(evidence: &'a Evidence) -> Storage<'a> {
        let mut storage = Storage {
            evidence,
            nodes: Vec::new(),
            ids: FxHashMap::default(),
            datasets: Vec::new(),
            pools: Vec::new(),
            by_property: FxHashMap::default(),
            by_kstat: FxHashMap::default(),
            idle_known: false,
            columns: Mutex::default(),
        };
        let mut datasets: FxHashSet<NodeId> = FxHashSet::default();
        let mut pools: FxHashSet<NodeId> = FxHashSet::default();
        storage.add_facts(&mut datasets, &mut pools);
        let all_listed = !datasets.is_empty();
        storage.add_properties(!all_listed, &mut datasets);
        storage.add_kstats(&mut datasets, &mut pools);
        pools.extend(datasets.iter().filter_map(|d| storage.nodes[*d as usize].pool));
        storage.add_tables(&mut pools);
        storage.sort(datasets, pools);
        storage
    }

    fn sort(&mut self, datasets: FxHashSet<NodeId>, pools: FxHashSet<NodeId>) {
        let busiest_first = |nodes: FxHashSet<NodeId>| {
            let mut nodes: Vec<NodeId> = nodes.into_iter().collect();
            let of = |id: &NodeId| {
                let node = &self.nodes[*id as usize];
                (node.traffic.map_or(0.0, |[r, w]| r + w), node.name)
            };
            nodes.sort_by(|a, b| {
                let ((busy_a, name_a), (busy_b, name_b)) = (of(a), of(b));
                busy_b.total_cmp(&busy_a).then_with(|| name_a.cmp(name_b))
            });
            nodes
        };
        (self.datasets, self.pools) = (busiest_first(datasets), busiest_first(pools));
    }

    /// The node of a name, with all above it.
    fn node(&mut self, name: &'a str) -> NodeId {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let parent = name.rsplit_once('/').filter(|(above, _)| !above.is_empty()).map(|(above, _)| above);
        let parent = parent.map(|above| self.node(above));
        let id = self.nodes.len() as NodeId;
        let pool = match parent {
            Some(parent) => self.nodes[parent as usize].pool,
            None if name.is_empty() => None,
            None => Some(id),
        };
        let named = !name.is_empty();
        self.nodes.push(Node { name, named, parent, pool, sources: None, volume: false, traffic: None });
        self.ids.insert(name, id);
        id
    }

    /// What a capture lists.
    fn add_facts(&mut self, datasets: &mut FxHashSet<NodeId>, pools: &mut FxHashSet<NodeId>) {
        let facts = &self.evidence.facts;
        let with_values: FxHashSet<&str> =
            self.evidence.properties.iter().filter_map(|p| p.dataset.as_deref()).collect();
        for pool in facts.pools.iter().flatten() {
            let Some(name) = pool.name.as_deref() else { continue };
            let node = self.node(name);
            pools.insert(node);
            self.add_values(node, pool.figures(), pool.properties.as_ref());
        }
        for dataset in facts.datasets.iter().flatten() {
            let Some(name) = dataset.name.as_deref() else { continue };
            let node = self.node(name);
            datasets.insert(node);
            self.nodes[node as usize].sources = dataset.sources.as_ref();
            self.nodes[node as usize].volume = dataset.kind.as_deref() == Some("volume");
            if !with_values.contains(name) {
                self.add_values(node, dataset.figures(), dataset.properties.as_ref());
            }
        }
    }

    /// Values of a listed pool or dataset.
    fn add_values(
        &mut self,
        node: NodeId,
        figures: Vec<(&'static str, String)>,
        properties: Option<&'a BTreeMap<String, String>>,
    ) {
        let figures = figures.into_iter().map(|(name, text)| (name, Cow::Owned(text)));
        let properties = properties.into_iter().flatten();
        let properties = properties.map(|(name, text)| (name.as_str(), Cow::Borrowed(text.as_str())));
        for (name, text) in figures.chain(properties) {
            self.by_property.entry(name).or_default().push((node, (text, OriginId::default())));
        }
    }

    fn add_properties(&mut self, all: bool, datasets: &mut FxHashSet<NodeId>) {
        let mut last: Option<(&str, NodeId)> = None;
        for property in &self.evidence.properties {
            let name = property.dataset.as_deref().unwrap_or("");
            let node = match last {
                Some((of, node)) if of == name => node,
                _ => self.node(name),
            };
            last = Some((name, node));
            if (all || name.is_empty()) && !name.contains(['@', '#']) {
                datasets.insert(node);
            }
            if property.name == "type" {
                self.nodes[node as usize].volume |= property.value == "volume";
            }
            let told = (Cow::Borrowed(property.value.as_str()), property.origin);
            self.by_property.entry(&property.name).or_default().push((node, told));
        }
    }

    fn add_kstats(&mut self, datasets: &mut FxHashSet<NodeId>, pools: &mut FxHashSet<NodeId>) {
        let series = self.evidence.facts.recorder.series.as_ref();
        let objsets = series.and_then(|series| series.objsets.as_ref());
        let skipped = series.and_then(|series| series.datasets_skipped).unwrap_or(0);
        self.idle_known = objsets.is_some() && skipped == 0;
        let unnamed = self.unnamed_objset(datasets);
        let mut last: Option<(&str, Option<(NodeId, bool)>)> = None;
        for kstat in &self.evidence.kstats {
            let of = match last {
                Some((source, of)) if source == kstat.source => of,
                _ => self.owner(&kstat.source, objsets, unnamed),
            };
            last = Some((&kstat.source, of));
            let Some((node, is_objset)) = of else { continue };
            if is_objset {
                datasets.insert(node)
            } else {
                pools.insert(node)
            };
            self.by_kstat.entry(&kstat.name).or_default().push((node, is_objset, kstat));
            if let (true, Some(rate)) = (is_objset, kstat.rate) {
                let at = match kstat.name.as_str() {
                    "nread" => 0,
                    "nwritten" => 1,
                    _ => continue,
                };
                let pool = self.nodes[node as usize].pool;
                for node in [Some(node), pool.filter(|p| *p != node)].into_iter().flatten() {
                    self.nodes[node as usize].traffic.get_or_insert_default()[at] += rate;
                }
            }
        }
    }

    /// The only dataset, which the only counters without a name are of.
    fn unnamed_objset(&self, datasets: &FxHashSet<NodeId>) -> Option<NodeId> {
        let mut sources = self.evidence.kstats.iter().map(|k| k.source.as_str());
        let first = sources.find(|s| s.contains("/objset-"))?;
        let one = !sources.any(|s| s.contains("/objset-") && s != first);
        let mut only = datasets.iter();
        only.next().copied().filter(|_| one && only.next().is_none())
    }

    /// Whose kstats those of a source are, and whether they are of a dataset.
    fn owner(
        &mut self,
        source: &'a str,
        objsets: Option<&'a BTreeMap<String, String>>,
        unnamed: Option<NodeId>,
    ) -> Option<(NodeId, bool)> {
        let (pool, kind) = source.split_once('/')?;
        if !kind.starts_with("objset-") {
            // Counters of the kernel have a folder, too: `pressure/io` is of no pool.
            let known =
                !OF_KERNEL.contains(&pool) && OF_POOLS.contains(&kind) || kind.starts_with("ddt_stats_");
            return known.then(|| (self.node(pool), false));
        }
        let name = objsets.and_then(|o| o.get(source)).map(String::as_str).filter(|n| !n.is_empty());
        Some(match (name, unnamed) {
            (Some(name), _) => (self.node(name), true),
            (None, Some(only)) => (only, true),
            (None, None) => {
                let node = self.node(source);
                self.nodes[node as usize].named = false;
                (node, true)
            }
        })
    }

    /// Pools that tables name.
    fn add_tables(&mut self, pools: &mut FxHashSet<NodeId>) {
        for table in self.evidence.tables.iter().filter(|t| t.tool.starts_with("zpool ")) {
            let is_pool = |c: &String| c.eq_ignore_ascii_case("pool");
            let is_name = |c: &String| c.eq_ignore_ascii_case("name");
            let listing = table.tool.starts_with("zpool list") && !table.tool.contains("-v");
            let at = table.columns.iter().position(is_pool);
            let at = at.or_else(|| table.columns.iter().position(is_name).filter(|_| listing));
            // Rows of vdevs and disks follow under the same heading of zpool iostat -v.
            let Some(at) = at.filter(|_| !table.tool.contains("-v")) else { continue };
            for name in table.rows.iter().filter_map(|row| row.get(at)) {
                if !name.is_empty() && !name.contains(['/', ' ']) {
                    let node = self.node(name);
                    pools.insert(node);
                }
            }
        }
    }

    pub(super) fn name(&self, node: NodeId) -> Option<&str> {
        self.nodes.get(node as usize).filter(|n| n.named).map(|n| n.name)
    }

    /// Names that mean one row each, however the row is called to the reader.
    pub(super) fn pool_named(&self, name: &str) -> Option<u32> {
        let node = *self.ids.get(name)?;
        self.pools.iter().position(|p| *p == node).map(|at| at as u32)
    }

    /// The pool of a node among the rows of pools; the only pool for what has no name.
    pub(super) fn pool_row(&self, node: NodeId) -> Option<u32> {
        match self.nodes[node as usize].pool {
            Some(pool) => self.pools.iter().position(|p| *p == pool).map(|at| at as u32),
            None => (self.pools.len() == 1).then_some(0),
        }
    }

    pub(super) fn traffic(&self, node: NodeId) -> Option<[f64; 2]> {
        let known = self.nodes[node as usize].traffic;
        known.or_else(|| self.idle_known.then_some([0.0, 0.0]))
    }

    pub(super) fn source(&self, node: NodeId, property: &str) -> Option<&'a str> {
        self.nodes[node as usize].sources?.get(property).map(String::as_str)
    }

    /// A property of every node.
    pub(super) fn values(&self, property: &str) -> Arc<Vec<Option<Told<'a>>>> {
        let known = self.columns.lock().ok().and_then(|c| c.get(property).cloned());
        if let Some(known) = known {
            return known;
        }
        let values = Arc::new(self.make_values(property));
        if let Ok(mut columns) = self.columns.lock() {
            columns.insert(property.to_owned(), values.clone());
        }
        values
    }

    fn make_values(&self, property: &str) -> Vec<Option<Told<'a>>> {
        let mut values: Vec<Option<Told>> = vec![None; self.nodes.len()];
        let also = ALSO.iter().find(|(name, _)| *name == property).map(|(_, also)| *also);
        for name in std::iter::once(property).chain(also) {
            for (node, told) in self.by_property.get(name).into_iter().flatten() {
                values[*node as usize].get_or_insert_with(|| told.clone());
            }
        }
        self.take_unnamed(&mut values);
        let of_pool =
            PROPERTIES.of_pool.contains(&property) || property.starts_with("feature@") || also.is_some();
        let inherited = PROPERTIES.inherited.contains(&property);
        let blocks = (property == "recordsize").then(|| self.by_property.get("volblocksize")).flatten();
        let volumes: FxHashSet<NodeId> = blocks.into_iter().flatten().map(|(node, _)| *node).collect();
        // Parents come before their children.
        for at in 0..self.nodes.len() {
            let node = &self.nodes[at];
            let own = values[at].is_some() || (property == "recordsize" && node.volume);
            if own || volumes.contains(&(at as NodeId)) {
                continue;
            }
            let above = match (of_pool, inherited) {
                (true, _) => node.pool.filter(|p| *p as usize != at),
                (_, true) => node.parent,
                _ => None,
            };
            values[at] = above.and_then(|above| values[above as usize].clone());
        }
        values
    }

    /// Values without a name are those of the only dataset, or the only pool.
    fn take_unnamed(&self, values: &mut [Option<Told<'a>>]) {
        let Some(unnamed) = self.ids.get("").copied() else { return };
        for rows in [&self.datasets, &self.pools] {
            let mut named = rows.iter().filter(|node| **node != unnamed);
            if let (Some(only), None) = (named.next(), named.next()) {
                let value = values[unnamed as usize].clone();
                let slot = &mut values[*only as usize];
                *slot = slot.take().or(value);
            }
        }
    }

    pub(super) fn property_column(&self, rows: &[NodeId], query: &Query) -> Column {
        let values = self.values(query.argument(0));
        // Few values are different: each is read once.
        let mut read: FxHashMap<&str, Option<Value>> = FxHashMap::default();
        Column::of(rows.iter().map(|node| {
            let text: &str = &values[*node as usize].as_ref()?.0;
            read.entry(text).or_insert_with(|| meaning(text, query)).clone()
        }))
    }

    /// Counters of datasets, of their pools for a counter of pools; of a pool the sum of its datasets'.
    pub(super) fn kstat_column(&self, scope: Scope, query: &Query) -> Column {
        let Some(source) = query.patterns.first() else { return Column::default() };
        let of_pools = scope == Scope::Pool;
        let rows = if of_pools { &self.pools } else { &self.datasets };
        let mut sums: FxHashMap<NodeId, f64> = FxHashMap::default();
        for (node, is_objset, kstat) in self.by_kstat.get(query.argument(1)).into_iter().flatten() {
            let value = if query.function == Function::Rate { kstat.rate } else { Some(kstat.value) };
            let (Some(value), true) = (value, source.matches(&kstat.source)) else { continue };
            let owner = if of_pools && *is_objset { self.nodes[*node as usize].pool } else { Some(*node) };
            if let Some(owner) = owner {
                *sums.entry(owner).or_default() += value;
            }
        }
        let of_datasets = query.argument(0).contains("objset");
        let idle = (self.idle_known && of_datasets && query.function == Function::Rate).then_some(0.0);
        let value = |node: &NodeId| {
            let owner = match of_pools || of_datasets {
                true => Some(*node),
                false => self.pool_row(*node).map(|at| self.pools[at as usize]),
            };
            let named = self.nodes[*node as usize].named;
            owner.and_then(|o| sums.get(&o).copied()).or(idle.filter(|_| named)).map(Value::Number)
        };
        Column::of(rows.iter().map(value))
    }

    /// Where the counters of a row were read.
    pub(super) fn kstat_origin(&self, query: &Query) -> Option<OriginId> {
        let source = query.patterns.first()?;
        let named = self.by_kstat.get(query.argument(1))?;
        named.iter().find(|(.., kstat)| source.matches(&kstat.source)).map(|(.., kstat)| kstat.origin)
    }
}

/// What a property's text says to a question.
pub(super) fn meaning(text: &str, query: &Query) -> Option<Value> {
    match (query.function, query.patterns.get(1)) {
        (Function::PropNumber, _) => leading_number(text).map(Value::Number),
        (_, Some(like)) => Some(Value::Truth(value_like(text, like))),
        _ => None,
    }
}
