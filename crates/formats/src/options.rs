//! What a caller can ask of an import, and the limits every importer keeps.

use std::path::PathBuf;
use std::sync::Arc;
use zwhy_paste::Tools;

/// Upper bounds that keep a hostile file from taking the machine.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of a file or a pipe before anything is undone.
    pub max_input: u64,
    /// Bytes after undoing compression, of the whole file or of all compressed records in it.
    pub max_decompressed: u64,
    /// Bytes of a pipe, or of what compression hid, that are held in memory; longer streams lie in a
    /// temporary file.
    pub max_held: usize,
    /// Frames of one stack; the rest towards the root is cut and counted in a warning.
    pub max_depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { max_input: 64 << 30, max_decompressed: 4 << 30, max_held: 64 << 20, max_depth: 16_384 }
    }
}

/// How to import; the default detects everything.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// Importer to use, by its name, instead of the one whose sniff is surest.
    pub format: Option<String>,
    /// A copy of /proc/kallsyms of the recorded host, used when it belongs to the file.
    pub kallsyms: Option<PathBuf>,
    /// Folders with objects by build-id (`.build-id/ab/cdef…`), looked at before the system's own.
    pub debug_dirs: Vec<PathBuf>,
    /// Look for symbols on this host: running kernel, installed objects, ~/.debug. Importers of
    /// formats that carry names do not care.
    pub host_symbols: bool,
    /// Add source lines and inlined functions of a perf.data from debug information on this host.
    pub lines: bool,
    /// Shares follow the number of samples also where they carry uneven periods.
    pub by_samples: bool,
    /// Descriptions of tools for pasted text; those that come with zwhy where there are none.
    pub tools: Option<Arc<Tools>>,
    pub limits: Limits,
}

impl Default for ImportOptions {
    fn default() -> Self {
        ImportOptions {
            format: None,
            kallsyms: None,
            debug_dirs: Vec::new(),
            host_symbols: true,
            lines: false,
            by_samples: false,
            tools: None,
            limits: Limits::default(),
        }
    }
}
