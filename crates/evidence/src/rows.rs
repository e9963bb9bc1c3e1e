//! CPU figures that came as percentages: flat rows, stacks and threads.

use crate::OriginId;
use serde::{Deserialize, Serialize};

/// What a stack's percentage means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PctKind {
    /// The source does not say: self, inclusive or relative to a parent.
    #[default]
    Unclear,
    /// Of all samples, of the leaf alone.
    Own,
    /// Of all samples, of the whole subtree below the last frame.
    Inclusive,
}

/// One row of a flat list (`perf top`, `perf report`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlatRow {
    /// Per cent of all samples, self; 0 to 100.
    pub pct: Option<f64>,
    /// Per cent including children, where a column gave it.
    pub children_pct: Option<f64>,
    pub comm: Option<String>,
    /// Without brackets: `zfs`, `kernel`.
    pub module: Option<String>,
    /// Marked as code of a program or a library, not of the kernel.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub user: bool,
    pub symbol: String,
    pub origin: OriginId,
}

/// A stack, root first, with a percentage where the source gave one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PctStack {
    pub pct: Option<f64>,
    pub kind: PctKind,
    pub comm: Option<String>,
    /// `true` when the stack was asleep or blocked (hung task, /proc/PID/stack), not on a CPU.
    pub waiting: bool,
    pub frames: Vec<String>,
    pub origin: OriginId,
}

/// CPU of one thread, in per cent of one CPU.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ThreadCpu {
    pub comm: String,
    pub cpu_pct: Option<f64>,
    /// -20 (first served) to 19; threads of real-time classes have none.
    #[serde(default)]
    pub nice: Option<i32>,
    /// The process it belongs to, where the source says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<i32>,
    /// Its number, where the source says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tid: Option<i32>,
    pub origin: OriginId,
}
