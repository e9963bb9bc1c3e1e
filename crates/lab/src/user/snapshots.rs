//! Snapshots of the dataset: taken one by one with something written before each, destroyed in calls.

use super::abi::Zpool;
use super::dataset::NAME;
use super::nvlist::Nvlist;
use super::pool::check;
use crate::engine::protocol::Failure;
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

fn name(index: u32) -> String {
    format!("{NAME}@s{index:06}")
}
