//! Which devices may become disks of a pool of the lab: none that anybody uses, and none with anything on it.

use super::host::{Roots, read};
use super::labels::{self, Content};
use crate::Bytes;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A device that may be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    pub path: PathBuf,
    /// Major and minor number, as the kernel packs them.
    pub number: u64,
    pub size: Bytes,
}

/// Why a device is not touched.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    #[error("it is not there ({0})")]
    Missing(io::Error),
    #[error("it is no block device; without --device the lab makes its pool of files in the scratch folder")]
    NotBlock,
    #[error("it is the same device as {}", .0.display())]
    Twice(PathBuf),
    #[error("it is a whole disk, which zpool would partition; make one partition on it and name that")]
    Whole,
    #[error("it is a volume of a ZFS pool; a pool inside a pool can block both")]
    Volume,
    #[error("it is read-only")]
    ReadOnly,
    #[error("it has {} MB, and the experiment needs {} MB of each device; --bytes makes it smaller", .size.0 / 1_000_000, .needed.0 / 1_000_000)]
    TooSmall { size: Bytes, needed: Bytes },
    #[error("it is mounted on {0}")]
    Mounted(String),
    #[error("the host swaps to it")]
    Swap,
    #[error("it is part of {0} (LVM, RAID, encryption or the like)")]
    Held(String),
    #[error("something has it open for itself: the kernel refuses it to others ({0})")]
    InUse(io::Error),
    #[error("it has a label of ZFS, of the pool {pool}; if that is not needed any more: zpool labelclear -f {}", .device.display())]
    Zfs { pool: String, device: PathBuf },
    #[error("it holds {0}; if that is not needed any more: wipefs -a")]
    Signed(&'static str),
    #[error(
        "there is data on it (byte {at} is not zero); if that is not needed any more, zero its first and last MiB"
    )]
    Data { at: u64 },
    #[error("it cannot be read ({0})")]
    Unreadable(io::Error),
}

/// What a path names.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    pub block: bool,
    pub number: u64,
}

/// How the host is asked; tests answer themselves.
pub struct Guard<'a> {
    pub roots: &'a Roots,
    pub stat: &'a dyn Fn(&Path) -> io::Result<Node>,
    /// For itself alone: fails where anything else has the device.
    pub open: &'a dyn Fn(&Path) -> io::Result<File>,
}

/// Asks the kernel.
pub fn stat(path: &Path) -> io::Result<Node> {
    let data = std::fs::metadata(path)?;
    Ok(Node { block: data.file_type().is_block_device(), number: data.rdev() })
}

/// With O_EXCL, which the kernel refuses for a block device that is mounted, swapped to or held.
pub fn open_alone(path: &Path) -> io::Result<File> {
    File::options().read(true).write(true).custom_flags(libc::O_EXCL).open(path)
}

