//! The kernel's sampler: opening events, reading their rings, understanding their records.

pub(crate) mod attr;
pub(crate) mod open;
pub(crate) mod permission;
pub(crate) mod record;
pub(crate) mod ring;
pub(crate) mod session;
