//! The tree as the viewer reads it: gzip of "ZWF2", a JSON header and columns of varints.
//!
//! What a box is, its label and stage, is told by the box below which it lies: a function calls few others. So the block
//! lists the kinds of boxes once, for each the kinds that lie below it, the most frequent first, and for each box its
//! place in that list, which is nearly always 0.

use crate::palette::stage_colour;
use crate::tree::{FlameTree, Node};
use flate2::Compression;
use flate2::write::GzEncoder;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Header<'a> {
    version: u32,
    nodes: usize,
    total: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_b: Option<u64>,
    unit: &'a str,
    event: &'static str,
    labels: Vec<&'a str>,
    modules: Vec<&'a str>,
    label_module: Vec<u32>,
    stages: &'a [String],
    stage_colours: Vec<&'static str>,
    diff: bool,
}

/// Encodes a tree, whose boxes are `nodes`. Layout: `ZWF2`, header length (u32 LE), header JSON, then the columns level
/// and value of the boxes; how many kinds there are, their labels, their stages (bytes), how many kinds lie below each,
/// and those in its order; the place of each box but the root in the list of the kind above it; and, of a differential
/// tree, the values of side B. Numbers are LEB128 varints.
///
/// # Errors
/// Only when memory cannot be written to, which does not happen.
pub fn encode_block(tree: &FlameTree, nodes: &[Node]) -> io::Result<Vec<u8>> {
    let mut modules: Vec<&str> = Vec::new();
    let mut module_ids: FxHashMap<&str, u32> = FxHashMap::default();
    let (labels, label_module): (Vec<&str>, Vec<u32>) = tree
        .labels()
        .map(|(name, module)| {
            let id = *module_ids.entry(module).or_insert_with(|| {
                modules.push(module);
                modules.len() as u32 - 1
            });
            (name, id)
        })
        .unzip();
    let header = Header {
        version: 2,
        nodes: nodes.len(),
        total: nodes[0].value[0],
        total_b: tree.is_diff().then_some(nodes[0].value[1]),
        unit: tree.unit().name(),
        event: tree.event().name(),
        labels,
        modules,
        label_module,
        stages: tree.stages(),
        stage_colours: tree.stages().iter().map(|name| stage_colour(name)).collect(),
        diff: tree.is_diff(),
    };
    let kinds = Kinds::of(nodes);
    let mut column = Vec::with_capacity(nodes.len() * 3 + kinds.edges.len() * 3);
    nodes.iter().for_each(|n| varint(&mut column, u64::from(n.level)));
    nodes.iter().for_each(|n| varint(&mut column, n.value[0]));
    kinds.write(&mut column);
    if tree.is_diff() {
        nodes.iter().for_each(|n| varint(&mut column, n.value[1]));
    }
    packed(b"ZWF2", &header, &column)
}

/// A block: its magic, the length of its header (u32 LE), the header and the columns.
pub(crate) fn packed(magic: &[u8; 4], header: &impl Serialize, columns: &[u8]) -> io::Result<Vec<u8>> {
    let header = serde_json::to_vec(header)?;
    let mut out = GzEncoder::new(Vec::new(), Compression::new(3));
    out.write_all(magic)?;
    out.write_all(&(header.len() as u32).to_le_bytes())?;
    out.write_all(&header)?;
    out.write_all(columns)?;
    out.finish()
}

/// A kind of box directly below another kind.
struct Edge {
    above: u32,
    below: u32,
    boxes: u32,
    /// Its place among those with the same kind above.
    place: u32,
}

/// The kinds of boxes, in the order in which they are met; number 0 is that of the root.
struct Kinds {
    /// Label and stage of each.
    kinds: Vec<(u32, u8)>,
    edges: Vec<Edge>,
    /// The edge of each box but the root.
    edge_of: Vec<u32>,
}

