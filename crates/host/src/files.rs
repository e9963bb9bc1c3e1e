//! Small files of /proc: read whole up to a limit, and their `NAME NUMBER` lines.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// No file that is read every second is larger; a larger one is cut.
const LONGEST: u64 = 256 << 10;

/// The text of a file; bytes that are no UTF-8 are replaced.
///
/// # Errors
/// As opening and reading it.
pub fn read_cut(path: &Path) -> std::io::Result<String> {
    let mut bytes = Vec::with_capacity(4096);
    File::open(path)?.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

/// Names, paths and whether they are folders. No file is looked at: on a host of 10,000 datasets
/// that would cost as much as reading them.
pub fn entries(folder: &Path) -> Vec<(String, PathBuf, bool)> {
    let listed = std::fs::read_dir(folder).into_iter().flatten().flatten();
    listed
        .filter_map(|e| {
            Some((e.file_name().into_string().ok()?, e.path(), e.file_type().is_ok_and(|t| t.is_dir())))
        })
        .collect()
}

/// `name number` and `Name: number kB` lines; others are passed over.
pub fn named_numbers(text: &str) -> impl Iterator<Item = (&str, i64)> {
    text.lines().filter_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let (name, number) = (words.next()?.trim_end_matches(':'), words.next()?.parse::<i64>().ok()?);
        let unit = if words.next() == Some("kB") { 1024 } else { 1 };
        Some((name, number.checked_mul(unit)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kilobytes_become_bytes_and_odd_lines_are_passed_over() {
        let text = "MemFree:  12 kB\npgscan_direct 7\nodd\nhuge: 9223372036854775807 kB\nx: y kB\n";
        assert_eq!(named_numbers(text).collect::<Vec<_>>(), [("MemFree", 12288), ("pgscan_direct", 7)]);
    }
}
