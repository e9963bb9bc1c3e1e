//! Whether the name of a file promises something else than what will be written into it.
//!
//! Only well-known endings speak; a name without one (`report`, `x.out`, `x.txt`) promises nothing.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// What a well-known ending promises.
const PROMISES: &[(&str, &[&str])] = &[
    ("an SVG picture", &["svg"]),
    ("an HTML page", &["html", "htm", "xhtml"]),
    ("a PDF", &["pdf"]),
    ("a picture made of pixels", &["png", "jpg", "jpeg", "gif", "webp", "bmp", "tif", "tiff"]),
    ("PostScript", &["ps", "eps"]),
    ("an office document", &["doc", "docx", "odt", "rtf", "ppt", "pptx", "odp", "xls", "xlsx", "ods"]),
    ("JSON", &["json", "jsonl", "ndjson"]),
    ("a table", &["csv", "tsv"]),
    ("Parquet", &["parquet"]),
    ("Markdown", &["md", "markdown"]),
    ("a text of settings", &["toml", "yaml", "yml", "xml", "ini", "conf"]),
    ("a capture of zwhy", &["zwhy"]),
    ("folded stacks", &["folded", "collapsed"]),
    ("a pprof profile", &["pb", "pprof"]),
    ("a compressed file", &["gz", "xz", "zst", "bz2", "lz4"]),
    ("an archive", &["zip", "tar", "tgz", "7z"]),
    ("a program", &["sh", "py", "pl", "js", "ts", "rs", "c", "h", "so", "ko", "o", "exe"]),
];

/// The name of a file contradicts what would be in it.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{path} is the name of {promise}, and {writes}")]
pub struct NameError {
    path: PathBuf,
    promise: &'static str,
    writes: String,
}

/// The ending of a file name, in small letters.
pub fn ending(path: &Path) -> Option<String> {
    path.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase)
}

/// Refuses a name that promises what will not be in the file. `endings` are those of what will be;
/// `writes` says in half a sentence what that is and how to name it.
///
/// # Errors
/// When the name ends as a well-known other kind of file does.
pub fn check_name(path: &Path, endings: &[&str], writes: &str) -> Result<(), NameError> {
    let Some(ending) = ending(path) else { return Ok(()) };
    if endings.contains(&ending.as_str()) {
        return Ok(());
    }
    match PROMISES.iter().find(|(_, all)| all.contains(&ending.as_str())) {
        Some((promise, _)) => Err(NameError { path: path.to_owned(), promise, writes: writes.to_owned() }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_well_known_other_ending_is_refused() {
        let page = |name: &str| check_name(Path::new(name), &["html", "htm"], "this writes a page: X.html");
        for name in ["x.html", "x.HTM", "x", "x.out", "x.txt", "x.2026-11-22", "-", "/dev/null", ".svg", "x."]
        {
            assert_eq!(page(name), Ok(()), "{name}");
        }
        for name in ["x.pdf", "x.SVG", "a.b/x.zwhy", "x.html.gz", "x.json"] {
            assert!(page(name).is_err(), "{name}");
        }
        let text = page("out/x.pdf").map_err(|e| e.to_string());
        assert_eq!(text, Err("out/x.pdf is the name of a PDF, and this writes a page: X.html".to_owned()));
    }
}
