//! The overview of a large graph: what a screen shows of all of it, in a block that is read before the graph is.
//!
//! Positions are whole numbers, of which the width has [`UNITS`], and the width has [`CELLS`] cells. A box at least as
//! wide as a cell is itself. What is narrower is summed up by cell: a band has the weight of the narrow boxes in its
//! cell, in the place that wide boxes leave there, and the colour of the widest of them. So the weight of a level and
//! what of it lies left of a cell are right, and a page that draws two cells a pixel or more shows every box that is
//! wider than a pixel, and the others by their sum.

use crate::block::{packed, varint};
use crate::palette::stage_colour;
use crate::tree::{FlameTree, Node};
use serde::Serialize;
use std::io;

/// Smaller graphs are there at once, so that they need no overview.
const FROM_BOXES: usize = 50_000;
/// As many levels as a high screen has room for.
const LEVELS: usize = 48;
const CELLS: u64 = 4096;
const UNITS: u64 = 1 << 16;
/// A box has its name from this part of the width on: 26 pixels of a picture of 2,048.
const NAMED: u64 = 80;
/// How many shades a colour has (web/src/flame/palette.ts).
const SHADES: u32 = 3;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Header<'a> {
    version: u32,
    stages: &'a [String],
    stage_colours: Vec<&'static str>,
    /// Own weight of each stage.
    weights: Vec<u64>,
    total: u64,
    /// Levels of the graph, of which the overview has the first.
    depth: u32,
    /// How many items each of them has.
    items: Vec<usize>,
    /// Items with names, the boxes that they are, and their names.
    named: Vec<usize>,
    boxes: Vec<usize>,
    names: Vec<&'a str>,
}

/// A wide box or a band, in units.
struct Item {
    from: u64,
    to: u64,
    weight: u64,
    stage: u8,
    label: u32,
    /// The box, where it is one with a name.
    named: Option<usize>,
}

/// The narrow boxes of a cell. Weights are those of the tree times the number of cells, so that a part of a box in a cell
/// is a whole number.
#[derive(Clone, Copy, Default)]
struct Band {
    cell: u128,
    weight: u128,
    widest: u128,
    stage: u8,
    label: u32,
}

/// A level on the way from left to right.
#[derive(Default)]
struct Row {
    items: Vec<Item>,
    /// The cell that is not written yet; without weight there is none.
    band: Band,
    /// Weight of the bands that are written, as theirs and in units, so that nothing is lost in rounding.
    exact: u128,
    written: u64,
    /// Where the last item ends, in units.
    end: u64,
}

/// Encodes the overview of a tree, whose boxes are `nodes`: `ZWO1`, header length (u32 LE), header JSON, then of all items, level by level, as
/// LEB128 varints: what is free left of it, its extent, what of that is not covered, and its colour, which is three
/// times its stage and its shade. None for a small tree, one without samples and a comparison.
///
/// # Errors
/// Only when memory cannot be written to, which does not happen.
pub fn encode_overview(tree: &FlameTree, nodes: &[Node]) -> io::Result<Option<Vec<u8>>> {
    let total = nodes.first().map_or(0, |root| root.value[0]);
    if nodes.len() < FROM_BOXES || total == 0 || tree.is_diff() {
        return Ok(None);
    }
    encode(tree, nodes, total).map(Some)
}

fn encode(tree: &FlameTree, nodes: &[Node], total: u64) -> io::Result<Vec<u8>> {
    let rows = rows(nodes, total);
    let items = || rows.iter().flat_map(|row| &row.items);
    let named: Vec<(usize, usize)> =
        items().enumerate().filter_map(|(at, item)| item.named.map(|node| (at, node))).collect();
    let mut weights = vec![0; tree.stages().len()];
    nodes.iter().for_each(|n| weights[usize::from(n.stage)] += n.own[0]);
    let header = Header {
        version: 1,
        stages: tree.stages(),
        stage_colours: tree.stages().iter().map(|name| stage_colour(name)).collect(),
        weights,
        total,
        depth: nodes.iter().map(|n| n.level + 1).max().unwrap_or(0),
        items: rows.iter().map(|row| row.items.len()).collect(),
        named: named.iter().map(|&(at, _)| at).collect(),
        boxes: named.iter().map(|&(_, node)| node).collect(),
        names: named.iter().map(|&(_, node)| tree.label_text(nodes[node].label).0).collect(),
    };
    let mut columns = Vec::new();
    for row in &rows {
        let mut end = 0;
        for item in &row.items {
            varint(&mut columns, item.from - end);
            end = item.to;
        }
    }
    items().for_each(|item| varint(&mut columns, item.to - item.from));
    items().for_each(|item| varint(&mut columns, item.to - item.from - item.weight));
    let mut shades = vec![None; tree.labels().count()];
    items().for_each(|item| {
        let shade =
            *shades[item.label as usize].get_or_insert_with(|| shade_of(tree.label_text(item.label).0));
        varint(&mut columns, u64::from(u32::from(item.stage) * SHADES + shade));
    });
    packed(b"ZWO1", &header, &columns)
}

