//! Names of code that a program made at run time, from the map it keeps for profilers
//! (`/tmp/perf-PID.map`; format: tools/perf/Documentation/jit-interface.txt of Linux).
//!
//! Invariant: the text is of the program, so whatever it says is only a name; lines that are not
//! `START SIZE NAME` are passed over, and numbers in it allocate nothing.

/// Names longer than this are cut.
const LONGEST_NAME: usize = 512;
/// Stretches that may cover one address and are looked at for one answer.
const LOOK_BACK: usize = 16;

#[derive(Clone, Copy, Debug)]
struct Entry {
    start: u64,
    size: u64,
    name: u32,
    name_len: u16,
}

/// Functions made at run time, by address.
#[derive(Clone, Debug, Default)]
pub struct JitMap {
    entries: Vec<Entry>,
    names: String,
}

impl JitMap {
    /// Of two lines for one address the later holds: code is generated again in the same place.
    pub fn parse(text: &[u8]) -> JitMap {
        let mut map = JitMap::default();
        let text = String::from_utf8_lossy(text);
        for line in text.lines() {
            let mut fields = line.splitn(3, ' ');
            let mut number = || {
                let field = fields.next()?;
                u64::from_str_radix(field.strip_prefix("0x").unwrap_or(field), 16).ok()
            };
            let (Some(start), Some(size @ 1..)) = (number(), number()) else { continue };
            let Some(name) = fields.next().map(str::trim).filter(|name| !name.is_empty()) else { continue };
            let mut end = name.len().min(LONGEST_NAME);
            while !name.is_char_boundary(end) {
                end -= 1;
            }
            let Ok(at) = u32::try_from(map.names.len()) else { break };
            map.names.push_str(&name[..end]);
            map.entries.push(Entry { start, size, name: at, name_len: end as u16 });
        }
        // Stable, so that of equal starts the latest line comes last and is met first.
        map.entries.sort_by_key(|e| e.start);
        map
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The function at an address of the process.
    pub fn resolve(&self, address: u64) -> Option<&str> {
        let after = self.entries.partition_point(|e| e.start <= address);
        let near = self.entries[..after].iter().rev().take(LOOK_BACK);
        let entry = near.into_iter().find(|e| address - e.start < e.size)?;
        let at = entry.name as usize;
        self.names.get(at..at + usize::from(entry.name_len))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn functions_are_found_by_address_and_the_later_line_holds() {
        let map = JitMap::parse(
            b"7f00 10 LazyCompile:~old a.js:1\n0x7f10 0x20 Interpreter b c\n7f00 8 new\nno line\n7fff\n1 0 x\n9 9 \n",
        );
        assert_eq!(map.len(), 3);
        assert_eq!(map.resolve(0x7eff), None);
        assert_eq!(map.resolve(0x7f00), Some("new"));
        assert_eq!(map.resolve(0x7f08), Some("LazyCompile:~old a.js:1"));
        assert_eq!(map.resolve(0x7f2f), Some("Interpreter b c"));
        assert_eq!(map.resolve(0x7f30), None);
        assert_eq!(map.resolve(1), None);
    }

    #[test]
    fn hostile_lines_are_plain_data() {
        let long = format!("1 ffffffffffffffff {}\n", "\u{e9}".repeat(5000));
        let map = JitMap::parse(long.as_bytes());
        assert_eq!(map.resolve(u64::MAX - 1).map(str::len), Some(LONGEST_NAME));
        assert_eq!(JitMap::parse(b"5 5 \x1b[2J\xff\n").resolve(5), Some("\u{1b}[2J\u{fffd}"));
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in prop::collection::vec(any::<u8>(), 0..300), at in any::<u64>()) {
            let map = JitMap::parse(&text);
            let _ = (map.resolve(at), map.resolve(0));
        }
    }
}
