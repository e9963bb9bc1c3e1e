//! Streams of snapshots: sent to nowhere or into a file, and received from that file as a dataset of its own.
//!
//! A receive is what `zfs_ioc_recv_impl` (module/zfs/zfs_ioctl.c) does: begin, set the properties, take the stream, end.

use super::abi::{NvlistRaw, Zpool, functions};
use super::dataset::{self, COPY};
use super::library::Release;
use super::nvlist::c_string;
use super::pool::check;
use super::snapshots;
use crate::failure::Failure;
use crate::spec::{Form, Setup};
use std::ffi::{c_char, c_int, c_void};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::ptr::{null, null_mut};
use std::sync::{Mutex, PoisonError};

/// `dmu_send_outparams_t`, the same from 2.1 to 2.4.
#[repr(C)]
pub struct Out {
    write: unsafe extern "C" fn(*mut c_void, *mut c_void, c_int, *mut c_void) -> c_int,
    arg: *mut c_void,
    dry_run: c_int,
}

/// Where a stream goes.
struct Sink {
    sent: u64,
    /// `None`: nobody keeps it.
    file: Option<BufWriter<File>>,
}

/// Takes a part of a stream.
unsafe extern "C" fn take(_: *mut c_void, part: *mut c_void, length: c_int, arg: *mut c_void) -> c_int {
    let length = usize::try_from(length).unwrap_or(0);
    // SAFETY: `arg` is the sink that `send` handed over, alive until dmu_send returns; OpenZFS tells the part's length.
    let (sink, part) =
        unsafe { (&*arg.cast::<Mutex<Sink>>(), std::slice::from_raw_parts(part.cast::<u8>(), length)) };
    let mut sink = sink.lock().unwrap_or_else(PoisonError::into_inner);
    sink.sent += length as u64;
    match sink.file.as_mut().map(|file| file.write_all(part)) {
        Some(Err(error)) => error.raw_os_error().unwrap_or(libc::EIO),
        _ => 0,
    }
}

functions! {
    /// What sending calls, the same from 2.1 to 2.4.
    Sending {
        /// snapshot, from, embedded, large blocks, compressed, raw, saved, resume object, resume offset, bookmark, file, its
        /// offset, out
        dmu_send: fn(
            *const c_char, *const c_char, c_int, c_int, c_int, c_int, c_int, u64, u64, *const c_char, c_int, *mut i64, *mut Out
        ) -> c_int;
    }
}

functions! {
    /// What receiving calls beside `dmu_recv_begin`, the same from 2.1 to 2.4.
    Receiving {
        /// cookie, offset
        dmu_recv_stream: fn(*mut u64, *mut i64) -> c_int;
        /// cookie, owner
        dmu_recv_end: fn(*mut u64, *mut c_void) -> c_int;
        /// path, flags, mode, file out
        zfs_file_open: fn(*const c_char, c_int, c_int, *mut *mut c_void) -> c_int;
        /// file, buffer, length, rest out
        zfs_file_read: fn(*mut c_void, *mut c_void, usize, *mut isize) -> c_int;
        zfs_file_close: fn(*mut c_void);
    }
}

fn missing(doing: &str) -> impl Fn(&'static str) -> Failure {
    move |name| Failure::other(doing, format!("this libzpool does not export {name}"))
}

/// Sends a snapshot whole, into `file` or to nowhere; the length of the stream.
pub fn send(zpool: &Zpool, index: u32, form: Form, file: Option<&Path>) -> Result<u64, Failure> {
    let doing = format!("send snapshot {index}");
    // SAFETY: see the table.
    let call = unsafe { Sending::resolve(|name| zpool.address(name)) }.map_err(missing(&doing))?;
    let io = |error: std::io::Error| Failure::other(&doing, format!("the file of the stream: {error}"));
    let file = file.map(File::create).transpose().map_err(io)?.map(|f| BufWriter::with_capacity(1 << 20, f));
    let (snapshot, sink, mut offset) =
        (c_string(&snapshots::name(index)), Mutex::new(Sink { sent: 0, file }), 0);
    let mut out = Out { write: take, arg: (&raw const sink).cast_mut().cast(), dry_run: 0 };
    let compressed = c_int::from(form != Form::Plain);
    let raw = c_int::from(form == Form::Raw);
    const LARGE_BLOCKS: c_int = 1;
    const NO_FILE: c_int = -1;
    // SAFETY: texts end; the sink, the offset and `out` outlive the call, which waits for its threads.
    let error = unsafe {
        (call.dmu_send)(
            snapshot.as_ptr(),
            null(),
            compressed,
            LARGE_BLOCKS,
            compressed,
            raw,
            0,
            0,
            0,
            null(),
            NO_FILE,
            &mut offset,
            &mut out,
        )
    };
    check(error, &doing, "dmu_send")?;
    let sink = sink.into_inner().unwrap_or_else(PoisonError::into_inner);
    sink.file.map(|mut file| file.flush()).transpose().map_err(io)?;
    Ok(sink.sent)
}

/// `dmu_replay_record_t`: what a stream begins with.
const RECORD: usize = 312;
/// `dmu_recv_cookie_t` has less than 400 bytes in all releases.
const COOKIE: usize = 4096;

