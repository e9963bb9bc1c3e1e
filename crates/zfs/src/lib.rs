//! What OpenZFS says of itself: thread names, kstats, versions, parameters, properties. Text in,
//! types out.
//!
//! Invariant: no I/O, no clock, no panic on any text.

mod data;
mod defaults;
mod histogram;
mod iostat;
mod kstat;
mod kstats;
mod latency;
mod moves;
mod params;
mod properties;
mod size;
mod sleep;
mod status_json;
mod threads;
mod vdev_work;
mod vdevs;
mod version;
mod waits;

pub use defaults::ParameterDefaults;
pub use histogram::Quantiles;
pub use iostat::{IOSTAT, IOSTAT_NAMES, row_of_iostat};
pub use kstat::{Kstat, KstatError, NamedValue, Value, parse_kstat};
pub use kstats::{Unit, is_kstat, kstat_is_gauge, kstat_unit};
pub use latency::{LATENCY_GROUPS, LATENCY_NAMES, LatencyHistogram, VdevLatency, parse_latency_report};
pub use params::{Implementation, parse_implementation};
pub use properties::{PoolRow, PropertyRow, Source, parse_pool_list, parse_properties};
pub use size::format_bytes;
pub use sleep::{leaves_the_cpu, puts_to_sleep};
pub use threads::{Role, thread_base, thread_role, waits_for_work};
pub use vdev_work::VdevWork;
pub use vdevs::{PoolStatus, StatusError, Vdev, parse_pool_status, parse_pool_status_json};
pub use version::{Version, parse_version};
pub use waits::{WaitsFor, waits_for};
