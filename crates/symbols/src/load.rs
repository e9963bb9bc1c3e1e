//! Opening the object that was mapped, and nothing else: the file's identity is checked.

use crate::at::inode;
use crate::elf::ElfSymbols;
use crate::file_reader::FileReader;
use crate::reason::Reason;
use object::read::Object;
use std::fs::File;
use std::path::{Path, PathBuf};

/// What must hold for a file to be the one that was mapped; `None` is not checked.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileId<'a> {
    /// Inode number. Devices are not compared: the kernel shows another number than stat on btrfs
    /// and overlay file systems.
    pub inode: Option<u64>,
    pub build_id: Option<&'a [u8]>,
}

/// Reads the symbols of the first of `paths` that is the file wanted.
///
/// A stripped object is completed from `/usr/lib/debug/.build-id` where that has its debug file.
/// # Errors
/// The reason that fits best: a readable file of another identity is `Replaced`.
pub fn load_elf(paths: &[PathBuf], id: FileId<'_>) -> Result<ElfSymbols, Reason> {
    let mut reason = Reason::Unreadable;
    for path in paths {
        match load_one(path, id) {
            Ok(mut symbols) => {
                complete(&mut symbols);
                return Ok(symbols);
            }
            Err(Reason::Unreadable) => {}
            Err(other) => reason = other,
        }
    }
    Err(reason)
}

fn load_one(path: &Path, id: FileId<'_>) -> Result<ElfSymbols, Reason> {
    let file = File::open(path).map_err(|_| Reason::Unreadable)?;
    let meta = file.metadata().map_err(|_| Reason::Unreadable)?;
    if !meta.is_file() {
        return Err(Reason::Unreadable);
    }
    if id.inode.is_some_and(|wanted| wanted != inode(&meta)) {
        return Err(Reason::Replaced);
    }
    let again = file.try_clone().map_err(|_| Reason::Unreadable)?;
    let reader = FileReader::new(file, meta.len());
    let symbols = ElfSymbols::parse_file(&reader, again).map_err(|_| Reason::NotElf)?;
    if id.build_id.is_some_and(|wanted| symbols.build_id() != Some(wanted)) {
        return Err(Reason::Replaced);
    }
    Ok(symbols)
}

/// The build-id of an ELF object, if it is one and has one.
pub(crate) fn build_id_of<'d, R: object::ReadRef<'d>>(data: R) -> Option<Vec<u8>> {
    object::File::parse(data).ok()?.build_id().ok().flatten().map(<[u8]>::to_vec)
}

/// Where the separate debug file of an object would be, by build-id.
pub(crate) fn debug_file(build_id: &[u8]) -> Option<PathBuf> {
    let hex: String = build_id.iter().map(|b| format!("{b:02x}")).collect();
    let (dir, rest) = hex.split_at_checked(2)?;
    Some(PathBuf::from(format!("/usr/lib/debug/.build-id/{dir}/{rest}.debug")))
}

/// Adds the names of the separate debug file, found by build-id.
fn complete(symbols: &mut ElfSymbols) {
    let Some(build_id) = symbols.build_id().map(<[u8]>::to_vec) else { return };
    let Some(path) = debug_file(&build_id) else { return };
    if let Ok(debug) = load_one(&path, FileId { inode: None, build_id: Some(&build_id) }) {
        symbols.take_names(debug);
    }
}
