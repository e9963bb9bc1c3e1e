//! A pool that outlives its run: what the next process has to know to open it again, and where its disks are by then.

use super::abi::{Functions, NvlistRaw};
use super::nvlist::{Nvlist, c_string};
use crate::bytes::hex;
use crate::failure::Failure;
use serde::{Deserialize, Serialize};
use std::ffi::{CStr, c_char, c_uint};
use std::path::Path;
use std::ptr::null_mut;

/// Name of the file beside the disks.
pub const FILE: &str = "kept.json";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// Objects of the dataset, one for each thread.
    pub objects: Vec<u64>,
    /// The configuration that import takes, packed by OpenZFS, in hexadecimal digits.
    pub config: String,
}

impl Kept {
    pub fn of(call: Functions, objects: &[u64], config: &Nvlist) -> Kept {
        let mut size = 0;
        // SAFETY: the list is valid; the packed copy has the size that is told, and is freed as it was made, by malloc.
        let bytes = unsafe {
            let packed = (call.fnvlist_pack)(config.as_ptr(), &mut size);
            let bytes = std::slice::from_raw_parts(packed.cast::<u8>(), size).to_vec();
            (call.fnvlist_pack_free)(packed, size);
            bytes
        };
        Kept { objects: objects.to_vec(), config: hex(&bytes) }
    }

    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), Failure> {
        let path = folder.join(FILE);
        let text = serde_json::to_string(self).map_err(std::io::Error::from);
        text.and_then(|text| std::fs::write(&path, text))
            .map_err(|e| Failure::other(format!("write {}", path.display()), e))
    }

    /// The configuration, with the disks where they are now.
    ///
    /// # Errors
    /// When it is no configuration.
    pub fn config(&self, call: Functions, folder: &Path) -> Result<Nvlist, Failure> {
        let bad = || Failure::other("read the configuration of the kept pool", "it is damaged");
        let digits = self.config.as_bytes().chunks(2);
        let bytes: Option<Vec<u8>> =
            digits.map(|two| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok()).collect();
        let mut bytes = bytes.filter(|b| !b.is_empty()).ok_or_else(bad)?;
        let mut raw = null_mut();
        // SAFETY: the bytes and their number are valid; a list is made, or an error returned.
        let error = unsafe { (call.nvlist_unpack)(bytes.as_mut_ptr().cast(), bytes.len(), &mut raw, 0) };
        if error != 0 || raw.is_null() {
            return Err(bad());
        }
        // SAFETY: made by nvlist_unpack for its caller.
        let config = unsafe { Nvlist::from_raw(call, raw) };
        let mut tree = null_mut();
        // SAFETY: the list is valid; the tree stays part of it.
        match unsafe { (call.nvlist_lookup_nvlist)(raw, c"vdev_tree".as_ptr(), &mut tree) } {
            0 => move_disks(call, tree, folder),
            _ => return Err(bad()),
        }
        Ok(config)
    }
}

/// Disks are named by their paths, which led into the scratch folder.
fn move_disks(call: Functions, tree: *mut NvlistRaw, folder: &Path) {
    let (mut children, mut count): (*mut *mut NvlistRaw, c_uint) = (null_mut(), 0);
    let mut path: *const c_char = null_mut();
    // SAFETY: the tree is valid; what is looked up stays part of it, the new path is copied.
    unsafe {
        if (call.nvlist_lookup_string)(tree, c"path".as_ptr(), &mut path) == 0 {
            let old = CStr::from_ptr(path).to_string_lossy().into_owned();
            if let Some(name) = Path::new(&old).file_name() {
                let new = c_string(&folder.join(name).to_string_lossy());
                (call.fnvlist_add_string)(tree, c"path".as_ptr(), new.as_ptr());
            }
        }
        if (call.nvlist_lookup_nvlist_array)(tree, c"children".as_ptr(), &mut children, &mut count) == 0 {
            for child in 0..count as usize {
                move_disks(call, *children.add(child), folder);
            }
        }
    }
}
