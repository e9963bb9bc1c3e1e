//! The bytes of one input: a mapped file or memory, with the name to use in messages.

pub(crate) mod encoding;
pub(crate) mod outer;
mod spill;

use crate::{ErrorKind, FormatError, Limits};
use memmap2::Mmap;
use spill::Stream;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Files smaller than this are read into memory: a map costs more than it saves.
const MAP_FROM: u64 = 1 << 20;

/// One input. Cheap to look at, never copied.
#[derive(Debug)]
pub struct Input {
    name: String,
    path: Option<PathBuf>,
    bytes: Bytes,
    /// Sentences on what was already lost before an importer saw the bytes (a cut gzip stream).
    notes: Vec<String>,
    /// Decompressed bytes after which a stream broke.
    cut_at: Option<u64>,
}

#[derive(Debug)]
pub(crate) enum Bytes {
    Memory(Vec<u8>),
    Mapped(Mmap),
}

impl Bytes {
    pub fn as_slice(&self) -> &[u8] {
        match self {
            Bytes::Memory(bytes) => bytes,
            Bytes::Mapped(map) => map,
        }
    }
}

impl Input {
    /// Opens a file; large regular files are mapped, pipes and small files read.
    pub fn open(path: &Path, limits: &Limits) -> Result<Input, FormatError> {
        let name = path.display().to_string();
        let io = |e| FormatError::read_io(&name, &e);
        let meta = std::fs::metadata(path).map_err(io)?;
        if meta.is_dir() {
            return Err(directory_error(path, &name));
        }
        let file = File::open(path).map_err(io)?;
        let mut input = if meta.is_file() && meta.len() >= MAP_FROM {
            check_size(&name, meta.len(), limits)?;
            let bytes = Bytes::Mapped(map(&file).map_err(io)?);
            Input { name, path: None, bytes, notes: Vec::new(), cut_at: None }
        } else {
            Input::from_reader(name, file, limits)?
        };
        input.path = Some(path.to_owned());
        Ok(input)
    }

    /// Takes bytes that are already in memory; `name` is used in messages.
    pub fn from_bytes(name: impl Into<String>, bytes: Vec<u8>) -> Input {
        Input { name: name.into(), path: None, bytes: Bytes::Memory(bytes), notes: Vec::new(), cut_at: None }
    }

    /// Reads a pipe (standard input) to its end, up to the input limit; what is more than
    /// [`Limits::max_held`] goes to a temporary file.
    pub fn from_reader(
        name: impl Into<String>,
        reader: impl Read,
        limits: &Limits,
    ) -> Result<Input, FormatError> {
        let name = name.into();
        let Stream { bytes, broken } = spill::collect(&name, reader, limits.max_input, limits)?;
        if let Some(error) = broken {
            return Err(FormatError::read_io(&name, &error));
        }
        check_size(&name, bytes.as_slice().len() as u64, limits)?;
        Ok(Input { name, path: None, bytes, notes: Vec::new(), cut_at: None })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where the bytes came from, if from a file.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    pub fn bytes(&self) -> &[u8] {
        self.bytes.as_slice()
    }

    /// What was lost before an importer saw the bytes; `import` adds these to the warnings.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Byte at which a stream around the bytes broke.
    pub fn cut_at(&self) -> Option<u64> {
        self.cut_at
    }

    /// Tells the system that `from..to` will not be looked at soon, so that walking a large file
    /// does not make all of it resident. Looking again is allowed and only slower.
    pub fn release(&self, from: usize, to: usize) {
        let Bytes::Mapped(map) = &self.bytes else { return };
        const PAGE: usize = 4096;
        let from = from.next_multiple_of(PAGE);
        let to = to.min(map.len()) / PAGE * PAGE;
        if from < to {
            release_pages(map, from, to - from);
        }
    }

    /// The same text in another encoding.
    pub(crate) fn recoded(self, text: Vec<u8>, note: Option<String>) -> Input {
        let mut notes = self.notes;
        notes.extend(note);
        Input { bytes: Bytes::Memory(text), notes, ..self }
    }

    /// The same source with other bytes (compression undone); with a note, what follows them is lost.
    pub(crate) fn replaced(self, bytes: Bytes, note: Option<String>) -> Input {
        let cut_at = note.as_ref().map(|_| bytes.as_slice().len() as u64).or(self.cut_at);
        let mut notes = self.notes;
        notes.extend(note);
        Input { bytes, notes, cut_at, ..self }
    }
}

fn check_size(name: &str, bytes: u64, limits: &Limits) -> Result<(), FormatError> {
    if bytes <= limits.max_input {
        return Ok(());
    }
    let found = format!("it has more than {} bytes, the most that is read", limits.max_input);
    Err(FormatError::read(ErrorKind::TooLarge, name, found).hint("record for a shorter time"))
}

fn directory_error(path: &Path, name: &str) -> FormatError {
    if path.join("data.0").exists() || path.join("data").is_file() {
        return FormatError::read(
            ErrorKind::Unsupported,
            name,
            "this is a `perf record --threads` or `--output-dir` directory, whose parts are not read",
        )
        .hint("import the text of `perf script -i DIR`, or record without --threads");
    }
    FormatError::read(ErrorKind::Unsupported, name, "this is a directory").hint("name one file in it")
}

#[allow(unsafe_code)]
pub(crate) fn map(file: &File) -> std::io::Result<Mmap> {
    // SAFETY: the map is private to this process and only read as bytes, any value of which is
    // valid. A file that another process cuts meanwhile ends this process by SIGBUS, as it does
    // for every mapping reader; profiles are written once or grow, which a map does not mind.
    let map = unsafe { Mmap::map(file)? };
    // Advice only: without it reading works as well, only slower.
    #[cfg(unix)]
    let _ = map.advise(memmap2::Advice::Sequential);
    Ok(map)
}

#[cfg(not(unix))]
fn release_pages(_: &Mmap, _: usize, _: usize) {}

#[cfg(unix)]
#[allow(unsafe_code)]
fn release_pages(map: &Mmap, offset: usize, len: usize) {
    // SAFETY: for a read-only map of a file MADV_DONTNEED drops the page table entries; the next
    // look reads the same bytes from the file again, so no reference sees anything change.
    let _ = unsafe { map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, offset, len) };
}
