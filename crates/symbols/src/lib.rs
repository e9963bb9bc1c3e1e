//! Names for addresses: kallsyms for the kernel, ELF symbol tables for user code, and a reason for
//! every address that gets no name.
//!
//! Invariants: a name is given only inside the bounds of its function, module or text section;
//! outside of them the answer is a [`Reason`]. Reading files is confined to `load`,
//! `module_file` and `lines`.

mod at;
mod demangle;
mod elf;
mod elf_head;
mod elf_tables;
mod file_reader;
mod jit_map;
mod kallsyms;
mod label;
mod lines;
mod load;
mod lookup;
mod maps;
mod module_file;
mod names;
mod object_bytes;
mod object_file;
mod reason;
mod unwind_table;

pub use demangle::demangle;
pub use elf::{ElfError, ElfSymbol, ElfSymbols, SymbolGroup};
pub use jit_map::JitMap;
pub use kallsyms::{KallsymsError, KernelSymbol, KernelSymbols};
pub use label::unnamed_label;
pub use lines::{Lines, NoLines, ObjectLines, SourceFrame, kernel_file, source_frames};
pub use load::{FileId, load_elf, open_elf};
pub use lookup::{FunctionPoint, function_points};
pub use maps::{ImageKind, MapsLine, module_name, parse_maps};
pub use module_file::{ModuleFile, build_id_of_notes, read_module_file};
pub use object_file::ElfObject;
pub use reason::Reason;
