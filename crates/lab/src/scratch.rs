//! The folder the pool lives in: checked before, emptied after, and nothing outside it is touched.
//!
//! It must be new or empty, so that everything found in it later is ours and may be removed.

use crate::failure::Failure;
use crate::spec::{Action, Destination, Setup, Step};
use crate::{Bytes, LabError};
use rustix::fs::{FallocateFlags, fallocate};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

pub struct Scratch {
    /// Resolved, so that a link that is changed later does not lead elsewhere.
    path: PathBuf,
    made_by_us: bool,
    /// It stays as it is.
    left: bool,
}

impl Scratch {
    /// `bytes`: what the largest run needs, by [`space`].
    pub fn prepare(path: &Path, bytes: Bytes) -> Result<Scratch, LabError> {
        let io = |doing| LabError::io(doing, path);
        let made_by_us = match fs::create_dir(path) {
            Ok(()) => true,
            Err(e) if e.kind() == ErrorKind::AlreadyExists => false,
            Err(e) => return Err(io("make the scratch folder")(e)),
        };
        let resolved = path.canonicalize().map_err(io("find the scratch folder"))?;
        if !resolved.is_dir() {
            return Err(LabError::ScratchNotFolder { path: path.to_owned() });
        }
        if !made_by_us {
            refuse_unless_empty(&resolved)?;
        }
        let scratch = Scratch { path: resolved, made_by_us, left: false };
        scratch.check_space(bytes)?;
        Ok(scratch)
    }

    fn check_space(&self, needed: Bytes) -> Result<(), LabError> {
        let io = LabError::io("ask for the free space of", &self.path);
        let stat = rustix::fs::statvfs(&self.path).map_err(|e| io(e.into()))?;
        let free = Bytes(stat.f_bavail.saturating_mul(stat.f_frsize));
        match free < needed {
            true => Err(LabError::Space { path: self.path.clone(), free, needed }),
            false => Ok(()),
        }
    }

    /// Removes what a killed experiment left in its scratch folder: files that only the lab makes. Anything
    /// else stays, and [`Scratch::prepare`] refuses the folder because of it.
    pub fn reclaim(path: &Path) -> Result<(), LabError> {
        let io = LabError::io("clean the scratch folder", path);
        let Ok(entries) = fs::read_dir(path) else { return Ok(()) };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let kept = name.strip_suffix(LOST).unwrap_or(&name);
            let number = |rest: &str| rest.bytes().all(|b| b.is_ascii_digit());
            let disk =
                kept.strip_prefix(DISK).is_some_and(|rest| number(rest.strip_prefix(FAST).unwrap_or(rest)));
            let ours = disk
                || name == crate::user::kept::FILE
                || name == STREAM
                || name.starts_with("zpool.cache")
                || name == format!("{DISK}.probe");
            if ours && entry.file_type().is_ok_and(|kind| kind.is_file()) {
                fs::remove_file(entry.path()).map_err(&io)?;
            }
        }
        // Made again, so that it is removed at the end.
        let _ = fs::remove_dir(path);
        Ok(())
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Something in it may still be in use: it is not emptied any more.
    pub fn leave(&mut self) {
        self.left = true;
    }

    /// Removes what a run left.
    pub fn empty(&self) -> Result<(), LabError> {
        let io = LabError::io("clean the scratch folder", &self.path);
        for entry in fs::read_dir(&self.path).map_err(&io)? {
            let entry = entry.map_err(&io)?;
            // Does not follow links: a link is removed, not what it points to.
            let is_folder = entry.file_type().map_err(&io)?.is_dir();
            let path = entry.path();
            if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) }.map_err(&io)?;
        }
        Ok(())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.left {
            return;
        }
        // On the way out of an error there is nobody left to tell.
        let emptied = self.empty();
        if emptied.is_ok() && self.made_by_us {
            let _ = fs::remove_dir(&self.path);
        }
    }
}

/// Files that play disks are called so, with a number.
pub const DISK: &str = "vdev";

/// Ends the name of a disk that is gone from its pool.
pub const LOST: &str = ".lost";

/// Behind it, in the names of disks that no model slows down: those of the log and of the special class.
pub const FAST: &str = "-fast";

/// A stream that was sent and waits to be received.
pub const STREAM: &str = "stream";

/// Size of each file that plays a disk: the data and what is written again below snapshots, parity and
/// copies, metadata, the room OpenZFS keeps free (1/32), and the labels.
pub fn disk_size(bytes: Bytes, setup: &Setup, steps: &[Step]) -> Bytes {
    const MIB: u64 = 1 << 20;
    let kept = |step: &Step| match step.action {
        Action::Snapshot { count, bytes } => u64::from(count) * (bytes.0 + MIB / 8),
        Action::Overwrite { bytes: part, .. } => part.unwrap_or(bytes).0,
        Action::Receive => bytes.0,
        _ => 0,
    };
    let copies = setup.property("copies").parse::<u64>().unwrap_or(1).clamp(1, 3);
    let data = (bytes.0 + steps.iter().map(kept).sum::<u64>()) / 4 * 5 * copies;
    let disks = u64::from(setup.disks);
    let hold_data = disks - u64::from(setup.layout.redundant(setup.disks));
    // Short stripes of RAID-Z are padded.
    let padded = match setup.layout.draid(setup.disks) {
        // Each block fills whole rows of its group, in sectors of 4 KiB.
        Some((data_disks, _)) => {
            let (row, record) = (u64::from(data_disks) * 4096, setup.recordsize().0);
            (data / 4 * 5 / record + 1) * record.next_multiple_of(row)
        }
        None if setup.layout.redundant(setup.disks) > 0 => data / 4 * 5,
        None => data,
    };
    Bytes((padded / hold_data.max(1) + 256 * MIB).next_multiple_of(MIB))
}

