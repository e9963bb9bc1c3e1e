//! An allocator that counts what the thread at hand holds, for tests of memory limits.
//!
//! A test file that names this module counts; it must not set another global allocator.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static HELD: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// Counts what the thread at hand holds.
struct Counting;

fn count(more: usize, less: usize) {
    // Not there any more while a thread ends; nothing is measured then.
    let _ = HELD.try_with(|held| {
        let now = (held.get().0 + more).saturating_sub(less);
        held.set((now, held.get().1.max(now)));
    });
}

// SAFETY: every call is passed to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller's promises are the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: the caller's promises are the same.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What `work` returns, and the most that this thread held in it beyond what it held before.
pub fn most_held<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let start = HELD.with(|held| {
        held.set((held.get().0, held.get().0));
        held.get().0
    });
    let result = work();
    (result, HELD.with(|held| held.get().1.saturating_sub(start)))
}
