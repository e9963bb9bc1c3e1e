//! Where results go: standard output, or a file that appears whole or not at all.

use anyhow::{Context, Result, bail};
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use zwhy_report::Style;

/// Style for standard output.
pub fn style() -> Style {
    Style::for_terminal(
        io::stdout().is_terminal(),
        std::env::var_os("NO_COLOR").as_deref(),
        std::env::var_os("TERM").as_deref(),
    )
}

/// Writes to standard output. A reader that went away (`| head`) is not an error.
pub fn print(text: &str) -> Result<()> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to standard output"),
    }
}

/// A line to standard error: notes that are not the result.
pub fn note(text: &str) {
    // When standard error is gone there is nobody left to tell.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Writes `bytes` to `path` through a temporary file beside it; `-` is standard output.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    if path == Path::new("-") {
        return match io::stdout().lock().write_all(bytes) {
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other.context("cannot write to standard output"),
        };
    }
    if path.is_dir() {
        bail!("cannot write {}: it is a folder; give a file name", path.display());
    }
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".tmp");
    let written = fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written.with_context(|| format!("cannot write {}", path.display()))
}
