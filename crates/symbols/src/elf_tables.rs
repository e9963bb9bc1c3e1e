//! The symbol tables of an ELF object, without the names: all functions of them, or those near some addresses.
//!
//! Invariant: a table is read once from begin to end, a piece at a time; what is near the addresses is the same that the
//! whole table, sorted, would give.

use crate::elf_head::Head;
use crate::names::NameRef;
use crate::object_bytes::ObjectBytes;
use object::Endianness;
use object::elf::{STB_LOCAL, STT_FUNC, STT_GNU_IFUNC, STT_NOTYPE, Sym32, Sym64};
use object::pod::{bytes_of_slice_mut, slice_from_all_bytes};
use object::read::elf::Sym;
use std::ops::Range;

/// A function symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Function {
    pub start: u64,
    name: u32,
    /// 28 bits of size, the table of the name, 3 bits of flaws.
    packed: u32,
}

// A program may have a million of them.
const _: () = assert!(size_of::<Function>() == 16);

/// Symbols that may lie inside another or at the same address, and are looked at for one answer.
pub(crate) const LOOK_BACK: usize = 24;
/// Bytes of a table that are read at a time.
const AT_ONCE: usize = 96 << 10;
/// No function is longer.
const LONGEST: u64 = (1 << 28) - 1;

impl Function {
    fn new(start: u64, size: u64, name: NameRef, flaws: u8) -> Function {
        let packed = size.min(LONGEST) as u32 | u32::from(name.table & 1) << 28 | u32::from(flaws & 7) << 29;
        Function { start, name: name.offset, packed }
    }

    fn size(&self) -> u64 {
        u64::from(self.packed) & LONGEST
    }

    pub(crate) fn end(&self) -> u64 {
        self.start.saturating_add(self.size())
    }

    pub(crate) fn name(&self) -> NameRef {
        NameRef { table: (self.packed >> 28 & 1) as u8, offset: self.name }
    }

    /// 4 for no type, 2 for no size, 1 for local: the fewer, the better the name.
    pub(crate) fn flaws(&self) -> u8 {
        (self.packed >> 29) as u8
    }
}

/// All functions of both tables, sorted by start.
pub(crate) fn all_functions(head: &Head, bytes: &ObjectBytes) -> Vec<Function> {
    let mut functions = Vec::new();
    each_function(head, bytes, |function| functions.push(function));
    functions.shrink_to_fit();
    // In one order, those at one address too: which of their names is shown depends on it.
    functions.sort_unstable();
    end_unsized(&mut functions, &head.code);
    functions
}

/// Of [`all_functions`] those that are looked at for one of `addresses`, which are sorted.
pub(crate) fn functions_near(head: &Head, bytes: &ObjectBytes, addresses: &[u64]) -> Vec<Function> {
    // What begins after the address before it and not after this one; and what begins after all of them.
    let mut gaps: Vec<Gap> = (0..=addresses.len()).map(|_| Gap::default()).collect();
    each_function(head, bytes, |function| {
        gaps[addresses.partition_point(|address| *address < function.start)].take(function);
    });
    let mut functions: Vec<Function> = gaps.into_iter().flat_map(Gap::finish).collect();
    functions.sort_unstable();
    functions.dedup();
    end_unsized(&mut functions, &head.code);
    functions
}

/// The first and the last functions between two addresses.
#[derive(Default)]
struct Gap {
    first: Vec<Function>,
    last: Vec<Function>,
    /// Those that begin there and beyond are not among the first.
    first_below: Option<u64>,
    /// Those that begin below are not among the last.
    last_from: u64,
}

impl Gap {
    fn take(&mut self, function: Function) {
        if self.first_below.is_none_or(|below| function.start < below) {
            self.first.push(function);
            if self.first.len() == 2 * LOOK_BACK {
                self.first.select_nth_unstable(LOOK_BACK - 1);
                self.first.truncate(LOOK_BACK);
                self.first_below = self.first.last().map(|f| f.start);
            }
        }
        if function.start >= self.last_from {
            self.last.push(function);
            if self.last.len() == 2 * LOOK_BACK {
                self.last.select_nth_unstable_by(LOOK_BACK - 1, |a, b| b.cmp(a));
                self.last.truncate(LOOK_BACK);
                self.last_from = self.last.last().map_or(0, |f| f.start);
            }
        }
    }

    /// Some may be among both.
    fn finish(self) -> impl Iterator<Item = Function> {
        self.first.into_iter().chain(self.last)
    }
}

/// Calls `take` with every function of both tables, in the order of the file.
fn each_function(head: &Head, bytes: &ObjectBytes, mut take: impl FnMut(Function)) {
    for table in 0..2 {
        match head.wide {
            true => functions_of::<Sym64<Endianness>>(head, bytes, table, &mut take),
            false => functions_of::<Sym32<Endianness>>(head, bytes, table, &mut take),
        }
    }
}

/// The functions of one table; of one that is cut, those before the cut.
fn functions_of<S: Sym<Endian = Endianness>>(
    head: &Head,
    bytes: &ObjectBytes,
    table: u8,
    take: &mut impl FnMut(Function),
) {
    let Range { start, end } = head.tables[usize::from(table)].symbols.clone();
    let mut buffer = vec![0u64; AT_ONCE / 8];
    let size = size_of::<S>() as u64;
    let (step, end) = (AT_ONCE as u64 / size * size, end - (end - start) % size);
    let mut at = start;
    while at < end {
        let len = step.min(end - at);
        let Some(part) = bytes_of_slice_mut(&mut buffer).get_mut(..len as usize) else { return };
        if bytes.read(at, part).is_none() {
            return;
        }
        let symbols: &[S] = slice_from_all_bytes(part).unwrap_or_default();
        symbols.iter().filter_map(|symbol| function(head, symbol, table)).for_each(&mut *take);
        at += len;
    }
}

#[inline]
fn function<S: Sym<Endian = Endianness>>(head: &Head, symbol: &S, table: u8) -> Option<Function> {
    let (endian, kind) = (head.endian, symbol.st_type());
    // Functions written in assembly often have no type and no size.
    if ![STT_FUNC, STT_GNU_IFUNC, STT_NOTYPE].contains(&kind) {
        return None;
    }
    let section = symbol.st_shndx(endian).index()?;
    let start: u64 = symbol.st_value(endian).into();
    head.code.get(usize::from(section))?.as_ref().filter(|section| start < section.end)?;
    let size: u64 = symbol.st_size(endian).into();
    let flaws =
        u8::from(kind == STT_NOTYPE) * 4 + u8::from(size == 0) * 2 + u8::from(symbol.st_bind() == STB_LOCAL);
    Some(Function::new(start, size, NameRef { table, offset: symbol.st_name(endian) }, flaws))
}

/// Symbols without a size reach to the next address that has a symbol, or to the end of the section.
fn end_unsized(functions: &mut [Function], code: &[Option<Range<u64>>]) {
    let mut next = u64::MAX;
    let mut current = u64::MAX;
    for function in functions.iter_mut().rev() {
        if function.start != current {
            next = current;
            current = function.start;
        }
        if function.size() == 0 {
            let section = code.iter().flatten().find(|section| section.contains(&function.start));
            let end = section.map_or(function.start, |section| section.end);
            let size = next.min(end).saturating_sub(function.start);
            *function = Function::new(function.start, size, function.name(), function.flaws());
        }
    }
}