/// The levels of the overview, each from left to right.
fn rows(nodes: &[Node], total: u64) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    // Where the next box of a level begins: for the levels of the path, where its box ends.
    let mut next = vec![0; LEVELS + 1];
    for (at, node) in nodes.iter().enumerate() {
        let (level, weight) = (node.level as usize, node.value[0]);
        if level >= LEVELS || weight == 0 {
            continue;
        }
        if rows.len() == level {
            rows.push(Row::default());
        }
        let from = next[level];
        next[level] = from + weight;
        next[level + 1] = from;
        rows[level].add(at, node, from, total);
    }
    rows.iter_mut().for_each(|row| row.close(UNITS, total));
    rows
}

/// A place or a weight of the tree times the number of cells.
fn in_cells(x: u64) -> u128 {
    u128::from(x) * u128::from(CELLS)
}

/// The same in units, rounded to the nearest.
fn in_units(x: u128, total: u64) -> u64 {
    let total = u128::from(total);
    ((x * u128::from(UNITS / CELLS) * 2 + total) / (total * 2)) as u64
}

impl Row {
    fn add(&mut self, at: usize, node: &Node, from: u64, total: u64) {
        let weight = node.value[0];
        let (from, to) = (in_cells(from), in_cells(from + weight));
        if to - from >= u128::from(total) {
            let (begin, end) = (in_units(from, total), in_units(to, total));
            self.close(begin, total);
            let named = (weight >= total.div_ceil(NAMED)).then_some(at);
            let (stage, label) = (node.stage, node.label);
            self.items.push(Item { from: begin, to: end, weight: end - begin, stage, label, named });
            self.end = end;
            return;
        }
        // A narrow box lies in one cell or in two.
        let cell = from / u128::from(total);
        let border = (cell + 1) * u128::from(total);
        self.gather(cell, to.min(border) - from, node, total);
        if to > border {
            self.gather(cell + 1, to - border, node, total);
        }
    }

    fn gather(&mut self, cell: u128, weight: u128, node: &Node, total: u64) {
        if self.band.weight > 0 && self.band.cell != cell {
            self.close(UNITS, total);
        }
        self.band.cell = cell;
        self.band.weight += weight;
        if weight > self.band.widest {
            self.band = Band { widest: weight, stage: node.stage, label: node.label, ..self.band };
        }
    }

    /// Writes the band, which may go up to `most`.
    fn close(&mut self, most: u64, total: u64) {
        let Band { cell, weight, stage, label, .. } = std::mem::take(&mut self.band);
        if weight == 0 {
            return;
        }
        let begin = cell as u64 * (UNITS / CELLS);
        let (from, to) = (begin.max(self.end), (begin + UNITS / CELLS).min(most));
        self.exact += weight;
        let weight = in_units(self.exact, total).saturating_sub(self.written).min(to.saturating_sub(from));
        if weight > 0 {
            self.written += weight;
            self.items.push(Item { from, to, weight, stage, label, named: None });
            self.end = to;
        }
    }
}

