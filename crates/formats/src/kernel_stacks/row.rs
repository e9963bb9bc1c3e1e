//! Stacks that a shell put on one line each, as `tr '\n' ' ' < /proc/PID/stack | sort | uniq -c` prints them.

use super::line::{self, KernelLine};
use crate::text::blocks::{Block, Line, Sink, Taken};
use zwhy_evidence::PctStack;

/// Fewer names in a row are no stack.
const FEWEST: usize = 4;

/// A run of such lines.
pub(crate) struct StackRows;

impl Block for StackRows {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let stacks: Vec<PctStack> = lines.iter().map_while(|l| read(&l.text)).collect();
        if !stacks.is_empty() {
            let origin = sink.origin("kernel stacks", &lines[..stacks.len()]);
            let max_depth = sink.max_depth;
            sink.evidence.trees.extend(stacks.iter().map(|stack| {
                let skip = stack.frames.len().saturating_sub(max_depth);
                PctStack { origin, frames: stack.frames[skip..].to_vec(), ..stack.clone() }
            }));
        }
        Taken::kept(stacks.len())
    }
}

/// `481 cv_wait_common zfs_zget zfs_vget nfsd_dispatch`, `[<0>] cv_wait_common [<0>] zio_wait …`: the last called first, with
/// a count before it or not.
///
/// Names alone may be anything, such as a list of parameters: a stack begins with a function that sleeps or ends where
/// threads begin, or has the marks of the kernel.
fn read(text: &str) -> Option<PctStack> {
    // `cv_wait_common<zio_wait<dbuf_read`, as `paste -sd'<'` joins them.
    let mut words = text.split(|c: char| c.is_whitespace() || c == '<' && !text.contains("[<"));
    let mut words = words.by_ref().filter(|word| !word.is_empty()).peekable();
    let counted = words.next_if(|w| w.bytes().all(|b| b.is_ascii_digit())).is_some();
    let mut marked = false;
    let mut frames: Vec<String> = Vec::new();
    for word in words {
        if word.starts_with("[<") && word.ends_with(">]") {
            marked = true;
            continue;
        }
        let module = word.strip_prefix('[').and_then(|w| w.strip_suffix(']'));
        if module.is_some_and(|m| name(m).is_some()) || word == "0xffffffffffffffff" {
            continue;
        }
        frames.push(name(word)?.to_owned());
    }
    let (leaf, root) = (frames.first()?, frames.last()?);
    let asleep = zwhy_zfs::leaves_the_cpu(leaf);
    let whole = begins_thread(root);
    let parts = frames.iter().filter(|f| f.contains('_')).count();
    let is_stack = marked || asleep || whole || counted && frames.len() > FEWEST;
    // `41 [<0>] zil_commit_impl+0x5e/0xd0 [zfs]`: lines of several stacks, counted one by one.
    let of_one = counted && marked && frames.len() == 1;
    if !of_one && frames.len() < FEWEST || parts * 2 < frames.len() || !is_stack {
        return None;
    }
    // Who has a stack in /proc/PID/stack waits, unless its last call spins: that thread ran.
    let waiting = !["osq_lock", "_raw_spin", "native_queued_spin", "queued_spin", "mutex_spin"]
        .iter()
        .any(|f| leaf.starts_with(f));
    frames.reverse();
    Some(PctStack { waiting, frames, ..PctStack::default() })
}

/// A function with or without its place: `zio_wait+0x12f/0x270`.
fn name(word: &str) -> Option<&str> {
    if let KernelLine::Frame(name) = line::read(word) {
        return Some(name);
    }
    let inner = word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'.');
    (inner && word.len() > 2 && word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
        .then_some(word)
}

/// Where stacks of threads and of system calls begin.
fn begins_thread(name: &str) -> bool {
    let exact = ["kthread", "ret_from_fork", "ret_from_fork_asm", "thread_generic_wrapper", "taskq_thread"];
    let entries = [
        "entry_SYSCALL",
        "do_syscall",
        "system_call",
        "nfsd_dispatch",
        "sys_",
        "SyS_",
        "__x64_sys_",
        "ksys_",
    ];
    exact.contains(&name) || entries.iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_stacks() {
        for (text, want) in [
            (
                "    481 cv_wait_common zfs_zget zfs_vget zpl_fh_to_dentry nfsd_dispatch nfsd kthread",
                "kthread nfsd nfsd_dispatch zpl_fh_to_dentry zfs_vget zfs_zget cv_wait_common",
            ),
            (
                "[<0>] cv_wait_common+0x1/0x2 [spl] [<0>] nfsd_vfs_write+0x1/0x2 [nfsd] [<0>] txg_wait_synced [<0>] receive_object [<0>] receive_writer_thread",
                "receive_writer_thread receive_object txg_wait_synced nfsd_vfs_write cv_wait_common",
            ),
            (
                "cv_timedwait_common<zio_wait<dbuf_read<zap_get_leaf_byblk<fzap_update",
                "fzap_update zap_get_leaf_byblk dbuf_read zio_wait cv_timedwait_common",
            ),
            ("     41 [<0>] zil_commit_impl+0x5e/0xd0 [zfs]", "zil_commit_impl"),
            ("zfs_arc_max zfs_arc_min zfs_arc_meta_limit zfs_dirty_data_max", ""),
            ("  14 0xffffffffffffffff", ""),
            ("schedule the scrub of tank at night with zfs_scrub", ""),
            ("4 zfs_arc_max zfs_arc_min zfs_arc_meta_limit", ""),
        ] {
            let got = read(text).map_or(String::new(), |stack| stack.frames.join(" "));
            assert_eq!(got, want, "{text}");
        }
    }
}
