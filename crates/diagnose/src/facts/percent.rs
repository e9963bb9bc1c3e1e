//! Answers from percentages without counts: rows of `perf top`, stacks somebody pasted.
//!
//! Such lists are cut, so a function that is not in them is not known to be absent, unless what is
//! left over is too small to matter.

use super::catalogue::Function;
use super::locks::lock_stacks;
use super::query::Query;
use super::reading::{Quality, Reading};
use crate::anatomy::{Anatomy, StageId};
use crate::classify::classify_alone;
use crate::name::{bare_names, chain};
use crate::pattern::Pattern;
use rustc_hash::FxHashMap;
use zwhy_evidence::{Evidence, FlatRow, PctKind};
use zwhy_zfs::thread_base;

/// A function missing from a list counts as absent when at most this share could have been cut.
const NEGLIGIBLE: f64 = 0.02;

struct Row {
    name: String,
    comm: Option<String>,
    own: Option<f64>,
    children: Option<f64>,
    stage: StageId,
    label: u8,
    origin: String,
}

struct Stack {
    names: Vec<String>,
    comm: Option<String>,
    share: Option<f64>,
    /// Whether the share may be relative to a caller.
    unclear: bool,
    /// Whether the share is of samples that no other stack of the same list has.
    own: bool,
    waiting: bool,
    origin: String,
}

impl Stack {
    fn quality(&self) -> Quality {
        match self.share {
            Some(_) if self.unclear => Quality::Unclear,
            Some(_) => Quality::Figure,
            None => Quality::Named,
        }
    }

    fn has(&self, pattern: &Pattern) -> bool {
        self.names.iter().any(|n| pattern.matches(n))
    }

    /// Whether the first functions call, at any depth, the second.
    fn calls(&self, caller: &Pattern, callee: &Pattern) -> bool {
        let at = self.names.iter().position(|n| caller.matches(n));
        at.is_some_and(|i| self.names[i + 1..].iter().any(|n| callee.matches(n)))
    }
}

/// Whether a module in user space is none of ZFS's, which are its programs, their libraries and libc.
fn is_other_program(module: &str) -> bool {
    const OF_ZFS: [&str; 17] = [
        "zfs",
        "zpool",
        "zdb",
        "zed",
        "ztest",
        "zhack",
        "zstream",
        "zfs_ids_to_path",
        "libzfs",
        "libzpool",
        "libzfs_core",
        "libnvpair",
        "libuutil",
        "libavl",
        "libzutil",
        "libshare",
        "libc",
    ];
    // `libzfs.so.4.2.0`, `libc-2.31.so`, `libc.so.6`
    let name = module.split(".so").next().unwrap_or(module);
    let name = name.split_once('-').map_or(name, |(name, _)| name);
    !OF_ZFS.contains(&name)
}

/// One row for each name of a row. The figure of several is with the first: only a pattern that
/// means all of them may take it for theirs, and that is what sums do.
fn rows_of(row: &FlatRow, evidence: &Evidence, anatomy: &Anatomy) -> Vec<Row> {
    let of_name = |(at, name): (usize, &str)| {
        let figure = |pct: Option<f64>| pct.filter(|_| at == 0).map(|p| p / 100.0);
        // Backup servers and databases hash and compress as well, with functions of the same names.
        let name = match row.module.as_deref().filter(|module| row.user && is_other_program(module)) {
            Some(module) => format!("{module}`{name}"),
            None => name.to_owned(),
        };
        let (stage, label) = classify_alone(&name, row.module.as_deref().unwrap_or(""), anatomy);
        Row {
            name,
            comm: row.comm.clone(),
            own: figure(row.pct),
            children: figure(row.children_pct),
            stage,
            label,
            origin: evidence.origin_name(row.origin).to_owned(),
        }
    };
    bare_names(&row.symbol).enumerate().map(of_name).collect()
}

fn frame_names(frame: &str) -> Vec<&str> {
    chain(frame).unwrap_or_else(|| bare_names(frame).collect())
}

/// Call chains in the cells of tables, as people sum up what a tracer printed.
fn written_chains(evidence: &Evidence) -> impl Iterator<Item = (Vec<String>, String)> {
    evidence.tables.iter().flat_map(move |table| {
        let chains = table.rows.iter().flatten().filter_map(|cell| chain(cell));
        let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
        chains.map(move |names| (owned(names), evidence.origin_name(table.origin).to_owned()))
    })
}

