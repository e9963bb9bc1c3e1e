//! Packing a recording with the names it needs, on the host that was recorded.

use super::{DATA, KALLSYMS, MANIFEST, MODULES, NAMES, VERSION, names};
use crate::perf_data::{self, Known};
use crate::{ErrorKind, FormatError, ImportOptions, ImportStats, Input};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, ZipWriter};
use zwhy_place::{Place, PlaceError};

/// Packs the perf.data at `path` into the bundle `out` and returns what reading it here gave.
///
/// # Errors
/// When `path` is no readable perf.data, or `out` cannot be written; then no `out` is left.
pub fn pack_perf_data(path: &Path, out: &Path, options: &ImportOptions) -> Result<ImportStats, FormatError> {
    let input = Input::open(path, &options.limits)?;
    if (perf_data::IMPORTER.sniff)(input.bytes()) == crate::Confidence::No {
        let found = "it is not a perf.data, and other formats need no bundle";
        return Err(FormatError::read(ErrorKind::Unsupported, input.name(), found).hint("import it as it is"));
    }
    let (imported, known) = perf_data::read(&input, options, Known::default(), true)?;
    // Where the kernel hides its addresses, the import above has said so.
    let kallsyms = match &options.kallsyms {
        Some(path) => {
            std::fs::read(path).map_err(|e| FormatError::read_io(path.display().to_string(), &e))?
        }
        None => std::fs::read("/proc/kallsyms").unwrap_or_default(),
    };
    let modules = std::fs::read("/proc/modules").unwrap_or_default();
    let names = names::encode(&known.objects);
    let parts: [(&str, &[u8]); 4] =
        [(DATA, input.bytes()), (KALLSYMS, &kallsyms), (MODULES, &modules), (NAMES, &names)];
    let written = Place::of(out).and_then(|place| {
        place.write_seekable(|file| write(file, &parts).map_err(|e| PlaceError::refused(out, e)))
    });
    written.map_err(|e| FormatError::place(&e))?;
    Ok(imported.stats)
}

fn write(file: &mut File, parts: &[(&str, &[u8])]) -> std::io::Result<()> {
    let mut zip = ZipWriter::new(BufWriter::new(file));
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
    zip.start_file(MANIFEST, stored)?;
    zip.write_all(format!("{{\"zwhy_bundle\": {VERSION}}}\n").as_bytes())?;
    for (name, bytes) in parts.iter().filter(|(_, bytes)| !bytes.is_empty()) {
        zip.start_file(*name, stored)?;
        zstd::stream::copy_encode(*bytes, &mut zip, 3)?;
    }
    zip.finish()?.flush()
}
