//! An address that was seen.

/// Index of an address seen, until it has a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct AddressId(pub u32);
