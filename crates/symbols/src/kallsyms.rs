//! Kernel names from /proc/kallsyms: address → function and module.
//!
//! Invariants: entries are sorted by address, one a address; data symbols are never answers but end
//! the function before them; no name reaches past the end of its text section or module.

use memchr::{memchr_iter, memchr3, memrchr};
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Read;

/// Why a kallsyms text is of no use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KallsymsError {
    #[error(
        "kernel symbols: all {symbols} addresses are 0, the kernel hides them; run as root or set \
         kernel.kptr_restrict=1 and give CAP_SYSLOG"
    )]
    Hidden { symbols: usize },
    #[error("kernel symbols: no line of `address type name` found")]
    Empty,
    #[error("kernel symbols: reading them failed: {0}")]
    Unreadable(std::io::ErrorKind),
}

/// One answer of [`KernelSymbols::resolve`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelSymbol<'a> {
    pub function: &'a str,
    /// `kernel` for the kernel itself, else the module's name without brackets.
    pub module: &'a str,
    /// Address of the function's first byte.
    pub start: u64,
}

/// One line of the text. Names of data are not kept, as they are never answers.
#[derive(Clone, Copy, Debug)]
struct Symbol {
    start: u64,
    name: u32,
    name_len: u16,
    module: u16,
    text: bool,
    global: bool,
}

impl Symbol {
    fn name<'a>(&self, names: &'a str) -> &'a str {
        let from = self.name as usize;
        names.get(from..from + usize::from(self.name_len)).unwrap_or_default()
    }
}

/// All functions of a running kernel and its modules.
#[derive(Clone, Debug, Default)]
pub struct KernelSymbols {
    symbols: Vec<Symbol>,
    names: String,
    /// `kernel` first.
    modules: Vec<String>,
    /// First byte after each module, where it is known.
    ends: Vec<Option<u64>>,
    markers: Markers,
}

/// Bytes of the text that are read at a time.
const AT_ONCE: u64 = 64 << 10;
/// Symbols of a usual kernel, and bytes of their names: tables that grow step by step are moved each time.
const USUAL: (usize, usize) = (160_000, 4 << 20);

impl KernelSymbols {
    /// As [`KernelSymbols::read`], of a text in memory.
    pub fn parse(kallsyms: &[u8], proc_modules: Option<&[u8]>) -> Result<KernelSymbols, KallsymsError> {
        KernelSymbols::read(kallsyms, proc_modules)
    }

    /// Reads the text of /proc/kallsyms and, where it is known, of /proc/modules (for module ends).
    ///
    /// Lines that are not `address type name [module]` are passed over. No more than 64 KiB of the text, or
    /// one line, are held at a time.
    pub fn read(
        mut kallsyms: impl Read,
        proc_modules: Option<&[u8]>,
    ) -> Result<KernelSymbols, KallsymsError> {
        let mut all = KernelSymbols {
            symbols: Vec::with_capacity(USUAL.0),
            names: String::with_capacity(USUAL.1),
            modules: vec!["kernel".to_owned()],
            ..KernelSymbols::default()
        };
        let (mut ids, mut last) = (HashMap::new(), 0);
        let mut piece = Vec::new();
        loop {
            let read = kallsyms.by_ref().take(AT_ONCE).read_to_end(&mut piece);
            let over = read.map_err(|e| KallsymsError::Unreadable(e.kind()))? == 0;
            let whole = if over { piece.len() } else { memrchr(b'\n', &piece).map_or(0, |at| at + 1) };
            let bytes = &piece[..whole];
            // Checked as a whole, which is much faster than made whole.
            let text =
                std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
            let mut from = 0;
            for end in memchr_iter(b'\n', text.as_bytes()).chain([text.len()]) {
                all.line(text.get(from..end).unwrap_or_default(), &mut ids, &mut last);
                from = end + 1;
            }
            piece.drain(..whole);
            if over {
                break;
            }
        }
        all.in_order(proc_modules.unwrap_or_default())
    }

