//! Hands the interposers to the child: a memory file that the dynamic linker preloads.
//!
//! They must be preloaded and not merely opened before libzpool: a library opened at run time comes
//! after libc in the search order, so its `open64`, `rand` and `sysconf` would never be found.

use crate::LabError;
use rustix::fs::{MemfdFlags, memfd_create};
use std::ffi::{CString, c_char, c_int, c_long, c_void};
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

type Configure = unsafe extern "C" fn(*const c_char, c_long, c_int, *const c_void);

/// Turns the preloaded interposers on; false when they are not there.
///
/// `vdev_prefix`: open files whose path begins so with O_DIRECT; `taskq_create`: that of libzpool.
pub fn configure(
    vdev_prefix: Option<&Path>,
    pages: u64,
    name_threads: bool,
    taskq_create: *const c_void,
) -> bool {
    // SAFETY: looks a name up among the loaded libraries.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"zwhy_shim_configure".as_ptr()) };
    if found.is_null() {
        return false;
    }
    let prefix = vdev_prefix.and_then(|p| CString::new(p.as_os_str().as_encoded_bytes()).ok());
    let prefix_ptr = prefix.as_ref().map_or(std::ptr::null(), |p| p.as_ptr());
    // SAFETY: the function is the one of shim.c, which has this signature and copies the prefix.
    unsafe {
        let configure: Configure = std::mem::transmute(found);
        configure(prefix_ptr, pages as c_long, c_int::from(name_threads), taskq_create);
    }
    true
}
