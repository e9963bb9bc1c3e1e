//! The live view (`zwhy top`): intervals of the recorder, or of a capture played again, become figures, a verdict
//! of the last seconds, and what a terminal shows of both.
//!
//! Data flows one way: `slice` (one interval) → `readings`, `window` → `figures`, `verdict` → `model` → `tables`,
//! `text`, `csv`, `view`. Only `feed` runs the recorder, only `latency` a tool of ZFS while it is wanted, and only `freeze`
//! writes a file. Nothing else reads a file or a clock, and nothing prints; names of the host are escaped where they become text.

mod csv;
mod feed;
mod figures;
mod freeze;
mod latency;
mod model;
mod names;
mod readings;
mod replay;
mod slice;
mod tables;
mod text;
mod times;
mod verdict;
mod view;
mod window;
mod words;

pub use csv::Csv;
pub use feed::{Asking, Fed, Feed, Next, unix_now};
pub use figures::{
    ArcFigures, CacheHits, DatasetFigures, DbufFigures, Figures, HostCpu, MOST_ROWS, PoolFigures,
    ProcessFigures, QueueFigures, StageFigures, StageSeconds, ThreadFigures,
};
pub use freeze::{Frozen, freeze};
pub use latency::{BucketFigures, Latencies, LatencyFigures, LatencyRow, LatencyWatch, WaitFigures};
pub use model::{FREEZE_SPAN, Line, MOST_HISTORY, Model, Told, VERDICT_SPAN};
pub use readings::{Last, Readings};
pub use replay::Replay;
pub use slice::{Slice, nanos, narrowed};
pub use tables::{Cell, Kind, Table};
pub use text::{head_lines, text};
pub use times::{clock, moment, stamp, unix_of_stamp};
pub use verdict::{FindingLine, Pace, Verdict, VerdictLine};
pub use view::{Asked, Key, View, draw};
pub use window::{MOST_BYTES, Part, Window, part_facts};
pub use words::bytes as bytes_text;
