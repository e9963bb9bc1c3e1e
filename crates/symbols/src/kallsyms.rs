//! Kernel names from /proc/kallsyms: address → function and module.
//!
//! Invariants: entries are sorted by address, one a address; data symbols are never answers but end
//! the function before them; no name reaches past the end of its text section or module.

use std::collections::HashMap;
use std::io::BufRead;

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

#[derive(Clone, Copy, Debug)]
struct Entry {
    start: u64,
    /// First byte after the function; equal to `start` for data.
    end: u64,
    name: u32,
    name_len: u16,
    module: u16,
}

/// All functions of a running kernel and its modules.
#[derive(Clone, Debug)]
pub struct KernelSymbols {
    entries: Vec<Entry>,
    names: String,
    modules: Vec<String>,
    base: Option<u64>,
}

/// One line before bounds are known. Names of data are not kept, as they are never answers.
struct Line {
    start: u64,
    name: u32,
    name_len: u16,
    module: u16,
    text: bool,
    global: bool,
}

impl Line {
    fn name<'a>(&self, names: &'a str) -> &'a str {
        let from = self.name as usize;
        names.get(from..from + usize::from(self.name_len)).unwrap_or_default()
    }
}

impl KernelSymbols {
    /// As [`KernelSymbols::read`], of a text in memory.
    pub fn parse(kallsyms: &[u8], proc_modules: Option<&[u8]>) -> Result<KernelSymbols, KallsymsError> {
        KernelSymbols::read(kallsyms, proc_modules)
    }

    /// Reads the text of /proc/kallsyms and, where it is known, of /proc/modules (for module ends).
    ///
    /// Lines that are not `address type name [module]` are passed over. No more than one line of the
    /// text is held at a time.
    pub fn read(kallsyms: impl BufRead, proc_modules: Option<&[u8]>) -> Result<KernelSymbols, KallsymsError> {
        let Text { mut lines, mut names, modules, sections } = Text::read(kallsyms)?;
        if lines.is_empty() {
            return Err(KallsymsError::Empty);
        }
        if lines.iter().all(|line| line.start == 0) {
            return Err(KallsymsError::Hidden { symbols: lines.len() });
        }
        names.shrink_to_fit();
        let sections = sections.finish();
        let ends = module_ends(proc_modules.unwrap_or_default(), &modules);
        // Nearly sorted already, and few addresses have two names, which alone are compared.
        lines.sort_by_key(|line| line.start);
        for aliases in lines.chunk_by_mut(|a, b| a.start == b.start).filter(|group| group.len() > 1) {
            let order = |line: &Line| (rank(line, line.name(&names)), line.name(&names));
            let best = (0..aliases.len()).min_by(|a, b| order(&aliases[*a]).cmp(&order(&aliases[*b])));
            aliases.swap(0, best.unwrap_or(0));
        }
        lines.dedup_by_key(|line| line.start);

        let mut entries = Vec::with_capacity(lines.len());
        for (i, line) in lines.iter().enumerate() {
            let limit = match ends.get(line.module as usize).copied().flatten() {
                Some(end) => end,
                None if line.module == 0 => sections.limit(line.start),
                None => u64::MAX,
            };
            let next = lines.get(i + 1);
            let end = match next {
                Some(next) if next.module == line.module => next.start.min(limit),
                // The last symbol of a module: without the module's size, not past its page.
                _ if limit == u64::MAX => page_end(line.start).min(next.map_or(u64::MAX, |n| n.start)),
                _ => limit.min(next.map_or(u64::MAX, |n| n.start)),
            };
            let end = if line.text { end.max(line.start) } else { line.start };
            let Line { start, name, name_len, module, .. } = *line;
            entries.push(Entry { start, end, name, name_len, module });
        }
        Ok(KernelSymbols { entries, names, modules, base: sections.base })
    }

    /// The function that holds `address`, or `None` outside of all text.
    pub fn resolve(&self, address: u64) -> Option<KernelSymbol<'_>> {
        let after = self.entries.partition_point(|e| e.start <= address);
        let entry = self.entries.get(after.checked_sub(1)?)?;
        if address >= entry.end {
            return None;
        }
        let name = entry.name as usize;
        Some(KernelSymbol {
            function: self.names.get(name..name + entry.name_len as usize)?,
            module: self.modules.get(entry.module as usize)?,
            start: entry.start,
        })
    }

    /// Address of `_text` (or `_stext`): with it one can tell whether a kallsyms belongs to a capture.
    pub fn base(&self) -> Option<u64> {
        self.base
    }

    /// Number of distinct addresses, data included.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Names of all modules with symbols, `kernel` first.
    pub fn modules(&self) -> &[String] {
        &self.modules
    }
}

/// What is kept of the text while it is read.
struct Text {
    lines: Vec<Line>,
    names: String,
    modules: Vec<String>,
    sections: Markers,
}

