//! Sets the provider up that the interposers hand stages to.

use super::abi::Zpool;
use super::shim;
use crate::engine::protocol::Failure;
use crate::spec::{Layout, Provider, Setup};
use std::ffi::{c_double, c_int, c_void};

/// As `struct zwhy_offload` of offload.c.
#[repr(C)]
struct Wanted {
    provider: c_int,
    compress: c_int,
    decompress: c_int,
    raidz_gen: c_int,
    answers: c_int,
    engines: c_int,
    parity: c_int,
    check: c_int,
    latency_ns: c_double,
    link_bytes_per_ns: c_double,
    engine_bytes_per_ns: c_double,
}

/// # Errors
/// A provider that this machine does not have.
pub fn prepare(zpool: &Zpool, setup: &Setup) -> Result<(), Failure> {
    let offload = &setup.offload;
    hand_over(zpool);
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
        raidz_gen: offload.raidz_gen.into(),
        answers: offload.answers as c_int,
        engines: offload.engines as c_int,
        parity: parity(setup.layout),
        check: offload.check.into(),
        latency_ns: offload.us * 1e3,
        link_bytes_per_ns: offload.link_gb_per_s,
        engine_bytes_per_ns: offload.gb_per_s,
    };
    // SAFETY: the function of offload.c, which has this signature and copies what it is given.
    let there = unsafe { std::mem::transmute::<*mut c_void, Set>(found)(&wanted) };
    match there {
        0 => Err(Failure::other(doing, "libisal.so.2 is missing: apt install libisal2")),
        _ => Ok(()),
    }
}

/// Columns of a row that hold parity.
fn parity(layout: Layout) -> c_int {
    match layout {
        Layout::Raidz1 => 1,
        Layout::Raidz2 => 2,
        Layout::Raidz3 => 3,
        Layout::Stripe | Layout::Mirror => 0,
    }
}

/// The interposers stand before these functions of libzpool, and call them.
fn hand_over(zpool: &Zpool) {
    type Set = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_void, c_int, *mut c_void, *mut c_void);
    let names = [
        "vdev_raidz_math_generate",
        "abd_iterate_func2",
        "abd_raidz_gen_iterate",
        "abd_copy_to_buf_off",
        "abd_copy_from_buf_off",
    ];
    let [generate, iterate2, iterate_parity, to, from] =
        names.map(|name| zpool.address(name).unwrap_or(std::ptr::null_mut()));
    // abd_raidz_gen_iterate takes an offset since 2.3, which brought this function too.
    let has_offset = c_int::from(zpool.address("dmu_write_abd").is_some());
    if let Some(found) = shim::function(c"zwhy_shim_raidz") {
        // SAFETY: the function of offload_raidz.c, which has this signature; all are functions of libzpool.
        unsafe {
            std::mem::transmute::<*mut c_void, Set>(found)(
                generate,
                iterate2,
                iterate_parity,
                has_offset,
                to,
                from,
            );
        }
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