/// The shade of a function, told by its name as the page does: FNV-1a of its UTF-16.
fn shade_of(name: &str) -> u32 {
    let hash = name
        .encode_utf16()
        .fold(0x811c_9dc5_u32, |hash, unit| (hash ^ u32::from(unit)).wrapping_mul(0x0100_0193));
    hash % SHADES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Roots, Side};
    use std::io::Read;
    use zwhy_profile::{Event, FrameKind, Profile};

    /// The tree of stacks with so many samples each, by their first frames.
    fn tree(stacks: &[(&[&str], u32)]) -> FlameTree {
        let mut p = Profile::new();
        let thread = p.thread(1, 1, "dd");
        for (names, samples) in stacks {
            let frames: Vec<_> = names.iter().map(|name| p.frame(name, "zfs", FrameKind::Kernel)).collect();
            let stack = p.stack(&frames);
            p.samples.push_counted(thread, stack, Event::Cpu, *samples);
        }
        let mut tree = FlameTree::new(Event::Cpu, &[]);
        tree.add(&p, None, Roots::Frames, Side::A);
        tree
    }

    /// Header and numbers of the columns of an overview, however small its tree is.
    fn read(tree: &FlameTree) -> (serde_json::Value, Vec<u64>) {
        let nodes = tree.nodes();
        let gzip = encode(tree, &nodes, nodes[0].value[0]).unwrap();
        let mut raw = Vec::new();
        flate2::read::GzDecoder::new(&gzip[..]).read_to_end(&mut raw).unwrap();
        assert_eq!(&raw[..4], b"ZWO1");
        let length = u32::from_le_bytes(raw[4..8].try_into().unwrap()) as usize;
        let mut numbers = vec![0];
        let mut shift = 0;
        for byte in &raw[8 + length..] {
            *numbers.last_mut().unwrap() |= u64::from(byte & 127) << shift;
            shift += 7;
            if byte < &128 {
                numbers.push(0);
                shift = 0;
            }
        }
        numbers.pop();
        (serde_json::from_slice(&raw[8..8 + length]).unwrap(), numbers)
    }

    #[test]
    fn wide_boxes_are_themselves_and_narrow_ones_are_summed_up_by_cell() {
        // The same graph as in web/test/unit/overview.test.ts. A cell has two samples, a sample eight units.
        let tree = tree(&[(&["a"], 4096), (&["b", "x"], 1), (&["c"], 1), (&["d"], 1), (&["e"], 4093)]);
        let (header, numbers) = read(&tree);
        assert_eq!(header["items"], serde_json::json!([1, 4, 1]));
        assert_eq!(header["names"], serde_json::json!(["all", "a", "e"]));
        assert_eq!(header["boxes"], serde_json::json!([0, 1, 6]));
        assert_eq!(header["named"], serde_json::json!([0, 1, 4]));
        assert_eq!(header["weights"], serde_json::json!([8192]));
        assert_eq!(numbers[..6], [0, 0, 0, 0, 0, 32_768]);
        assert_eq!(numbers[6..12], [65_536, 32_768, 16, 8, 32_744, 16]);
        // Of the cell of `x` half is not covered.
        assert_eq!(numbers[12..18], [0, 0, 0, 0, 0, 8]);
        assert_eq!(numbers[18..], [0, 1, 1, 1, 2, 0]);
    }

    #[test]
    fn a_level_keeps_its_weight_to_a_unit() {
        let names: Vec<String> = (0..30_000).map(|i| format!("f{i}")).collect();
        let stacks: Vec<[&str; 2]> = names.iter().map(|name| [&name[..2], name.as_str()]).collect();
        let weights = (0..).map(|i: u32| 1 + i * i % 7);
        let stacks: Vec<(&[&str], u32)> = stacks.iter().map(|s| &s[..]).zip(weights).collect();
        let tree = tree(&stacks);
        let (header, numbers) = read(&tree);
        let items: Vec<usize> = serde_json::from_value(header["items"].clone()).unwrap();
        let all: usize = items.iter().sum();
        assert_eq!(numbers.len(), all * 4);
        assert!(items[2] > 4000 && items[2] <= 4096, "{items:?}");
        let mut at = 0;
        for count in items {
            let sum = |column: usize| numbers[column * all + at..][..count].iter().sum::<u64>();
            assert_eq!(sum(1) - sum(2), UNITS);
            assert!(sum(0) + sum(1) <= UNITS);
            at += count;
        }
    }

    #[test]
    fn a_small_graph_has_none() {
        let tree = tree(&[(&["a"], 3)]);
        assert!(encode_overview(&tree, &tree.nodes()).unwrap().is_none());
    }
}
