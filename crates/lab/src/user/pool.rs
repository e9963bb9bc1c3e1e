//! A pool of files: make, export and import again, give back.

use super::abi::{CryptoParams, Zpool};
use super::features;
use super::library::Library;
use super::nvlist::{Nvlist, c_string};
use crate::Bytes;
use crate::failure::Failure;
use crate::scratch::{DISK, FAST, allocate};
use crate::spec::{Layout, Setup};
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;

/// Lives only inside the child: it cannot meet a pool of the host.
pub const POOL: &str = "zwhy-lab";

/// Vdev files begin so; interposers and cures go by it.
pub fn vdev_prefix(scratch: &Path) -> PathBuf {
    scratch.join(DISK)
}

pub struct Pool<'a> {
    zpool: &'a Zpool,
    name: CString,
}

/// SPA_MODE_READ, SPA_MODE_READ | SPA_MODE_WRITE
const READ: i32 = 1;
const READ_WRITE: i32 = 3;

/// Starts OpenZFS, to write or only to read. From here on it has threads.
///
/// `spa_config_path` must lead into the scratch folder before: OpenZFS reads and rewrites that file,
/// which by default is the host's own list of pools, /etc/zfs/zpool.cache.
pub fn start(zpool: &Zpool, scratch: &Path, writes: bool) -> Result<(), Failure> {
    let doing = "keep away from the host's zpool.cache";
    let path = zpool
        .address("spa_config_path")
        .ok_or_else(|| Failure::other(doing, "this libzpool does not export spa_config_path"))?;
    let cache = c_string(&scratch.join("zpool.cache").to_string_lossy());
    // SAFETY: `char *spa_config_path` in all releases; nothing runs yet; the text lives on.
    unsafe {
        path.cast::<*mut std::ffi::c_char>().write(cache.into_raw());
        (zpool.call.kernel_init)(if writes { READ_WRITE } else { READ });
    }
    Ok(())
}

impl<'a> Pool<'a> {
    pub fn create(
        zpool: &'a Zpool,
        library: &Library,
        scratch: &Path,
        setup: &Setup,
        size: Bytes,
    ) -> Result<Pool<'a>, Failure> {
        let call = zpool.call;
        let mut disks = Vec::new();
        for number in 0..setup.disks {
            disks.push(disk(zpool, scratch, &number.to_string(), size)?);
        }
        let mut groups = groups(zpool, setup, disks);
        for number in 0..setup.special_disks + setup.log_disks {
            let fast = disk(zpool, scratch, &format!("{FAST}{number}"), size)?;
            groups.push(match number < setup.special_disks {
                true => fast.string("alloc_bias", "special"),
                false => fast.string("alloc_bias", "log").u64("is_log", 1),
            });
        }
        let root = Nvlist::new(call).string("type", "root").lists("children", &groups);
        let names = features::names(zpool, library)
            .map_err(|found| Failure::other("read the pool features OpenZFS knows", found))?;
        let properties =
            names.iter().fold(Nvlist::new(call), |list, name| list.u64(&format!("feature@{name}"), 0));

        let name = c_string(POOL);
        // SAFETY: all pointers are valid for the call or null where OpenZFS takes null.
        let error = unsafe {
            (call.spa_create)(
                name.as_ptr(),
                root.as_ptr(),
                properties.as_ptr(),
                null_mut(),
                null_mut::<CryptoParams>(),
                null_mut(),
            )
        };
        check(error, "make the pool", "spa_create")?;
        Ok(Pool { zpool, name })
    }

    /// Takes the pool out and in again: what was cached of it is gone. `between` changes its disks.
    pub fn reimport(&self, between: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
        let config = self.export()?;
        between()?;
        self.import(&config)
    }

    /// The pool that somebody else made.
    pub fn open(zpool: &'a Zpool, config: &Nvlist) -> Result<Pool<'a>, Failure> {
        let pool = Pool { zpool, name: c_string(POOL) };
        pool.import(config)?;
        Ok(pool)
    }

    fn import(&self, config: &Nvlist) -> Result<(), Failure> {
        // SAFETY: name and config are valid; OpenZFS copies both.
        let error = unsafe {
            (self.zpool.call.spa_import)(self.name.as_ptr().cast_mut(), config.as_ptr(), null_mut(), 0)
        };
        check(error, "import the pool", "spa_import")
    }

    /// Everything is on disk and the pool is closed after this; the configuration is what import takes.
    pub fn export(&self) -> Result<Nvlist, Failure> {
        let mut config = null_mut();
        // SAFETY: the name is valid; the list is made by OpenZFS and handed over.
        let error = unsafe { (self.zpool.call.spa_export)(self.name.as_ptr(), &mut config, 0, 0) };
        check(error, "export the pool", "spa_export")?;
        if config.is_null() {
            return Err(Failure::other("export the pool", "spa_export gave no configuration"));
        }
        // SAFETY: given to the caller to free.
        Ok(unsafe { Nvlist::from_raw(self.zpool.call, config) })
    }
}

/// Disks with sectors of 4 KiB.
const ASHIFT: u64 = 12;

/// A new file that plays a disk.
fn disk(zpool: &Zpool, scratch: &Path, name: &str, size: Bytes) -> Result<Nvlist, Failure> {
    let mut path = vdev_prefix(scratch).into_os_string();
    path.push(name);
    let path = PathBuf::from(path);
    allocate(&path, size)?;
    let disk = Nvlist::new(zpool.call).string("type", "file").string("path", &path.to_string_lossy());
    Ok(disk.u64("ashift", ASHIFT))
}

/// What the pool is striped over: the disks, or one group of all of them.
fn groups(zpool: &Zpool, setup: &Setup, disks: Vec<Nvlist>) -> Vec<Nvlist> {
    let group = |kind: &str| Nvlist::new(zpool.call).string("type", kind).u64("ashift", ASHIFT);
    match setup.layout {
        Layout::Stripe => disks,
        Layout::Mirror => vec![group("mirror").lists("children", &disks)],
        parity => {
            let redundant = u64::from(parity.redundant(setup.disks));
            let Some((data, groups)) = parity.draid(setup.disks) else {
                return vec![group("raidz").u64("nparity", redundant).lists("children", &disks)];
            };
            let draid = group("draid").u64("nparity", redundant).u64("draid_ndata", u64::from(data));
            let draid = draid.u64("draid_nspares", 0).u64("draid_ngroups", u64::from(groups));
            vec![draid.lists("children", &disks)]
        }
    }
}

pub fn check(error: i32, doing: &str, function: &str) -> Result<(), Failure> {
    if error == 0 { Ok(()) } else { Err(Failure::call(doing, function, error)) }
}
