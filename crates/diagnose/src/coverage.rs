//! How much of ZFS's CPU time the anatomy names, and which functions it does not know.
//!
//! A sample counts as ZFS's when a frame of its stack is, apart from what an interrupt put on top.
//! A function without an entry counts for the stage of its caller, or of its thread where that does one
//! thing only: the sample has a stage, but nobody has said that it is the right one, so such functions are listed, too.

use crate::anatomy::{Anatomy, FrameRule, IDLE, ModuleKind, NOT_ZFS, UNKNOWN};
use crate::classify::classify;
use crate::name::bare;
use rustc_hash::FxHashMap;
use serde::Serialize;
use zwhy_profile::{Event, Profile, StackId, StringId, ThreadId};

/// CPU samples of ZFS by what the anatomy says of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// Samples of ZFS.
    pub zfs: u64,
    /// Of those, samples in a named stage.
    pub named: u64,
    /// Functions of ZFS's modules that no anatomy file has, the most samples first.
    pub unknown: Vec<UnknownFunction>,
}

/// A function of ZFS that has no entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnknownFunction {
    pub function: String,
    pub module: String,
    /// Samples where it is the ZFS function nearest to the leaf.
    pub samples: u64,
    /// The stage that those samples count for, from a caller or the thread; `unknown` when none has one.
    pub counted_as: String,
}

/// What the anatomy knows of a profile's CPU samples.
pub fn coverage(profile: &Profile, anatomy: &Anatomy) -> Coverage {
    let classified = classify(profile, anatomy);
    let frames: Vec<(Option<FrameRule>, ModuleKind)> = profile
        .frames
        .iter()
        .map(|(id, _)| anatomy.frame(profile.function_of(id), profile.module_of(id)))
        .collect();
    let mut out = Coverage::default();
    let mut unknown: FxHashMap<(String, String, u8), u64> = FxHashMap::default();
    for ((thread, stack), count) in by_thread_and_stack(profile) {
        let by_functions = classified.of_functions(stack);
        if by_functions == IDLE || by_functions == NOT_ZFS {
            continue;
        }
        let stage = classified.stage_of(stack, thread);
        out.zfs += count;
        if stage != UNKNOWN {
            out.named += count;
        }
        if let Some((function, module)) = unlisted(profile, &frames, stack) {
            *unknown.entry((function, module, stage)).or_default() += count;
        }
    }
    out.unknown = unknown
        .into_iter()
        .map(|((function, module, stage), samples)| {
            let counted_as = classified.stage_name(stage).to_owned();
            UnknownFunction { function, module, samples, counted_as }
        })
        .collect();
    out.unknown.sort_by(|a, b| {
        let by_name =
            || (&a.function, &a.module, &a.counted_as).cmp(&(&b.function, &b.module, &b.counted_as));
        b.samples.cmp(&a.samples).then_with(by_name)
    });
    out
}

/// CPU samples of each stack by the thread that had it.
fn by_thread_and_stack(profile: &Profile) -> FxHashMap<(ThreadId, StackId), u64> {
    let (samples, amounts) = (&profile.samples, profile.amounts());
    let mut sums = FxHashMap::default();
    for row in (0..samples.len()).filter(|row| samples.event[*row] == Event::Cpu) {
        let key = (samples.thread[row], samples.stack[row]);
        *sums.entry(key).or_default() += amounts.of(row);
    }
    sums
}

/// The ZFS function nearest to the leaf with its module, when it has no entry.
fn unlisted(
    profile: &Profile,
    frames: &[(Option<FrameRule>, ModuleKind)],
    stack: StackId,
) -> Option<(String, String)> {
    for frame in profile.stacks.leaf_to_root(stack) {
        match frames.get(frame.index()) {
            Some((None, ModuleKind::Zfs)) => {
                let printed = profile.function_of(frame);
                let name = bare(printed);
                let module = if name.module.is_empty() { profile.module_of(frame) } else { name.module };
                // Without a name its address is all that tells it from others.
                let nameless = profile.frames.get(frame).reason != StringId::default();
                return Some((if nameless { printed } else { name.function }.to_owned(), module.to_owned()));
            }
            Some((Some(FrameRule::Label(_) | FrameRule::Syscall), _) | (None, _)) | None => {}
            Some(_) => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knowledge::Knowledge;
    use zwhy_profile::{Frame, FrameKind};

    #[test]
    fn a_cut_stack_counts_for_a_thread_that_does_one_thing_only() {
        let mut profile = Profile::new();
        let frame = |profile: &mut Profile, name: &str| match name.split_once('+') {
            Some((module, _)) => {
                let function = profile.strings.intern(name);
                let module = profile.strings.intern(module);
                let reason = profile.strings.intern("no symbol");
                profile.frames.intern(Frame { function, module, reason, ..Frame::default() })
            }
            None => profile.frame(name, "libc.so.6", FrameKind::User),
        };
        let mut add = |comm: &str, names: &[&str], count| {
            let thread = profile.thread(1, comm.len() as i32, comm);
            let frames: Vec<_> = names.iter().map(|name| frame(&mut profile, name)).collect();
            let stack = profile.stack(&frames);
            profile.samples.push_counted(thread, stack, Event::Cpu, count);
        };
        add("z_vdev_file", &["libzpool.so.6+0x10"], 1);
        add("z_wr_iss", &["start_thread", "libzpool.so.6+0x20", "futex"], 2);
        add("z_wr_iss", &["libzpool.so.6+0x30"], 4);
        add("fio", &["start_thread", "libzpool.so.6+0x30"], 8);
        let found = coverage(&profile, &Knowledge::embedded().anatomy);
        let mut rows: Vec<(&str, u64)> =
            found.unknown.iter().map(|u| (u.counted_as.as_str(), u.samples)).collect();
        rows.sort_unstable();
        assert_eq!(rows, [("device", 1), ("taskq", 2), ("unknown", 12)]);
        assert_eq!((found.zfs, found.named), (15, 3));
    }

    #[test]
    fn unlisted_functions_are_told_with_the_stage_they_count_for() {
        let mut profile = Profile::new();
        let thread = profile.thread(1, 1, "z_wr_iss");
        let mut add = |names: &[(&str, &str)], count| {
            let frames: Vec<_> = names.iter().map(|(f, m)| profile.frame(f, m, FrameKind::Kernel)).collect();
            let stack = profile.stack(&frames);
            profile.samples.push_counted(thread, stack, Event::Cpu, count);
        };
        add(&[("zio_write_compress", "[zfs]"), ("gzip_compress", "[zfs]")], 70);
        add(&[("gzip_compress", "[zfs]"), ("never_heard_of", "[zfs]"), ("memcpy", "")], 20);
        add(&[("kthread", ""), ("never_heard_of", "[zfs]")], 10);
        add(&[("ext4_write", "[ext4]")], 500);
        let found = coverage(&profile, &Knowledge::embedded().anatomy);
        assert_eq!((found.zfs, found.named), (100, 90));
        let rows: Vec<_> =
            found.unknown.iter().map(|u| (u.function.as_str(), u.samples, u.counted_as.as_str())).collect();
        assert_eq!(rows, [("never_heard_of", 20, "compress"), ("never_heard_of", 10, "unknown")]);
    }
}