/// Flat rows and stacks, shares 0 to 1.
#[derive(Default)]
pub struct PercentFacts {
    rows: Vec<Row>,
    stacks: Vec<Stack>,
    /// The most that a function which is in no row can have by itself.
    unseen: Option<f64>,
}

impl PercentFacts {
    pub fn new(evidence: &Evidence, anatomy: &Anatomy) -> PercentFacts {
        let rows: Vec<Row> = evidence.flat.iter().flat_map(|row| rows_of(row, evidence, anatomy)).collect();
        let stacks = evidence
            .trees
            .iter()
            .map(|tree| Stack {
                names: tree.frames.iter().flat_map(|f| frame_names(f)).map(str::to_owned).collect(),
                comm: tree.comm.clone(),
                share: tree.pct.map(|p| p / 100.0),
                unclear: tree.kind == PctKind::Unclear,
                own: tree.kind == PctKind::Own,
                waiting: tree.waiting,
                origin: evidence.origin_name(tree.origin).to_owned(),
            })
            .chain(lock_stacks(evidence).chain(written_chains(evidence)).map(|(names, origin)| Stack {
                names,
                comm: None,
                share: None,
                unclear: false,
                own: false,
                waiting: true,
                origin,
            }))
            .collect();
        let own = || rows.iter().filter_map(|r| r.own);
        let smallest = own().fold(f64::INFINITY, f64::min);
        let unseen = smallest.is_finite().then(|| smallest.min((1.0 - own().sum::<f64>()).max(0.0)));
        PercentFacts { rows, stacks, unseen }
    }

