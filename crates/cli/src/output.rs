//! Where results go: standard output, or a file that appears whole or not at all.

use crate::failure::usage;
use anyhow::{Context, Result};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use zwhy_place::{Place, PlaceError, check_name};
use zwhy_report::{Style, plain};

/// Endings of the name of a capture, which is a zip.
pub const CAPTURE: [&str; 2] = ["zwhy", "zip"];

/// Style for standard output.
pub fn style() -> Style {
    Style::for_terminal(
        io::stdout().is_terminal(),
        std::env::var_os("NO_COLOR").as_deref(),
        std::env::var_os("TERM").as_deref(),
    )
    .wide(columns().unwrap_or(Style::PLAIN.table()))
}

/// Cells a table may take: those of the terminal. Nothing is cut where another program reads.
pub fn width() -> usize {
    columns().unwrap_or(usize::MAX)
}

/// Columns of the terminal; `None` where the output is none.
fn columns() -> Option<usize> {
    if !io::stdout().is_terminal() {
        return None;
    }
    // A terminal that does not know its size has, by custom, 80 columns.
    let columns = rustix::termios::tcgetwinsize(io::stdout()).map_or(0, |size| usize::from(size.ws_col));
    Some(if columns == 0 { 80 } else { columns.max(40) })
}

/// `true` when `path` means standard output: `-`, or a name of it such as `/dev/stdout`.
pub fn is_stdout(path: &Path) -> bool {
    path == Path::new("-") || Place::of(path).is_ok_and(|place| place.is_stdout())
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

/// Writes data in another tool's format to standard output, made harmless on a terminal.
pub fn print_data(bytes: &[u8]) -> Result<()> {
    if io::stdout().is_terminal() { print(&for_terminal(bytes)?) } else { print_bytes(bytes) }
}

/// Data in another tool's format as a terminal may have it: harmless, as names in a profile are chosen
/// by strangers, and refused where it is no text.
fn for_terminal(bytes: &[u8]) -> Result<String> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(zwhy_report::plain_lines(text) + "\n"),
        Err(_) => Err(usage("this format is not text for a terminal; name a file with -o, or pipe it")),
    }
}

/// Lines to standard error: notes that are not the result. They may quote strangers, and carry no style.
pub fn note(text: &str) {
    // When standard error is gone there is nobody left to tell.
    let _ = writeln!(io::stderr().lock(), "{}", zwhy_report::plain_lines(text));
}

/// Before the work for it begins: whether `path` can be written, and whether its name says what will
/// be in it. `endings` are those of what will be; `writes` says what that is and how to name it.
pub fn check(path: &Path, endings: &[&str], writes: &str) -> Result<()> {
    check_name(path, endings, writes).map_err(|e| usage(e.to_string()))?;
    if path != Path::new("-") {
        Place::of(path)?;
    }
    Ok(())
}

/// As [`check`] for a capture that is recorded, which is built up in a folder beside its file.
pub fn check_capture(path: &Path) -> Result<()> {
    if is_stdout(path) {
        return Err(usage("a recording cannot go to standard output; name a file with -o"));
    }
    check(path, &CAPTURE, "this writes a capture: name it X.zwhy")
}

/// Writes `bytes` to `path`, whole or not at all where that is a file; `-` is standard output.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    write_pieces(path, |out| Ok(out.write_all(bytes)?))
}

/// As [`write_file`] for what `write` makes piece by piece and need not be whole in memory.
pub fn write_pieces(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    if is_stdout(path) {
        let mut bytes = Vec::new();
        write(&mut bytes)?;
        return print_data(&bytes);
    }
    let place = Place::of(path)?;
    let written = if place.is_terminal() {
        let mut bytes = Vec::new();
        write(&mut bytes)?;
        let text = for_terminal(&bytes)?;
        place.write(|out| Ok(out.write_all(text.as_bytes())?))
    } else {
        place.write(write)
    };
    written.map_err(|error| match error.downcast::<io::Error>() {
        Ok(cause) => PlaceError::refused(path, cause).into(),
        Err(error) => error,
    })
}

/// `cannot open x: …`, with what to do about it.
pub fn file_error(doing: &str, path: &Path, error: &io::Error) -> anyhow::Error {
    let hint = match error.kind() {
        io::ErrorKind::NotFound => "; check the name",
        io::ErrorKind::PermissionDenied => "; check who may, or run as that user",
        _ => "",
    };
    anyhow::anyhow!("cannot {doing} {}: {error}{hint}", path.display())
}

/// As [`write_file`], then says on standard output which file was written.
pub fn write_result(path: &Path, bytes: &[u8]) -> Result<()> {
    write_file(path, bytes)?;
    if is_stdout(path) { Ok(()) } else { print(&format!("{}\n", plain(&path.display().to_string()))) }
}
