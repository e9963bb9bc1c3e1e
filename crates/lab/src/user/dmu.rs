//! One read or write of an object, buffered or direct.

use super::abi::{Dnode, Objset, Tx, Zpool, functions};
use super::dataset::{Open, transaction};
use super::pool::check;
use super::shim;
use super::zil::Zil;
use crate::failure::Failure;
use crate::io::Target;
use crate::spec::Way;
use std::ffi::{c_int, c_void};
use std::ptr::{null_mut, without_provenance};

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
        let (zpool, open, call) = (self.zpool, self.open, self.zpool.call);
        let doing = format!("write {} bytes at byte {offset} of object {object}", data.len());
        // SAFETY: inside a transaction of this objset.
        let hold = |tx| unsafe { (call.dmu_tx_hold_write)(tx, object, offset, data.len() as c_int) };
        let (size, bytes) = (data.len() as u64, data.as_ptr().cast::<c_void>());
        let direct = way == Way::Direct && self.log.is_none();
        let flags = if direct { direct_flag(zpool).unwrap_or(0) } else { 0 };
        if direct && zpool.address("dmu_write_by_dnode_flags").is_some() {
            let dnode = Held::of(zpool, open, object)?;
            // SAFETY: inside an assigned transaction of the dnode's objset that holds this write.
            let error = transaction(zpool, open, &doing, hold, |tx| unsafe {
                (dnode.call.dmu_write_by_dnode_flags)(dnode.dnode, offset, size, bytes, tx, flags)
            })?;
            return check(error, &doing, "dmu_write_by_dnode_flags");
        }
        transaction(zpool, open, &doing, hold, |tx| {
            // SAFETY: inside an assigned transaction of this objset; buffered data is copied.
            unsafe { (call.dmu_write)(open.objset, object, offset, size, bytes, tx, flags) };
            self.log.map_or(Ok(()), |log| log.record(tx, object, offset, data))
        })??;
        if let Some(log) = self.log {
            log.commit(object);
        }
        Ok(())
    }

    fn read_at(&self, way: Way, object: u64, offset: u64, data: &mut [u8]) -> Result<(), Failure> {
        let direct = if way == Way::Direct { direct_flag(self.zpool) } else { None };
        let (flags, size) = (direct.unwrap_or(PREFETCH), data.len() as u64);
        // SAFETY: the objset is open; the buffer has the size that is given.
        let error = unsafe {
            (self.zpool.call.dmu_read)(
                self.open.objset,
                object,
                offset,
                size,
                data.as_mut_ptr().cast(),
                flags,
            )
        };
        let doing = || format!("read {size} bytes at byte {offset} of object {object}");
        if error == 0 { Ok(()) } else { Err(Failure::call(doing(), "dmu_read", error)) }
    }
}

functions! {
    /// Writes by dnode, which 2.3 takes the flag for direct writes by only.
    ByDnode {
        /// objset, object, tag, out
        dnode_hold: fn(*mut Objset, u64, *const c_void, *mut *mut Dnode) -> c_int;
        dnode_rele: fn(*mut Dnode, *const c_void);
        /// dnode, offset, size, data, transaction, flags
        dmu_write_by_dnode_flags: fn(*mut Dnode, u64, u64, *const c_void, *mut Tx, u32) -> c_int;
    }
}

/// A dnode that cannot go away.
struct Held {
    call: ByDnode,
    dnode: *mut Dnode,
}

/// Any value that is the same for hold and rele.
const TAG: usize = 0x7a77_6879;

impl Held {
    fn of(zpool: &Zpool, open: Open, object: u64) -> Result<Held, Failure> {
        let doing = format!("hold object {object}");
        // SAFETY: the signatures of 2.3.
        let call = unsafe { ByDnode::resolve(|name| zpool.address(name)) };
        let call = call.map_err(|name| Failure::other(&doing, format!("no {name}")))?;
        let mut dnode = null_mut();
        // SAFETY: the objset is open; given back by drop.
        let error = unsafe { (call.dnode_hold)(open.objset, object, without_provenance(TAG), &mut dnode) };
        check(error, &doing, "dnode_hold")?;
        Ok(Held { call, dnode })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: held with the same tag.
        unsafe { (self.call.dnode_rele)(self.dnode, without_provenance(TAG)) };
    }
}
