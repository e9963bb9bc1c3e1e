//! The text of `/proc/self/maps`: which object is where in memory.

/// One mapped part of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Map<'a> {
    pub start: u64,
    end: u64,
    pub offset: u64,
    pub path: &'a str,
}

#[derive(Debug, Default)]
pub struct Maps<'a> {
    /// Executable parts, in order of start.
    all: Vec<Map<'a>>,
    lines: usize,
    /// Lines that say nothing.
    pub odd: u64,
}

impl<'a> Maps<'a> {
    pub fn read(text: &'a str) -> Maps<'a> {
        let mut maps = Maps::default();
        // Lines such as `build=/path` stand for a folder of the paths.
        for line in text.lines().map(str::trim).filter(|l| !l.is_empty() && !is_assignment(l)) {
            match map(line) {
                Some((map, executable)) => {
                    maps.lines += 1;
                    maps.all.extend(Some(map).filter(|m| executable && !m.path.is_empty()));
                }
                None => maps.odd += 1,
            }
        }
        maps.all.sort_by_key(|m| m.start);
        maps
    }

    pub fn is_empty(&self) -> bool {
        self.lines == 0
    }

    /// The object at an address.
    pub fn at(&self, address: u64) -> Option<&Map<'a>> {
        let after = self.all.partition_point(|m| m.start <= address);
        self.all.get(after.checked_sub(1)?).filter(|m| address < m.end)
    }
}

fn is_assignment(line: &str) -> bool {
    let Some((name, _)) = line.split_once('=') else { return false };
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// `7f00-7f10 r-xp 00001000 08:01 42  /lib/libc.so.6`; and whether it is executable.
fn map(line: &str) -> Option<(Map<'_>, bool)> {
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let mut rest = line;
    let mut word = || {
        let (word, after) = rest.split_once([' ', '\t']).unwrap_or((rest, ""));
        rest = after.trim_start();
        word
    };
    let (start, end) = word().split_once('-')?;
    let (start, end) = (hex(start)?, hex(end)?);
    let permissions = word();
    let offset = hex(word())?;
    let (_device, _inode) = (word(), word());
    let path = rest.trim_end().trim_end_matches(" (deleted)");
    (permissions.len() == 4 && start < end)
        .then_some((Map { start, end, offset, path }, permissions.as_bytes()[2] == b'x'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_found_in_executable_parts() {
        let maps = Maps::read(
            "build=/x\n00400000-00500000 r-xp 00001000 08:01 42    /srv/a b/prog (deleted)\n\
             7f00-7f10 rw-p 00000000 00:00 0 \nnonsense\n00500000-00510000 r--p 0 08:01 42 /srv/prog\n",
        );
        assert_eq!((maps.odd, maps.is_empty()), (1, false));
        let at = |address| maps.at(address).map(|m| (m.path, m.offset));
        assert_eq!(at(0x40_0000), Some(("/srv/a b/prog", 0x1000)));
        assert_eq!((at(0x4f_ffff).is_some(), at(0x50_0000), at(0x7f01)), (true, None, None));
    }
}
