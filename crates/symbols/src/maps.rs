//! /proc/PID/maps lines, and what a mapping's path says of the code in it.

use std::borrow::Cow;

/// What is mapped, judged by the path that the kernel shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ImageKind {
    File,
    /// A file whose directory entry is gone.
    DeletedFile,
    /// An anonymous file of memfd_create: readable only through the process.
    Memfd,
    /// The kernel's user-space helper pages.
    Vdso,
    /// Memory without a file, heap and stack included.
    Anonymous,
}

impl ImageKind {
    /// Judges a path as shown by /proc/PID/maps and PERF_RECORD_MMAP2.
    pub fn of_path(path: &str) -> ImageKind {
        if path == "[vdso]" {
            ImageKind::Vdso
        } else if path.starts_with("/memfd:") {
            ImageKind::Memfd
        } else if path.is_empty()
            || path.starts_with('[')
            || path.starts_with("//anon")
            || path.starts_with("anon_inode:")
            || path.starts_with("/dev/zero")
            || path.starts_with("/SYSV")
        {
            ImageKind::Anonymous
        } else if path.ends_with(" (deleted)") {
            ImageKind::DeletedFile
        } else {
            ImageKind::File
        }
    }
}

/// The module column of frames from a mapping: the file name alone, `vdso`, `anon`.
pub fn module_name(path: &str) -> &str {
    let path = path.strip_suffix(" (deleted)").unwrap_or(path);
    match ImageKind::of_path(path) {
        ImageKind::Vdso => "vdso",
        ImageKind::Anonymous => match path {
            "[heap]" => "heap",
            "[stack]" => "stack",
            "[vsyscall]" => "vsyscall",
            _ => "anon",
        },
        ImageKind::Memfd => path.trim_start_matches('/'),
        _ => path.rsplit('/').next().unwrap_or(path),
    }
}

/// One mapping of /proc/PID/maps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapsLine<'a> {
    pub start: u64,
    pub end: u64,
    pub executable: bool,
    /// Offset of `start` in the file, in bytes.
    pub offset: u64,
    pub inode: u64,
    pub path: Cow<'a, str>,
}

/// Mappings of a maps text; lines that are not mappings are passed over.
pub fn parse_maps(text: &str) -> impl Iterator<Item = MapsLine<'_>> {
    text.lines().filter_map(parse_line)
}

fn parse_line(line: &str) -> Option<MapsLine<'_>> {
    // Fields are separated by one blank; the path is padded and may hold blanks itself.
    let mut fields = line.splitn(6, ' ');
    let (start, end) = fields.next()?.split_once('-')?;
    let perms = fields.next()?;
    let offset = u64::from_str_radix(fields.next()?, 16).ok()?;
    let _device = fields.next()?;
    let inode = fields.next()?.parse().ok()?;
    let path = fields.next().unwrap_or("").trim_start_matches(' ');
    let (start, end) = (u64::from_str_radix(start, 16).ok()?, u64::from_str_radix(end, 16).ok()?);
    if end <= start {
        return None;
    }
    // The kernel writes a line feed in a path as \012, and nothing else escaped (seq_file, "\n").
    let path = if path.contains("\\012") { Cow::Owned(path.replace("\\012", "\n")) } else { path.into() };
    Some(MapsLine { start, end, executable: perms.as_bytes().get(2) == Some(&b'x'), offset, inode, path })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "\
55d0c0000000-55d0c0002000 r--p 00000000 fe:00 247026                     /usr/bin/cat
55d0c0002000-55d0c0007000 r-xp 00002000 fe:00 247026                     /usr/bin/a b (deleted)
7f0000000000-7f0000001000 rwxp 00000000 00:00 0 
7f0000002000-7f0000003000 r-xp 00000000 00:01 1234                       /memfd:jit code (deleted)
7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0                          [vdso]
7f0000004000-7f0000005000 r-xp 00000000 fe:00 7                          /tmp/x\\012y.so
nonsense
";

    #[test]
    fn lines_are_read_with_blanks_and_line_feeds_in_paths() {
        let maps: Vec<_> = parse_maps(TEXT).collect();
        assert_eq!(maps.len(), 6);
        assert!(!maps[0].executable && maps[1].executable);
        assert_eq!((maps[1].offset, maps[1].inode), (0x2000, 247026));
        let seen: Vec<(ImageKind, &str)> =
            maps.iter().map(|m| (ImageKind::of_path(&m.path), module_name(&m.path))).collect();
        assert_eq!(
            seen,
            [
                (ImageKind::File, "cat"),
                (ImageKind::DeletedFile, "a b"),
                (ImageKind::Anonymous, "anon"),
                (ImageKind::Memfd, "memfd:jit code"),
                (ImageKind::Vdso, "vdso"),
                (ImageKind::File, "x\ny.so"),
            ]
        );
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "[0-9a-f rwxp:/\\-\\[\\]()\n]{0,200}") {
            for map in parse_maps(&text) {
                prop_assert!(map.start < map.end);
                let _ = (ImageKind::of_path(&map.path), module_name(&map.path));
            }
        }
    }
}
