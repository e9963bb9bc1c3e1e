//! The tree as the viewer reads it: gzip of "ZWF1", a JSON header and columns of varints.

use crate::palette::stage_colour;
use crate::tree::FlameTree;
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

/// Encodes a tree. Layout: `ZWF1`, header length (u32 LE), header JSON, then the columns level,
/// value, label (LEB128 varints), stage (bytes) and, of a differential tree, the values of side B.
///
/// # Errors
/// Only when memory cannot be written to, which does not happen.
pub fn encode_block(tree: &FlameTree) -> io::Result<Vec<u8>> {
    let nodes = tree.nodes();
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
        version: 1,
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
    let header = serde_json::to_vec(&header)?;
    let mut out = GzEncoder::new(Vec::new(), Compression::new(3));
    out.write_all(b"ZWF1")?;
    out.write_all(&(header.len() as u32).to_le_bytes())?;
    out.write_all(&header)?;
    let mut column = Vec::with_capacity(nodes.len() * 2);
    nodes.iter().for_each(|n| varint(&mut column, u64::from(n.level)));
    nodes.iter().for_each(|n| varint(&mut column, n.value[0]));
    nodes.iter().for_each(|n| varint(&mut column, u64::from(n.label)));
    column.extend(nodes.iter().map(|n| n.stage));
    if tree.is_diff() {
        nodes.iter().for_each(|n| varint(&mut column, n.value[1]));
    }
    out.write_all(&column)?;
    out.finish()
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
        flate2::read::GzDecoder::new(&encode_block(&tree).unwrap()[..]).read_to_end(&mut raw).unwrap();
        let length = u32::from_le_bytes(raw[4..8].try_into().unwrap()) as usize;
        let header: serde_json::Value = serde_json::from_slice(&raw[8..8 + length]).unwrap();
        assert_eq!(&raw[..4], b"ZWF1");
        assert_eq!(header["labels"], serde_json::json!(["all", "zio_read", "[dd]"]));
        assert_eq!(header["modules"], serde_json::json!(["", "zfs", "thread"]));
        assert_eq!(header["labelModule"], serde_json::json!([0, 1, 2]));
        assert_eq!(header["stages"], serde_json::json!(["decrypt", ""]));
        assert_eq!(header["stageColours"], serde_json::json!(["#f7c15f", "#dadada"]));
        // 300 is AC 02 as a varint.
        assert_eq!(&raw[8 + length..], [0, 1, 2, 0xAC, 2, 0xAC, 2, 0xAC, 2, 0, 2, 1, 1, 1, 0]);
    }
}