/// Makes the vdev file with all its space, so that a full disk is an error now and not a suspended
/// pool later.
pub fn allocate(path: &Path, size: Bytes) -> Result<(), Failure> {
    let allocated = fs::File::create_new(path).and_then(|file| {
        match fallocate(&file, FallocateFlags::empty(), 0, size.0) {
            // The file system cannot reserve; the free space was checked before.
            Err(rustix::io::Errno::OPNOTSUPP) => file.set_len(size.0),
            other => Ok(other?),
        }
    });
    let doing = || format!("reserve {} MB for the vdev {}", size.0 / 1_000_000, path.display());
    allocated.map_err(|e| Failure::other(doing(), e))
}

/// Space that one run takes in the scratch folder.
pub fn space(bytes: Bytes, setup: &Setup, steps: &[Step]) -> Bytes {
    // A record of a stream has a head of its own.
    let streamed = |step: &Step| {
        matches!(step.action, Action::Send { to: Destination::File, .. }).then_some(bytes.0 / 10 * 11)
    };
    let stream = steps.iter().filter_map(streamed).max().unwrap_or(0);
    Bytes(disk_size(bytes, setup, steps).0 * u64::from(setup.all_disks()) + stream)
}

fn refuse_unless_empty(path: &Path) -> Result<(), LabError> {
    let io = LabError::io("look into the scratch folder", path);
    let mut names = Vec::new();
    for entry in fs::read_dir(path).map_err(&io)? {
        names.push(entry.map_err(&io)?.file_name().to_string_lossy().escape_debug().to_string());
    }
    names.sort();
    let found = match names.as_slice() {
        [] => return Ok(()),
        [one] => one.clone(),
        [first, more @ ..] => format!("{first} and {} more", more.len()),
    };
    Err(LabError::ScratchNotEmpty { path: path.to_owned(), found })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_folder_is_made_and_removed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pool");
        let scratch = Scratch::prepare(&path, Bytes(0)).unwrap();
        fs::write(path.join("vdev0"), "x").unwrap();
        drop(scratch);
        assert!(!path.exists());
    }

    #[test]
    fn what_a_killed_experiment_left_is_reclaimed_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pool");
        fs::create_dir(&path).unwrap();
        for name in ["vdev0", "vdev17", "vdev-fast1", "vdev2.lost", "zpool.cache", "vdev.probe"] {
            fs::write(path.join(name), "x").unwrap();
        }
        Scratch::reclaim(&path).unwrap();
        assert!(!path.exists());
        fs::create_dir(&path).unwrap();
        fs::write(path.join("vdev0"), "x").unwrap();
        fs::write(path.join("vdev0.old"), "x").unwrap();
        Scratch::reclaim(&path).unwrap();
        assert!(path.join("vdev0.old").exists() && !path.join("vdev0").exists());
        assert!(Scratch::prepare(&path, Bytes(0)).is_err());
    }

    #[test]
    fn redundant_layouts_need_more() {
        let of = |text: &str| {
            let table: toml::Table = text.parse().unwrap();
            let setup = Setup::of(table.iter().map(|(k, v)| (k.as_str(), v))).unwrap();
            space(Bytes(1 << 30), &setup, &[]).0 >> 20
        };
        assert_eq!(of(""), 1280 + 256);
        assert!(of("layout = \"mirror\"\ndisks = 2") > 2 * 1280);
        let raidz = of("layout = \"raidz2\"\ndisks = 6");
        assert!(raidz > 1280 * 6 / 4 && raidz < 2 * 1280 + 6 * 256 + 256, "{raidz}");
        let draid = |record: &str| of(&format!("layout = \"draid1\"\ndisks = 9\nrecordsize = \"{record}\""));
        // A block of 4K takes a row of 8 data disks.
        assert!(
            draid("4K") > 3 * draid("128K") && draid("128K") < 2 * 1280 + 9 * 256 + 256,
            "{}",
            draid("4K")
        );
    }

    #[test]
    fn an_empty_folder_of_the_user_stays() {
        let dir = tempfile::tempdir().unwrap();
        let scratch = Scratch::prepare(dir.path(), Bytes(0)).unwrap();
        fs::create_dir(dir.path().join("sub")).unwrap();
        drop(scratch);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_a_link_points_to_is_not_touched() {
        let dir = tempfile::tempdir().unwrap();
        let outside = dir.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("precious"), "x").unwrap();
        let path = dir.path().join("pool");
        let scratch = Scratch::prepare(&path, Bytes(0)).unwrap();
        std::os::unix::fs::symlink(&outside, path.join("link")).unwrap();
        drop(scratch);
        assert!(outside.join("precious").exists() && !path.exists());
    }

    #[test]
    fn a_folder_with_something_in_it_is_refused_and_kept() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("thesis.tex"), "x").unwrap();
        let error = Scratch::prepare(dir.path(), Bytes(0)).err().unwrap();
        assert!(error.to_string().contains("thesis.tex"), "{error}");
        assert!(dir.path().join("thesis.tex").exists());
    }

    #[test]
    fn a_file_is_not_a_folder() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = Scratch::prepare(file.path(), Bytes(0)).err().unwrap();
        assert!(matches!(error, LabError::ScratchNotFolder { .. }), "{error}");
        assert!(file.path().exists());
    }

    #[test]
    fn too_little_space_is_said_with_both_figures() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pool");
        let error = Scratch::prepare(&path, Bytes(1 << 60)).err().unwrap().to_string();
        assert!(error.contains("MB free") && error.contains("needs"), "{error}");
        assert!(!path.exists());
    }
}
