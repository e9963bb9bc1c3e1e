//! Hands the interposers to the child: a memory file that the dynamic linker preloads.
//!
//! They must be preloaded and not merely opened before libzpool: a library opened at run time comes
//! after libc in the search order, so its `open64`, `rand` and `sysconf` would never be found.

use super::abi::functions;
use super::nvlist::c_string;
use super::offload::Wanted;
use crate::spec::Device;
use crate::{Bytes, LabError};
use rustix::fs::{MemfdFlags, memfd_create};
use std::ffi::{CString, c_char, c_int, c_long, c_void};
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::sync::LazyLock;

static SHIM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/shim.so"));

/// The interposers as a file without a name. The child inherits it, so it is open across `exec`.
pub struct ShimFile(OwnedFd);

impl ShimFile {
    pub fn create() -> Result<ShimFile, LabError> {
        let io = LabError::io("make the memory file", "zwhy-shim");
        if SHIM.is_empty() {
            let what = "this static build of zwhy cannot open libzpool; use a build for glibc";
            return Err(io(std::io::Error::other(what)));
        }
        let fd = memfd_create("zwhy-shim", MemfdFlags::empty()).map_err(|e| io(e.into()))?;
        let mut file = std::fs::File::from(fd);
        file.write_all(SHIM).map_err(io)?;
        Ok(ShimFile(file.into()))
    }

    /// The value of LD_PRELOAD for the child.
    pub fn preload(&self) -> String {
        format!("/proc/self/fd/{}", self.0.as_raw_fd())
    }
}

functions! {
    /// What the interposers can be told and asked (shim.h, offload.h).
    Interposers {
        /// pages of memory, whether threads get names, taskq_create of libzpool
        zwhy_shim_configure: fn(c_long, c_int, *const c_void);
        /// prefix, whether they are opened with O_DIRECT
        zwhy_shim_vdevs: fn(*const c_char, c_int);
        /// addresses, bytes that are touched
        zwhy_shim_pages: fn(usize, usize) -> c_int;
        /// GB a second, latency in nanoseconds, queue
        zwhy_shim_device: fn(f64, i64, c_int);
        zwhy_shim_available_memory: fn(i64);
        /// zio_compress_data, zio_decompress_data
        zwhy_shim_stages: fn(*mut c_void, *mut c_void);
        zwhy_shim_direct_flag: fn(u32);
        zwhy_shim_each_counter: fn(Take, *mut c_void);
        zwhy_shim_each_offload: fn(Take, *mut c_void);
        zwhy_shim_compressed: fn() -> i64;
        zwhy_shim_decompressed: fn() -> i64;
        zwhy_shim_direct_read: fn() -> i64;
        zwhy_shim_direct_written: fn() -> i64;
        zwhy_shim_buffered_read: fn() -> i64;
        zwhy_shim_buffered_written: fn() -> i64;
        /// Returns why the provider cannot work, or null.
        zwhy_shim_offload: fn(*const Wanted) -> *const c_char;
        zwhy_shim_offload_paused: fn(c_int);
        /// vdev_raidz_math_generate, vdev_raidz_math_reconstruct
        zwhy_shim_raidz: fn(*mut c_void, *mut c_void);
        /// abd_raidz_gen_iterate, whether OpenZFS is 2.3 or later
        zwhy_shim_rows: fn(*mut c_void, c_int);
        /// compress, decompress, whether OpenZFS is 2.3 or later
        zwhy_shim_lz4: fn(*mut c_void, *mut c_void, c_int);
        /// compress, decompress, decompress with level, whether OpenZFS is 2.3 or later
        zwhy_shim_zstd: fn(*mut c_void, *mut c_void, *mut c_void, c_int);
        zwhy_shim_touch: fn(*const *mut c_void);
        /// abd_fletcher_4_native, abd_checksum_sha256
        zwhy_shim_checksum: fn(*mut c_void, *mut c_void);
    }
}

