//! Where a result goes, and how it gets there without harm to what stands in that place.
//!
//! - A regular file is replaced as a whole or not at all; its mode, and as far as it is permitted its
//!   owner, stay.
//! - A link is followed: what it points to is replaced or made, the link stays.
//! - Pipes, character devices and open descriptors (`/dev/stdout`, `/dev/fd/3`) are written to, never
//!   replaced.
//! - Folders, sockets and disks are refused.
//!
//! A system without files, such as a page in a browser, has no place for anything: there every path is refused.

mod error;
#[cfg(unix)]
mod find;
mod name;
#[cfg(not(unix))]
mod nowhere;
#[cfg(unix)]
mod place;

pub use error::{PlaceError, Reason};
pub use name::{NameError, check_name, ending};
#[cfg(not(unix))]
pub use nowhere::Place;
#[cfg(unix)]
pub use place::Place;
