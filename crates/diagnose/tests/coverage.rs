//! The anatomy names the stage of nearly all CPU samples of ZFS in a real kernel.
//!
//! `data/kernel-vm.folded` holds the 400 most frequent kernel stacks with ZFS in them (22,106 of
//! 28,687 samples), of recordings made by the kernel tests: OpenZFS 2.3.2 on Linux 6.1, reading,
//! writing, encrypting, compressing, RAID-Z, extended attributes, L2ARC, export and suspension.

use zwhy_diagnose::{Knowledge, coverage};
use zwhy_profile::{Event, FrameKind, Profile};

#[test]
fn samples_of_a_real_kernel_have_a_stage() {
    let mut profile = Profile::new();
    let thread = profile.thread(0, 0, "kernel");
    for line in include_str!("data/kernel-vm.folded").lines() {
        let (stack, count) = line.rsplit_once(' ').expect("a count");
        let frames: Vec<_> =
            stack.split(';').map(|name| profile.frame(name, "", FrameKind::Kernel)).collect();
        let stack = profile.stack(&frames);
        profile.samples.push_counted(thread, stack, Event::Cpu, count.parse().expect("a number"));
    }
    let found = coverage(&profile, &Knowledge::embedded().anatomy);
    assert!(found.zfs > 20_000, "{} samples are ZFS's", found.zfs);
    assert!(
        found.named as f64 >= 0.95 * found.zfs as f64,
        "{} of {} samples of ZFS have a stage; unknown: {:#?}",
        found.named,
        found.zfs,
        found.unknown.iter().take(20).collect::<Vec<_>>()
    );
}
