//! Time by thread, in one pass over the samples: on a CPU in ZFS and elsewhere, and waiting by stack.

use crate::anatomy::NOT_ZFS;
use crate::classify::Classified;
use crate::name::bare;
use rustc_hash::FxHashMap;
use zwhy_profile::{Event, Profile, StackId, ThreadId, Unit};

/// Where threads of the Linux kernel begin.
const KERNEL: [&str; 3] = ["kthread", "ret_from_fork", "ret_from_fork_asm"];

/// Calls of programs into ZFS, and the functions that they go through; of nested ones the last kind counts, as a write
/// may read and a commit is a part of a write. OpenZFS: `zpl_file.c`, `zfs_vnops.c`, `zvol_os.c`, `zil.c`.
pub const CALLS: [(&str, &[&str]); 3] = [
    (
        "reads",
        &["zfs_read", "zpl_iter_read", "zpl_read", "zfs_getpage", "mappedread", "mappedread_sf", "zvol_read"],
    ),
    (
        "writes",
        &[
            "zfs_write",
            "zpl_iter_write",
            "zpl_write",
            "zfs_putpage",
            "zpl_writepages",
            "zpl_putpage",
            "zvol_write",
        ],
    ),
    ("commits", &["zil_commit", "zfs_fsync", "zpl_fsync"]),
];

/// Waiting of one thread in one stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    pub thread: ThreadId,
    pub stack: StackId,
    pub samples: u64,
    /// 0 where the source has no times.
    pub ns: i64,
}

/// What the samples say of one thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadTime {
    /// CPU samples in a stage of ZFS, and all others that are not idle, in the unit of the profile.
    pub in_zfs: u64,
    pub elsewhere: u64,
    /// Of those in ZFS by [`CALLS`]; what is none of these is in no kind.
    pub calls: [u64; CALLS.len()],
    /// First and last sample of it, of any event.
    pub first_ns: i64,
    pub last_ns: i64,
    /// Begun by the kernel: no program.
    pub of_kernel: bool,
}

/// All threads of a profile.
#[derive(Clone, Debug, Default)]
pub struct Times {
    /// By thread, then stack.
    pub waits: Vec<Wait>,
    /// By thread id.
    pub threads: Vec<ThreadTime>,
}

impl Times {
    pub fn of(profile: &Profile, classified: &Classified) -> Times {
        let (samples, amounts) = (&profile.samples, profile.amounts());
        let (kernels, calls) = (roots_of_kernel(profile), calls(profile));
        let mut threads: Vec<Option<ThreadTime>> = vec![None; profile.threads.len()];
        let mut waits: FxHashMap<(ThreadId, StackId), (u64, i64)> = FxHashMap::default();
        let timed = matches!(profile.measure(Event::Wait).unit, Unit::Samples | Unit::Nanos);
        for row in 0..samples.len() {
            let (thread, stack, t) = (samples.thread[row], samples.stack[row], samples.t[row].0);
            let Some(slot) = threads.get_mut(thread.index()) else { continue };
            let time = slot.get_or_insert(ThreadTime { first_ns: t, last_ns: t, ..ThreadTime::default() });
            (time.first_ns, time.last_ns) = (time.first_ns.min(t), time.last_ns.max(t));
            time.of_kernel |= kernels.get(stack.index()) == Some(&true);
            match samples.event[row] {
                Event::Cpu if classified.stage_of(stack, thread) > NOT_ZFS => {
                    time.in_zfs += amounts.of(row);
                    let kind = calls.get(stack.index()).copied().unwrap_or_default();
                    if let Some(sum) = usize::from(kind).checked_sub(1).and_then(|at| time.calls.get_mut(at))
                    {
                        *sum += amounts.of(row);
                    }
                }
                Event::Cpu if !classified.is_idle(stack) => time.elsewhere += amounts.of(row),
                Event::Wait => {
                    let sum = waits.entry((thread, stack)).or_default();
                    sum.0 += u64::from(samples.count[row]);
                    sum.1 = sum.1.saturating_add(if timed { samples.weight[row].0.max(0) } else { 0 });
                }
                _ => {}
            }
        }
        let wait = |((thread, stack), (samples, ns))| Wait { thread, stack, samples, ns };
        let mut waits: Vec<Wait> = waits.into_iter().map(wait).collect();
        waits.sort_unstable_by_key(|w| (w.thread, w.stack));
        Times { waits, threads: threads.into_iter().map(Option::unwrap_or_default).collect() }
    }
}

/// Of each stack the number of its kind in [`CALLS`], from 1; 0 for none.
fn calls(profile: &Profile) -> Vec<u8> {
    let kind_of = |function: &str| {
        let function = bare(function).function;
        let at = CALLS.iter().rposition(|(_, names)| names.contains(&function));
        at.map_or(0, |at| u8::try_from(at + 1).unwrap_or_default())
    };
    let frames: Vec<u8> = profile.frames.iter().map(|(id, _)| kind_of(profile.function_of(id))).collect();
    let mut kinds = vec![0; profile.stacks.len()];
    for (id, parent, frame, _) in profile.stacks.iter() {
        let own = frames.get(frame.index()).copied().unwrap_or_default();
        kinds[id.index()] = own.max(kinds[parent.index()]);
    }
    kinds
}

/// Of each stack whether it begins where the kernel starts its own threads.
fn roots_of_kernel(profile: &Profile) -> Vec<bool> {
    let mut of_kernel = vec![false; profile.stacks.len()];
    // A stack of waiting may begin with why the thread left its CPU: `[sleeping]`.
    let mut notes = vec![false; profile.stacks.len()];
    for (id, parent, frame, depth) in profile.stacks.iter() {
        let name = profile.function_of(frame);
        notes[id.index()] = depth == 1 && name.starts_with('[');
        of_kernel[id.index()] = match depth {
            1 => KERNEL.contains(&bare(name).function),
            2 if notes[parent.index()] => KERNEL.contains(&bare(name).function),
            _ => of_kernel[parent.index()],
        };
    }
    of_kernel
}
