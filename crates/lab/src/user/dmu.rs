//! One read or write of an object, buffered or direct.

use super::abi::{Dnode, Zpool};
use super::dataset::{Open, transaction};
use super::shim;
use super::zil::Zil;
use crate::failure::Failure;
use crate::io::Target;
use crate::spec::Way;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

/// Flags of `dmu_read`: 0 prefetches (`include/sys/dmu.h`).
const PREFETCH: u32 = 0;

/// DMU_DIRECTIO: a bit of its own in each release, and a wrong one is silently a buffered read.
/// `None` before 2.3, which has no Direct I/O.
fn direct_flag(zpool: &Zpool) -> Option<u32> {
    zpool.address("dmu_write_abd")?;
    // 2.4 took dmu_write_by_dnode_flags away, and has the flags in dmu_write itself.
    Some(if zpool.address("dmu_write_by_dnode_flags").is_some() { 4 } else { 32 })
}

/// Prepares the way of the I/O.
///
/// # Errors
/// What makes Direct I/O impossible with this library.
pub fn prepare(zpool: &Zpool, way: Way) -> Result<(), Failure> {
    match (way, direct_flag(zpool)) {
        (Way::Direct, None) => {
            Err(Failure::other("use Direct I/O", "OpenZFS has it since 2.3; this one is older"))
        }
        (_, Some(flag)) => {
            shim::count_direct(flag);
            Ok(())
        }
        (Way::Buffered, None) => Ok(()),
    }
}

/// The objects of an open dataset.
pub struct Objects<'a> {
    pub zpool: &'a Zpool,
    pub open: Open,
    /// Where each write is committed before it returns.
    pub log: Option<&'a Zil>,
}

impl Target for Objects<'_> {
    fn write_at(&self, way: Way, object: u64, offset: u64, data: &[u8]) -> Result<(), Failure> {
        let Some(log) = self.log else {
            return write_at(self.zpool, self.open, way, object, offset, data);
        };
        write_logged(self.zpool, self.open, log, object, offset, data)?;
        log.commit(object);
        Ok(())
    }

    fn read_at(&self, way: Way, object: u64, offset: u64, data: &mut [u8]) -> Result<(), Failure> {
        read_at(self.zpool, self.open, way, object, offset, data)
    }
}

/// As a buffered [`write_at`], with its record in the intent log.
fn write_logged(
    zpool: &Zpool,
    open: Open,
    log: &Zil,
    object: u64,
    offset: u64,
    data: &[u8],
) -> Result<(), Failure> {
    let call = zpool.call;
    let doing = format!("write {} bytes at byte {offset} of object {object}", data.len());
    // SAFETY: inside a transaction of this objset.
    let hold = |tx| unsafe { (call.dmu_tx_hold_write)(tx, object, offset, data.len() as c_int) };
    transaction(zpool, open, &doing, hold, |tx| {
        // SAFETY: inside an assigned transaction of this objset; data is copied.
        unsafe {
            (call.dmu_write)(open.objset, object, offset, data.len() as u64, data.as_ptr().cast(), tx, 0);
        }
        log.record(tx, object, offset, data)
    })?
}

fn write_at(
    zpool: &Zpool,
    open: Open,
    way: Way,
    object: u64,
    offset: u64,
    data: &[u8],
) -> Result<(), Failure> {
    let call = zpool.call;
    let doing = || format!("write {} bytes at byte {offset} of object {object}", data.len());
    // SAFETY: inside a transaction of this objset.
    let hold = |tx| unsafe { (call.dmu_tx_hold_write)(tx, object, offset, data.len() as c_int) };
    let (size, bytes) = (data.len() as u64, data.as_ptr().cast::<c_void>());
    let flags = if way == Way::Direct { direct_flag(zpool).unwrap_or(0) } else { 0 };
    if way == Way::Direct && zpool.address("dmu_write_by_dnode_flags").is_some() {
        let dnode = Held::of(zpool, open, object)?;
        // SAFETY: as below, with the dnode held.
        let error = transaction(zpool, open, &doing(), hold, |tx| unsafe {
            dnode.write(offset, size, bytes, tx, flags)
        })?;
        return if error == 0 {
            Ok(())
        } else {
            Err(Failure::call(doing(), "dmu_write_by_dnode_flags", error))
        };
    }
    transaction(zpool, open, &doing(), hold, |tx| {
        // SAFETY: inside an assigned transaction of this objset; buffered data is copied.
        unsafe { (call.dmu_write)(open.objset, object, offset, size, bytes, tx, flags) }
    })
}

fn read_at(
    zpool: &Zpool,
    open: Open,
    way: Way,
    object: u64,
    offset: u64,
    data: &mut [u8],
) -> Result<(), Failure> {
    let flags = if way == Way::Direct { direct_flag(zpool).unwrap_or(PREFETCH) } else { PREFETCH };
    // SAFETY: the objset is open; the buffer has the size that is given.
    let error = unsafe {
        (zpool.call.dmu_read)(open.objset, object, offset, data.len() as u64, data.as_mut_ptr().cast(), flags)
    };
    if error == 0 {
        return Ok(());
    }
    let doing = format!("read {} bytes at byte {offset} of object {object}", data.len());
    Err(Failure::call(doing, "dmu_read", error))
}

/// A dnode that cannot go away: 2.3 takes the flag for direct writes by dnode only.
struct Held<'a> {
    zpool: &'a Zpool,
    dnode: *mut Dnode,
}

/// Any value that is the same for hold and rele.
const TAG: usize = 0x7a77_6879;

impl<'a> Held<'a> {
    fn of(zpool: &'a Zpool, open: Open, object: u64) -> Result<Held<'a>, Failure> {
        type Hold =
            unsafe extern "C" fn(*mut super::abi::Objset, u64, *const c_void, *mut *mut Dnode) -> c_int;
        let doing = || format!("hold object {object}");
        let address = zpool.address("dnode_hold").ok_or_else(|| Failure::other(doing(), "no dnode_hold"))?;
        let mut dnode = null_mut();
        // SAFETY: `dnode_hold(objset, object, tag, out)` in 2.3; given back by drop.
        let error = unsafe {
            std::mem::transmute::<*mut c_void, Hold>(address)(
                open.objset,
                object,
                std::ptr::without_provenance(TAG),
                &mut dnode,
            )
        };
        super::pool::check(error, &doing(), "dnode_hold")?;
        Ok(Held { zpool, dnode })
    }

    /// # Safety
    /// `tx` is an assigned transaction of the dnode's objset that holds this write.
    unsafe fn write(
        &self,
        offset: u64,
        size: u64,
        data: *const c_void,
        tx: *mut super::abi::Tx,
        flags: u32,
    ) -> c_int {
        type Write =
            unsafe extern "C" fn(*mut Dnode, u64, u64, *const c_void, *mut super::abi::Tx, u32) -> c_int;
        let Some(address) = self.zpool.address("dmu_write_by_dnode_flags") else { return libc::ENOSYS };
        // SAFETY: the signature of 2.3; what the caller promises.
        unsafe {
            std::mem::transmute::<*mut c_void, Write>(address)(self.dnode, offset, size, data, tx, flags)
        }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        type Release = unsafe extern "C" fn(*mut Dnode, *const c_void);
        if let Some(address) = self.zpool.address("dnode_rele") {
            // SAFETY: held with the same tag.
            unsafe {
                std::mem::transmute::<*mut c_void, Release>(address)(
                    self.dnode,
                    std::ptr::without_provenance(TAG),
                );
            }
        }
    }
}
