//! What the page calls: numbers and places in memory, so that it needs no generated code on either side.
//!
//! The page asks for room with [`zwhy_room`], fills it, calls [`zwhy_explain`], and copies the results out. One call
//! at a time, as a worker makes them.
#![allow(unsafe_code)] // functions that another language calls by name

use crate::{Step, explain, prepare};
use std::cell::RefCell;

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// Tells the page what is being done.
    safe fn step(step: u32);
}

thread_local! {
    /// JSON (or why there is none), and the page.
    static RESULTS: RefCell<[String; 2]> = const { RefCell::new([String::new(), String::new()]) };
}

/// Room for `len` bytes, which the next call of [`zwhy_explain`] takes back.
#[unsafe(no_mangle)]
pub extern "C" fn zwhy_room(len: usize) -> *mut u8 {
    Box::into_raw(vec![0u8; len].into_boxed_slice()).cast()
}

/// Makes the engine ready, which may be done before there is an input.
#[unsafe(no_mangle)]
pub extern "C" fn zwhy_prepare() {
    prepare();
}

/// Explains the bytes at `bytes`, called what the text at `name` says; 1 if there is an answer, 0 if not.
///
/// # Safety
/// Both places are from [`zwhy_room`] with these lengths, and are not used after the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zwhy_explain(
    name: *mut u8,
    name_len: usize,
    bytes: *mut u8,
    len: usize,
    redact: u32,
) -> u32 {
    // A panic ends the call without an answer; the page reads then why.
    std::panic::set_hook(Box::new(|info| keep(info.to_string(), String::new())));
    // SAFETY: zwhy_room made them as boxed slices of these lengths, as the caller promises.
    let (name, bytes) = unsafe { (taken(name, name_len), taken(bytes, len)) };
    let name = String::from_utf8_lossy(&name).into_owned();
    match explain(&name, bytes, redact != 0, &mut |now: Step| step(now as u32)) {
        Ok(explained) => {
            keep(explained.json, explained.page);
            1
        }
        Err(error) => {
            keep(error.to_string(), String::new());
            0
        }
    }
}

/// Where result `which` is: 0 the JSON, or why there is none; 1 the page.
#[unsafe(no_mangle)]
pub extern "C" fn zwhy_result(which: usize) -> *const u8 {
    RESULTS.with_borrow(|all| all.get(which).map_or(std::ptr::null(), |text| text.as_ptr()))
}

/// Bytes of result `which`.
#[unsafe(no_mangle)]
pub extern "C" fn zwhy_result_len(which: usize) -> usize {
    RESULTS.with_borrow(|all| all.get(which).map_or(0, String::len))
}

fn keep(first: String, page: String) {
    RESULTS.with_borrow_mut(|all| *all = [first, page]);
}

/// # Safety
/// As of [`zwhy_explain`].
unsafe fn taken(at: *mut u8, len: usize) -> Vec<u8> {
    // SAFETY: as the caller promises.
    unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(at, len)) }.into_vec()
}