/// The interposers that are preloaded; `None` in a process without them.
pub fn interposers() -> Option<&'static Interposers> {
    static THEM: LazyLock<Option<Interposers>> = LazyLock::new(|| {
        let find = |name: &str| {
            // SAFETY: looks a name up among the loaded libraries.
            let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c_string(name).as_ptr()) };
            (!found.is_null()).then_some(found)
        };
        // SAFETY: the functions of the folder shim, which have these signatures.
        unsafe { Interposers::resolve(find) }.ok()
    });
    THEM.as_ref()
}

/// Turns them on; false when they are not there.
///
/// `taskq_create`: that of libzpool.
pub fn configure(pages: u64, name_threads: bool, taskq_create: *const c_void) -> bool {
    let Some(shim) = interposers() else { return false };
    // SAFETY: the last is a function of libzpool.
    unsafe { (shim.zwhy_shim_configure)(pages as c_long, c_int::from(name_threads), taskq_create) };
    true
}

/// Files whose path begins so are disks of the pool; with `direct` they are opened with O_DIRECT.
pub fn vdevs(prefix: &Path, direct: bool) {
    let prefix = CString::new(prefix.as_os_str().as_encoded_bytes());
    if let (Some(shim), Ok(prefix)) = (interposers(), prefix) {
        // SAFETY: the prefix ends, and is copied.
        unsafe { (shim.zwhy_shim_vdevs)(prefix.as_ptr(), c_int::from(direct)) };
    }
}

/// Takes whole pages from lists instead of glibc's heap: so many addresses are set aside, and so many bytes touched.
/// False where that is not possible.
pub fn pages(addresses: Bytes, touched: Bytes) -> bool {
    let (addresses, touched) = (usize::try_from(addresses.0), usize::try_from(touched.0));
    match (interposers(), addresses, touched) {
        // SAFETY: two numbers.
        (Some(shim), Ok(addresses), Ok(touched)) => unsafe {
            (shim.zwhy_shim_pages)(addresses, touched) == 1
        },
        _ => false,
    }
}

/// Puts a modelled disk under each file that plays one.
pub fn device(model: Device) {
    if let Some(shim) = interposers() {
        let (gb_per_s, ns) = (model.mb_per_s / 1e3, (model.ms * 1e6) as i64);
        // SAFETY: numbers.
        unsafe { (shim.zwhy_shim_device)(gb_per_s, ns, model.queue as c_int) };
    }
}

/// How much memory OpenZFS is told is left; below 0 the host is short of it.
pub fn available_memory(bytes: i64) {
    if let Some(shim) = interposers() {
        // SAFETY: a number.
        unsafe { (shim.zwhy_shim_available_memory)(bytes) };
    }
}

/// Lets compressing and decompressing be counted, where the library exports both.
pub fn count_stages(compress: Option<*mut c_void>, decompress: Option<*mut c_void>) {
    if let (Some(shim), Some(compress), Some(decompress)) = (interposers(), compress, decompress) {
        // SAFETY: both are functions of libzpool.
        unsafe { (shim.zwhy_shim_stages)(compress, decompress) };
    }
}

/// Lets direct and buffered bytes be told apart, by the flag that means direct in this release.
pub fn count_direct(flag: u32) {
    if let Some(shim) = interposers() {
        // SAFETY: a number.
        unsafe { (shim.zwhy_shim_direct_flag)(flag) };
    }
}

pub type Take = unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char, i64);

/// Hands each counter of OpenZFS to `take`, with `into`, and those of the shim as tables `lab` and `offload…`.
pub fn each_counter(take: Take, into: *mut c_void) {
    let Some(shim) = interposers() else { return };
    let counts = [
        (shim.zwhy_shim_compressed, c"compressed"),
        (shim.zwhy_shim_decompressed, c"decompressed"),
        (shim.zwhy_shim_direct_read, c"direct_read_bytes"),
        (shim.zwhy_shim_direct_written, c"direct_write_bytes"),
        (shim.zwhy_shim_buffered_read, c"buffered_read_bytes"),
        (shim.zwhy_shim_buffered_written, c"buffered_write_bytes"),
    ];
    // SAFETY: `take` is called before each returns, with texts that end.
    unsafe {
        (shim.zwhy_shim_each_counter)(take, into);
        (shim.zwhy_shim_each_offload)(take, into);
        for (count, name) in counts {
            take(into, c"lab".as_ptr(), name.as_ptr(), count());
        }
    }
}
