//! A dataset of plain objects: made with its properties, opened and closed, its key loaded again.

use super::abi::{CryptoParams, Objset, Tx, Zpool};
use super::nvlist::{Nvlist, c_string};
use super::pool::check;
use super::zil::Zil;
use crate::Bytes;
use crate::failure::Failure;
use crate::spec::Setup;
use std::ffi::{CStr, CString, c_int, c_void};
use std::ptr::{null_mut, without_provenance};

/// A volume. OpenZFS receives raw streams of these and of file systems only (`dsl_crypto_recv_raw_objset_check`).
const OST_ZVOL: c_int = 3;
const OST_OTHER: c_int = 4;
const OST_ANY: c_int = 5;
/// DMU_OT_UINT64_OTHER: data (not metadata), encrypted.
const OBJECT_TYPE: c_int = 26;
/// ZPROP_SRC_LOCAL
const SOURCE_LOCAL: c_int = 8;
/// ZFS_KEYFORMAT_RAW
const KEYFORMAT_RAW: u64 = 1;
/// DCP_CMD_NONE
const NO_COMMAND: c_int = 0;
/// DMU_NEW_OBJECT
const NEW_OBJECT: u64 = u64::MAX;

/// Of a pool that ends with the experiment.
const KEY: [u8; 32] = [0x5a; 32];

/// Its full name.
pub const NAME: &str = "zwhy-lab/data";
/// That of the dataset which a stream is received as.
pub const COPY: &str = "zwhy-lab/copy";

/// Properties that are no `zfs set` afterwards.
const GIVEN: [&str; 2] = ["encryption", "recordsize"];

/// The number that stands for a property's value, by OpenZFS's own tables.
fn number(zpool: &Zpool, property: &str, value: &str) -> Result<u64, Failure> {
    const NUMBER: c_int = 0;
    const ONE_OF_A_LIST: c_int = 2;
    let doing = || format!("set {property}={value}");
    let (name, text) = (c_string(property), c_string(value));
    // SAFETY: the tables are set up by kernel_init; texts are valid, the number is written.
    unsafe {
        let prop = (zpool.call.zfs_name_to_prop)(name.as_ptr());
        if prop < 0 {
            return Err(Failure::other(doing(), "this release has no such property"));
        }
        let mut number = 0;
        match (zpool.call.zfs_prop_get_type)(prop) {
            ONE_OF_A_LIST => match (zpool.call.zfs_prop_string_to_index)(prop, text.as_ptr(), &mut number) {
                0 => Ok(number),
                _ => Err(Failure::other(doing(), "this release has no such value")),
            },
            NUMBER => value.parse::<Bytes>().map(|b| b.0).map_err(|e| Failure::other(doing(), e)),
            _ => Err(Failure::other(doing(), "it takes a text, which the lab cannot set")),
        }
    }
}

pub struct Dataset<'a> {
    pub zpool: &'a Zpool,
    name: CString,
    encrypted: bool,
    /// Open when not null.
    objset: *mut Objset,
    /// Writes are committed to the intent log.
    commits: bool,
    log: Option<Zil>,
}

/// Transactions of one objset may be made by many threads at once; so do OpenZFS's own callers.
#[derive(Clone, Copy)]
pub struct Open {
    pub objset: *mut Objset,
}

// SAFETY: an owned objset is used by all threads of its owner, as files of a mounted dataset are.
unsafe impl Send for Open {}
// SAFETY: as above.
unsafe impl Sync for Open {}