impl Guard<'_> {
    /// All of `paths` may be used, each with `needed` bytes.
    ///
    /// # Errors
    /// The first that may not, and why.
    pub fn check(&self, paths: &[PathBuf], needed: Bytes) -> Result<Vec<Device>, (PathBuf, Refusal)> {
        let mut devices: Vec<Device> = Vec::new();
        for path in paths {
            let device = self.one(path, &devices, needed).map_err(|why| (path.clone(), why))?;
            devices.push(device);
        }
        Ok(devices)
    }

    fn one(&self, path: &Path, before: &[Device], needed: Bytes) -> Result<Device, Refusal> {
        let node = (self.stat)(path).map_err(Refusal::Missing)?;
        if !node.block {
            return Err(Refusal::NotBlock);
        }
        if let Some(other) = before.iter().find(|device| device.number == node.number) {
            return Err(Refusal::Twice(other.path.clone()));
        }
        let size = self.nature(node.number)?;
        if size < needed {
            return Err(Refusal::TooSmall { size, needed });
        }
        self.in_use(node.number)?;
        let mut file = (self.open)(path).map_err(Refusal::InUse)?;
        labels::afresh(&file);
        match labels::look(&mut file, size.0).map_err(Refusal::Unreadable)? {
            Content::Blank => Ok(Device { path: path.to_owned(), number: node.number, size }),
            Content::Zfs { pool, .. } => {
                let pool = pool.unwrap_or_else(|| "whose name is gone".into());
                Err(Refusal::Zfs { pool, device: path.to_owned() })
            }
            Content::Signed(whose) => Err(Refusal::Signed(whose)),
            Content::Unknown { at } => Err(Refusal::Data { at }),
        }
    }

    fn folder(&self, number: u64) -> PathBuf {
        self.roots.sys.join("dev/block").join(name_of(number))
    }

    /// Its size, when it is of a kind that can be used.
    fn nature(&self, number: u64) -> Result<Bytes, Refusal> {
        let folder = self.folder(number);
        let uevent = read(&folder.join("uevent")).unwrap_or_default();
        let name = uevent.lines().find_map(|line| line.strip_prefix("DEVNAME=")).unwrap_or_default();
        if name.strip_prefix("zd").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
            return Err(Refusal::Volume);
        }
        if !folder.join("partition").exists() {
            return Err(Refusal::Whole);
        }
        if read(&folder.join("ro")).is_some_and(|ro| ro != "0") {
            return Err(Refusal::ReadOnly);
        }
        let sectors = read(&folder.join("size")).and_then(|size| size.parse::<u64>().ok()).unwrap_or(0);
        Ok(Bytes(sectors.saturating_mul(512)))
    }

    fn in_use(&self, number: u64) -> Result<(), Refusal> {
        let same = |path: &str| (self.stat)(Path::new(path)).is_ok_and(|n| n.block && n.number == number);
        let mounts = read(&self.roots.proc.join("self/mountinfo")).unwrap_or_default();
        for line in mounts.lines() {
            // Number, parent, device, root, place …, after a hyphen the type and the source.
            let fields: Vec<&str> = line.split(' ').collect();
            let source = line.split_once(" - ").and_then(|(_, rest)| rest.split(' ').nth(1));
            if fields.get(2) == Some(&name_of(number).as_str()) || source.is_some_and(same) {
                return Err(Refusal::Mounted(fields.get(4).copied().unwrap_or("some place").to_owned()));
            }
        }
        let swaps = read(&self.roots.proc.join("swaps")).unwrap_or_default();
        if swaps.lines().skip(1).filter_map(|line| line.split_whitespace().next()).any(same) {
            return Err(Refusal::Swap);
        }
        let holders = std::fs::read_dir(self.folder(number).join("holders"));
        if let Some(holder) = holders.ok().and_then(|mut all| all.next()).and_then(Result::ok) {
            return Err(Refusal::Held(holder.file_name().to_string_lossy().into_owned()));
        }
        Ok(())
    }
}

/// `259:1`
pub fn name_of(number: u64) -> String {
    format!("{}:{}", rustix::fs::major(number), rustix::fs::minor(number))
}

#[cfg(test)]
mod tests {
    use super::super::labels::tests::label;
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    const SIZE: usize = 64 << 20;

    /// A host with one partition, 259:1, that may be used: `/fake/d0`.
    struct Host {
        dir: TempDir,
        roots: Roots,
    }

    impl Host {
        fn new() -> Host {
            let dir = tempfile::tempdir().unwrap();
            let roots = Roots { proc: dir.path().join("proc"), sys: dir.path().join("sys") };
            let host = Host { dir, roots };
            for (path, text) in [
                ("uevent", "MAJOR=259\nDEVNAME=nvme0n1p1\n"),
                ("partition", "1\n"),
                ("ro", "0\n"),
                ("size", &format!("{}\n", SIZE / 512)),
            ] {
                host.write(&format!("sys/dev/block/259:1/{path}"), text);
            }
            host.write("proc/self/mountinfo", "22 1 8:1 / / rw shared:1 - ext4 /fake/root rw\n");
            host.write("proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n/fake/swap partition 1 0 -2\n");
            File::create(host.dir.path().join("content")).unwrap().set_len(SIZE as u64).unwrap();
            host
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn change(&self, change: impl FnOnce(&mut [u8])) {
            let path = self.dir.path().join("content");
            let mut bytes = fs::read(&path).unwrap();
            change(&mut bytes);
            fs::write(path, bytes).unwrap();
        }

        fn check(&self, paths: &[&str]) -> Result<Vec<Device>, String> {
            let content = self.dir.path().join("content");
            self.check_opening(paths, &|_| File::open(&content))
        }

        fn check_opening(
            &self,
            paths: &[&str],
            open: &dyn Fn(&Path) -> io::Result<File>,
        ) -> Result<Vec<Device>, String> {
            let stat = |path: &Path| {
                let minor = match path.to_str().unwrap() {
                    "/fake/d0" | "/fake/by-id/d0" => 1,
                    "/fake/file" => return Ok(Node { block: false, number: 0 }),
                    "/fake/swap" => 9,
                    _ => return Err(io::Error::from_raw_os_error(libc::ENOENT)),
                };
                Ok(Node { block: true, number: rustix::fs::makedev(259, minor) })
            };
            let guard = Guard { roots: &self.roots, stat: &stat, open };
            let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
            guard.check(&paths, Bytes(32 << 20)).map_err(|(path, why)| format!("{}: {why}", path.display()))
        }

        fn refused(&self, says: &str) {
            let error = self.check(&["/fake/d0"]).unwrap_err();
            assert!(error.contains("/fake/d0: ") && error.contains(says), "{error}");
        }
    }

