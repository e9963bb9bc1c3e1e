//! Readers of output whose shape no list of columns or lines describes: reports with sections, histograms,
//! files named above their values, sentences.

mod clauses;
mod command;
mod ddt_histogram;
mod figures;
mod fio;
mod free;
mod functions;
mod histograms;
mod kstats;
mod mdb_stacks;
mod params;
mod pmcstat;
mod probes;
mod procstat;
mod properties;
mod prose;
mod spoken;
pub(crate) mod statements;
mod zdb_ddt;
mod zpool_iostat;
mod zpool_status;

use crate::blocks::Block;

/// A reader with its rank among the blocks of tools.
pub type Ranked = (u16, &'static dyn Block);

/// All of them. Those of a lower rank are tried first: the more particular before the more general.
pub const READERS: [Ranked; 18] = [
    (14, &properties::Values),
    (15, &histograms::TracerHistogram),
    (26, &probes::Probes),
    (27, &pmcstat::Pmcstat),
    (27, &pmcstat::PmcstatTree),
    (28, &procstat::Procstat),
    (28, &mdb_stacks::MdbStacks),
    (36, &kstats::NamedKstats),
    (36, &kstats::PairedKstats),
    (41, &zpool_iostat::Histogram),
    (44, &zpool_status::ZpoolStatus),
    (48, &properties::Properties),
    (54, &zdb_ddt::Ddt),
    (56, &fio::Fio),
    (64, &free::Free),
    (76, &params::Parameters),
    (80, &command::Command),
    // Any sentence: last.
    (99, &prose::Prose),
];

/// Tables that the readers here and those of stacks make, with their columns.
pub const TABLES: [(&str, &[&str]); 15] = [
    ("quantiles", &["of", "unit", "count", "p50", "p90", "p99", "max"]),
    ("histogram", &["*"]),
    ("bpftrace *", &["*"]),
    ("zpool iostat -w", &["pool", "latency ns", "*"]),
    ("zpool iostat -r", &["pool", "request bytes", "*"]),
    ("zpool status", &["pool", "name", "state", "read", "write", "cksum", "slow", "dio", "note", "*"]),
    ("zpool status -D", &ddt_histogram::COLUMNS),
    ("zpool status of scans", &zpool_status::SCANS),
    ("zdb -DD", &ddt_histogram::COLUMNS),
    ("zdb -S", &ddt_histogram::COLUMNS),
    ("zdb -D", &["table", "entries", "size on disk", "size in core", "*"]),
    ("fio", &fio::COLUMNS),
    (
        "free (MiB)",
        &["name", "total", "used", "free", "shared", "buff/cache", "available", "buffers", "cached"],
    ),
    ("calls counted", &probes::COLUMNS),
    ("kernel log", &["event", "task", "lasted s"]),
];
