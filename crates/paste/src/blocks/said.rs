//! Items that stand in sentences: they fill what no table of the same text tells.
//!
//! Invariant: nothing that a tool printed is changed; what sentences contradict among themselves is
//! left out, except properties, of which every dataset may have its own.

use rustc_hash::{FxHashMap, FxHashSet};
use zwhy_evidence::{Evidence, OriginId};
use zwhy_zfs::thread_base;

/// Items of sentences that are kept at most; more is no issue thread.
pub const MOST: usize = 500;

/// Adds to `evidence` what it lacks.
pub fn fold(evidence: &mut Evidence, mut said: Evidence) {
    {
        let told: FxHashSet<&str> = evidence.params.iter().map(|p| p.name.as_str()).collect();
        let mut values: FxHashMap<String, FxHashSet<String>> = FxHashMap::default();
        for p in &said.params {
            values.entry(p.name.clone()).or_default().insert(p.value.clone());
        }
        said.params
            .retain(|p| !told.contains(p.name.as_str()) && values.get(&p.name).is_some_and(|v| v.len() == 1));
    }
    {
        let told: FxHashSet<&str> = evidence.properties.iter().map(|p| p.name.as_str()).collect();
        said.properties.retain(|p| !told.contains(p.name.as_str()));
    }
    {
        let told: FxHashSet<(&str, &str)> =
            evidence.kstats.iter().map(|k| (k.source.as_str(), k.name.as_str())).collect();
        let mut values: FxHashMap<(String, String), FxHashSet<u64>> = FxHashMap::default();
        for k in &said.kstats {
            values.entry((k.source.clone(), k.name.clone())).or_default().insert(k.value.to_bits());
        }
        said.kstats.retain(|k| {
            let agreed = values.get(&(k.source.clone(), k.name.clone())).is_some_and(|v| v.len() == 1);
            agreed && !told.contains(&(k.source.as_str(), k.name.as_str()))
        });
    }
    {
        // Figures of threads are added up, so one that is told again must not count twice.
        let mut told: FxHashSet<String> =
            evidence.threads.iter().map(|t| thread_base(&t.comm).to_owned()).collect();
        said.threads.retain(|t| told.insert(thread_base(&t.comm).to_owned()));
    }
    // A profile tells all functions; one that is told again must not count twice, and a name alone adds nothing.
    if evidence.flat.is_empty() && evidence.trees.is_empty() && evidence.profile.samples.is_empty() {
        let mut told = FxHashSet::default();
        said.flat.sort_by_key(|row| row.pct.is_none());
        said.flat.retain(|row| told.insert(row.symbol.clone()));
    } else {
        said.flat.clear();
        said.trees.clear();
    }
    evidence.merge(said);
}

/// Leaves of each thread name only what one block told: the same thread in two copies of top would count
/// twice. Of several blocks the one with the most CPU stays, as that is what the report is about.
pub fn one_sitting(evidence: &mut Evidence) {
    let mut sums: FxHashMap<(String, OriginId), f64> = FxHashMap::default();
    for t in &evidence.threads {
        *sums.entry((thread_base(&t.comm).to_owned(), t.origin)).or_default() += t.cpu_pct.unwrap_or(0.0);
    }
    let mut best: FxHashMap<String, (OriginId, f64)> = FxHashMap::default();
    for ((name, origin), sum) in sums {
        let found = best.entry(name).or_insert((origin, sum));
        // Of equal sums the first block, whatever the order of the map.
        if sum > found.1 || (sum == found.1 && origin.0 < found.0.0) {
            *found = (origin, sum);
        }
    }
    evidence
        .threads
        .retain(|t| best.get(thread_base(&t.comm)).is_some_and(|(origin, _)| *origin == t.origin));
}

#[cfg(test)]
mod tests {
    use super::*;
    use zwhy_evidence::{Param, ThreadCpu};

    #[test]
    fn tables_win_and_contradictions_go() {
        let param = |name: &str, value: &str| Param {
            name: name.into(),
            value: value.into(),
            origin: Default::default(),
        };
        let thread =
            |comm: &str, pct| ThreadCpu { comm: comm.into(), cpu_pct: Some(pct), ..Default::default() };
        let of = |comm: &str, pct, block| ThreadCpu { origin: OriginId(block), ..thread(comm, pct) };
        let threads = vec![of("a_b", 50.0, 1), of("a_b", 40.0, 1), of("a_b", 60.0, 2), of("c_d", 1.0, 2)];
        let mut twice = Evidence { threads, ..Evidence::default() };
        one_sitting(&mut twice);
        assert_eq!(twice.threads.iter().filter_map(|t| t.cpu_pct).sum::<f64>(), 91.0);
        let mut evidence = Evidence { params: vec![param("a", "1")], ..Evidence::default() };
        let said = Evidence {
            params: vec![param("a", "2"), param("b", "3"), param("c", "1"), param("c", "2")],
            threads: vec![thread("z_wr_iss", 100.0), thread("z_wr_iss/1", 90.0)],
            ..Evidence::default()
        };
        fold(&mut evidence, said);
        let names: Vec<&str> = evidence.params.iter().map(|p| p.name.as_str()).collect();
        assert_eq!((names, evidence.threads.len()), (vec!["a", "b"], 1));
        assert_eq!(evidence.param("a"), Some("1"));
    }
}
