//! All exporters, and the choice among them by name.

mod csv;
mod firefox;
mod folded;
mod parts;
mod perf_script;
mod pprof;
mod speedscope;

use crate::{ErrorKind, FormatError};
use std::io::Write;
use zwhy_evidence::Evidence;
use zwhy_profile::Event;

/// What to write.
#[derive(Clone, Debug, Default)]
pub struct ExportOptions {
    /// Which samples, for formats that hold one kind of them.
    pub event: Event,
    /// Ids behind commands, for formats that have only names.
    pub ids: Ids,
}

/// Which ids stand behind the name of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ids {
    #[default]
    None,
    /// `fio-12`
    Process,
    /// `fio-12/13`
    Thread,
}

/// One foreign format that can be written.
pub struct Exporter {
    /// Name for `--format`: `folded`, `pprof`.
    pub name: &'static str,
    /// Usual file name extension without the dot.
    pub extension: &'static str,
    write: fn(&Evidence, &ExportOptions, &mut dyn Write) -> std::io::Result<()>,
}

/// Every format that can be written, one line each.
static EXPORTERS: [Exporter; 6] = [
    folded::EXPORTER,
    pprof::EXPORTER,
    speedscope::EXPORTER,
    firefox::EXPORTER,
    perf_script::EXPORTER,
    csv::EXPORTER,
];

/// Every format that can be written.
pub fn exporters() -> &'static [Exporter] {
    &EXPORTERS
}

/// Writes `evidence` in the format called `format` to `out`; `name` is used in messages.
pub fn export(
    evidence: &Evidence,
    format: &str,
    options: &ExportOptions,
    name: &str,
    out: &mut dyn Write,
) -> Result<(), FormatError> {
    let exporter = EXPORTERS.iter().find(|e| e.name == format).ok_or_else(|| {
        let all = EXPORTERS.iter().map(|e| e.name).collect::<Vec<_>>().join(", ");
        FormatError::write(ErrorKind::UnknownFormat, name, format!("no format is called `{format}`"))
            .hint(format!("use one of {all}"))
    })?;
    (exporter.write)(evidence, options, out).map_err(|e| FormatError::write_io(name, &e))
}
