//! Sets the provider up that the interposers hand stages to.

use crate::engine::protocol::Failure;
use super::shim;
use crate::spec::{Offload, Provider};
use std::ffi::{c_double, c_int};

/// As `struct zwhy_offload` of offload.c.
#[repr(C)]
struct Wanted {
    provider: c_int,
    compress: c_int,
    decompress: c_int,
    answers: c_int,
    engines: c_int,
    latency_ns: c_double,
    link_bytes_per_ns: c_double,
    engine_bytes_per_ns: c_double,
}

/// # Errors
/// A provider that this machine does not have.
pub fn prepare(offload: &Offload) -> Result<(), Failure> {
    type Set = unsafe extern "C" fn(*const Wanted) -> c_int;
    if offload.provider == Provider::None {
        return Ok(());
    }
    let doing = "hand stages to the provider";
    let found = shim::function(c"zwhy_shim_offload")
        .ok_or_else(|| Failure::other(doing, "the interposers are not there"))?;
    let wanted = Wanted {
        provider: offload.provider as c_int,
        compress: offload.compress.into(),
        decompress: offload.decompress.into(),
        answers: offload.answers as c_int,
        engines: offload.engines as c_int,
        latency_ns: offload.us * 1e3,
        link_bytes_per_ns: offload.link_gb_per_s,
        engine_bytes_per_ns: offload.gb_per_s,
    };
    // SAFETY: the function of offload.c, which has this signature and copies what it is given.
    let there = unsafe { std::mem::transmute::<*mut std::ffi::c_void, Set>(found)(&wanted) };
    match there {
        0 => Err(Failure::other(doing, "libisal.so.2 is missing: apt install libisal2")),
        _ => Ok(()),
    }
}

/// Between these OpenZFS does all stages by itself.
pub fn pause(yes: bool) {
    type Set = unsafe extern "C" fn(c_int);
    if let Some(found) = shim::function(c"zwhy_shim_offload_paused") {
        // SAFETY: as above.
        unsafe { std::mem::transmute::<*mut c_void, Set>(found)(yes.into()) };
    }
}
