//! Processes and threads as /proc lists them.

use std::fs;
use std::path::Path;

/// Fields of a stat line after the name, which may itself hold blanks and brackets; first is the state.
pub fn stat_fields(stat: &str) -> Option<impl Iterator<Item = &str>> {
    Some(stat.get(stat.rfind(')')? + 1..)?.split_ascii_whitespace())
}

/// Names of entries that are numbers; none where the folder cannot be read.
pub fn numbers_in(folder: impl AsRef<Path>) -> Vec<i32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|e| e.file_name().to_str()?.parse().ok()).collect()
}

/// The text of a file without its last line end; bytes that are no UTF-8 are replaced.
pub fn read_trimmed(path: impl AsRef<Path>) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    Some(text.strip_suffix('\n').unwrap_or(&text).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stat_line_with_brackets_in_the_name_is_read() {
        let line = "7 (a) b (c) S 2 0 0 0 -1 69238880 0 0 0 0 3 4 0 0 20 0 1 0 1";
        let fields: Vec<&str> = stat_fields(line).unwrap().collect();
        assert_eq!(&fields[..2], ["S", "2"]);
        assert_eq!(&fields[11..13], ["3", "4"]);
        assert!(stat_fields("cut").is_none());
    }
}
