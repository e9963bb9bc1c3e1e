//! A capture whose rows are sums of many, as one small file: what is kept of hours long past.
//!
//! It has the same tables as any capture. Its ids are the numbers of the rows, in an order in which neighbours are alike:
//! a third of the bytes of hashes, but they name nothing outside of the file.

use crate::FORMAT_VERSION;
use crate::encode;
use crate::error::CaptureError;
use crate::ids::IdCache;
use crate::open::Capture;
use crate::pack::{Archive, FACTS, MANIFEST, PART_ROWS};
use crate::parquet_io::write_ordered_table;
use crate::series::Series;
use crate::table::Table;
use std::collections::BTreeMap;
use std::path::Path;
use zwhy_place::Place;
use zwhy_profile::{FrameId, Move, Profile, Sample, Samples, StackId, ThreadId};

/// Writes `capture`, whose rows are sums of `stands_for` rows by table. The file is on disk when this returns, and replaces
/// what stood at `out`; until then that stays as it was.
///
/// # Errors
/// When it cannot be written.
pub fn write_sums(
    capture: &Capture,
    stands_for: &BTreeMap<&str, u64>,
    out: &Path,
) -> Result<(), CaptureError> {
    let profile = ordered(&capture.profile);
    let ids = numbers(&profile);
    let facts = serde_json::to_vec(&capture.facts)
        .map_err(|e| CaptureError::Encode { table: "facts", why: e.to_string() })?;
    let tables = [
        encode::frames(&profile, &ids, 0),
        encode::stacks(&profile, &ids, 0),
        encode::threads(&profile, &ids, 0),
        encode::marks(&capture.marks),
        encode::samples(&profile, &ids),
        encode::series(&ordered_series(&capture.series)),
    ];
    let rows: BTreeMap<&str, usize> = tables.iter().map(|table| (table.spec.name, table.rows())).collect();
    let manifest =
        serde_json::json!({ "zwhy_capture": FORMAT_VERSION, "rows": rows, "stands_for": stands_for });
    Place::of(out)?.write_seekable(|file| {
        let mut archive = Archive::new(out, file);
        archive.put(MANIFEST, manifest.to_string().as_bytes())?;
        archive.put(FACTS, &facts)?;
        tables.iter().try_for_each(|table| put_table(table, &mut archive))?;
        archive.finish()
    })
}

fn put_table(table: &Table, archive: &mut Archive<'_>) -> Result<(), CaptureError> {
    for (number, from) in (0..table.rows()).step_by(PART_ROWS).enumerate() {
        let mut bytes = Vec::new();
        write_ordered_table(&table.part(from, PART_ROWS), &mut bytes)?;
        archive.put(&format!("{}-{number:06}.parquet", table.spec.name), &bytes)?;
    }
    Ok(())
}

/// The same samples with frames by name, stacks as they branch, and samples by what they are of.
fn ordered(from: &Profile) -> Profile {
    let mut to = Profile::new();
    let used = used_stacks(from);
    let frames = frames_by_name(from, &used);
    let mut moving = Move::new(from, &mut to);
    for id in &frames {
        moving.frame(*id);
    }
    let mut place = vec![0usize; from.frames.len()];
    frames.iter().enumerate().for_each(|(at, id)| place[id.index()] = at);
    let mut stacks = vec![StackId::ROOT; from.stacks.len()];
    for stack in branching(from, &used, &place) {
        stacks[stack.index()] = moving.stack(stack);
    }
    // In their order: of a thread that changed its name the last one is its name.
    let threads: Vec<ThreadId> = from.threads.iter().map(|(id, _)| moving.thread(id)).collect();
    let new = |sample: Sample| Sample {
        thread: threads.get(sample.thread.index()).copied().unwrap_or_default(),
        stack: stacks[sample.stack.index()],
        ..sample
    };
    let mut rows: Vec<Sample> = from.samples.iter().map(new).collect();
    rows.sort_unstable_by_key(|s| (s.event as u8, s.thread, s.stack, s.t, s.weight));
    let mut samples = Samples::default();
    rows.into_iter().for_each(|sample| samples.push(sample));
    to.samples = samples;
    to
}

/// Stacks of samples, and their callers.
fn used_stacks(profile: &Profile) -> Vec<bool> {
    let mut used = vec![false; profile.stacks.len()];
    for &leaf in &profile.samples.stack {
        let mut at = leaf;
        while !std::mem::replace(&mut used[at.index()], true) && at != StackId::ROOT {
            at = profile.stacks.parent(at);
        }
    }
    used
}

fn frames_by_name(profile: &Profile, used: &[bool]) -> Vec<FrameId> {
    let stacks = profile.stacks.iter().filter(|(id, ..)| used[id.index()]);
    let mut frames: Vec<FrameId> = stacks.map(|(_, _, frame, _)| frame).collect();
    frames.sort_unstable();
    frames.dedup();
    let text = |id| profile.strings.get(id);
    frames.sort_by_key(|id| {
        let f = profile.frames.get(*id);
        (f.kind.name(), text(f.module), text(f.function), text(f.file), f.line, text(f.reason))
    });
    frames
}