    /// Takes in a line; `ids` of modules by name, and the module of the `last` line that had one.
    fn line(&mut self, line: &str, ids: &mut HashMap<String, u16>, last: &mut u16) {
        let Some((start, kind, rest)) = address_and_kind(line) else { return };
        let rest = rest.trim_ascii_start();
        let end = memchr3(b'\t', b' ', b'\r', rest.as_bytes()).unwrap_or(rest.len());
        let (name, rest) = rest.split_at(end);
        let mut module = 0;
        if let Some(of) = rest.split_ascii_whitespace().next() {
            let of = of.trim_start_matches('[').trim_end_matches(']');
            if *last == 0 || self.modules.get(usize::from(*last)).is_none_or(|known| known != of) {
                *last = *ids.entry(of.to_owned()).or_insert_with(|| {
                    self.modules.push(of.to_owned());
                    u16::try_from(self.modules.len() - 1).unwrap_or(0)
                });
            }
            module = *last;
        }
        // `a` and `A` are absolute values such as per-CPU offsets, not addresses; `$x` marks code kinds on ARM.
        if name.is_empty() || matches!(kind, b'a' | b'A') || name.as_bytes().first() == Some(&b'$') {
            return;
        }
        if module == 0 && name.ends_with("text") {
            self.markers.see(name, start);
        }
        let text = matches!(kind, b't' | b'T' | b'w' | b'W');
        let (Ok(at), Ok(name_len)) = (u32::try_from(self.names.len()), u16::try_from(name.len())) else {
            return; // 4 GiB of names or a name of 64 KiB is no kernel's
        };
        if text {
            self.names.push_str(name);
        }
        let (global, name_len) = (matches!(kind, b'T' | b'W'), if text { name_len } else { 0 });
        self.symbols.push(Symbol { start, name: at, name_len, module, text, global });
    }

    /// One symbol an address, by address.
    fn in_order(mut self, proc_modules: &[u8]) -> Result<KernelSymbols, KallsymsError> {
        let KernelSymbols { symbols, names, modules, ends, .. } = &mut self;
        if symbols.is_empty() {
            return Err(KallsymsError::Empty);
        }
        if symbols.iter().all(|symbol| symbol.start == 0) {
            return Err(KallsymsError::Hidden { symbols: symbols.len() });
        }
        *ends = module_ends(proc_modules, modules);
        // Nearly sorted already, and few addresses have two names, which alone are compared.
        symbols.sort_by_key(|symbol| symbol.start);
        for aliases in symbols.chunk_by_mut(|a, b| a.start == b.start).filter(|group| group.len() > 1) {
            let order = |symbol: &Symbol| (rank(symbol, symbol.name(names)), symbol.name(names));
            let best = (0..aliases.len()).min_by(|a, b| order(&aliases[*a]).cmp(&order(&aliases[*b])));
            aliases.swap(0, best.unwrap_or(0));
        }
        symbols.dedup_by_key(|symbol| symbol.start);
        symbols.shrink_to_fit();
        names.shrink_to_fit();
        Ok(self)
    }

    /// The function that holds `address`, or `None` outside of all text.
    pub fn resolve(&self, address: u64) -> Option<KernelSymbol<'_>> {
        let after = self.symbols.partition_point(|symbol| symbol.start <= address);
        let symbol = self.symbols.get(after.checked_sub(1)?)?;
        if !symbol.text || address >= self.end(symbol, self.symbols.get(after)) {
            return None;
        }
        let module = self.modules.get(usize::from(symbol.module))?;
        Some(KernelSymbol { function: symbol.name(&self.names), module, start: symbol.start })
    }

    /// First byte after a function, which `next` follows.
    fn end(&self, symbol: &Symbol, next: Option<&Symbol>) -> u64 {
        let limit = match self.ends.get(usize::from(symbol.module)).copied().flatten() {
            Some(end) => end,
            None if symbol.module == 0 => self.markers.limit(symbol.start),
            None => u64::MAX,
        };
        // The last symbol of a module: without the module's size, not past its page.
        let last = next.is_none_or(|next| next.module != symbol.module);
        let end = if last && limit == u64::MAX { page_end(symbol.start) } else { limit };
        end.min(next.map_or(u64::MAX, |next| next.start))
    }

    /// Address of `_text` (or `_stext`): with it one can tell whether a kallsyms belongs to a capture.
    pub fn base(&self) -> Option<u64> {
        self.markers.text.or(self.markers.start)
    }
}