    #[test]
    fn a_blank_partition_that_nobody_uses_may_be_used() {
        let devices = Host::new().check(&["/fake/d0"]).unwrap();
        assert_eq!((devices[0].size, name_of(devices[0].number).as_str()), (Bytes(SIZE as u64), "259:1"));
    }

    #[test]
    fn what_is_no_block_device_is_refused() {
        let host = Host::new();
        assert!(host.check(&["/fake/none"]).unwrap_err().contains("not there"));
        assert!(host.check(&["/fake/file"]).unwrap_err().contains("no block device"));
    }

    #[test]
    fn the_same_device_by_two_names_is_refused() {
        let error = Host::new().check(&["/fake/d0", "/fake/by-id/d0"]).unwrap_err();
        assert!(error.contains("/fake/by-id/d0: it is the same device as /fake/d0"), "{error}");
    }

    #[test]
    fn whole_disks_and_volumes_of_zfs_are_refused() {
        let host = Host::new();
        fs::remove_file(host.dir.path().join("sys/dev/block/259:1/partition")).unwrap();
        host.refused("whole disk");
        host.write("sys/dev/block/259:1/uevent", "DEVNAME=zd16p1\n");
        host.refused("volume of a ZFS pool");
    }

    #[test]
    fn a_device_that_is_read_only_or_too_small_is_refused() {
        let host = Host::new();
        host.write("sys/dev/block/259:1/size", "32768\n");
        host.refused("it has 16 MB, and the experiment needs 33 MB");
        host.write("sys/dev/block/259:1/ro", "1\n");
        host.refused("read-only");
    }

    #[test]
    fn a_mounted_device_is_refused_by_its_number_and_by_its_source() {
        let host = Host::new();
        host.write("proc/self/mountinfo", "30 1 259:1 / /home rw - ext4 /dev/x rw\n");
        host.refused("mounted on /home");
        // Btrfs has a device number of its own.
        host.write("proc/self/mountinfo", "30 1 0:42 / /srv rw shared:3 - btrfs /fake/d0 rw\n");
        host.refused("mounted on /srv");
    }

    #[test]
    fn swap_is_refused() {
        let host = Host::new();
        host.write("proc/swaps", "Filename Type\n/fake/d0 partition 1 0 -2\n");
        host.refused("swaps to it");
    }

    #[test]
    fn a_device_with_a_holder_is_refused() {
        let host = Host::new();
        host.write("sys/dev/block/259:1/holders/dm-3/name", "");
        host.refused("part of dm-3");
    }

    #[test]
    fn what_the_kernel_does_not_give_alone_is_refused() {
        let busy = |_: &Path| Err(io::Error::from_raw_os_error(libc::EBUSY));
        let error = Host::new().check_opening(&["/fake/d0"], &busy).unwrap_err();
        assert!(error.contains("open for itself"), "{error}");
    }

    #[test]
    fn a_disk_of_a_pool_is_refused_with_the_name_of_the_pool() {
        let host = Host::new();
        host.change(|bytes| label(bytes, "tank", 7));
        host.refused("of the pool tank");
    }

    #[test]
    fn anything_else_on_a_device_is_refused() {
        let host = Host::new();
        host.change(|bytes| bytes[..4].copy_from_slice(b"XFSB"));
        host.refused("an XFS file system");
        host.change(|bytes| bytes[..4].copy_from_slice(b"\0\0\0\x01"));
        host.refused("byte 3 is not zero");
    }
}
