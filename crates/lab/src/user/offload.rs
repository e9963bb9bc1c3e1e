//! Sets the provider up that the interposers hand stages to.

use super::abi::Zpool;
use super::nvlist::c_string;
use super::shim;
use crate::failure::Failure;
use crate::spec::{Layout, Provider, Setup};
use std::ffi::{CStr, c_char, c_double, c_int};

/// As `struct zwhy_offload` of offload.c.
#[repr(C)]
pub struct Wanted {
    provider: c_int,
    /// Compress, decompress, checksum, parity, reconstruction, writes of files.
    on: [c_int; 6],
    answers: c_int,
    engines: c_int,
    parity: c_int,
    check: c_int,
    strict: c_int,
    dies_after: c_int,
    /// As `enum zwhy_codec`.
    codec: c_int,
    latency_ns: c_double,
    link_bytes_per_ns: c_double,
    engine_bytes_per_ns: c_double,
    plugin: *const c_char,
}

/// Makes the provider ready; one in another process is started.
///
/// # Errors
/// A provider that this machine does not have.
pub fn prepare(setup: &Setup) -> Result<(), Failure> {
    let offload = &setup.offload;
    if offload.provider == Provider::None {
        return Ok(());
    }
    let doing = "hand stages to the provider";
    let shim = shim::interposers().ok_or_else(|| Failure::other(doing, "the interposers are not there"))?;
    let plugin = c_string(&offload.plugin.as_deref().map_or_else(Default::default, |p| p.to_string_lossy()));
    let parity = parity(setup.layout);
    let on = [
        offload.compress,
        offload.decompress,
        offload.checksum,
        offload.raidz_gen.of(parity),
        offload.raidz_rec.of(parity),
        offload.file_write,
    ];
    let wanted = Wanted {
        provider: offload.provider as c_int,
        on: on.map(c_int::from),
        answers: offload.answers as c_int,
        engines: offload.engines as c_int,
        parity: parity as c_int,
        check: offload.check.into(),
        strict: offload.strict.into(),
        dies_after: c_int::try_from(offload.dies_after).unwrap_or(0),
        codec: codec(setup.property("compression")),
        latency_ns: offload.us * 1e3,
        link_bytes_per_ns: offload.link_gb_per_s,
        engine_bytes_per_ns: offload.gb_per_s,
        plugin: plugin.as_ptr(),
    };
    // SAFETY: what is given is copied; a reason is a text that stays.
    unsafe {
        let why = (shim.zwhy_shim_offload)(&wanted);
        match why.is_null() {
            true => Ok(()),
            false => Err(Failure::other(doing, CStr::from_ptr(why).to_string_lossy())),
        }
    }
}

/// As `enum zwhy_codec`.
fn codec(compression: &str) -> c_int {
    match compression {
        "lz4" | "on" => 1,
        zstd if zstd.starts_with("zstd") => 2,
        _ => 0,
    }
}

/// Columns of a row that hold parity.
fn parity(layout: Layout) -> usize {
    match layout {
        Layout::Raidz1 => 1,
        Layout::Raidz2 => 2,
        Layout::Raidz3 => 3,
        // Nothing is handed over of dRAID: a cell with a provider is refused.
        _ => 0,
    }
}

/// Through these OpenZFS touches the bytes of a block; in the order of offload_touch.c.
const TOUCHING: [&str; 7] = [
    "abd_iterate_func",
    "abd_iterate_func2",
    "abd_copy_from_buf_off",
    "abd_copy_to_buf_off",
    "abd_zero_off",
    "zio_buf_free",
    "zio_data_buf_free",
];

/// The interposers stand before functions of libzpool, and call them.
pub fn hand_over(zpool: &Zpool) {
    let Some(shim) = shim::interposers() else { return };
    let address = |name| zpool.address(name).unwrap_or(std::ptr::null_mut());
    let named = |now, before| zpool.address(now).unwrap_or_else(|| address(before));
    // abd_raidz_gen_iterate takes an offset since 2.3, and compressors take ABDs; it brought this function too.
    let since_2_3 = c_int::from(zpool.address("dmu_write_abd").is_some());
    let raidz = ["vdev_raidz_math_generate", "vdev_raidz_math_reconstruct"].map(address);
    // The second names are those before 2.3, which took buffers.
    let lz4_compress = named("zfs_lz4_compress", "lz4_compress_zfs");
    let lz4_decompress = named("zfs_lz4_decompress", "lz4_decompress_zfs");
    let zstd = ["zfs_zstd_compress", "zfs_zstd_decompress", "zfs_zstd_decompress_level"].map(address);
    // Its second name is that before 2.2.
    let sha256 = named("abd_checksum_sha256", "abd_checksum_SHA256");
    // SAFETY: all that are handed over are functions of libzpool, or null.
    unsafe {
        (shim.zwhy_shim_raidz)(raidz[0], raidz[1]);
        (shim.zwhy_shim_rows)(address("abd_raidz_gen_iterate"), since_2_3);
        (shim.zwhy_shim_lz4)(lz4_compress, lz4_decompress, since_2_3);
        (shim.zwhy_shim_zstd)(zstd[0], zstd[1], zstd[2], since_2_3);
        (shim.zwhy_shim_touch)(TOUCHING.map(address).as_ptr());
        (shim.zwhy_shim_checksum)(address("abd_fletcher_4_native"), sha256);
    }
}

/// Between these OpenZFS does all stages by itself.
pub fn pause(yes: bool) {
    if let Some(shim) = shim::interposers() {
        // SAFETY: a number.
        unsafe { (shim.zwhy_shim_offload_paused)(yes.into()) };
    }
}
