//! The heap of this process, kept as small as what is in it.
//!
//! glibc raises the size from which it maps an allocation of its own with every large one that is freed;
//! the next large ones then leave holes that stay resident: 17 of 57 MB after two minutes beside
//! compilers. A fixed size and giving free pages back keep them out. Other C libraries need neither.
#![allow(unsafe_code)] // the C library's own switches

/// Allocations of this size and more are mapped, and given back when they are freed.
#[cfg(target_env = "gnu")]
const MAPPED_FROM: i32 = 256 << 10;

/// Call it before the first large allocation.
pub(crate) fn keep_small() {
    // SAFETY: mallopt takes two numbers and may be called at any time; where it refuses, nothing changes.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED_FROM);
        libc::mallopt(libc::M_TRIM_THRESHOLD, MAPPED_FROM);
    }
}

/// Gives free pages back to the kernel; call it when much was freed.
pub fn give_back() {
    // SAFETY: malloc_trim takes a number of bytes to leave, and touches only free memory.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::malloc_trim(0);
    }
}
