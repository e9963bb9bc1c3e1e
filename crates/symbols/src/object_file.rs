//! An ELF object that is open: its symbols are read when they are asked for, all of them or those near some addresses.
//!
//! Invariant: little is held in memory, however large the object is; both ways give the same names.

use crate::elf::{ElfError, ElfSymbols};
use crate::elf_head::Head;
use crate::elf_tables::{all_functions, functions_near};
use crate::file_reader::FileReader;
use crate::names::Names;
use crate::object_bytes::ObjectBytes;
use crate::unwind_table::FunctionStarts;
use object::Endianness;
use std::fs::{File, Metadata};
use std::io::Read;
use std::sync::Arc;
use std::time::SystemTime;

/// Bytes of packed symbols, and of memory for unpacking them; those of large programs are some MB.
const LARGEST_MINI: u64 = 64 << 20;
/// The unwind table of the largest programs has some MB.
const LARGEST_UNWIND: u64 = 64 << 20;
/// Of more addresses than one in so many symbols the whole table is sorted: that is less work.
const FEW: u64 = 64;
/// Unpacking a byte takes as long as looking at so many symbols.
const UNPACK: u64 = 8;

/// An ELF object, with its separate debug file where there is one.
#[derive(Debug)]
pub struct ElfObject {
    bytes: ObjectBytes,
    head: Head,
    /// Size and time of the last change of the file.
    stamp: Option<(u64, SystemTime)>,
    debug: Option<Box<ElfObject>>,
}

impl ElfObject {
    pub(crate) fn of_file(file: File, meta: &Metadata) -> Result<ElfObject, ElfError> {
        let file = Arc::new(file);
        let bytes = ObjectBytes::File(Arc::clone(&file));
        let head = Head::parse(&FileReader::new(file, meta.len()), &bytes)?;
        let stamp = meta.modified().ok().map(|time| (meta.len(), time));
        Ok(ElfObject { bytes, head, stamp, debug: None })
    }

    /// An object in memory.
    ///
    /// # Errors
    /// When it is none.
    pub fn parse(bytes: &[u8]) -> Result<ElfObject, ElfError> {
        let copy = ObjectBytes::Memory(bytes.into());
        Ok(ElfObject { head: Head::parse(bytes, &copy)?, bytes: copy, stamp: None, debug: None })
    }

    /// Takes the function names of `other`, the separate debug file of the same object.
    pub(crate) fn take_names(&mut self, other: ElfObject) {
        if other.head.symbols() > self.head.symbols() {
            self.debug = Some(Box::new(other));
        }
    }

    pub fn build_id(&self) -> Option<&[u8]> {
        self.head.build_id.as_deref()
    }

    /// Virtual address of a byte of the file, by the program headers.
    pub fn address_of_offset(&self, offset: u64) -> Option<u64> {
        self.head.address_of_offset(offset)
    }

    /// Whether the file was written since it was opened: names from before may be wrong then.
    pub fn has_changed(&self) -> bool {
        let now = self.bytes.metadata();
        now.is_some_and(|meta| meta.modified().ok().map(|time| (meta.len(), time)) != self.stamp)
    }

    /// What reading its symbols costs, about, in symbols to be looked at.
    pub fn cost(&self) -> u64 {
        let named = self.debug.as_ref().map_or(self.head.symbols(), |debug| debug.head.symbols());
        let packed = self.head.packed.as_ref().filter(|_| self.debug.is_none());
        named + packed.map_or(0, |packed| (packed.end - packed.start) * UNPACK)
    }

    /// All its symbols, for many addresses.
    pub fn symbols(&self) -> ElfSymbols {
        self.read(None)
    }

    /// The symbols near virtual addresses, in one pass over the tables. For these, and for no other, they give the
    /// answers that all symbols would give.
    pub fn symbols_near(&self, addresses: &[u64]) -> ElfSymbols {
        let mut sorted = addresses.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let few = (sorted.len() as u64).saturating_mul(FEW) <= self.cost();
        self.read(few.then_some(&sorted))
    }

    /// `near`: sorted and distinct addresses, or all symbols.
    pub(crate) fn read(&self, near: Option<&[u64]>) -> ElfSymbols {
        let ElfObject { bytes, head, .. } = self.debug.as_deref().unwrap_or(self);
        let functions = match near {
            Some(addresses) => functions_near(head, bytes, addresses),
            None => all_functions(head, bytes),
        };
        let names = Names::new(bytes, head.names());
        let mini = if self.debug.is_none() { self.mini() } else { None };
        ElfSymbols::new(&self.head, functions, names, self.starts(near), mini)
    }

    /// Where functions begin: only stripped code needs that, and large programs have millions.
    fn starts(&self, near: Option<&[u64]>) -> FunctionStarts {
        let Head { unwind: Some((range, address)), endian, .. } = &self.head else {
            return Default::default();
        };
        if !self.head.is_stripped() {
            return FunctionStarts::default();
        }
        let section = self.bytes.part(range.clone(), LARGEST_UNWIND).unwrap_or_default();
        let starts = FunctionStarts::parse(&section, *address, *endian == Endianness::Little);
        match near {
            Some(addresses) => starts.near(addresses),
            None => starts,
        }
    }

    /// Functions of a stripped object that Fedora and others keep in it: an ELF object, packed with xz
    /// (`.gnu_debugdata`).
    fn mini(&self) -> Option<ElfSymbols> {
        let packed = self.bytes.part(self.head.packed.clone()?, LARGEST_MINI)?;
        let stream = liblzma::stream::Stream::new_stream_decoder(LARGEST_MINI, 0).ok()?;
        let mut bytes = Vec::new();
        let unpacked = liblzma::read::XzDecoder::new_stream(packed.as_slice(), stream);
        unpacked.take(LARGEST_MINI).read_to_end(&mut bytes).ok()?;
        let mut object = ElfObject::parse(&bytes).ok()?;
        // Not one within the other: that could go on for ever.
        object.head.packed = None;
        object.head.unwind = None;
        Some(object.symbols())
    }
}
