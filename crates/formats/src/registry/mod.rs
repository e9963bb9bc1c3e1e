//! All importers, and the choice among them by content.

mod contest;
mod unknown;

use crate::input::{encoding, outer};
use crate::{Confidence, ErrorKind, FormatError, HEAD_BYTES, ImportOptions, Imported, Importer, Input};
use std::path::Path;

/// Every format there is, one line each; of two equally sure ones the first is taken, and of texts the one
/// that keeps most (`contest`).
static IMPORTERS: &[&Importer] = &[
    &crate::perf_data::IMPORTER,
    &crate::perf_bundle::IMPORTER,
    &crate::evidence_json::IMPORTER,
    &crate::pprof::IMPORTER,
    &crate::gperftools::IMPORTER,
    &crate::otlp::IMPORTER,
    &crate::speedscope::IMPORTER,
    &crate::firefox::IMPORTER,
    &crate::svg::IMPORTER,
    &crate::perf_script::IMPORTER,
    &crate::perf_report::IMPORTER,
    &crate::kernel_stacks::IMPORTER,
    &crate::bpftrace::IMPORTER,
    &crate::dtrace::IMPORTER,
    &crate::folded::IMPORTER,
    // Any text; must stay last.
    &crate::pasted::IMPORTER,
];

/// Every format there is.
pub fn importers() -> &'static [&'static Importer] {
    IMPORTERS
}

/// Reads a file of any format.
pub fn import_path(path: &Path, options: &ImportOptions) -> Result<Imported, FormatError> {
    import(Input::open(path, &options.limits)?, options)
}

/// Reads bytes of any format; `name` is used in messages.
pub fn import_bytes(name: &str, bytes: Vec<u8>, options: &ImportOptions) -> Result<Imported, FormatError> {
    import(Input::from_bytes(name, bytes), options)
}

/// Reads one input: undoes outer compression, finds the format (or takes the forced one), imports.
pub fn import(input: Input, options: &ImportOptions) -> Result<Imported, FormatError> {
    let input = outer::unwrap(input, &options.limits)?;
    let input = encoding::as_utf8(input, options.limits.max_decompressed);
    let importer = match &options.format {
        Some(name) => forced(name, &input)?,
        None => detect(&input)?,
    };
    let mut imported = (importer.read)(&input, options).map_err(|error| better(error, importer, &input))?;
    imported.stats.warnings.splice(0..0, input.notes().iter().cloned());
    imported.stats.cut_at = imported.stats.cut_at.or(input.cut_at());
    debug_assert!(imported.stats.balanced(), "{}: {:?}", importer.name, imported.stats);
    Ok(imported)
}

fn forced(name: &str, input: &Input) -> Result<&'static Importer, FormatError> {
    let found = IMPORTERS.iter().copied().find(|i| i.name == name);
    found.ok_or_else(|| {
        FormatError::read(ErrorKind::UnknownFormat, input.name(), format!("no format is called `{name}`"))
            .hint(format!("use one of {}", names()))
    })
}

fn detect(input: &Input) -> Result<&'static Importer, FormatError> {
    let bytes = input.bytes();
    if bytes.is_empty() {
        return Err(FormatError::read(ErrorKind::Empty, input.name(), "it is empty")
            .hint("check that the recording ended without an error"));
    }
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    let claims: Vec<(Confidence, &'static Importer)> =
        IMPORTERS.iter().map(|i| ((i.sniff)(head), *i)).filter(|(sure, _)| *sure > Confidence::No).collect();
    let surest = claims.iter().map(|(sure, _)| *sure).max();
    // Text that only the taker of last resort would have may still be of a kind with a name.
    if surest.is_none_or(|sure| sure == Confidence::Possible)
        && let Some(kind) = unknown::refused(head)
    {
        return Err(kind.error(input.name()));
    }
    let first = claims.iter().find(|(sure, _)| Some(*sure) == surest).map(|(_, importer)| *importer);
    let most = contest::settle(&claims, IMPORTERS, input);
    most.or(first).ok_or_else(|| unknown::binary(head, &names()).error(input.name()))
}

/// Nothing was found in a text: when it is JSON, its keys help more than its number of lines.
fn better(error: FormatError, importer: &Importer, input: &Input) -> FormatError {
    if (importer.sniff)(b"") != Confidence::Possible || error.kind() != ErrorKind::Empty {
        return error;
    }
    let head = &input.bytes()[..input.bytes().len().min(HEAD_BYTES)];
    match unknown::json_of_no_use(head) {
        Some(kind) => kind.error(input.name()),
        None => error,
    }
}

fn names() -> String {
    IMPORTERS.iter().map(|i| i.name).collect::<Vec<_>>().join(", ")
}
