//! Names inside one ELF object: file offset → virtual address → function.
//!
//! Invariants: a symbol covers its stated size and no more; one without a size ends at the next
//! symbol or with its section. Data symbols are never answers. Names stay in the file until they are
//! asked for, so a program of a million functions costs 16 bytes for each.

use crate::elf_head::{Head, Segment, address_of};
use crate::elf_tables::{Function, LOOK_BACK};
use crate::names::Names;
use crate::object_file::ElfObject;
use crate::unwind_table::FunctionStarts;

/// Why an object's symbols could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a readable ELF object: {0}")]
pub struct ElfError(pub String);

/// What [`ElfSymbols::resolve`] finds at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ElfSymbol {
    /// A function; its name as in the symbol table (see [`crate::demangle`]) and first address.
    Named { name: String, start: u64 },
    /// No symbol; the address of the function's first byte where the unwind table has it, and then the
    /// named functions it lies between. A linker keeps the functions of a source file together, so
    /// these two often tell what an unnamed one is for.
    Unnamed { start: Option<u64>, between: Option<(String, String)> },
}

/// Consecutive symbols of one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SymbolGroup {
    first: u32,
    count: u32,
}

/// Code further from the last known function start belongs to one that the unwind table leaves out,
/// and named functions further away are of other source files.
const LARGEST_UNNAMED: u64 = 64 << 10;

/// Function symbols of one object, `.symtab` and `.dynsym` together: all, or those near the addresses asked for.
#[derive(Debug)]
pub struct ElfSymbols {
    segments: Vec<Segment>,
    functions: Vec<Function>,
    names: Names,
    starts: FunctionStarts,
    /// The functions that a stripped object keeps apart, packed (`.gnu_debugdata`).
    mini: Option<Box<ElfSymbols>>,
}

impl ElfSymbols {
    /// Reads the symbol tables of an ELF file in memory; see [`crate::load_elf`] for a file on disk.
    pub fn parse(bytes: &[u8]) -> Result<ElfSymbols, ElfError> {
        Ok(ElfObject::parse(bytes)?.symbols())
    }

    pub(crate) fn new(
        head: &Head,
        functions: Vec<Function>,
        names: Names,
        starts: FunctionStarts,
        mini: Option<ElfSymbols>,
    ) -> ElfSymbols {
        let segments = head.segments.clone();
        ElfSymbols { segments, functions, names, starts, mini: mini.map(Box::new) }
    }

    /// Number of function symbols, aliases included.
    pub fn len(&self) -> usize {
        self.functions.len()
    }

    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// Bytes held in memory, about.
    pub fn memory(&self) -> usize {
        let mini = self.mini.as_ref().map_or(0, |mini| mini.memory());
        self.functions.capacity() * size_of::<Function>() + self.names.memory() + self.starts.memory() + mini
    }

    /// Virtual address of a byte of the file, by the program headers.
    pub fn address_of_offset(&self, offset: u64) -> Option<u64> {
        address_of(&self.segments, offset)
    }

    /// The symbols that [`ElfSymbols::resolve`] chooses from; equal answers for two addresses mean the
    /// same function, so that it need be named only once. `None` where that is not known.
    pub fn group(&self, address: u64) -> Option<SymbolGroup> {
        if self.mini.is_some() {
            return None;
        }
        let mut near = self.near(address).map(|(at, _)| at as u32);
        let last = near.next()?;
        let (mut first, mut count) = (last, 1);
        for at in near {
            (first, count) = (at, count + 1);
        }
        (last - first + 1 == count).then_some(SymbolGroup { first, count })
    }

    /// Symbols that hold an address, the nearest first.
    fn near(&self, address: u64) -> impl Iterator<Item = (usize, &Function)> {
        let after = self.functions.partition_point(|f| f.start <= address);
        let back = self.functions[..after].iter().enumerate().rev().take(LOOK_BACK);
        back.filter(move |(_, f)| address < f.end())
    }

    /// The function at a virtual address.
    pub fn resolve(&self, address: u64) -> ElfSymbol {
        let own = self.resolve_itself(address);
        match (self.mini.as_ref().map(|mini| mini.resolve_itself(address)), &own) {
            // A symbol without a size reaches over all that has no name, so the nearer start wins.
            (Some(ElfSymbol::Named { name, start }), ElfSymbol::Named { start: other, .. })
                if start > *other =>
            {
                ElfSymbol::Named { name, start }
            }
            (Some(named @ ElfSymbol::Named { .. }), ElfSymbol::Unnamed { .. }) => named,
            _ => own,
        }
    }

    /// The nearest named functions before and after an address that none of them holds.
    fn between(&self, address: u64) -> Option<(String, String)> {
        let after = self.functions.partition_point(|f| f.start <= address);
        let name = |function: &Function| self.names.get(function.name()).filter(|n| is_function_name(n));
        let near = |start: &u64| start.abs_diff(address) < LARGEST_UNNAMED;
        let mut back = self.functions[..after].iter().rev().take(LOOK_BACK).filter(|f| near(&f.start));
        let mut ahead = self.functions[after..].iter().take(LOOK_BACK).filter(|f| near(&f.start));
        Some((back.find_map(name)?, ahead.find_map(name)?))
    }

    fn resolve_itself(&self, address: u64) -> ElfSymbol {
        let near = self.near(address).map(|(_, f)| f);
        // The innermost start wins; among its aliases the best name.
        let mut best: Option<(&Function, String)> = None;
        for function in near {
            if best.as_ref().is_some_and(|(b, _)| b.start != function.start) {
                break;
            }
            let Some(name) = self.names.get(function.name()).filter(|n| is_function_name(n)) else {
                continue;
            };
            if best.as_ref().is_none_or(|(b, n)| rank(function, &name) < rank(b, n)) {
                best = Some((function, name));
            }
        }
        if let Some((function, name)) = best {
            return ElfSymbol::Named { name, start: function.start };
        }
        let start = self.starts.before(address);
        let start = start.filter(|start| address - start < LARGEST_UNNAMED);
        ElfSymbol::Unnamed { start, between: start.and_then(|_| self.between(address)) }
    }
}

/// Local labels of assemblers and marks of code kinds (`$x` on ARM) name no function.
fn is_function_name(name: &str) -> bool {
    !(name.is_empty() || name.starts_with(".L") || name.starts_with('$'))
}

/// Which of several names of one address to show, lower first: typed, sized, global, plain, short.
fn rank<'a>(function: &Function, name: &'a str) -> (u8, usize, usize, &'a str) {
    let mangled = name.starts_with("_Z") || name.starts_with("_R");
    let underscores = if mangled { 0 } else { name.bytes().take_while(|b| *b == b'_').count() };
    (function.flaws(), underscores, name.len(), name)
}

#[cfg(test)]
#[path = "elf_tests.rs"]
mod tests;