impl<'a> Dataset<'a> {
    /// The dataset of a pool that is there.
    pub fn existing(zpool: &'a Zpool, setup: &Setup) -> Result<Dataset<'a>, Failure> {
        Dataset::found(zpool, NAME, setup, false)
    }

    /// The dataset that a stream was received as.
    pub fn copy(zpool: &'a Zpool, setup: &Setup) -> Result<Dataset<'a>, Failure> {
        Dataset::found(zpool, COPY, setup, setup.commits())
    }

    fn found(zpool: &'a Zpool, name: &str, setup: &Setup, commits: bool) -> Result<Dataset<'a>, Failure> {
        let (name, encrypted) = (c_string(name), setup.is_encrypted());
        let mut dataset = Dataset { zpool, name, encrypted, objset: null_mut(), commits, log: None };
        dataset.load_key()?;
        dataset.open()?;
        Ok(dataset)
    }

    /// `sent`: streams of it are received.
    pub fn create(zpool: &'a Zpool, setup: &Setup, sent: bool) -> Result<Dataset<'a>, Failure> {
        let name = c_string(NAME);
        let kind = if sent { OST_ZVOL } else { OST_OTHER };
        let encrypted = setup.is_encrypted();
        let params = match encrypted {
            true => crypto_params(zpool, Some(number(zpool, "encryption", setup.property("encryption"))?))?,
            false => null_mut(),
        };
        // SAFETY: the name is valid; no callback.
        let error =
            unsafe { (zpool.call.dmu_objset_create)(name.as_ptr(), kind, 0, params, null_mut(), null_mut()) };
        free_params(zpool, params, error != 0);
        check(error, "make the dataset", "dmu_objset_create")?;
        let commits = setup.commits();
        set_properties(zpool, &name, setup)?;
        let mut dataset = Dataset { zpool, name, encrypted, objset: null_mut(), commits, log: None };
        dataset.open()?;
        Ok(dataset)
    }

    pub fn open(&mut self) -> Result<(), Failure> {
        let mut objset = null_mut();
        // SAFETY: the name is valid; the objset is given back by `close`.
        let error = unsafe {
            (self.zpool.call.dmu_objset_own)(self.name.as_ptr(), OST_ANY, 0, 1, self.tag(), &mut objset)
        };
        check(error, "open the dataset", "dmu_objset_own")?;
        self.objset = objset;
        if self.commits {
            self.log = Some(Zil::open(self.zpool, objset)?);
        }
        Ok(())
    }

    pub fn close(&mut self) {
        if let Some(log) = self.log.take() {
            log.close();
        }
        if !self.objset.is_null() {
            // SAFETY: owned with the same tag.
            unsafe { (self.zpool.call.dmu_objset_disown)(self.objset, 1, self.tag()) };
            self.objset = null_mut();
        }
    }

    /// After an import the key has to be given again.
    pub fn load_key(&self) -> Result<(), Failure> {
        if !self.encrypted {
            return Ok(());
        }
        let params = crypto_params(self.zpool, None)?;
        // SAFETY: name and parameters are valid; on success OpenZFS keeps the key inside.
        let error = unsafe { (self.zpool.call.spa_keystore_load_wkey)(self.name.as_ptr(), params, 0) };
        free_params(self.zpool, params, error != 0);
        // What was just made with its key has it.
        let error = if error == libc::EEXIST { 0 } else { error };
        check(error, "load the key of the dataset", "spa_keystore_load_wkey")
    }

    pub fn log(&self) -> Option<&Zil> {
        self.log.as_ref()
    }

    pub fn handle(&self) -> Open {
        Open { objset: self.objset }
    }

    /// Any value that is the same for own and disown.
    fn tag(&self) -> *const c_void {
        without_provenance(0x7a77_6879)
    }

    pub fn new_object(&self, block: u64) -> Result<u64, Failure> {
        let call = self.zpool.call;
        transaction(
            self.zpool,
            self.handle(),
            "make an object",
            // SAFETY: inside a transaction of this objset.
            |tx| unsafe { (call.dmu_tx_hold_bonus)(tx, NEW_OBJECT) },
            // SAFETY: as above, assigned.
            |tx| unsafe { (call.dmu_object_alloc)(self.objset, OBJECT_TYPE, block as c_int, 0, 0, tx) },
        )
    }

    /// Waits until disks that came back with the last import have what they missed.
    pub fn await_resilver(&self) {
        type Resilvering = unsafe extern "C" fn(*mut super::abi::DslPool) -> c_int;
        /// OpenZFS begins in one of the first transaction groups after an import.
        const BEGINS: u32 = 10;
        let Some(address) = self.zpool.address("dsl_scan_resilvering") else { return };
        let mut idle = 0;
        while idle < BEGINS {
            self.sync();
            // SAFETY: `dsl_scan_resilvering(pool)` in all releases; the objset is open.
            let goes_on = unsafe {
                let pool = (self.zpool.call.dmu_objset_pool)(self.objset);
                std::mem::transmute::<*mut c_void, Resilvering>(address)(pool)
            };
            idle = if goes_on == 0 { idle + 1 } else { 0 };
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    }

    /// Waits until all that was written is on disk.
    pub fn sync(&self) {
        // SAFETY: the objset is open; 0 means the newest transaction group.
        unsafe { (self.zpool.call.txg_wait_synced)((self.zpool.call.dmu_objset_pool)(self.objset), 0) };
    }
}

/// Gives a dataset the properties of the set-up. Encryption is chosen when it is made, the block size with each object.
pub fn set_properties(zpool: &Zpool, dataset: &CStr, setup: &Setup) -> Result<(), Failure> {
    for (property, value) in setup.properties.iter().filter(|(name, _)| !GIVEN.contains(&name.as_str())) {
        let (c_property, value) = (c_string(property), number(zpool, property, value)?);
        // SAFETY: both texts are valid.
        let error = unsafe {
            (zpool.call.dsl_prop_set_int)(dataset.as_ptr(), c_property.as_ptr(), SOURCE_LOCAL, value)
        };
        check(error, &format!("set {property} of the dataset"), "dsl_prop_set_int")?;
    }
    Ok(())
}

/// How a new dataset is encrypted, and its key: what `zfs receive -o encryption=…` hands over.
pub fn encryption_lists(zpool: &Zpool, setup: &Setup) -> Result<(Nvlist, Nvlist), Failure> {
    let encryption = number(zpool, "encryption", setup.property("encryption"))?;
    Ok(key_lists(zpool, Some(encryption)))
}

fn key_lists(zpool: &Zpool, encryption: Option<u64>) -> (Nvlist, Nvlist) {
    let hidden = Nvlist::new(zpool.call).bytes("wkeydata", &mut KEY.clone());
    let mut properties = Nvlist::new(zpool.call);
    if let Some(encryption) = encryption {
        properties = properties
            .u64("encryption", encryption)
            .u64("keyformat", KEYFORMAT_RAW)
            .string("keylocation", "prompt");
    }
    (properties, hidden)
}

/// Runs one transaction: `hold` says what it may change, `change` changes it.
pub fn transaction<T>(
    zpool: &Zpool,
    open: Open,
    doing: &str,
    hold: impl FnOnce(*mut Tx),
    change: impl FnOnce(*mut Tx) -> T,
) -> Result<T, Failure> {
    const WAIT: u64 = 1;
    let call = zpool.call;
    // SAFETY: the objset is open; each transaction is committed or aborted, once.
    unsafe {
        let tx = (call.dmu_tx_create)(open.objset);
        hold(tx);
        let error = (call.dmu_tx_assign)(tx, WAIT);
        if error != 0 {
            (call.dmu_tx_abort)(tx);
            return Err(Failure::call(doing, "dmu_tx_assign", error));
        }
        let result = change(tx);
        (call.dmu_tx_commit)(tx);
        Ok(result)
    }
}

/// The key, and for a new dataset (`encryption` given) how to encrypt.
fn crypto_params(zpool: &Zpool, encryption: Option<u64>) -> Result<*mut CryptoParams, Failure> {
    let (properties, hidden) = key_lists(zpool, encryption);
    let mut params = null_mut();
    // SAFETY: lists are valid and copied; the result is freed by `free_params`.
    let error = unsafe {
        (zpool.call.dsl_crypto_params_create_nvlist)(
            NO_COMMAND,
            properties.as_ptr(),
            hidden.as_ptr(),
            &mut params,
        )
    };
    check(error, "prepare the encryption key", "dsl_crypto_params_create_nvlist")?;
    Ok(params)
}

/// `unload` frees the key too, which OpenZFS has kept if the call before succeeded.
fn free_params(zpool: &Zpool, params: *mut CryptoParams, unload: bool) {
    if !params.is_null() {
        // SAFETY: made by `crypto_params`, freed once.
        unsafe { (zpool.call.dsl_crypto_params_free)(params, c_int::from(unload)) };
    }
}