/// `address type` of a line and what follows them.
fn address_and_kind(line: &str) -> Option<(u64, u8, &str)> {
    let line = line.trim_ascii_start();
    let (mut address, mut digits) = (0, 0);
    while let Some(digit) = line.as_bytes().get(digits).and_then(|byte| char::from(*byte).to_digit(16)) {
        (address, digits) = (address << 4 | u64::from(digit), digits + 1);
    }
    if !(1..=16).contains(&digits) || !line.as_bytes().get(digits)?.is_ascii_whitespace() {
        return None;
    }
    let rest = line[digits..].trim_ascii_start();
    let kind = *rest.as_bytes().first()?;
    let rest = rest.get(1..)?;
    rest.as_bytes().first()?.is_ascii_whitespace().then_some((address, kind, rest))
}

/// Which of several names of one address to show: text, a real function, global, plain.
fn rank(symbol: &Symbol, name: &str) -> (bool, bool, bool, usize, usize) {
    let marker = name.ends_with("_start")
        || name.ends_with("_end")
        || name.ends_with("_begin")
        || ["_text", "_stext", "_etext", "_sinittext", "_einittext"].contains(&name)
        || ["__pi_", "__cfi_", "__pfx_", "__UNIQUE_ID"].iter().any(|p| name.starts_with(p));
    let underscores = name.bytes().take_while(|b| *b == b'_').count();
    (!symbol.text, marker, !symbol.global, underscores, name.len())
}

fn page_end(address: u64) -> u64 {
    (address | 0xfff).saturating_add(1)
}

/// Addresses of the names that mark the kernel's own text.
#[derive(Clone, Debug, Default)]
struct Markers {
    text: Option<u64>,
    start: Option<u64>,
    end: Option<u64>,
    init: Option<u64>,
    init_end: Option<u64>,
}

impl Markers {
    fn see(&mut self, name: &str, address: u64) {
        match name {
            "_text" => self.text = Some(address),
            "_stext" => self.start = Some(address),
            "_etext" => self.end = Some(address),
            "_sinittext" => self.init = Some(address),
            "_einittext" => self.init_end = Some(address),
            _ => {}
        }
    }

    /// The end of the text section that holds `address`; no limit where no section is known to.
    fn limit(&self, address: u64) -> u64 {
        let ranges = [(self.start.or(self.text), self.end), (self.init, self.init_end)];
        let ranges = ranges.into_iter().filter_map(|(from, to)| Some((from?, to?)));
        if ranges.clone().any(|(_, to)| to == address) {
            return address; // the end marker itself
        }
        ranges.clone().find(|(from, to)| (*from..*to).contains(&address)).map_or(u64::MAX, |(_, to)| to)
    }
}

/// End address of each module, by module id, from lines `name size refs deps state 0xbase`.
fn module_ends(proc_modules: &[u8], modules: &[String]) -> Vec<Option<u64>> {
    let mut ends = HashMap::new();
    for line in String::from_utf8_lossy(proc_modules).lines() {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let (Some(name), Some(size), Some(base)) = (fields.first(), fields.get(1), fields.get(5)) else {
            continue;
        };
        let base = u64::from_str_radix(base.trim_start_matches("0x"), 16).unwrap_or(0);
        if let (Ok(size), true) = (size.parse::<u64>(), base != 0) {
            ends.insert((*name).to_owned(), base.saturating_add(size));
        }
    }
    modules.iter().map(|name| ends.get(name).copied()).collect()
}

#[cfg(test)]
#[path = "kallsyms_tests.rs"]
mod tests;
