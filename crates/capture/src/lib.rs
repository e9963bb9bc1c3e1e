//! The capture: what happened on a host in a span of time, readable without the host.
//!
//! While recording, a capture is a folder `NAME.zwhy.part` of short Parquet segments, each written
//! whole and renamed into place. When recording ends, the folder is packed into `NAME.zwhy`, a zip
//! archive of stored entries. Both open the same way, and a cut or damaged one yields all that can
//! be read with a count of what cannot.

mod column;
mod damage;
mod decode;
mod distinct;
mod encode;
mod error;
mod evidence;
mod id_map;
mod ids;
mod marks;
mod measures;
mod open;
mod pack;
mod parquet_io;
mod raw_entries;
mod redact;
mod row_counts;
mod series;
mod shipped;
mod sums;
mod table;
mod writer;

pub use damage::Damage;
pub use error::CaptureError;
pub use evidence::{write_capture, write_imported};
pub use ids::FrameRow;
pub use marks::Mark;
pub use open::Capture;
pub use pack::pack_folder;
pub use raw_entries::{each_entry, entry_parts};
pub use redact::Redactor;
pub use row_counts::{recorded_rows, row_counts};
pub use series::{Series, SeriesKind, SeriesRow};
pub use shipped::{day_of, shipped_host, shipped_key, stack_row_id};
pub use sums::write_sums;
pub use writer::{Writer, part_folder};

/// Version of the capture format that this build writes and the newest it reads.
pub const FORMAT_VERSION: u32 = 1;
