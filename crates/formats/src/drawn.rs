//! Samples of what came without: rows and trees of percentages, and kernel stacks that were printed.
//!
//! Made only for drawing and exporting; answers are computed from the figures as they are. Invariants: the self
//! percentage of each row is kept as a whole number of parts, whatever its trees say of the way to it; an event
//! that the input has real samples of gets none made.

use crate::text::names::{kind_of_bare_module, module};
use rustc_hash::FxHashMap;
use zwhy_evidence::{Evidence, FlatRow, Imported, PctKind, PctStack};
use zwhy_profile::{Event, FrameKind, Measure, Profile, Unit};

/// Samples that were made, and how.
#[derive(Clone, Debug, Default)]
pub struct Drawn {
    pub profile: Profile,
    /// Sentences on how; empty when nothing was made.
    pub notes: Vec<String>,
}

/// Samples for each event that `evidence` has none of.
pub fn drawn(evidence: &Evidence) -> Drawn {
    let mut maker = Maker { evidence, modules: modules(evidence), drawn: Drawn::default() };
    if evidence.profile.samples.total(Event::Cpu) == 0 {
        maker.on_cpu();
    }
    if evidence.profile.samples.total(Event::Wait) == 0 {
        let waiting: Vec<&PctStack> = evidence.trees.iter().filter(|t| t.waiting).collect();
        maker.printed(&waiting, Event::Wait, "of waiting");
    }
    maker.drawn
}

/// A copy of the input with samples made of percentages and printed stacks; `None` where there are none to make.
/// Answers rest on what was read, so they are never computed from this.
pub fn with_drawn(imported: &Imported) -> Option<Imported> {
    let made = drawn(&imported.evidence);
    if made.notes.is_empty() {
        return None;
    }
    let mut copy = imported.clone();
    copy.evidence.profile.merge(&made.profile);
    copy.stats.warnings.extend(made.notes);
    Some(copy)
}

/// Modules of functions, from the rows.
fn modules(evidence: &Evidence) -> FxHashMap<&str, &str> {
    let rows = evidence.flat.iter().rev();
    rows.filter_map(|r| Some((r.symbol.as_str(), r.module.as_deref()?))).collect()
}

struct Maker<'a> {
    evidence: &'a Evidence,
    modules: FxHashMap<&'a str, &'a str>,
    drawn: Drawn,
}

/// Command and function that percentages are of.
type Key<'a> = (Option<&'a str>, &'a str);

