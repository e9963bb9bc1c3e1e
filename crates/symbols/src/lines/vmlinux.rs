//! Lines of the kernel itself: a `vmlinux` with debug information, where distributions keep it.
//!
//! Invariant: as of modules, a file is used only when its build-id is that of the kernel that runs.

use super::object_lines::{ObjectLines, has_dwarf};
use super::reason::{NoLines, first_of};
use crate::file_reader::FileReader;
use crate::load::{build_id_of, debug_file};
use crate::module_file::build_id_of_notes;
use object::read::{Object, ObjectSymbol};
use std::fs;
use std::path::{Path, PathBuf};

/// The lines of the running kernel, and what its boot added to every address (KASLR).
///
/// `base` is where `_text` (else `_stext`) is now.
pub(super) fn open(root: &Path, base: u64, budget: u64) -> Result<(ObjectLines, u64), NoLines> {
    first(root, |path, build_id| open_one(path, build_id, base, budget))
}

/// The file that [`super::Lines`] would read for the kernel that runs below `root`, found without
/// reading its lines.
///
/// # Errors
/// Why there is none.
pub fn kernel_file(root: &Path) -> Result<PathBuf, NoLines> {
    first(root, |path, build_id| {
        let reader = opened(path, build_id)?;
        let file = object::File::parse(&reader).map_err(|e| NoLines::Damaged(e.to_string()).at(path))?;
        if has_dwarf(&file) { Ok(path.to_owned()) } else { Err(NoLines::NoDwarf(path.to_owned())) }
    })
}

/// What the first candidate gives that gives anything, else why the nearest one does not.
fn first<T>(root: &Path, open: impl Fn(&Path, &[u8]) -> Result<T, NoLines>) -> Result<T, NoLines> {
    let notes = fs::read(root.join("sys/kernel/notes")).unwrap_or_default();
    let build_id = build_id_of_notes(&notes).filter(|id| !id.is_empty()).ok_or(NoLines::NoBuildId)?;
    first_of(&candidates(root, &build_id), |path| open(path, &build_id))
}

/// Debian and SUSE, Fedora and its relatives, a kernel built on this machine, and by build-id.
fn candidates(root: &Path, build_id: &[u8]) -> Vec<PathBuf> {
    let release = fs::read_to_string(root.join("proc/sys/kernel/osrelease")).unwrap_or_default();
    let release = release.trim();
    let mut paths: Vec<PathBuf> = [
        format!("usr/lib/debug/boot/vmlinux-{release}"),
        format!("usr/lib/debug/boot/vmlinux-{release}.debug"),
        format!("usr/lib/debug/lib/modules/{release}/vmlinux"),
        format!("usr/lib/debug/usr/lib/modules/{release}/vmlinux"),
        format!("lib/modules/{release}/build/vmlinux"),
        format!("lib/modules/{release}/vmlinux"),
        format!("boot/vmlinux-{release}"),
    ]
    .iter()
    .map(|path| root.join(path))
    .collect();
    paths.extend(debug_file(build_id).and_then(|path| Some(root.join(path.strip_prefix("/").ok()?))));
    paths
}

/// A file of that build.
fn opened(path: &Path, build_id: &[u8]) -> Result<FileReader, NoLines> {
    let (reader, _) = FileReader::open(path).ok_or(NoLines::NotFound)?;
    match build_id_of(&reader).as_deref() == Some(build_id) {
        true => Ok(reader),
        false => Err(NoLines::OtherBuild(path.to_owned())),
    }
}

fn open_one(path: &Path, build_id: &[u8], base: u64, budget: u64) -> Result<(ObjectLines, u64), NoLines> {
    let reader = opened(path, build_id)?;
    let damaged = |why: String| NoLines::Damaged(why).at(path);
    let file = object::File::parse(&reader).map_err(|e| damaged(e.to_string()))?;
    let named = |name: &str| file.symbols().find(|s| s.name() == Ok(name)).map(|s| s.address());
    let linked =
        named("_text").or_else(|| named("_stext")).ok_or_else(|| damaged("it has no _text".to_owned()))?;
    let lines = ObjectLines::read(&reader, budget).map_err(|why| why.at(path))?;
    Ok((lines, base.wrapping_sub(linked)))
}
