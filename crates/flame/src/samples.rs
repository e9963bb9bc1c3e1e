//! The samples of a tree in order of time, so that the viewer can show any part of a recording.
//!
//! Invariant: a row's node is the preorder place of the box where it ends, so the amounts of all rows of a node are
//! the own amount of that box.

use crate::block::{packed, varint};
use crate::tree::FlameTree;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::io;
use zwhy_profile::Profile;

/// Resolution of times: a millisecond is below a pixel of any recording that is drawn.
const TICK_NS: i64 = 1_000_000;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Header<'a> {
    version: u32,
    rows: usize,
    tick_ns: i64,
    /// Time of the first row, in ticks since the start of the recording.
    first: i64,
    threads: Vec<Thread<'a>>,
    /// Number of the highest CPU; -1 where the source does not say.
    cpus: i32,
}

#[derive(Serialize)]
struct Thread<'a> {
    name: &'a str,
    pid: i32,
    tid: i32,
}

/// Encodes the rows that were added to `tree` from `profile`, which must be the only one; `None` where the source
/// has no times. Layout: `ZWS1`, header length (u32 LE), header JSON, then the columns ticks since the row before,
/// node, thread, CPU + 1 and amount, as LEB128 varints.
///
/// # Errors
/// Only when memory cannot be written to, which does not happen.
pub fn encode_samples(tree: &FlameTree, profile: &Profile) -> io::Result<Option<Vec<u8>>> {
    let samples = &profile.samples;
    let mut rows: Vec<(i64, u32, u32)> =
        tree.placed().iter().map(|(row, node)| (samples.t[*row as usize].0 / TICK_NS, *row, *node)).collect();
    rows.sort_unstable();
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Ok(None) };
    if first.0 == last.0 || first.0 < 0 {
        return Ok(None);
    }
    let places = tree.places();
    let (threads, thread_of) = threads(profile);
    let header = Header {
        version: 1,
        rows: rows.len(),
        tick_ns: TICK_NS,
        first: first.0,
        threads,
        cpus: rows.iter().map(|(_, row, _)| samples.cpu[*row as usize]).max().unwrap_or(-1).max(-1),
    };
    let mut column = Vec::with_capacity(rows.len() * 7);
    let mut before = first.0;
    for (t, _, _) in &rows {
        varint(&mut column, (t - before) as u64);
        before = *t;
    }
    rows.iter().for_each(|(_, _, node)| varint(&mut column, u64::from(places[*node as usize])));
    for (_, row, _) in &rows {
        let thread = samples.thread[*row as usize].index();
        varint(&mut column, u64::from(thread_of.get(thread).copied().unwrap_or(0)));
    }
    rows.iter().for_each(|(_, row, _)| {
        varint(&mut column, (samples.cpu[*row as usize].max(-1) + 1) as u64);
    });
    let amounts = profile.amounts();
    rows.iter().for_each(|(_, row, _)| varint(&mut column, amounts.of(*row as usize)));
    packed(b"ZWS1", &header, &column).map(Some)
}

/// The threads that have rows, and the place of each thread of the profile among them.
fn threads(profile: &Profile) -> (Vec<Thread<'_>>, Vec<u32>) {
    let mut out = Vec::new();
    let mut known: FxHashMap<(&str, i32, i32), u32> = FxHashMap::default();
    let of = profile.threads.iter().map(|(_, t)| {
        let name = profile.strings.get(t.comm);
        *known.entry((name, t.pid, t.tid)).or_insert_with(|| {
            out.push(Thread { name, pid: t.pid, tid: t.tid });
            out.len() as u32 - 1
        })
    });
    let of = of.collect();
    (out, of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Roots, Side};
    use std::io::Read;
    use zwhy_profile::{Event, FrameKind, Nanos, Sample};

    fn row(profile: &mut Profile, ms: i64, comm: &str, names: &[&str], cpu: i32) {
        let frames: Vec<_> = names.iter().map(|n| profile.frame(n, "zfs", FrameKind::Kernel)).collect();
        let (stack, thread) = (profile.stack(&frames), profile.thread(7, 7, comm));
        let (t, event) = (Nanos(ms * 1_000_000), Event::Cpu);
        profile.samples.push(Sample { t, cpu, ..Sample::counted(thread, stack, event, 2) });
    }

    fn bytes(profile: &Profile) -> Option<Vec<u8>> {
        let mut tree = FlameTree::new(Event::Cpu, &[]).keep_rows();
        tree.add(profile, None, Roots::Frames, Side::A);
        let packed = encode_samples(&tree, profile).unwrap()?;
        let mut raw = Vec::new();
        flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut raw).unwrap();
        Some(raw)
    }

    #[test]
    fn rows_come_in_order_of_time_with_the_place_of_their_box() {
        let mut p = Profile::new();
        row(&mut p, 9, "dd", &["b"], 1);
        row(&mut p, 5, "dd", &["a", "c"], 0);
        let raw = bytes(&p).unwrap();
        let length = u32::from_le_bytes(raw[4..8].try_into().unwrap()) as usize;
        let header: serde_json::Value = serde_json::from_slice(&raw[8..8 + length]).unwrap();
        assert_eq!(
            (&raw[..4], header["first"].as_i64(), header["cpus"].as_i64()),
            (&b"ZWS1"[..], Some(5), Some(1))
        );
        // Boxes in preorder: all, a, c, b.
        assert_eq!(&raw[8 + length..], [0, 4, 2, 3, 0, 0, 1, 2, 2, 2]);
    }

    #[test]
    fn a_source_without_times_has_none() {
        let mut p = Profile::new();
        row(&mut p, 0, "dd", &["b"], 1);
        row(&mut p, 0, "dd", &["a"], 1);
        assert_eq!(bytes(&p), None);
    }
}
