//! Names that come with a recording instead of from this host: what a bundle holds.

use rustc_hash::FxHashMap;

/// What identifies a mapped object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ImageKey {
    pub path: Vec<u8>,
    pub build_id: Option<Vec<u8>>,
    pub inode: Option<u64>,
}

/// What was found at an offset of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KnownName {
    Function(String),
    /// Offset of the function's first byte (or the offset itself), the reason, and the functions it
    /// lies between.
    Unnamed(u64, String, Option<(String, String)>),
}

/// Names by offset in the object.
pub type KnownNames = FxHashMap<u64, KnownName>;

#[derive(Debug, Default)]
pub struct Known {
    /// Texts of /proc/kallsyms and /proc/modules of the recorded boot.
    pub kallsyms: Option<Vec<u8>>,
    pub modules: Option<Vec<u8>>,
    pub objects: FxHashMap<ImageKey, KnownNames>,
}