/// Every used stack after its caller and next to the others of it; `place` is that of a frame.
fn branching(profile: &Profile, used: &[bool], place: &[usize]) -> Vec<StackId> {
    let mut children: Vec<Vec<StackId>> = vec![Vec::new(); profile.stacks.len()];
    for (id, parent, ..) in profile.stacks.iter().filter(|(id, ..)| used[id.index()]) {
        children[parent.index()].push(id);
    }
    let of = |id: &StackId| profile.stacks.frame(*id).map(|frame| place[frame.index()]);
    let (mut out, mut todo) = (Vec::new(), vec![StackId::ROOT]);
    while let Some(at) = todo.pop() {
        if at != StackId::ROOT {
            out.push(at);
        }
        let mut next = std::mem::take(&mut children[at.index()]);
        next.sort_unstable_by_key(|id| std::cmp::Reverse(of(id)));
        todo.extend(next);
    }
    out
}

/// Readings by source and name, each in its time.
fn ordered_series(from: &Series) -> Series {
    let mut rows: Vec<_> = from.iter().collect();
    rows.sort_by_key(|row| (row.source, row.name, row.t));
    let mut to = Series::default();
    rows.into_iter().for_each(|row| to.push(row.t, row.source, row.name, row.kind, row.value));
    to
}

/// Ids by place; 0 is the root stack.
fn numbers(profile: &Profile) -> IdCache {
    let from = |first: u64, count: usize| (first..).take(count).collect();
    IdCache {
        frames: from(1, profile.frames.len()),
        stacks: from(0, profile.stacks.len()),
        threads: from(1, profile.threads.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::SeriesKind;
    use crate::{Mark, recorded_rows, row_counts};
    use zwhy_profile::{Event, FrameKind, Nanos};

    /// Samples as text, in no order: what each is of, without ids.
    fn told(capture: &Capture) -> Vec<String> {
        let p = &capture.profile;
        let mut rows: Vec<String> = p
            .samples
            .iter()
            .map(|s| {
                let thread = p.threads.get(s.thread);
                let of = (thread.pid, thread.tid, p.strings.get(thread.comm), p.function_names(s.stack));
                format!("{of:?} {} {:?} {} {}", s.t.0, s.event, s.count, s.weight.0)
            })
            .collect();
        rows.sort();
        rows
    }

    #[test]
    fn every_row_comes_back_and_what_nobody_uses_is_gone() {
        let mut capture = Capture::default();
        let p = &mut capture.profile;
        let names = ["zio_execute", "arc_read", "zio_execute", "a", "never"];
        let frames = names.map(|name| p.frame(name, "zfs", FrameKind::Kernel));
        let deep = p.stack(&frames[..3]);
        let stacks = [p.stack(&frames[..1]), deep, StackId::ROOT, p.stack(&[frames[3]])];
        p.stack(&frames[4..]);
        let threads = [p.thread(7, 8, "z_wr_iss"), p.thread(7, 8, "a"), p.thread(1, 1, "b")];
        for n in 0..100usize {
            let event = if n % 3 == 0 { Event::Wait } else { Event::Cpu };
            let sample = Sample::counted(threads[n % 2], stacks[n % 4], event, n as u32);
            p.samples.push(Sample { t: Nanos(n as i64 / 7), weight: Nanos(n as i64), ..sample });
        }
        for (t, source, value) in [(3, "b", 1), (1, "b", 2), (9, "a", 3)] {
            capture.series.push(Nanos(t), source, "x", SeriesKind::Gauge, value);
        }
        capture.marks.push(Mark { t: Nanos(5), name: "gap".into(), text: "?".into() });
        capture.facts.recorder.duration_s = Some(3.5);
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("sums.zwhy");
        let stands_for = BTreeMap::from([("samples", 1000), ("series", 30), ("marks", 1)]);
        write_sums(&capture, &stands_for, &out).unwrap();
        let back = Capture::open(&out).unwrap();
        assert!(back.damage.is_empty() && !back.damage.unfinished, "{:?}", back.damage);
        assert_eq!(told(&back), told(&capture));
        assert_eq!(back.marks, capture.marks);
        assert_eq!(back.facts.recorder.duration_s, Some(3.5));
        let rows: Vec<_> = back.series.iter().map(|row| (row.source, row.t.0, row.value)).collect();
        assert_eq!(rows, [("a", 9, 3), ("b", 1, 2), ("b", 3, 1)]);
        assert!(!back.profile.frames.iter().any(|(_, f)| back.profile.strings.get(f.function) == "never"));
        let named = |p: &Profile| -> Vec<(i32, String)> {
            p.threads.iter().map(|(_, t)| (t.tid, p.strings.get(t.comm).to_owned())).collect()
        };
        // Threads without samples have readings, and the last name of a thread is its name.
        assert_eq!(named(&back.profile), named(&capture.profile));
        assert_eq!((row_counts(&out).unwrap()["samples"], row_counts(&out).unwrap()["series"]), (100, 3));
        assert_eq!(recorded_rows(&out).unwrap()["samples"], 1000);
    }
}
