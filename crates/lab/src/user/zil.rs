//! The intent log of the dataset, for writes that wait until they are safe: what fsync and O_SYNC do in a file system.
//!
//! OpenZFS in user space has no file system, so what its write path does (`zfs_log_write`, module/zfs/zfs_log.c) is
//! done here: a record in the transaction of the write, then a commit. Larger writes than [`LARGEST`] are refused: the
//! file system would write them in place and log a pointer (`zfs_immediate_write_sz`).

use super::abi::{Objset, Tx, Zpool, functions};
use crate::failure::Failure;
use std::ffi::{c_char, c_int, c_void};
use std::ptr::null_mut;

pub const LARGEST: u64 = 32 << 10;

/// TX_WRITE
const WRITE: u64 = 9;
/// WR_COPIED, WR_NEED_COPY
const COPIED: u32 = 1;
const NEED_COPY: u32 = 2;
/// Data up to this is copied into the record at once (`zil_maxcopied`, 7680, of 2.2.3 and later).
const COPIED_AT_ONCE: usize = 4096;

// Offsets inside `itx_t` and the `lr_write_t` that ends it (include/sys/zil.h), the same in 2.1.11, 2.2.8, 2.3.2 and 2.4.0.
const PRIVATE: usize = 16;
const STATE: usize = 24;
const SIZE: usize = 48;
const RECORD: usize = 72;
const OBJECT: usize = RECORD + 32;
const OFFSET: usize = OBJECT + 8;
const LENGTH: usize = OFFSET + 8;
/// Offset inside a block, and the block pointer, are only for writes in place.
const REST: usize = LENGTH + 8;
const HEAD: usize = 192;
const DATA: usize = RECORD + HEAD;

/// Types of records that OpenZFS could ask to be replayed; more than any release has.
const TYPES: usize = 64;

type Replay = unsafe extern "C" fn(*mut c_void, *mut c_void, c_int) -> c_int;
type ReadBack =
    unsafe extern "C" fn(*mut Reader, u64, *mut u8, *mut c_char, *mut c_void, *mut c_void) -> c_int;

/// What reads data back that a record does not hold itself.
pub struct Reader {
    objset: *mut Objset,
    read: unsafe extern "C" fn(*mut Objset, u64, u64, u64, *mut c_void, u32) -> c_int,
}

functions! {
    /// As include/sys/zil.h has them in 2.1 to 2.4; 2.1 takes no third argument of `zil_open`, and only 2.4 returns
    /// something from `zil_commit`, which is not looked at.
    Functions {
        zil_open: fn(*mut Objset, ReadBack, *mut c_void) -> *mut c_void;
        zil_close: fn(*mut c_void);
        zil_replay: fn(*mut Objset, *mut c_void, *const Replay);
        zil_itx_create: fn(u64, usize) -> *mut u8;
        zil_itx_assign: fn(*mut c_void, *mut u8, *mut Tx);
        zil_commit: fn(*mut c_void, u64) -> c_int;
    }
}

/// The open log of an open dataset.
pub struct Zil {
    call: Functions,
    log: *mut c_void,
    /// Outlives every record: it is never freed.
    reader: *mut Reader,
}

// SAFETY: OpenZFS takes records and commits of one log from many threads, as those of a mounted file system.
unsafe impl Send for Zil {}
// SAFETY: as above.
unsafe impl Sync for Zil {}

impl Zil {
    /// # Errors
    /// A function that this library does not export.
    pub fn open(zpool: &Zpool, objset: *mut Objset) -> Result<Zil, Failure> {
        // SAFETY: see the table.
        let call = unsafe { Functions::resolve(|name| zpool.address(name)) };
        let missing = |name| Failure::other("open the intent log", format!("this libzpool has no {name}"));
        let call = call.map_err(missing)?;
        let reader = Box::into_raw(Box::new(Reader { objset, read: zpool.call.dmu_read }));
        let nothing: [Replay; TYPES] = [replay_nothing; TYPES];
        // SAFETY: the objset is owned; after a clean export there is nothing to replay, which `zil_replay` notes.
        let log = unsafe {
            (call.zil_replay)(objset, null_mut(), nothing.as_ptr());
            (call.zil_open)(objset, read_back, null_mut())
        };
        Ok(Zil { call, log, reader })
    }

    /// Notes a write in its transaction.
    ///
    /// # Errors
    /// When a record does not look as expected: another layout would be written over.
    pub fn record(&self, tx: *mut Tx, object: u64, offset: u64, data: &[u8]) -> Result<(), Failure> {
        let at_once = data.len() <= COPIED_AT_ONCE;
        let size = HEAD + if at_once { data.len() } else { 0 };
        // SAFETY: a record of `size` bytes after the head, as its own fields say before anything is written.
        unsafe {
            let itx = (self.call.zil_itx_create)(WRITE, size);
            let word = |at: usize| itx.add(at).cast::<u64>();
            let (whole, kind) = (word(SIZE).read_unaligned(), word(RECORD).read_unaligned());
            if whole != (RECORD + size) as u64 || kind != WRITE {
                let found = format!("size {whole} and type {kind} instead of {} and {WRITE}", RECORD + size);
                return Err(Failure::other("write to the intent log", found));
            }
            word(PRIVATE).write_unaligned(self.reader as u64);
            itx.add(STATE).cast::<u32>().write_unaligned(if at_once { COPIED } else { NEED_COPY });
            word(OBJECT).write_unaligned(object);
            word(OFFSET).write_unaligned(offset);
            word(LENGTH).write_unaligned(data.len() as u64);
            itx.add(REST).write_bytes(0, DATA - REST);
            if at_once {
                itx.add(DATA).copy_from_nonoverlapping(data.as_ptr(), data.len());
            }
            (self.call.zil_itx_assign)(self.log, itx, tx);
        }
        Ok(())
    }

    /// Waits until all that was noted of the object is on disk.
    pub fn commit(&self, object: u64) {
        // SAFETY: the log is open.
        unsafe { (self.call.zil_commit)(self.log, object) };
    }

    /// Before the dataset is closed.
    pub fn close(self) {
        // SAFETY: opened once, closed once.
        unsafe { (self.call.zil_close)(self.log) };
    }
}

/// Nothing that is not in the dataset is ever in the log of a pool that was exported.
unsafe extern "C" fn replay_nothing(_: *mut c_void, _: *mut c_void, _: c_int) -> c_int {
    0
}

/// Reads what a record is about into the log block.
unsafe extern "C" fn read_back(
    reader: *mut Reader,
    _: u64,
    record: *mut u8,
    into: *mut c_char,
    _: *mut c_void,
    _: *mut c_void,
) -> c_int {
    // A write in place was never asked for.
    if into.is_null() {
        return libc::ENOTSUP;
    }
    // SAFETY: what `record` wrote; the buffer has the length that the record says.
    unsafe {
        let word = |at: usize| record.add(at - RECORD).cast::<u64>().read_unaligned();
        let reader = &*reader;
        (reader.read)(reader.objset, word(OBJECT), word(OFFSET), word(LENGTH), into.cast(), 0)
    }
}
