//! Snapshots of the dataset: taken one by one with something written before each, destroyed in calls, renamed.

use super::abi::Zpool;
use super::dataset::NAME;
use super::nvlist::{Nvlist, c_string};
use super::pool::check;
use crate::failure::Failure;
use std::ffi::{c_char, c_int};
use std::ptr::null_mut;

/// Takes snapshot number `index`.
pub fn take(zpool: &Zpool, index: u32) -> Result<(), Failure> {
    let call = zpool.call;
    let (names, errors) = (Nvlist::new(call).boolean(&name(index)), Nvlist::new(call));
    // SAFETY: both lists are valid; no properties.
    let error = unsafe { (call.dsl_dataset_snapshot)(names.as_ptr(), null_mut(), errors.as_ptr()) };
    check(error, &format!("take snapshot {index}"), "dsl_dataset_snapshot")
}

/// Destroys snapshots in one call.
pub fn destroy(zpool: &Zpool, indices: &[u32]) -> Result<(), Failure> {
    let call = zpool.call;
    let names = indices.iter().fold(Nvlist::new(call), |list, index| list.boolean(&name(*index)));
    let errors = Nvlist::new(call);
    const NOW: i32 = 0;
    // SAFETY: both lists are valid.
    let error = unsafe { (call.dsl_destroy_snapshots_nvl)(names.as_ptr(), NOW, errors.as_ptr()) };
    check(error, &format!("destroy {} snapshots", indices.len()), "dsl_destroy_snapshots_nvl")
}

/// Gives a snapshot another name, and its own back.
pub fn rename(zpool: &Zpool, index: u32) -> Result<(), Failure> {
    type Rename = unsafe extern "C" fn(*const c_char, *const c_char, *const c_char, c_int) -> c_int;
    let function = "dsl_dataset_rename_snapshot";
    let doing = format!("rename snapshot {index}");
    let address =
        zpool.address(function).ok_or_else(|| Failure::other(&doing, "this libzpool does not export it"))?;
    // SAFETY: file system, old name, new name, recursive: the same from 2.1 to 2.4.
    let call: Rename = unsafe { std::mem::transmute(address) };
    let (dataset, own, other) = (c_string(NAME), c_string(&short(index)), c_string(&format!("r{index:06}")));
    for (from, to) in [(&own, &other), (&other, &own)] {
        // SAFETY: three texts that end.
        let error = unsafe { call(dataset.as_ptr(), from.as_ptr(), to.as_ptr(), 0) };
        check(error, &doing, function)?;
    }
    Ok(())
}

fn short(index: u32) -> String {
    format!("s{index:06}")
}

/// Its full name.
pub fn name(index: u32) -> String {
    format!("{NAME}@{}", short(index))
}