impl Text {
    fn read(mut kallsyms: impl BufRead) -> Result<Text, KallsymsError> {
        let mut text = Text {
            lines: Vec::new(),
            names: String::new(),
            modules: vec!["kernel".to_owned()],
            sections: Markers::default(),
        };
        let mut ids: HashMap<String, u16> = HashMap::new();
        let mut last = 0;
        let mut line = Vec::with_capacity(256);
        loop {
            line.clear();
            let read =
                kallsyms.read_until(b'\n', &mut line).map_err(|e| KallsymsError::Unreadable(e.kind()))?;
            if read == 0 {
                return Ok(text);
            }
            let Some((start, kind, rest)) = address_and_kind(&line) else { continue };
            let Ok(rest) = std::str::from_utf8(rest) else { continue };
            let mut fields = rest.split_ascii_whitespace();
            let Some(name) = fields.next() else { continue };
            let module = fields.next().map(|m| m.trim_start_matches('[').trim_end_matches(']'));
            if let Some(module) = module
                && text.modules.get(usize::from(last)).is_none_or(|known| last == 0 || known != module)
            {
                last = *ids.entry(module.to_owned()).or_insert_with(|| {
                    text.modules.push(module.to_owned());
                    u16::try_from(text.modules.len() - 1).unwrap_or(0)
                });
            }
            // `a` and `A` are absolute values such as per-CPU offsets, not addresses; `$x` marks code
            // kinds on ARM.
            if !matches!(kind, b'a' | b'A') && !name.starts_with('$') {
                text.push(start, kind, name, module.map_or(0, |_| last));
            }
        }
    }

    fn push(&mut self, start: u64, kind: u8, name: &str, module: u16) {
        if module == 0 {
            self.sections.see(name, start);
        }
        let text = matches!(kind, b't' | b'T' | b'w' | b'W');
        let (Ok(at), Ok(name_len)) = (u32::try_from(self.names.len()), u16::try_from(name.len())) else {
            return; // 4 GiB of names or a name of 64 KiB is no kernel's
        };
        if text {
            self.names.push_str(name);
        }
        let (global, name_len) = (matches!(kind, b'T' | b'W'), if text { name_len } else { 0 });
        self.lines.push(Line { start, name: at, name_len, module, text, global });
    }
}

/// `address type` of a line and what follows them.
fn address_and_kind(line: &[u8]) -> Option<(u64, u8, &[u8])> {
    let line = line.trim_ascii_start();
    let digits = line.iter().take_while(|b| b.is_ascii_hexdigit()).count();
    if !(1..=16).contains(&digits) || !line.get(digits)?.is_ascii_whitespace() {
        return None;
    }
    let digit = |b: &u8| u64::from(if b.is_ascii_digit() { b - b'0' } else { (b | 0x20) - b'a' + 10 });
    let address = line[..digits].iter().fold(0u64, |number, b| number << 4 | digit(b));
    let (kind, line) = line[digits..].trim_ascii_start().split_first()?;
    line.first()?.is_ascii_whitespace().then_some((address, *kind, line))
}

/// Which of several names of one address to show: text, a real function, global, plain.
fn rank(line: &Line, name: &str) -> (bool, bool, bool, usize, usize) {
    let marker = name.ends_with("_start")
        || name.ends_with("_end")
        || name.ends_with("_begin")
        || ["_text", "_stext", "_etext", "_sinittext", "_einittext"].contains(&name)
        || ["__pi_", "__cfi_", "__pfx_", "__UNIQUE_ID"].iter().any(|p| name.starts_with(p));
    let underscores = name.bytes().take_while(|b| *b == b'_').count();
    (!line.text, marker, !line.global, underscores, name.len())
}

fn page_end(address: u64) -> u64 {
    (address | 0xfff).saturating_add(1)
}

/// Addresses of the names that mark the kernel's own text.
#[derive(Default)]
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

    fn finish(self) -> Sections {
        let Markers { text, start, end, init, init_end } = self;
        let ranges = [(start.or(text), end), (init, init_end)];
        Sections {
            base: text.or(start),
            ranges: ranges.into_iter().filter_map(|(from, to)| Some((from?, to?))).collect(),
        }
    }
}

/// Bounds of the kernel's own text.
struct Sections {
    base: Option<u64>,
    ranges: Vec<(u64, u64)>,
}

impl Sections {
    /// The end of the text section that holds `address`; no limit where no section is known to.
    fn limit(&self, address: u64) -> u64 {
        if self.ranges.iter().any(|(_, to)| *to == address) {
            return address; // the end marker itself
        }
        self.ranges.iter().find(|(from, to)| (*from..*to).contains(&address)).map_or(u64::MAX, |(_, to)| *to)
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
