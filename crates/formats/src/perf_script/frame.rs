//! One frame: `\tADDRESS SYMBOL+OFFSET (MODULE)`, with `(inlined)` or a source line after it.

use crate::text::names;
use memchr::{memchr, memmem, memrchr};
use zwhy_profile::FrameKind;

/// Why a frame has no name; what people see.
pub const NO_SYMBOL: &str = "perf script printed no symbol";

/// Parts of a frame, as text of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FrameText<'a> {
    pub address: Option<u64>,
    /// Without offset; empty where perf had no name.
    pub symbol: &'a [u8],
    /// As printed: `[zfs]`, `/usr/lib/libc.so.6`; empty where there is none.
    pub module: &'a [u8],
    pub inlined: bool,
}

/// A line of a call chain: white space, a hexadecimal address, and a space or the end.
pub fn is_frame_line(line: &[u8]) -> bool {
    if !matches!(line.first(), Some(b'\t' | b' ')) {
        return false;
    }
    let text = line.trim_ascii_start();
    let digits = text.iter().take_while(|b| b.is_ascii_hexdigit()).count();
    let indented = line.first() == Some(&b'\t') || line.len() - text.len() >= 4;
    indented && (1..=16).contains(&digits) && matches!(text.get(digits), None | Some(b' ' | b'\n'))
        // ` 410  2374.9: …` starts with digits too: a frame's second field is a name, not a number
        && !text[digits..].trim_ascii_start().first().is_some_and(u8::is_ascii_digit)
}

/// Whether the address of a frame line stands where perf puts it: right-aligned in sixteen columns, or
/// behind one tab. A row of another tool's table may begin with a small number too.
pub fn is_address_wide(line: &[u8]) -> bool {
    let text = line.trim_ascii_start();
    let digits = text.iter().take_while(|b| b.is_ascii_hexdigit()).count();
    let after_tab = line.first() == Some(&b'\t') && line.get(1) != Some(&b'\t');
    after_tab || line.len() - text.len() + digits >= 16
}

/// Whether what follows an address is a name and not the next figures of a table.
pub fn is_named(here: &[u8]) -> bool {
    let words = here.split(u8::is_ascii_whitespace).skip(1).filter(|w| !w.is_empty());
    !words.clone().any(|w| w.iter().all(u8::is_ascii_digit)) && words.count() > 0
}

/// Splits a frame line or the frame part of a one-line sample.
pub fn parse(line: &[u8]) -> FrameText<'_> {
    let text = line.trim_ascii();
    let end = memchr(b' ', text).unwrap_or(text.len());
    let address = hex(&text[..end]);
    let text = if address.is_some() { text[end..].trim_ascii_start() } else { text };
    let (text, inlined) = match text.strip_suffix(b"(inlined)") {
        Some(symbol) => (symbol.trim_ascii_end(), true),
        None => (text, false),
    };
    let (symbol, module) = if inlined { (text, &b""[..]) } else { split_module(text) };
    let symbol = without_offset(symbol);
    let symbol = if symbol == b"[unknown]" { b"" } else { symbol };
    FrameText { address, symbol, module, inlined }
}

fn hex(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 16 {
        return None;
    }
    text.iter().try_fold(0u64, |value, b| Some(value << 4 | u64::from((*b as char).to_digit(16)?)))
}

/// Splits `f(int (*)(char)) (/usr/bin/x (deleted))` into symbol and module.
///
/// The last group in parentheses is a module unless it could only be the end of a C++ signature.
fn split_module(text: &[u8]) -> (&[u8], &[u8]) {
    let Some(inside) = text.strip_suffix(b")") else { return (text, b"") };
    let before = inside.strip_suffix(b" (deleted)").unwrap_or(inside);
    let open = match memmem::rfind(before, b" (") {
        Some(space) => space,
        None if before.starts_with(b"(") => return (b"", &inside[1..]),
        None => return (text, b""),
    };
    let module = &inside[open + 2..];
    if memchr(b')', &before[open + 2..]).is_some() { (text, b"") } else { (&text[..open], module) }
}

fn without_offset(symbol: &[u8]) -> &[u8] {
    let Some(plus) = memrchr(b'+', symbol) else { return symbol };
    match symbol[plus + 1..].strip_prefix(b"0x") {
        Some(hex) if plus > 0 && !hex.is_empty() && hex.iter().all(u8::is_ascii_hexdigit) => &symbol[..plus],
        _ => symbol,
    }
}

impl FrameText<'_> {
    /// Kernel or user, by module and else by address.
    pub fn kind(&self) -> FrameKind {
        /// Kernel half of the address space on x86-64 and arm64.
        const KERNEL: u64 = 0xffff_0000_0000_0000;
        if self.inlined {
            return FrameKind::Inlined;
        }
        match names::kind_of_module(&String::from_utf8_lossy(self.module)) {
            FrameKind::Unknown => match self.address {
                Some(address) if address >= KERNEL => FrameKind::Kernel,
                _ => FrameKind::Unknown,
            },
            known => known,
        }
    }
}

/// Splits the source line perf prints below a frame, `  arc.c:123`, into file and line.
///
/// Without debug information perf prints module and address there, which says nothing new.
pub fn source_line(line: &[u8]) -> Option<(&[u8], u32)> {
    let text = line.trim_ascii();
    let colon = memrchr(b':', text)?;
    let number = std::str::from_utf8(&text[colon + 1..]).ok()?.split(' ').next()?.parse().ok()?;
    let file = &text[..colon];
    (!file.is_empty() && !file.starts_with(b"[") && !file.starts_with(b"??")).then_some((file, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_with_spaces_and_parentheses_stay_whole() {
        for (line, symbol, module, inlined) in [
            ("\tffffffff81630273 zio_read+0xc3 ([zfs])", "zio_read", "[zfs]", false),
            (
                "\t 7f1 std::f(int (*)(char), (a))+0x1 (/x (deleted))",
                "std::f(int (*)(char), (a))",
                "/x (deleted)",
                false,
            ),
            ("\t 7f1 <T as core::Fn>::call+0x10 (/bin/a b)", "<T as core::Fn>::call", "/bin/a b", false),
            ("\t 7f1 f(int (*)(char))", "f(int (*)(char))", "", false),
            ("\t 7f1 operator+ (/x)", "operator+", "/x", false),
            ("\t 7f1 A::operator()(int) const (inlined)", "A::operator()(int) const", "", true),
            ("\t 7f1 [unknown] ([unknown])", "", "[unknown]", false),
            ("\t 7f1 (/x)", "", "/x", false),
            ("\t 7f1", "", "", false),
        ] {
            let f = parse(line.as_bytes());
            let text = |b| std::str::from_utf8(b).unwrap();
            assert_eq!((text(f.symbol), text(f.module), f.inlined), (symbol, module, inlined), "{line}");
            assert!(is_frame_line(line.as_bytes()));
        }
        assert!(!is_frame_line(b"  410  2374.923095: cycles:"));
        assert!(!is_frame_line(b"cafe 12 [000]"));
        assert_eq!(source_line(b"  arc.c:123"), Some((&b"arc.c"[..], 123)));
        assert_eq!(source_line(b"  [kernel.kallsyms][ffffffff81630273]"), None);
    }
}