impl<'a> Maker<'a> {
    fn on_cpu(&mut self) {
        let evidence = self.evidence;
        let mut rows: Vec<(Key<'a>, f64)> = Vec::new();
        let mut at: FxHashMap<Key<'a>, usize> = FxHashMap::default();
        for (row, pct) in evidence.flat.iter().filter_map(|r: &FlatRow| Some((r, sane(r.pct)?))) {
            let key = (row.comm.as_deref(), row.symbol.as_str());
            let place = *at.entry(key).or_insert_with(|| {
                rows.push((key, 0.0));
                rows.len() - 1
            });
            rows[place].1 += pct;
        }
        let running = evidence.trees.iter().filter(|t| !t.waiting && !t.frames.is_empty());
        let (trees, printed): (Vec<&PctStack>, Vec<&PctStack>) = running.partition(|t| sane(t.pct).is_some());
        if rows.is_empty() && trees.is_empty() {
            return self.printed(&printed, Event::Cpu, "on a CPU");
        }
        let scale = scale(rows.iter().map(|r| r.1).chain(trees.iter().filter_map(|t| t.pct)));
        let mut by_leaf: FxHashMap<&str, Vec<&PctStack>> = FxHashMap::default();
        for tree in &trees {
            by_leaf.entry(leaf(tree)).or_default().push(tree);
        }
        let mut spread = 0;
        for &(key, pct) in &rows {
            let parts = (pct * scale).round() as u64;
            let ways = by_leaf.get(key.1).into_iter().flatten().copied();
            let ways: Vec<&PctStack> = ways.filter(|t| same_command(t, key.0)).collect();
            spread += u64::from(self.row(key, parts, scale, &ways));
        }
        let known = |t: &PctStack| rows.iter().any(|(key, _)| key.1 == leaf(t) && same_command(t, key.0));
        let rest: Vec<&PctStack> = trees.iter().copied().filter(|t| !known(t)).collect();
        let left_out = self.without_row(&rest, scale, rows.is_empty()) + printed.len();
        self.say(scale, spread, left_out);
    }

    /// The parts of one row, by the ways that lead to its function; `true` when they had to be spread.
    fn row(&mut self, (comm, symbol): Key<'a>, parts: u64, scale: f64, ways: &[&'a PctStack]) -> bool {
        let weight = |t: &PctStack| (t.pct.unwrap_or(0.0) * scale).round() as u64;
        let own: Vec<&PctStack> = ways.iter().copied().filter(|t| t.kind == PctKind::Own).collect();
        let inclusive = own.is_empty();
        let ways = if inclusive { whole_ways(ways) } else { own };
        let sum: u64 = ways.iter().map(|t| weight(t)).sum();
        if ways.is_empty() || sum == 0 {
            self.push(comm, &[symbol], Event::Cpu, parts);
            return false;
        }
        // Parts that the trees do not tell of have no known callers; parts beyond the row are no more.
        let told = if inclusive { parts } else { sum.min(parts) };
        let (mut passed, mut given) = (0u128, 0u64);
        for way in &ways {
            passed += u128::from(weight(way));
            let until = (passed * u128::from(told) / u128::from(sum)) as u64;
            let frames: Vec<&str> = way.frames.iter().map(String::as_str).collect();
            self.push(comm, &frames, Event::Cpu, until - given);
            given = until;
        }
        self.push(comm, &[symbol], Event::Cpu, parts - told);
        inclusive && ways.len() > 1
    }

    /// Stacks of functions that no row is of; returns how many are left out.
    fn without_row(&mut self, trees: &[&'a PctStack], scale: f64, alone: bool) -> usize {
        let mut left_out = 0;
        for tree in trees {
            let frames: Vec<&str> = tree.frames.iter().map(String::as_str).collect();
            let mut pct = tree.pct.unwrap_or(0.0);
            match tree.kind {
                PctKind::Own => {}
                PctKind::Unclear if alone => {}
                PctKind::Inclusive if alone => {
                    let below = |t: &&&PctStack| {
                        t.comm == tree.comm
                            && t.frames.len() == frames.len() + 1
                            && t.frames.starts_with(&tree.frames)
                    };
                    pct -= trees.iter().filter(below).filter_map(|t| t.pct).sum::<f64>();
                }
                _ => {
                    left_out += 1;
                    continue;
                }
            }
            self.push(tree.comm.as_deref(), &frames, Event::Cpu, (pct.max(0.0) * scale).round() as u64);
        }
        left_out
    }

    fn say(&mut self, scale: f64, spread: u64, left_out: usize) {
        let total = self.drawn.profile.total(Event::Cpu) as f64 / scale;
        if total == 0.0 {
            return;
        }
        self.drawn.profile.set_measure(Event::Cpu, Measure { unit: Unit::Samples, counted: false });
        let notes = &mut self.drawn.notes;
        notes.push(format!(
            "there are percentages and no counted samples: one sample is made of each {} %, {total:.2} % in all",
            1.0 / scale
        ));
        if spread > 0 {
            notes.push(format!(
                "of {spread} functions only the total is told by caller: their own share is spread over the callers in proportion"
            ));
        }
        if left_out > 0 {
            notes.push(format!("{left_out} stacks that do not say what is their own are left out"));
        }
    }

    /// Stacks that were printed: each is one sample.
    fn printed(&mut self, stacks: &[&'a PctStack], event: Event, what: &str) {
        let mut made = 0;
        for stack in stacks.iter().filter(|t| !t.frames.is_empty()) {
            let frames: Vec<&str> = stack.frames.iter().map(String::as_str).collect();
            self.push(stack.comm.as_deref(), &frames, event, 1);
            made += 1;
        }
        if made > 0 {
            self.drawn.profile.set_measure(event, Measure { unit: Unit::Samples, counted: false });
            self.drawn.notes.push(format!(
                "{made} stacks were printed and not sampled: each is taken as one sample {what}, which says nothing of how long"
            ));
        }
    }

    fn push(&mut self, comm: Option<&str>, root_first: &[&str], event: Event, mut parts: u64) {
        let profile = &mut self.drawn.profile;
        if parts == 0 {
            return;
        }
        let mut frames = Vec::with_capacity(root_first.len());
        for name in root_first {
            let object = self.modules.get(name).map_or("", |m| module(m));
            let kind = match (object, event) {
                ("", Event::Wait) => FrameKind::Kernel,
                (object, _) => kind_of_bare_module(object),
            };
            frames.push(profile.frame(name, object, kind));
        }
        let (stack, thread) = (profile.stack(&frames), profile.thread(-1, -1, comm.unwrap_or("")));
        while parts > 0 {
            let part = u32::try_from(parts).unwrap_or(u32::MAX);
            profile.samples.push_counted(thread, stack, event, part);
            parts -= u64::from(part);
        }
    }
}

/// A percentage that can be one: more than nothing, no more than all CPUs of a large host.
fn sane(pct: Option<f64>) -> Option<f64> {
    pct.filter(|pct| *pct > 0.0 && *pct <= 1e6)
}

fn leaf(tree: &PctStack) -> &str {
    tree.frames.last().map_or("", String::as_str)
}

fn same_command(tree: &PctStack, comm: Option<&str>) -> bool {
    tree.comm.is_none() || comm.is_none() || tree.comm.as_deref() == comm
}

/// Ways that are not the end of a longer one: a tree with children tells each way once for every caller in it.
fn whole_ways<'a>(ways: &[&'a PctStack]) -> Vec<&'a PctStack> {
    let part_of_other = |way: &PctStack| {
        ways.iter().any(|other| other.frames.len() > way.frames.len() && other.frames.ends_with(&way.frames))
    };
    ways.iter().copied().filter(|way| !part_of_other(way)).collect()
}

