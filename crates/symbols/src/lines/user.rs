//! Lines of a program or library: from the object that was mapped, or from its debug file.

use super::object_lines::ObjectLines;
use super::reason::NoLines;
use crate::at::inode;
use crate::file_reader::FileReader;
use crate::load::{FileId, build_id_of, debug_file};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Opens the first of `paths` that is the object and has debug information, else its debug file.
pub(super) fn open(paths: &[PathBuf], id: FileId<'_>, budget: u64) -> Result<ObjectLines, NoLines> {
    let mut reason = NoLines::NotFound;
    let mut build_id = id.build_id.map(<[u8]>::to_vec);
    for path in paths {
        match open_one(path, id, budget, &mut build_id) {
            Ok(lines) => return Ok(lines),
            Err(why) if why.nearness() > reason.nearness() => reason = why,
            Err(_) => {}
        }
    }
    let debug = build_id.as_deref().and_then(|id| Some((id, debug_file(id)?)));
    if let Some((build_id, path)) = debug {
        let id = FileId { inode: None, build_id: Some(build_id) };
        match open_one(&path, id, budget, &mut None) {
            Err(why) if why.nearness() > reason.nearness() => reason = why,
            Err(_) => {}
            found => return found,
        }
    }
    Err(reason)
}

/// `build_id` is set to that of the file when it is the object.
fn open_one(
    path: &Path,
    id: FileId<'_>,
    budget: u64,
    build_id: &mut Option<Vec<u8>>,
) -> Result<ObjectLines, NoLines> {
    // Opening a pipe would block for ever.
    let meta = std::fs::metadata(path).map_err(|_| NoLines::NotFound)?;
    if !meta.is_file() {
        return Err(NoLines::NotFound);
    }
    let file = File::open(path).map_err(|_| NoLines::NotFound)?;
    let reader = FileReader::new(file, meta.len());
    let own = build_id_of(&reader);
    let other_id = id.build_id.is_some_and(|wanted| own.as_deref() != Some(wanted));
    if other_id || id.inode.is_some_and(|wanted| wanted != inode(&meta)) {
        return Err(NoLines::OtherBuild(path.to_owned()));
    }
    *build_id = own.or(build_id.take());
    ObjectLines::read(&reader, budget).map_err(|why| match why {
        NoLines::NoDwarf(_) => NoLines::NoDwarf(path.to_owned()),
        other => other,
    })
}
