//! Types of records (linux/perf_event.h, tools/lib/perf/include/perf/event.h) and a record's frame.

use crate::bytes::View;

pub const MMAP: u32 = 1;
pub const LOST: u32 = 2;
pub const COMM: u32 = 3;
pub const EXIT: u32 = 4;
pub const THROTTLE: u32 = 5;
pub const UNTHROTTLE: u32 = 6;
pub const FORK: u32 = 7;
pub const SAMPLE: u32 = 9;
pub const MMAP2: u32 = 10;
pub const AUX: u32 = 11;
pub const LOST_SAMPLES: u32 = 13;
pub const SWITCH: u32 = 14;
pub const SWITCH_CPU_WIDE: u32 = 15;
pub const NAMESPACES: u32 = 16;
pub const KSYMBOL: u32 = 17;
pub const BPF_EVENT: u32 = 18;
pub const CGROUP: u32 = 19;
/// The kernel's last known type; later ones are skipped by their size.
const LAST_KERNEL: u32 = 31;

pub const HEADER_ATTR: u32 = 64;
pub const TRACING_DATA: u32 = 66;
pub const BUILD_ID: u32 = 67;
pub const AUXTRACE: u32 = 71;
pub const EVENT_UPDATE: u32 = 78;
pub const FEATURE: u32 = 80;
pub const COMPRESSED: u32 = 81;
pub const COMPRESSED2: u32 = 83;
const FIRST_USER: u32 = 64;
const LAST_USER: u32 = 111;

/// Bytes of a record's header.
pub const HEADER: usize = 8;

/// `misc` bits.
pub const MISC_CPUMODE: u16 = 7;
pub const MISC_BIT13: u16 = 1 << 13;
pub const MISC_BUILD_ID: u16 = 1 << 14;
pub const MISC_LOST_BY_BPF: u16 = 1 << 15;

/// One whole record, its header included.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    pub kind: u32,
    pub misc: u16,
    pub view: View<'a>,
}

/// Whether a type can stand in a header at all; what it leaves out is noise.
pub fn known(kind: u32) -> bool {
    (MMAP..=LAST_KERNEL).contains(&kind) || (FIRST_USER..=LAST_USER).contains(&kind)
}

/// Written by perf itself, not by the kernel.
pub fn is_of_perf(kind: u32) -> bool {
    kind >= FIRST_USER
}

/// Fewest bytes a record of this type has.
pub fn least_size(kind: u32) -> usize {
    match kind {
        MMAP => 40,
        MMAP2 => 72,
        COMM | NAMESPACES => 16,
        FORK | EXIT => 32,
        LOST | AUXTRACE | KSYMBOL => 24,
        LOST_SAMPLES | CGROUP | TRACING_DATA | FEATURE => 16,
        HEADER_ATTR => 72,
        BUILD_ID => 36,
        COMPRESSED => 9,
        _ => HEADER,
    }
}

/// What a record that holds no samples is called in messages.
pub fn name(kind: u32) -> &'static str {
    match kind {
        MMAP | MMAP2 => "mapping",
        COMM => "thread name",
        EXIT => "exit",
        FORK => "fork",
        THROTTLE | UNTHROTTLE => "throttle",
        SAMPLE => "sample",
        AUX => "AUX",
        SWITCH | SWITCH_CPU_WIDE => "context switch",
        NAMESPACES => "namespace",
        KSYMBOL => "kernel symbol",
        BPF_EVENT => "BPF program",
        CGROUP => "cgroup",
        20 => "text poke",
        AUXTRACE => "AUX trace",
        COMPRESSED | COMPRESSED2 => "compressed",
        _ => "other",
    }
}

/// Records about the recording itself: skipping them loses nothing a reader would miss.
pub fn is_housekeeping(kind: u32) -> bool {
    kind >= FIRST_USER && kind != AUXTRACE || matches!(kind, THROTTLE | UNTHROTTLE | 8 | 12)
}
