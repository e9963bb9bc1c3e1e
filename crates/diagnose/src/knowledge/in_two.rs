//! Parts a cause file; what embeds the files when zwhy is built (build.rs) uses it as well.

/// A cause file without its tests, and the tests. No answer needs them, and they are a quarter of all text: they are read
/// when they are run. In a file whose tests are not at its end they are read with the rest.
pub fn in_two(text: &str) -> (&str, &str) {
    let at = text.find("\n[[tests]]").map_or(text.len(), |at| at + 1);
    let (head, tests) = text.split_at(at);
    let is_other = |line: &str| {
        let table = line.trim_start_matches('[');
        table.len() < line.len()
            && table.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '"' | '\''))
            && !table.starts_with("tests")
    };
    if tests.lines().any(is_other) { (text, "") } else { (head, tests) }
}
