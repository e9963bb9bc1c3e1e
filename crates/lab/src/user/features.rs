//! The pool features a libzpool knows, read from its own table.
//!
//! A pool made without them refuses encryption and large records. The layout of one entry
//! (`zfeature_info_t`, `module/zcommon/zfeature_common.h`) has been the same from 2.1 to 2.4.

use super::abi::Zpool;
use super::library::Library;
use std::ffi::{CStr, c_char, c_int, c_void};

#[repr(C)]
struct Entry {
    id: c_int,
    name: *const c_char,
    guid: *const c_char,
    description: *const c_char,
    flags: c_int,
    supported: c_int,
    kind: c_int,
    depends: *const c_void,
}

/// Names without the `feature@` before them.
pub fn names(zpool: &Zpool, library: &Library) -> Result<Vec<String>, String> {
    let size = library.feature_table_size as usize;
    let each = std::mem::size_of::<Entry>();
    if size == 0 || !size.is_multiple_of(each) {
        return Err(format!("spa_feature_table has {size} bytes, not a multiple of {each}"));
    }
    let table = zpool.address("spa_feature_table").ok_or("spa_feature_table is missing")?;
    let mut names = Vec::new();
    for index in 0..size / each {
        // SAFETY: inside the table by its size in the ELF file; plain data set up by kernel_init.
        let entry = unsafe { &*table.cast::<Entry>().add(index) };
        // Numbers count up from 0, which a table of another layout would not show.
        if entry.id as usize != index || entry.name.is_null() {
            return Err(format!("entry {index} of spa_feature_table is not understood"));
        }
        // SAFETY: a string constant of the library.
        names.push(unsafe { CStr::from_ptr(entry.name) }.to_string_lossy().into_owned());
    }
    Ok(names)
}
