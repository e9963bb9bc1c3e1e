//! Snapshots of the dataset: taken one by one with something written before each, destroyed in calls, renamed, sent.

use super::abi::Zpool;
use super::dataset::NAME;
use super::nvlist::{Nvlist, c_string};
use super::pool::check;
use crate::engine::protocol::Failure;
use crate::spec::Form;
use std::ffi::{c_char, c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU64, Ordering};

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

/// `dmu_send_outparams_t`, the same from 2.1 to 2.4.
#[repr(C)]
struct Out {
    write: unsafe extern "C" fn(*mut c_void, *mut c_void, c_int, *mut c_void) -> c_int,
    arg: *mut c_void,
    dry_run: c_int,
}

/// Counts what a stream has; nobody keeps it.
unsafe extern "C" fn count(_: *mut c_void, _: *mut c_void, length: c_int, arg: *mut c_void) -> c_int {
    // SAFETY: `arg` is the counter that `send` handed over, alive until dmu_send returns.
    let sent = unsafe { &*arg.cast::<AtomicU64>() };
    sent.fetch_add(u64::try_from(length).unwrap_or(0), Ordering::Relaxed);
    0
}

/// snapshot, from, embedded, large blocks, compressed, raw, saved, resume object, resume offset, bookmark, file, its offset, out
type Send = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    u64,
    u64,
    *const c_char,
    c_int,
    *mut i64,
    *mut Out,
) -> c_int;

/// Sends a snapshot whole to nowhere; the length of the stream.
pub fn send(zpool: &Zpool, index: u32, form: Form) -> Result<u64, Failure> {
    let doing = format!("send snapshot {index}");
    let address = zpool
        .address("dmu_send")
        .ok_or_else(|| Failure::other(&doing, "this libzpool does not export it"))?;
    // SAFETY: the signature is the same from 2.1 to 2.4.
    let call: Send = unsafe { std::mem::transmute(address) };
    let (snapshot, sent, mut offset) = (c_string(&name(index)), AtomicU64::new(0), 0);
    let mut out = Out { write: count, arg: (&raw const sent).cast_mut().cast(), dry_run: 0 };
    let compressed = c_int::from(form != Form::Plain);
    let raw = c_int::from(form == Form::Raw);
    const LARGE_BLOCKS: c_int = 1;
    const NO_FILE: c_int = -1;
    // SAFETY: texts end; the counter, the offset and `out` outlive the call, which waits for its threads.
    let error = unsafe {
        call(
            snapshot.as_ptr(),
            null(),
            compressed,
            LARGE_BLOCKS,
            compressed,
            raw,
            0,
            0,
            0,
            null(),
            NO_FILE,
            &mut offset,
            &mut out,
        )
    };
    check(error, &doing, "dmu_send")?;
    Ok(sent.load(Ordering::Relaxed))
}

fn short(index: u32) -> String {
    format!("s{index:06}")
}

fn name(index: u32) -> String {
    format!("{NAME}@{}", short(index))
}
