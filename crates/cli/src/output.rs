//! Where results go: standard output, or a file that appears whole or not at all.

use crate::failure::usage;
use anyhow::{Context, Result, bail};
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use zwhy_report::{Style, plain};

/// Style for standard output.
pub fn style() -> Style {
    Style::for_terminal(
        io::stdout().is_terminal(),
        std::env::var_os("NO_COLOR").as_deref(),
        std::env::var_os("TERM").as_deref(),
    )
}

/// Cells a table may take: those of the terminal. Nothing is cut where another program reads.
pub fn width() -> usize {
    if !io::stdout().is_terminal() {
        return usize::MAX;
    }
    // A terminal that does not know its size has, by custom, 80 columns.
    let columns = rustix::termios::tcgetwinsize(io::stdout()).map_or(0, |size| usize::from(size.ws_col));
    if columns == 0 { 80 } else { columns.max(40) }
}

/// `true` when `path` means standard output.
pub fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// Writes to standard output. A reader that went away (`| head`) is not an error.
pub fn print(text: &str) -> Result<()> {
    print_bytes(text.as_bytes())
}

fn print_bytes(bytes: &[u8]) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to standard output"),
    }
}

/// Writes data in another tool's format to standard output. On a terminal it is made harmless, or
/// refused where it is no text: names in a profile are chosen by strangers.
pub fn print_data(bytes: &[u8]) -> Result<()> {
    if !io::stdout().is_terminal() {
        return print_bytes(bytes);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => print(&(zwhy_report::plain_lines(text) + "\n")),
        Err(_) => Err(usage("this format is not text for a terminal; name a file with -o, or pipe it")),
    }
}

/// A line to standard error: notes that are not the result.
pub fn note(text: &str) {
    // When standard error is gone there is nobody left to tell.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Writes `bytes` to `path` through a temporary file beside it; `-` is standard output.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    if is_stdout(path) {
        return print_data(bytes);
    }
    write_pieces(path, |out| Ok(out.write_all(bytes)?))
}

/// As [`write_file`] for what `write` makes piece by piece and need not be whole in memory.
pub fn write_pieces(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    if is_stdout(path) {
        let mut bytes = Vec::new();
        write(&mut bytes)?;
        return print_data(&bytes);
    }
    if path.is_dir() {
        bail!("cannot write {}: it is a folder; give a file name", path.display());
    }
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".tmp");
    let through_temporary = || -> Result<()> {
        let mut out = io::BufWriter::with_capacity(1 << 16, fs::File::create(&temporary)?);
        write(&mut out)?;
        out.flush()?;
        Ok(fs::rename(&temporary, path)?)
    };
    let written = through_temporary();
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written.map_err(|error| match error.downcast_ref::<io::Error>() {
        Some(cause) => file_error("write", path, cause),
        None => error.context(format!("cannot write {}", path.display())),
    })
}

/// `cannot open x: …`, with what to do about it.
pub fn file_error(doing: &str, path: &Path, error: &io::Error) -> anyhow::Error {
    let hint = match error.kind() {
        io::ErrorKind::NotFound if doing == "write" => "; the folder has to be there",
        io::ErrorKind::NotFound => "; check the name",
        io::ErrorKind::PermissionDenied => "; check who may, or run as that user",
        io::ErrorKind::StorageFull => "; free some space or write elsewhere",
        _ => "",
    };
    anyhow::anyhow!("cannot {doing} {}: {error}{hint}", path.display())
}

/// As [`write_file`], then says on standard output which file was written.
pub fn write_result(path: &Path, bytes: &[u8]) -> Result<()> {
    write_file(path, bytes)?;
    if is_stdout(path) { Ok(()) } else { print(&format!("{}\n", plain(&path.display().to_string()))) }
}
