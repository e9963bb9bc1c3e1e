//! Hands the interposers to the child: a memory file that the dynamic linker preloads.
//!
//! They must be preloaded and not merely opened before libzpool: a library opened at run time comes
//! after libc in the search order, so its `open64`, `rand` and `sysconf` would never be found.

use crate::spec::Device;
use crate::{Bytes, LabError};
use rustix::fs::{MemfdFlags, memfd_create};
use std::ffi::{CStr, CString, c_char, c_int, c_long, c_void};
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

static SHIM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/shim.so"));

/// The interposers as a file without a name. The child inherits it, so it is open across `exec`.
pub struct ShimFile(OwnedFd);

impl ShimFile {
    pub fn create() -> Result<ShimFile, LabError> {
        let io = |source| LabError::Io { doing: "make the memory file", path: "zwhy-shim".into(), source };
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

type Configure = unsafe extern "C" fn(c_long, c_int, *const c_void);

/// Turns the preloaded interposers on; false when they are not there.
///
/// `taskq_create`: that of libzpool.
pub fn configure(pages: u64, name_threads: bool, taskq_create: *const c_void) -> bool {
    let Some(found) = function(c"zwhy_shim_configure") else { return false };
    // SAFETY: the function is the one of shim.c, which has this signature.
    unsafe {
        let configure: Configure = std::mem::transmute(found);
        configure(pages as c_long, c_int::from(name_threads), taskq_create);
    }
    true
}

/// Files whose path begins so are disks of the pool; with `direct` they are opened with O_DIRECT.
pub fn vdevs(prefix: &Path, direct: bool) {
    type Set = unsafe extern "C" fn(*const c_char, c_int);
    let (Some(found), Ok(prefix)) =
        (function(c"zwhy_shim_vdevs"), CString::new(prefix.as_os_str().as_encoded_bytes()))
    else {
        return;
    };
    // SAFETY: the function is the one of vdevs.c, which has this signature and copies the prefix.
    unsafe {
        let set: Set = std::mem::transmute(found);
        set(prefix.as_ptr(), c_int::from(direct));
    }
}

/// A function of the preloaded interposers, when they are there.
pub fn function(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: looks a name up among the loaded libraries.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

/// Takes whole pages from lists instead of glibc's heap: so many addresses are set aside, and so many bytes touched.
/// False where that is not possible.
pub fn pages(addresses: Bytes, touched: Bytes) -> bool {
    type Set = unsafe extern "C" fn(usize, usize) -> c_int;
    let (Ok(addresses), Ok(touched)) = (usize::try_from(addresses.0), usize::try_from(touched.0)) else {
        return false;
    };
    let Some(found) = function(c"zwhy_shim_pages") else { return false };
    // SAFETY: the function of pages.c, which has this signature.
    unsafe {
        let set: Set = std::mem::transmute(found);
        set(addresses, touched) == 1
    }
}

/// Puts a modelled disk under each file that plays one.
pub fn device(model: Device) {
    type Set = unsafe extern "C" fn(f64, i64, c_int);
    if let Some(found) = function(c"zwhy_shim_device") {
        // SAFETY: the function of vdevs.c, which has this signature.
        unsafe {
            let set: Set = std::mem::transmute(found);
            set(model.mb_per_s / 1e3, (model.ms * 1e6) as i64, model.queue as c_int);
        }
    }
}

/// How much memory OpenZFS is told is left; below 0 the host is short of it.
pub fn available_memory(bytes: i64) {
    type Set = unsafe extern "C" fn(i64);
    if let Some(found) = function(c"zwhy_shim_available_memory") {
        // SAFETY: as above.
        unsafe {
            let set: Set = std::mem::transmute(found);
            set(bytes);
        }
    }
}

/// Lets compressing and decompressing be counted, where the library exports both.
pub fn count_stages(compress: Option<*mut c_void>, decompress: Option<*mut c_void>) {
    type Set = unsafe extern "C" fn(*mut c_void, *mut c_void);
    if let (Some(found), Some(compress), Some(decompress)) =
        (function(c"zwhy_shim_stages"), compress, decompress)
    {
        // SAFETY: as above; both are functions of libzpool.
        unsafe {
            let set: Set = std::mem::transmute(found);
            set(compress, decompress);
        }
    }
}

/// Lets direct and buffered bytes be told apart, by the flag that means direct in this release.
pub fn count_direct(flag: u32) {
    type Set = unsafe extern "C" fn(u32);
    if let Some(found) = function(c"zwhy_shim_direct_flag") {
        // SAFETY: as above.
        unsafe {
            let set: Set = std::mem::transmute(found);
            set(flag);
        }
    }
}

pub type Take = unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char, i64);

/// Hands each counter of OpenZFS to `take`, with `into`, and those of the shim as tables `lab` and `offload…`.
pub fn each_counter(take: Take, into: *mut c_void) {
    type Each = unsafe extern "C" fn(Take, *mut c_void);
    type Count = unsafe extern "C" fn() -> i64;
    for found in [c"zwhy_shim_each_counter", c"zwhy_shim_each_offload"].into_iter().filter_map(function) {
        // SAFETY: as above; `take` is called before this returns, with texts that end.
        unsafe {
            let each: Each = std::mem::transmute(found);
            each(take, into);
        }
    }
    let counts = [
        (c"zwhy_shim_compressed", c"compressed"),
        (c"zwhy_shim_decompressed", c"decompressed"),
        (c"zwhy_shim_direct_read", c"direct_read_bytes"),
        (c"zwhy_shim_direct_written", c"direct_write_bytes"),
        (c"zwhy_shim_buffered_read", c"buffered_read_bytes"),
        (c"zwhy_shim_buffered_written", c"buffered_write_bytes"),
    ];
    for (symbol, name) in counts {
        if let Some(found) = function(symbol) {
            // SAFETY: as above.
            unsafe {
                let count: Count = std::mem::transmute(found);
                take(into, c"lab".as_ptr(), name.as_ptr(), count());
            }
        }
    }
}
