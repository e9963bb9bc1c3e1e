//! Opening the object that was mapped, and nothing else: the file's identity is checked.

use crate::at::inode;
use crate::elf::ElfSymbols;
use crate::object_file::ElfObject;
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
/// As [`open_elf`].
pub fn load_elf(paths: &[PathBuf], id: FileId<'_>) -> Result<ElfSymbols, Reason> {
    open_elf(paths, id).map(|object| object.symbols())
}

/// Opens the first of `paths` that is the file wanted, with its debug file where there is one.
///
/// # Errors
/// The reason that fits best: a readable file of another identity is `Replaced`.
pub fn open_elf(paths: &[PathBuf], id: FileId<'_>) -> Result<ElfObject, Reason> {
    let mut reason = Reason::Unreadable;
    for path in paths {
        match open_one(path, id) {
            Ok(mut object) => {
                complete(&mut object);
                return Ok(object);
            }
            Err(Reason::Unreadable) => {}
            Err(other) => reason = other,
        }
    }
    Err(reason)
}

fn open_one(path: &Path, id: FileId<'_>) -> Result<ElfObject, Reason> {
    let file = File::open(path).map_err(|_| Reason::Unreadable)?;
    let meta = file.metadata().map_err(|_| Reason::Unreadable)?;
    if !meta.is_file() {
        return Err(Reason::Unreadable);
    }
    if id.inode.is_some_and(|wanted| wanted != inode(&meta)) {
        return Err(Reason::Replaced);
    }
    let object = ElfObject::of_file(file, &meta).map_err(|_| Reason::NotElf)?;
    if id.build_id.is_some_and(|wanted| object.build_id() != Some(wanted)) {
        return Err(Reason::Replaced);
    }
    Ok(object)
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

/// Adds the separate debug file, found by build-id.
fn complete(object: &mut ElfObject) {
    let Some(build_id) = object.build_id().map(<[u8]>::to_vec) else { return };
    let Some(path) = debug_file(&build_id) else { return };
    if let Ok(debug) = open_one(&path, FileId { inode: None, build_id: Some(&build_id) }) {
        object.take_names(debug);
    }
}