/// Parts of one per cent: as many decimals as are printed, at least two.
fn scale(pcts: impl Iterator<Item = f64>) -> f64 {
    const MOST: i32 = 6;
    let pcts: Vec<f64> = pcts.collect();
    let whole = |scale: f64| {
        pcts.iter().all(|pct| (pct * scale - (pct * scale).round()).abs() < 1e-6 * scale.max(1.0))
    };
    (2..MOST).map(|decimals| 10f64.powi(decimals)).find(|scale| whole(*scale)).unwrap_or(10f64.powi(MOST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ImportOptions, import_bytes};
    use zwhy_profile::FoldedStacks;

    fn of(text: &str) -> Drawn {
        let options = ImportOptions { host_symbols: false, ..ImportOptions::default() };
        drawn(&import_bytes("x", text.as_bytes().to_vec(), &options).unwrap().evidence)
    }

    #[test]
    fn rows_of_percentages_keep_their_total_below_their_command() {
        let d = of(
            "# Overhead  Command  Shared Object  Symbol\n    40.13%  dd  [zfs]  [k] osq_lock\n     9.87%  dd  libc.so.6  [.] read\n",
        );
        assert_eq!(FoldedStacks::text(&d.profile, Event::Cpu), "osq_lock 4013\nread 987\n");
        assert_eq!(d.profile.strings.get(d.profile.threads.get(d.profile.samples.thread[0]).comm), "dd");
        assert!(d.notes[0].contains("each 0.01 %, 50.00 % in all"), "{:?}", d.notes);
    }

    #[test]
    fn printed_stacks_are_one_sample_each() {
        let d = of(
            "[<0>] cv_wait_common+0x1/0x2 [spl]\n[<0>] txg_quiesce_thread+0x1/0x2 [zfs]\n[<0>] kthread+0x1/0x2\n",
        );
        assert_eq!(d.profile.total(Event::Wait), 1, "{:?}", d.notes);
        assert!(d.notes[0].contains("1 stacks were printed"), "{:?}", d.notes);
    }

    #[test]
    fn real_samples_are_never_mixed_with_made_ones() {
        assert!(of("a;b 5\na;c 7\n").notes.is_empty());
    }
}