/// An open file of OpenZFS.
struct Stream {
    call: Receiving,
    file: *mut c_void,
}

impl Stream {
    fn open(call: Receiving, path: &Path) -> Result<Stream, Failure> {
        let (path, mut file) = (c_string(&path.to_string_lossy()), null_mut());
        // SAFETY: the path ends; the file is written where there is no error.
        let error = unsafe { (call.zfs_file_open)(path.as_ptr(), libc::O_RDONLY, 0, &mut file) };
        check(error, RECEIVING, "zfs_file_open")?;
        Ok(Stream { call, file })
    }

    /// The first record, which receiving begins with.
    fn record(&self) -> Result<[u64; RECORD / 8], Failure> {
        let (mut record, mut rest) = ([0; RECORD / 8], 0);
        // SAFETY: the file is open, the buffer as long as is said.
        let error =
            unsafe { (self.call.zfs_file_read)(self.file, record.as_mut_ptr().cast(), RECORD, &mut rest) };
        check(error, RECEIVING, "zfs_file_read")?;
        match rest {
            0 => Ok(record),
            _ => Err(Failure::other(RECEIVING, "the stream ends within its first record")),
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: opened once, closed once.
        unsafe { (self.call.zfs_file_close)(self.file) };
    }
}

/// What receiving calls.
pub const RECEIVE: [&str; 6] =
    ["dmu_recv_begin", "dmu_recv_stream", "dmu_recv_end", "zfs_file_open", "zfs_file_read", "zfs_file_close"];

const RECEIVING: &str = "receive the stream";

/// What `dmu_recv_begin` is called with.
struct Begin {
    to: *const c_char,
    snapshot: *const c_char,
    record: *mut u64,
    shown: *mut NvlistRaw,
    hidden: *mut NvlistRaw,
    cookie: *mut u64,
    file: *mut c_void,
    offset: *mut i64,
}

/// Calls `dmu_recv_begin`: file system, snapshot, first record, force, (heal,) resumable, properties, hidden properties,
/// origin, cookie, file, offset. Only 2.2 and later heal.
macro_rules! dmu_recv_begin {
    ($function:expr, $with:expr $(, $heal:expr)?) => {{
        type Call = unsafe extern "C" fn(
            *const c_char,
            *const c_char,
            *mut u64,
            c_int,
            $(dmu_recv_begin!(@type $heal),)?
            c_int,
            *mut NvlistRaw,
            *mut NvlistRaw,
            *const c_char,
            *mut u64,
            *mut c_void,
            *mut i64,
        ) -> c_int;
        let with: &Begin = $with;
        std::mem::transmute::<*mut c_void, Call>($function)(
            with.to, with.snapshot, with.record, 0, $($heal,)? 0, with.shown, with.hidden, null(), with.cookie,
            with.file, with.offset,
        )
    }};
    (@type $heal:expr) => { c_int };
}

/// Receives the stream in `path` as the dataset [`COPY`], with the properties that the set-up has.
pub fn receive(
    zpool: &Zpool,
    release: Release,
    setup: &Setup,
    form: Form,
    path: &Path,
) -> Result<(), Failure> {
    let begin = zpool.address("dmu_recv_begin").ok_or("dmu_recv_begin").map_err(missing(RECEIVING))?;
    // SAFETY: see the table.
    let call = unsafe { Receiving::resolve(|name| zpool.address(name)) }.map_err(missing(RECEIVING))?;
    let stream = Stream::open(call, path)?;
    let mut record = stream.record()?;
    let (to, snapshot) = (c_string(COPY), c_string("received"));
    let mut cookie = vec![0_u64; COOKIE / 8];
    let mut offset = RECORD as i64;
    // A raw stream brings its own.
    let encryption = match setup.is_encrypted() && form != Form::Raw {
        true => Some(dataset::encryption_lists(zpool, setup)?),
        false => None,
    };
    let (shown, hidden) =
        encryption.as_ref().map_or((null_mut(), null_mut()), |(a, b)| (a.as_ptr(), b.as_ptr()));
    let with = Begin {
        to: to.as_ptr(),
        snapshot: snapshot.as_ptr(),
        record: record.as_mut_ptr(),
        shown,
        hidden,
        cookie: cookie.as_mut_ptr(),
        file: stream.file,
        offset: &raw mut offset,
    };
    // SAFETY: the signature is that of the release; texts, record and cookie live until dmu_recv_end returned.
    let error = unsafe {
        match release {
            Release::V2_1 => dmu_recv_begin!(begin, &with),
            _ => dmu_recv_begin!(begin, &with, 0),
        }
    };
    check(error, RECEIVING, "dmu_recv_begin")?;
    // What was begun has to be ended, also where a property is refused.
    let set = dataset::set_properties(zpool, &to, setup);
    // SAFETY: begun above; an error cleans up.
    check(unsafe { (call.dmu_recv_stream)(cookie.as_mut_ptr(), &mut offset) }, RECEIVING, "dmu_recv_stream")?;
    // SAFETY: all of the stream was taken.
    check(unsafe { (call.dmu_recv_end)(cookie.as_mut_ptr(), null_mut()) }, RECEIVING, "dmu_recv_end")?;
    set
}
