//! The functions of libzpool and libnvpair this engine calls, with its own prototypes.
//!
//! Signatures hold for OpenZFS 2.1 to 2.4. Where releases differ the call is made so that all of them
//! take it: a caller may pass more register arguments than the callee reads (System V and AAPCS64),
//! so `spa_create` (6th in development versions) and `dmu_write` (7th, flags, from 2.4) get them always.

use super::library::Library;
use libloading::os::unix::{Library as Handle, RTLD_GLOBAL, RTLD_NOW};
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::marker::{PhantomData, PhantomPinned};
use std::path::Path;

/// Types of OpenZFS that are only ever pointed to.
macro_rules! opaque {
    ($($name:ident)*) => { $(
        #[repr(C)]
        pub struct $name { _data: [u8; 0], _marker: PhantomData<(*mut u8, PhantomPinned)> }
    )* };
}
opaque! { NvlistRaw Objset Tx CryptoParams Dnode DslPool }

/// A table of C functions, resolved together.
macro_rules! functions {
    ($(#[$whole:meta])* $table:ident {
        $($(#[$doc:meta])* $name:ident: fn($($arg:ty),*) $(-> $ret:ty)?;)*
    }) => {
        $(#[$whole])*
        #[derive(Clone, Copy)]
        pub struct $table { $($(#[$doc])* pub $name: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)* }

        impl $table {
            /// Fails with the name of the first function that is missing.
            ///
            /// # Safety
            /// What `find` finds by these names are functions with these signatures.
            pub unsafe fn resolve(
                find: impl Fn(&str) -> Option<*mut std::ffi::c_void>,
            ) -> Result<$table, &'static str> {
                $(
                    let $name = find(stringify!($name)).ok_or(stringify!($name))?;
                )*
                // SAFETY: as the caller has it.
                unsafe { Ok($table { $($name: std::mem::transmute::<
                    *mut std::ffi::c_void,
                    unsafe extern "C" fn($($arg),*) $(-> $ret)?,
                >($name),)* }) }
            }
        }
    };
}
pub(super) use functions;

functions! {
    /// What every release has and this engine calls.
    Functions {
        kernel_init: fn(c_int);
        kernel_fini: fn();
        /// name, root vdev, properties, file system properties, encryption, (development: log)
        spa_create: fn(*const c_char, *mut NvlistRaw, *mut NvlistRaw, *mut NvlistRaw, *mut CryptoParams, *mut c_void) -> c_int;
        /// name, config out, force, hard force
        spa_export: fn(*const c_char, *mut *mut NvlistRaw, c_int, c_int) -> c_int;
        /// name, config, properties, flags
        spa_import: fn(*mut c_char, *mut NvlistRaw, *mut NvlistRaw, u64) -> c_int;
        /// dataset, key, only try
        spa_keystore_load_wkey: fn(*const c_char, *mut CryptoParams, c_int) -> c_int;
        /// command, properties, hidden properties, out
        dsl_crypto_params_create_nvlist: fn(c_int, *mut NvlistRaw, *mut NvlistRaw, *mut *mut CryptoParams) -> c_int;
        /// params, unload the key
        dsl_crypto_params_free: fn(*mut CryptoParams, c_int);
        /// dataset, property, source, value
        dsl_prop_set_int: fn(*const c_char, *const c_char, c_int, u64) -> c_int;
        /// name, type, flags, encryption, callback, its argument
        dmu_objset_create: fn(*const c_char, c_int, u64, *mut CryptoParams, *mut c_void, *mut c_void) -> c_int;
        /// name, type, read-only, decrypt, tag, out
        dmu_objset_own: fn(*const c_char, c_int, c_int, c_int, *const c_void, *mut *mut Objset) -> c_int;
        /// objset, decrypt, tag
        dmu_objset_disown: fn(*mut Objset, c_int, *const c_void);
        /// name → number, -1 for none
        zfs_name_to_prop: fn(*const c_char) -> c_int;
        /// property → kind: 0 number, 1 text, 2 one of a list
        zfs_prop_get_type: fn(c_int) -> c_int;
        /// property, value, number out
        zfs_prop_string_to_index: fn(c_int, *const c_char, *mut u64) -> c_int;
        /// snapshots, properties, errors out
        dsl_dataset_snapshot: fn(*mut NvlistRaw, *mut NvlistRaw, *mut NvlistRaw) -> c_int;
        /// snapshots, put off, errors out
        dsl_destroy_snapshots_nvl: fn(*mut NvlistRaw, c_int, *mut NvlistRaw) -> c_int;
        dmu_objset_pool: fn(*mut Objset) -> *mut DslPool;
        /// objset, type, block size, bonus type, bonus length, transaction
        dmu_object_alloc: fn(*mut Objset, c_int, c_int, c_int, c_int, *mut Tx) -> u64;
        dmu_tx_create: fn(*mut Objset) -> *mut Tx;
        dmu_tx_hold_bonus: fn(*mut Tx, u64);
        /// transaction, object, offset, length
        dmu_tx_hold_write: fn(*mut Tx, u64, u64, c_int);
        /// transaction, 1 to wait
        dmu_tx_assign: fn(*mut Tx, u64) -> c_int;
        dmu_tx_abort: fn(*mut Tx);
        dmu_tx_commit: fn(*mut Tx);
        /// objset, object, offset, size, data, transaction, (2.4: flags)
        dmu_write: fn(*mut Objset, u64, u64, u64, *const c_void, *mut Tx, u32);
        /// objset, object, offset, size, data, flags (0: prefetch)
        dmu_read: fn(*mut Objset, u64, u64, u64, *mut c_void, u32) -> c_int;
        txg_wait_synced: fn(*mut DslPool, u64);
        fnvlist_alloc: fn() -> *mut NvlistRaw;
        fnvlist_free: fn(*mut NvlistRaw);
        fnvlist_add_boolean: fn(*mut NvlistRaw, *const c_char);
        fnvlist_add_string: fn(*mut NvlistRaw, *const c_char, *const c_char);
        fnvlist_add_uint64: fn(*mut NvlistRaw, *const c_char, u64);
        fnvlist_add_uint8_array: fn(*mut NvlistRaw, *const c_char, *mut u8, c_uint);
        /// list, size out; given back by fnvlist_pack_free
        fnvlist_pack: fn(*mut NvlistRaw, *mut usize) -> *mut c_char;
        fnvlist_pack_free: fn(*mut c_char, usize);
        /// bytes, how many, out, 0 to wait for memory
        nvlist_unpack: fn(*mut c_char, usize, *mut *mut NvlistRaw, c_int) -> c_int;
        nvlist_lookup_nvlist: fn(*mut NvlistRaw, *const c_char, *mut *mut NvlistRaw) -> c_int;
        nvlist_lookup_nvlist_array: fn(*mut NvlistRaw, *const c_char, *mut *mut *mut NvlistRaw, *mut c_uint) -> c_int;
        nvlist_lookup_string: fn(*mut NvlistRaw, *const c_char, *mut *const c_char) -> c_int;
        fnvlist_add_nvlist_array: fn(*mut NvlistRaw, *const c_char, *mut *mut NvlistRaw, c_uint);
    }
}

/// libzpool, open. It is never closed: its threads may still run when the process ends.
pub struct Zpool {
    pub call: Functions,
    handle: &'static Handle,
}

/// Libraries that belong to libzpool; taken from the same folder where they are there, so that a
/// libzpool outside the system folders does not meet the libnvpair of another release.
const COMPANIONS: [&str; 2] = ["libnvpair.so.3", "libzfs_core.so.3"];

impl Zpool {
    pub fn open(library: &Library) -> Result<Zpool, String> {
        let path = &library.info.path;
        let folder = path.parent().unwrap_or(Path::new("/"));
        for name in COMPANIONS {
            let beside = folder.join(name);
            if beside.exists() {
                leak(&beside)?;
            }
        }
        let handle = leak(path)?;
        // SAFETY: these are the signatures in all releases that `Library` accepts.
        let call = unsafe { Functions::resolve(|name| address(handle, name)) };
        let call = call.map_err(|name| format!("{} has no function {name}", path.display()))?;
        Ok(Zpool { call, handle })
    }

    /// The address of an exported variable or function, or `None` in releases without it.
    pub fn address(&self, name: &str) -> Option<*mut c_void> {
        address(self.handle, name)
    }
}

fn address(handle: &Handle, name: &str) -> Option<*mut c_void> {
    // SAFETY: only the address is taken; who uses it knows the type.
    let symbol = unsafe { handle.get::<*mut c_void>(name.as_bytes()) }.ok()?;
    Some(symbol.as_raw_ptr()).filter(|p| !p.is_null())
}

fn leak(path: &Path) -> Result<&'static Handle, String> {
    // SAFETY: runs the library's initialisers; this is the child, which exists to run this library.
    let opened = unsafe { Handle::open(Some(path), RTLD_NOW | RTLD_GLOBAL) };
    opened.map(|handle| &*Box::leak(Box::new(handle))).map_err(|e| format!("{}: {e}", path.display()))
}
