//! Who called whom, from where the boxes lie.
//!
//! Invariant: a box's own samples are its count less those of the boxes on top of it; the sum over all
//! boxes is the count of the lowest ones.

use super::boxes::{FlameBox, Place};
use crate::text::names;
use crate::text::roots::{is_thread_start, split_ids};
use rustc_hash::FxHashMap;
use zwhy_evidence::ImportStats;
use zwhy_profile::{Event, FrameKind, Measure, Nanos, Profile, Sample, StackId, ThreadId, Unit};

/// One level of the drawing, boxes from left to right.
type Level = Vec<Node>;

struct Node {
    name: String,
    count: u64,
    /// Left and right edge in samples (exact) or in the drawing's unit.
    from: f64,
    to: f64,
    /// Count that no box on top has taken yet.
    left: u64,
    stack: StackId,
    thread: ThreadId,
}

/// Builds the profile of a drawing; frames above `max_depth` levels stay with their ancestor there.
pub fn build(
    boxes: Vec<FlameBox>,
    event: Event,
    measure: &Measure,
    max_depth: usize,
    plain: bool,
    stats: &mut ImportStats,
) -> Profile {
    let mut profile = Profile::new();
    let no_thread = profile.thread(-1, -1, "");
    let mut levels = levels(boxes, no_thread);
    let mut over = 0u64;
    let mut threads = FxHashMap::default();
    let too_deep = levels.len().saturating_sub(max_depth.saturating_add(1));
    if too_deep > 0 {
        levels.truncate(max_depth.saturating_add(1));
        stats
            .warnings
            .push(format!("{too_deep} levels above the depth limit are left to the boxes below them"));
    }
    for at in 0..levels.len() {
        let (below, rest) = levels.split_at_mut(at);
        let Some(level) = rest.first_mut() else { break };
        let only = level.len() == 1;
        // Wide boxes stand on one only; what room is left then tells the narrow ones.
        let mut order: Vec<usize> = (0..level.len()).collect();
        order.sort_by_key(|i| std::cmp::Reverse(level[*i].count));
        for i in order {
            let node = &mut level[i];
            if at == 0 && only && matches!(node.name.as_str(), "all" | "") {
                continue; // the drawing's own ground, no frame
            }
            let (mut parent_stack, mut parent_name) = (StackId::ROOT, "");
            // The level below has the caller; in a damaged drawing it may be missing.
            if let Some((lower, parent)) =
                (0..at).rev().find_map(|l| parent_of(&below[l], node).map(|p| (l, p)))
            {
                let parent = &mut below[lower][parent];
                if parent.left < node.count {
                    over += 1;
                    // Nothing may count twice: the total is that of the lowest boxes.
                    node.left = parent.left;
                }
                parent.left = parent.left.saturating_sub(node.count);
                (parent_stack, parent_name) = (parent.stack, parent.name.as_str());
                node.thread = parent.thread;
            }
            let frame = match plain {
                true => profile.frame(&node.name, "", FrameKind::Unknown),
                false => names::frame_of_folded(&mut profile, &node.name),
            };
            if profile.stacks.depth(parent_stack) == 1 && is_thread_start(node.name.as_bytes()) {
                node.thread = *threads.entry(parent_stack).or_insert_with(|| {
                    let (comm, pid, tid) = split_ids(parent_name);
                    profile.thread(pid, tid, comm)
                });
            }
            node.stack = profile.stacks.child(parent_stack, frame);
        }
    }
    if over > 0 {
        stats.warnings.push(format!(
            "{over} boxes count more than is left of the box below them: the drawing contradicts itself there"
        ));
    }
    for node in levels.iter().flatten() {
        let mut left = node.left;
        while left > 0 {
            let part = u32::try_from(left).unwrap_or(u32::MAX);
            let mut sample = Sample::counted(node.thread, node.stack, event, part);
            if measure.unit != Unit::Samples {
                (sample.count, sample.weight) = (1, Nanos(i64::try_from(left).unwrap_or(i64::MAX)));
                left = 0;
            }
            profile.samples.push(sample);
            left = left.saturating_sub(u64::from(part));
        }
    }
    profile
}

