//! Lines of a program or library: from the object that was mapped, or from its debug file.

use super::object_lines::ObjectLines;
use super::reason::{NoLines, first_of};
use crate::at::inode;
use crate::file_reader::FileReader;
use crate::load::{FileId, build_id_of, debug_file};
use std::path::{Path, PathBuf};

/// Opens the first of `paths` that is the object and has debug information, else its debug file.
pub(super) fn open(paths: &[PathBuf], id: FileId<'_>, budget: u64) -> Result<ObjectLines, NoLines> {
    let mut build_id = id.build_id.map(<[u8]>::to_vec);
    first_of(paths, |path| open_one(path, id, budget, &mut build_id)).or_else(|reason| {
        let build_id = build_id.as_deref();
        let Some(path) = build_id.and_then(debug_file) else { return Err(reason) };
        let debug = open_one(&path, FileId { inode: None, build_id }, budget, &mut None);
        debug.map_err(|why| if why.nearness() > reason.nearness() { why } else { reason })
    })
}

/// `build_id` is set to that of the file when it is the object.
fn open_one(
    path: &Path,
    id: FileId<'_>,
    budget: u64,
    build_id: &mut Option<Vec<u8>>,
) -> Result<ObjectLines, NoLines> {
    let (reader, meta) = FileReader::open(path).ok_or(NoLines::NotFound)?;
    let own = build_id_of(&reader);
    let other_id = id.build_id.is_some_and(|wanted| own.as_deref() != Some(wanted));
    if other_id || id.inode.is_some_and(|wanted| wanted != inode(&meta)) {
        return Err(NoLines::OtherBuild(path.to_owned()));
    }
    *build_id = own.or(build_id.take());
    ObjectLines::read(&reader, budget).map_err(|why| why.at(path))
}