    /// Share of each stage from rows alone, as far as they go.
    pub fn stage_shares(&self) -> impl Iterator<Item = (StageId, u8, f64)> + '_ {
        self.rows.iter().filter_map(|r| Some((r.stage, r.label, r.own?)))
    }

    pub fn answer(&self, query: &Query, anatomy: &Anatomy) -> Option<Reading> {
        use Function as F;
        let pattern = |at: usize| query.patterns.get(at);
        match query.function {
            F::Share => self.share(pattern(0)?),
            F::SelfShare => self.self_share(pattern(0)?),
            F::Seen => self.seen(pattern(0)?, query.least),
            F::Calls => self.calls(pattern(0)?, pattern(1)?, query.least),
            F::UnderNot => self.under_not(pattern(0)?, pattern(1)?, pattern(2)?),
            F::CalledBy => self.called_by(pattern(0)?, pattern(1)?),
            F::Under => self.under(pattern(0)?, pattern(1)?),
            F::InThread => self.in_thread(pattern(0)?, pattern(1)?),
            F::Stage => {
                let stage = anatomy.stage(query.argument(0))?;
                self.sum_rows(|row| row.stage == stage)
            }
            F::Label => {
                let label = anatomy.label(query.argument(0))?;
                self.sum_rows(|row| row.label == label)
            }
            _ => None,
        }
    }

    fn sum_rows(&self, keep: impl Fn(&Row) -> bool) -> Option<Reading> {
        let mut kept = self.rows.iter().filter(|r| r.own.is_some() && keep(r)).peekable();
        let origin = kept.peek()?.origin.clone();
        Reading::number(kept.filter_map(|r| r.own).sum(), Quality::Figure, origin)
    }

    fn absent(&self) -> Option<Reading> {
        let row = self.rows.first()?;
        (self.unseen? <= NEGLIGIBLE).then(|| Reading::number(0.0, Quality::Figure, row.origin.as_str()))?
    }

    fn self_share(&self, pattern: &Pattern) -> Option<Reading> {
        if !self.rows.iter().any(|r| pattern.matches(&r.name)) {
            return self.absent();
        }
        self.sum_rows(|row| pattern.matches(&row.name))
    }

    /// The largest figure that speaks of these functions: rows summed, a row with children, a stack.
    fn share(&self, pattern: &Pattern) -> Option<Reading> {
        let matching = || self.rows.iter().filter(|r| pattern.matches(&r.name));
        let own: f64 = matching().filter_map(|r| r.own).sum();
        let children = matching().filter_map(|r| r.children).fold(0.0, f64::max);
        let stacks = self.stacks.iter().filter(|s| !s.waiting && s.has(pattern));
        let of_stacks = self.most(|s| s.has(pattern));
        let unclear = of_stacks.as_ref().is_some_and(|r| r.quality == Quality::Unclear);
        let of_stacks = of_stacks.and_then(|r| r.value.number()).unwrap_or(0.0);
        let best = own.max(children).max(of_stacks).min(1.0);
        let unclear = unclear && of_stacks > own.max(children);
        let quality = if unclear { Quality::Unclear } else { Quality::Figure };
        let origin = matching().map(|r| &r.origin).chain(stacks.map(|s| &s.origin)).next();
        match origin {
            Some(origin) if best > 0.0 => Reading::number(best, quality, origin.as_str()),
            Some(_) => None,
            None => self.absent(),
        }
    }

    /// With a least share, what has a figure counts from there on, what has none by being named.
    fn seen(&self, pattern: &Pattern, least: Option<f64>) -> Option<Reading> {
        if let Some(least) = least {
            let rows = self.rows.iter().filter(|r| pattern.matches(&r.name));
            let stacks = self.stacks.iter().filter(|s| s.has(pattern));
            let figures = rows.map(|r| r.children.or(r.own)).chain(stacks.map(|s| s.share));
            let named = figures.clone().any(|f| f.is_none());
            let origin = || self.origin_of(pattern).unwrap_or_default();
            return match self.share(pattern) {
                Some(Reading { value: super::Value::Number(share), .. }) if share >= least || !named => {
                    Reading::truth(share >= least, Quality::Figure, origin())
                }
                _ if named => Reading::truth(true, Quality::Named, origin()),
                _ => None,
            };
        }
        let row = self.rows.iter().find(|r| pattern.matches(&r.name));
        if let Some(row) = row {
            let quality = if row.own.is_some() { Quality::Figure } else { Quality::Named };
            return Reading::truth(true, quality, row.origin.as_str());
        }
        let stack = self.stacks.iter().find(|s| s.has(pattern))?;
        Reading::truth(true, stack.quality(), stack.origin.as_str())
    }

    /// Whether a row or a stack has one of these functions.
    pub fn knows(&self, pattern: &Pattern) -> bool {
        self.seen(pattern, None).is_some()
    }

    /// Whether all that is said of these functions is their name. Samples always have figures.
    pub fn named(&self, pattern: &Pattern, has_samples: bool) -> Option<Reading> {
        let only_named = !has_samples
            && self.share(pattern).is_none_or(|r| r.value.number() == Some(0.0))
            && self.seen(pattern, None).is_some();
        Reading::truth(only_named, Quality::Named, self.origin_of(pattern).unwrap_or_default())
    }

    fn origin_of(&self, pattern: &Pattern) -> Option<String> {
        let row = self.rows.iter().find(|r| pattern.matches(&r.name)).map(|r| &r.origin);
        let stack = || self.stacks.iter().find(|s| s.has(pattern));
        row.or_else(|| stack().map(|s| &s.origin)).cloned()
    }

    /// What the stacks have together that are kept: of one list, as far as its figures are of samples of their own; else the
    /// largest figure.
    fn most(&self, keep: impl Fn(&Stack) -> bool) -> Option<Reading> {
        let kept = || self.stacks.iter().filter(|s| !s.waiting && s.share.is_some() && keep(s));
        let largest = kept().max_by(|a, b| a.share.unwrap_or(0.0).total_cmp(&b.share.unwrap_or(0.0)))?;
        let mut lists: FxHashMap<&str, f64> = FxHashMap::default();
        for stack in kept().filter(|s| s.own) {
            *lists.entry(&stack.origin).or_default() += stack.share.unwrap_or(0.0);
        }
        let sum = lists.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(a.0)));
        match sum {
            Some((origin, sum)) if sum > largest.share? => {
                Reading::number(sum.min(1.0), Quality::Figure, origin)
            }
            _ => Reading::number(largest.share?, largest.quality(), largest.origin.as_str()),
        }
    }

    fn under_not(&self, callee: &Pattern, caller: &Pattern, except: &Pattern) -> Option<Reading> {
        self.most(|s| {
            (0..s.names.len()).any(|at| {
                let above = &s.names[..at];
                callee.matches(&s.names[at])
                    && above.iter().any(|n| caller.matches(n))
                    && !above.iter().any(|n| except.matches(n))
            })
        })
    }

    fn called_by(&self, callee: &Pattern, caller: &Pattern) -> Option<Reading> {
        self.most(|s| s.names.windows(2).any(|w| caller.matches(&w[0]) && callee.matches(&w[1])))
    }

    fn calls(&self, caller: &Pattern, callee: &Pattern, least: Option<f64>) -> Option<Reading> {
        if let Some(least) = least {
            let most = self.under(callee, caller);
            let share = most.as_ref().and_then(|r| r.value.number());
            if share.is_some_and(|s| s >= least) {
                return Reading::truth(true, Quality::Figure, most?.origin);
            }
            let named = self.stacks.iter().find(|s| s.share.is_none() && s.calls(caller, callee));
            return match (named, share) {
                (Some(stack), _) => Reading::truth(true, Quality::Named, stack.origin.as_str()),
                (None, Some(_)) => Reading::truth(false, Quality::Figure, most?.origin),
                (None, None) => None,
            };
        }
        let stacks = self.stacks.iter().filter(|s| s.calls(caller, callee));
        let best = stacks.max_by_key(|s| s.share.is_some())?;
        Reading::truth(true, best.quality(), best.origin.as_str())
    }

    fn under(&self, callee: &Pattern, caller: &Pattern) -> Option<Reading> {
        self.most(|s| s.calls(caller, callee))
    }

    fn in_thread(&self, pattern: &Pattern, threads: &Pattern) -> Option<Reading> {
        let on = |comm: &Option<String>| comm.as_deref().is_some_and(|c| threads.matches_thread(c));
        let rows = self.sum_rows(|r| on(&r.comm) && pattern.matches(&r.name));
        rows.or_else(|| self.most(|s| on(&s.comm) && s.has(pattern)))
    }

    /// Origin of a waiting stack with one of these functions. A stack that came without a figure
    /// may be a waiting one, so it counts.
    pub fn waiting_with(&self, pattern: &Pattern) -> Option<&str> {
        let stack = self.stacks.iter().find(|s| (s.waiting || s.share.is_none()) && s.has(pattern))?;
        Some(&stack.origin)
    }

    pub fn has_thread(&self, threads: &Pattern) -> Option<&str> {
        let on = |comm: &Option<String>| comm.as_deref().is_some_and(|c| threads.matches_thread(c));
        let rows = self.rows.iter().filter(|r| on(&r.comm)).map(|r| r.origin.as_str());
        rows.chain(self.stacks.iter().filter(|s| on(&s.comm)).map(|s| s.origin.as_str())).next()
    }

    /// Part of busy CPU that rows, or stacks, give these threads; `None` where none has a figure. Such lists are cut, so
    /// it may be more.
    pub fn thread_share(&self, threads: &Pattern) -> Option<f64> {
        let on = |comm: &Option<String>| comm.as_deref().is_some_and(|c| threads.matches_thread(c));
        let sum = |shares: &mut dyn Iterator<Item = f64>| shares.reduce(|a, b| a + b);
        let rows = sum(&mut self.rows.iter().filter(|r| on(&r.comm)).filter_map(|r| r.own.or(r.children)));
        let stacks = sum(&mut self.stacks.iter().filter(|s| on(&s.comm)).filter_map(|s| s.share));
        rows.into_iter().chain(stacks).reduce(f64::max)
    }

    /// Names, without numbers, of the threads of rows and stacks that a pattern matches.
    pub fn thread_names(&self, threads: &Pattern) -> impl Iterator<Item = &str> {
        let comms = self.rows.iter().map(|r| &r.comm).chain(self.stacks.iter().map(|s| &s.comm));
        comms.flatten().filter(|c| threads.matches_thread(c)).map(|c| thread_base(c))
    }

    /// Names that a pattern matches, heaviest first.
    pub fn names(&self, pattern: &Pattern, most: usize) -> Vec<String> {
        let rows = self.rows.iter().map(|r| (&r.name, r.children.or(r.own).unwrap_or(0.0)));
        let stacks = self.stacks.iter().flat_map(|s| s.names.iter().map(|n| (n, s.share.unwrap_or(0.0))));
        let mut found: Vec<(&String, f64)> = rows.chain(stacks).filter(|(n, _)| pattern.matches(n)).collect();
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
        let mut names: Vec<String> = Vec::new();
        for (name, _) in found {
            if names.len() < most && !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    }
}
