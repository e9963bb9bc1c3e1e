//! One kernel ring buffer: the kernel writes records, we copy them out.
//!
//! Invariant: the tail moves only after the bytes before it are copied, so the kernel never
//! overwrites what is still to be read.
#![allow(unsafe_code)] // the ring is memory shared with the kernel

use crate::sys::perf_event_mmap_page;
use rustix::fd::AsFd;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};

pub struct Ring {
    base: *mut c_void,
    mapped: usize,
    page: usize,
}

// SAFETY: the mapping belongs to this value alone and is not bound to a thread.
unsafe impl Send for Ring {}

impl Ring {
    /// Maps a ring of `data_bytes` (a power of two of pages) on a perf event.
    pub fn map(event: impl AsFd, data_bytes: usize) -> rustix::io::Result<Ring> {
        let page = rustix::param::page_size();
        let mapped = page + data_bytes;
        // SAFETY: a fresh mapping at an address of the kernel's choice aliases nothing of ours.
        let base = unsafe {
            mmap(
                std::ptr::null_mut(),
                mapped,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                event.as_fd(),
                0,
            )?
        };
        Ok(Ring { base, mapped, page })
    }

    pub fn data_bytes(&self) -> usize {
        self.mapped - self.page
    }

    /// Appends all complete records to `out` and gives their room back to the kernel.
    pub fn drain(&mut self, out: &mut Vec<u8>) {
        let size = self.data_bytes();
        let header = self.base.cast::<perf_event_mmap_page>();
        // SAFETY: the first page of the mapping is a perf_event_mmap_page; head and tail are
        // aligned u64 words that the kernel reads and writes atomically.
        let (head_word, tail_word) = unsafe {
            (
                AtomicU64::from_ptr(&raw mut (*header).data_head),
                AtomicU64::from_ptr(&raw mut (*header).data_tail),
            )
        };
        let head = head_word.load(Ordering::Acquire);
        let tail = tail_word.load(Ordering::Relaxed);
        let available = (head.wrapping_sub(tail) as usize).min(size);
        let from = tail as usize & (size - 1);
        let first = available.min(size - from);
        // SAFETY: both parts lie inside the data pages, and the kernel does not write between tail
        // and head until the tail moves.
        unsafe {
            let data = self.base.cast::<u8>().add(self.page);
            out.extend_from_slice(std::slice::from_raw_parts(data.add(from), first));
            out.extend_from_slice(std::slice::from_raw_parts(data, available - first));
        }
        tail_word.store(head, Ordering::Release);
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: base and length are those of our own mapping, which nothing refers to any more.
        let _ = unsafe { munmap(self.base, self.mapped) };
    }
}