/// Boxes by level, callers first, each level from left to right.
fn levels(boxes: Vec<FlameBox>, thread: ThreadId) -> Vec<Level> {
    let scale = Scale::of(&boxes);
    let mut rows: Vec<f64> = boxes.iter().map(|b| b.y).collect();
    rows.sort_by(f64::total_cmp);
    rows.dedup_by(|a, b| (*a - *b).abs() < 0.5);
    let mut levels: Vec<Level> = Vec::new();
    levels.resize_with(rows.len(), Vec::new);
    for b in boxes {
        let row = rows.partition_point(|y| *y < b.y - 0.5);
        let (from, to) = scale.extent(&b);
        let Some(level) = levels.get_mut(row) else { continue };
        let (name, count) = (b.name, b.count);
        level.push(Node { name, count, from, to, left: count, stack: StackId::ROOT, thread });
    }
    // Callers have at least the samples of what they call; with equal sums the ground is called `all`,
    // and without one flames grow upwards.
    let ground = |level: Option<&Level>| {
        let sum = level.map_or(0, |l| l.iter().map(|n| u128::from(n.count)).sum::<u128>());
        (sum, level.is_some_and(|l| l.len() == 1 && l[0].name == "all"))
    };
    if ground(levels.last()) >= ground(levels.first()) {
        levels.reverse();
    }
    for level in &mut levels {
        level.sort_by(|a, b| a.from.total_cmp(&b.from).then(a.to.total_cmp(&b.to)));
    }
    levels
}

/// How wide a sample is.
enum Scale {
    Exact,
    /// Units of the drawing a sample.
    Drawn(f64),
}

impl Scale {
    fn of(boxes: &[FlameBox]) -> Scale {
        if boxes.iter().all(|b| matches!(b.place, Place::Exact { .. })) {
            return Scale::Exact;
        }
        // The widest box has the smallest rounding error.
        let widest = boxes.iter().filter_map(|b| match b.place {
            Place::Drawn { width, .. } => Some((width, b.count)),
            Place::Exact { .. } => None,
        });
        let (width, count) = widest.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((0.0, 0));
        Scale::Drawn(if count == 0 { 0.0 } else { width / count as f64 })
    }

    /// Left and right edge; the width is taken from the count, which is not rounded.
    fn extent(&self, b: &FlameBox) -> (f64, f64) {
        match (self, b.place) {
            (Scale::Exact, Place::Exact { x, width }) => (x as f64, x as f64 + width as f64),
            (Scale::Drawn(unit), Place::Drawn { x, .. }) => (x, x + b.count as f64 * unit),
            // Half of a drawing in each style: nothing draws that, any answer will do.
            (_, Place::Exact { x, width }) => (x as f64, x as f64 + width as f64),
            (_, Place::Drawn { x, width }) => (x, x + width),
        }
    }
}

/// The box of `level` that `node` stands on.
///
/// Places are rounded, so that of narrow boxes several may fit: those with room for its count first, then
/// the nearest one, then the one that it fills best.
fn parent_of(level: &Level, node: &Node) -> Option<usize> {
    /// Twice what flamegraph.pl rounds places by, as both boxes are rounded.
    const ROUNDING: f64 = 0.11;
    const NEIGHBOURS: usize = 64;
    let middle = (node.from + node.to) / 2.0;
    let after = level.partition_point(|p| p.from <= middle);
    let near = after.saturating_sub(NEIGHBOURS)..(after + NEIGHBOURS).min(level.len());
    let distance = |p: &Node| (p.from - middle).max(middle - p.to).max(0.0);
    let reach = ROUNDING.max((node.to - node.from) * 0.25);
    near.filter(|&at| distance(&level[at]) <= reach).min_by(|&a, &b| {
        let (a, b) = (&level[a], &level[b]);
        let short = |p: &Node| p.left < node.count;
        let order = short(a).cmp(&short(b)).then(distance(a).total_cmp(&distance(b)));
        order.then(a.left.cmp(&b.left))
    })
}