impl Kinds {
    fn of(nodes: &[Node]) -> Kinds {
        let mut all =
            Kinds { kinds: Vec::new(), edges: Vec::new(), edge_of: Vec::with_capacity(nodes.len()) };
        let mut kind_ids: FxHashMap<(u32, u8), u32> = FxHashMap::default();
        let mut edge_ids: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        let mut path: Vec<u32> = Vec::new();
        for node in nodes {
            let next = all.kinds.len() as u32;
            let below = *kind_ids.entry((node.label, node.stage)).or_insert(next);
            if below == next {
                all.kinds.push((node.label, node.stage));
            }
            path.truncate(node.level as usize);
            if let Some(&above) = path.last() {
                let next = all.edges.len() as u32;
                let edge = *edge_ids.entry((above, below)).or_insert(next);
                if edge == next {
                    all.edges.push(Edge { above, below, boxes: 0, place: 0 });
                }
                all.edges[edge as usize].boxes += 1;
                all.edge_of.push(edge);
            }
            path.push(below);
        }
        all
    }

    fn write(mut self, out: &mut Vec<u8>) {
        let mut order: Vec<usize> = (0..self.edges.len()).collect();
        order.sort_by_key(|&at| (self.edges[at].above, std::cmp::Reverse(self.edges[at].boxes), at));
        let mut many = vec![0; self.kinds.len()];
        for &at in &order {
            let edge = &mut self.edges[at];
            let so_far = &mut many[edge.above as usize];
            edge.place = *so_far;
            *so_far += 1;
        }
        varint(out, self.kinds.len() as u64);
        self.kinds.iter().for_each(|&(label, _)| varint(out, u64::from(label)));
        out.extend(self.kinds.iter().map(|&(_, stage)| stage));
        many.iter().for_each(|&count| varint(out, u64::from(count)));
        order.iter().for_each(|&at| varint(out, u64::from(self.edges[at].below)));
        self.edge_of.iter().for_each(|&edge| varint(out, u64::from(self.edges[edge as usize].place)));
    }
}

/// Unsigned LEB128.
pub(crate) fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Roots, Side};
    use std::io::Read;
    use zwhy_profile::{Event, FrameKind, Profile, StackId, ThreadId};

    struct OneStage([String; 1]);

    impl crate::Stages for OneStage {
        fn names(&self) -> &[String] {
            &self.0
        }

        fn kind_of(&self, _: ThreadId) -> u8 {
            0
        }

        fn stage_on(&self, _: StackId, _: u8) -> u8 {
            0
        }
    }

    #[test]
    fn a_small_tree_byte_for_byte() {
        let mut p = Profile::new();
        let frame = p.frame("zio_read", "zfs", FrameKind::Kernel);
        let stack = p.stack(&[frame]);
        let thread = p.thread(1, 1, "dd");
        p.samples.push_counted(thread, stack, Event::Cpu, 300);
        let stages = ["decrypt".to_owned()];
        let mut tree = FlameTree::new(Event::Cpu, &stages);
        tree.add(&p, Some(&OneStage(stages)), Roots::Threads, Side::A);
        let mut raw = Vec::new();
        flate2::read::GzDecoder::new(&encode_block(&tree, &tree.nodes()).unwrap()[..])
            .read_to_end(&mut raw)
            .unwrap();
        let length = u32::from_le_bytes(raw[4..8].try_into().unwrap()) as usize;
        let header: serde_json::Value = serde_json::from_slice(&raw[8..8 + length]).unwrap();
        assert_eq!(&raw[..4], b"ZWF2");
        assert_eq!(header["labels"], serde_json::json!(["all", "zio_read", "[dd]"]));
        assert_eq!(header["modules"], serde_json::json!(["", "zfs", "thread"]));
        assert_eq!(header["labelModule"], serde_json::json!([0, 1, 2]));
        assert_eq!(header["stages"], serde_json::json!(["decrypt", ""]));
        assert_eq!(header["stageColours"], serde_json::json!(["#f7c15f", "#dadada"]));
        // Levels, values (300 is AC 02 as a varint), then three kinds with their labels and stages, how many lie below
        // each and which, and the places of the two boxes.
        let columns: [&[u8]; 5] =
            [&[0, 1, 2], &[0xAC, 2, 0xAC, 2, 0xAC, 2], &[3, 0, 2, 1, 1, 1, 0], &[1, 1, 0, 1, 2], &[0, 0]];
        assert_eq!(raw[8 + length..], columns.concat());
    }
}
