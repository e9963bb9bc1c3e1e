//! What limits the load, as part of the answer: the CPU, a disk, a lock, memory, or nothing at all.
//!
//! Shares are fractions 0 to 1; of a program they are of the wall time of its threads.

use serde::Serialize;

/// What is at its limit: all CPUs of the host, one thread (which cannot use more than one CPU), a disk, a queue of
/// tasks, a lock, memory, something that holds programs back on purpose (room for changed data, a control group, a
/// hypervisor), a program that computes without ZFS, or nothing at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum LimitKind {
    Cpu,
    Thread,
    Device,
    Queue,
    Lock,
    Memory,
    Throttle,
    Client,
    Idle,
}

/// What limits the load.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
pub struct Bottleneck {
    pub kind: LimitKind,
    /// All of it in one sentence.
    pub text: String,
    /// The disk, thread, program or function that is at its limit; empty where it is none of these.
    pub what: String,
    /// Part of the host's CPU time that nobody used.
    pub cpu_idle: Option<f64>,
    /// Part of the host's CPU time that its hypervisor gave to others.
    pub cpu_stolen: Option<f64>,
    /// Programs that wait, those with most waiting time first.
    pub programs: Vec<ProgramTime>,
    /// Disks that did something, the busiest first.
    pub disks: Vec<DiskRow>,
    /// Queues of disks in which requests wait longer than they take on the disk, the longest wait first.
    pub queues: Vec<QueueRow>,
}

/// A queue of ZFS for one class of I/O of a disk, from `zpool iostat -lq`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
pub struct QueueRow {
    pub disk: String,
    pub pool: String,
    /// `synchronous reads`, `synchronous writes`, `reads ahead`, `writes`.
    pub queue: String,
    /// Requests that wait for their turn, on average.
    pub waiting: f64,
    /// Requests that the disk works on, on average.
    pub active: f64,
    /// How many of them ZFS allows at one time (`zfs_vdev_*_max_active`); `None` where that is not known.
    pub limit: Option<u64>,
    /// Milliseconds that a request waits for its turn, and then takes on the disk; `None` without any.
    pub wait_ms: f64,
    pub disk_ms: Option<f64>,
}

/// Where the time of a program's threads goes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
pub struct ProgramTime {
    pub program: String,
    /// Threads that waited.
    pub threads: u64,
    /// Seconds that these threads were there, all together.
    pub wall_s: f64,
    /// Part of it on a CPU; `None` where that is not known.
    pub on_cpu: Option<f64>,
    /// What it waited for, longest first.
    pub waits: Vec<TimePart>,
}

/// A part of a program's time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
pub struct TimePart {
    /// `disk reads`, `a lock`, `memory`.
    pub waits_for: String,
    pub share: f64,
}

/// A disk while it was recorded, from the counters of the kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
pub struct DiskRow {
    pub disk: String,
    /// The pool that it belongs to, where that is known.
    pub pool: Option<String>,
    /// Part of the time with at least one operation under way.
    pub busy: f64,
    pub reads_s: f64,
    pub writes_s: f64,
    pub read_bytes_s: f64,
    pub written_bytes_s: f64,
    /// Mean time of one read and one write in milliseconds; `None` without any.
    pub read_ms: Option<f64>,
    pub write_ms: Option<f64>,
    /// Operations under way, on average.
    pub queue: f64,
}
