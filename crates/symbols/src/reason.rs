//! Why an address has no name.

use std::fmt;

/// The reason of an unresolved frame; its text goes to the `reason` column of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// The object is there and readable, but no symbol covers the address (stripped code).
    NoSymbol,
    /// The kernel hides its addresses (`kernel.kptr_restrict`) or kallsyms cannot be read.
    KernelHidden,
    /// In no text section of the kernel or of a loaded module.
    OutsideKernel,
    /// In kernel modules that were loaded and unloaded about that time: whose code it was is not known.
    ModuleChanged,
    /// In no mapping of the process that was known at that time.
    NotMapped,
    /// Memory without a file: generated code (JIT) or a trampoline.
    Anonymous,
    /// The mapped file was deleted and the process that had it open has ended.
    Deleted,
    /// Another file now has the path of the mapped file.
    Replaced,
    /// The file cannot be opened: other mount namespace, permission, or it is gone.
    Unreadable,
    /// The file is not an ELF object, or it is damaged.
    NotElf,
    /// The process ended before its mappings could be read.
    ProcessEnded,
    /// The call chain has an address that no code can have, for example from code built without
    /// frame pointers.
    BadAddress,
    /// Code of a virtual machine that runs on this host.
    Guest,
}

impl Reason {
    pub fn text(self) -> &'static str {
        match self {
            Reason::NoSymbol => "no symbol",
            Reason::KernelHidden => "kernel addresses hidden",
            Reason::OutsideKernel => "outside kernel text",
            Reason::ModuleChanged => "module changed",
            Reason::NotMapped => "not mapped",
            Reason::Anonymous => "anonymous memory",
            Reason::Deleted => "file deleted",
            Reason::Replaced => "file replaced",
            Reason::Unreadable => "file unreadable",
            Reason::NotElf => "not an ELF file",
            Reason::ProcessEnded => "process ended",
            Reason::BadAddress => "bad address",
            Reason::Guest => "virtual machine",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}
