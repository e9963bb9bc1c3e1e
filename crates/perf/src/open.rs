//! The perf system calls, made safe: open an event, switch it, join its output to a ring.
#![allow(unsafe_code)] // raw system calls that no safe crate offers

use crate::sys;
use perf_event_open_sys as perf;
use rustix::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ffi::CStr;
use std::io;

/// Whose CPU time an event counts.
#[derive(Clone, Copy, Debug)]
pub enum Whose<'a> {
    /// A thread; 0 is this one, -1 all of the host.
    Thread(i32),
    /// Every thread of a control group, by its open folder.
    Cgroup(BorrowedFd<'a>),
}

/// Opens one event on a CPU (-1: all; a group needs one); what the attribute points to must live across the
/// call.
///
/// # Errors
/// When the kernel refuses.
pub fn open_event(attr: &mut sys::perf_event_attr, whose: Whose<'_>, cpu: i32) -> io::Result<OwnedFd> {
    let (pid, flag) = match whose {
        Whose::Thread(tid) => (tid, 0),
        Whose::Cgroup(folder) => (folder.as_raw_fd(), sys::PERF_FLAG_PID_CGROUP),
    };
    let flags = u64::from(sys::PERF_FLAG_FD_CLOEXEC | flag);
    // SAFETY: the attribute is fully initialised and lives across the call.
    let fd = unsafe { perf::perf_event_open(attr, pid, cpu, -1, flags as _) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel just gave us this descriptor; nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

pub fn enable(event: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: an ioctl without pointers on an open perf event.
    check(unsafe { perf::ioctls::ENABLE(event.as_raw_fd(), 0) })
}

pub fn disable(event: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: as in `enable`.
    check(unsafe { perf::ioctls::DISABLE(event.as_raw_fd(), 0) })
}

/// Sends the records of `event` to the ring of `owner`; both must be on the same CPU.
pub fn join(event: BorrowedFd<'_>, owner: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: an ioctl that takes a descriptor by value.
    check(unsafe { perf::ioctls::SET_OUTPUT(event.as_raw_fd(), owner.as_raw_fd()) })
}

/// The identifier that samples of this event carry.
pub fn event_id(event: BorrowedFd<'_>) -> io::Result<u64> {
    let mut id = 0u64;
    // SAFETY: the kernel writes one u64 to the pointer, which is valid for it.
    check(unsafe { perf::ioctls::ID(event.as_raw_fd(), &mut id) })?;
    Ok(id)
}

/// Lets `event` write a sample only every `period`-th time from now on.
pub fn set_period(event: BorrowedFd<'_>, period: u64) -> io::Result<()> {
    // The kernel takes a pointer here (`_perf_ioctl`), although the crate declares the value.
    let pointer = &raw const period as u64;
    // SAFETY: the kernel reads one u64 from the pointer, which is valid for it during the call.
    check(unsafe { perf::ioctls::PERIOD(event.as_raw_fd(), pointer) })
}

fn check(result: i32) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Has the kernel write only those events of a tracepoint for which the filter holds, in the language
/// of tracefs (Documentation/trace/events.rst, section 5).
pub fn set_filter(event: &OwnedFd, filter: &CStr) -> io::Result<()> {
    // SAFETY: the descriptor is open; the kernel copies the string up to its end and keeps no pointer.
    check(unsafe { perf::ioctls::SET_FILTER(event.as_raw_fd(), filter.as_ptr().cast_mut()) })
}
