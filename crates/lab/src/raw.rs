//! What the disks of the pool give by themselves: they are read past OpenZFS, by as many readers and in I/O as large
//! as the application's, so that a figure of OpenZFS can be told as a part of it.

use crate::Bytes;
use crate::failure::Failure;
use crate::io::{Buffer, Moved};
use crate::spec::Setup;
use crate::workers::{self, Report};
use rustix::fs::{OFlags, SeekFrom, seek};
use rustix::io::Errno;
use std::fs::File;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Where the data of a vdev begins, behind its labels and boot block (OpenZFS, include/sys/vdev_impl.h,
/// `VDEV_LABEL_START_SIZE`).
const DATA: u64 = 4 << 20;

/// Reads `bytes` of all disks together, in turn, and past the host's page cache. Of files only what was written is
/// read: holes cost the disk below nothing.
///
/// # Errors
/// A disk that cannot be read, and disks on which nothing is written.
pub fn read(disks: &[PathBuf], setup: &Setup, bytes: Bytes, report: Report<'_>) -> Result<Moved, Failure> {
    let files: Vec<File> = disks.iter().map(|disk| open(disk)).collect::<Result<_, _>>()?;
    let size = setup.io_size.0;
    let each = (bytes.0 / disks.len().max(1) as u64).max(size);
    let mut turns: Vec<Vec<u64>> = Vec::new();
    for (file, disk) in files.iter().zip(disks) {
        turns.push(pieces(file, size, each).map_err(|e| failed("find what is written on", disk, &e))?);
    }
    let ios = in_turn(&turns);
    if ios.is_empty() {
        return Err(Failure::other("read the disks", "nothing is written on them"));
    }
    let (next, total) = (AtomicUsize::new(0), ios.len() as u64 * size);
    let readers = setup.threads as usize;
    let (threads, latencies) = workers::run("raw-reader", readers, total, report, |_, done, calls| {
        let mut buffer = Buffer::new(size as usize);
        while let Some((disk, offset)) = ios.get(next.fetch_add(1, Ordering::Relaxed)) {
            calls
                .of(|| files[*disk].read_exact_at(buffer.bytes(), *offset))
                .map_err(|e| failed("read", &disks[*disk], &e))?;
            done.fetch_add(size, Ordering::Relaxed);
        }
        Ok(())
    })?;
    Ok(Moved { threads, latencies, bytes: total, blocks: ios.len() as u64 })
}

/// Some file systems have no direct I/O (tmpfs).
fn open(disk: &Path) -> Result<File, Failure> {
    let with = |flags: OFlags| {
        let flags = flags.bits().cast_signed();
        std::fs::OpenOptions::new().read(true).custom_flags(flags).open(disk)
    };
    let direct = with(OFlags::DIRECT);
    let refused = direct.as_ref().is_err_and(|e| e.kind() == std::io::ErrorKind::InvalidInput);
    if refused { with(OFlags::empty()) } else { direct }.map_err(|e| failed("open", disk, &e))
}

fn failed(doing: &str, disk: &Path, error: &std::io::Error) -> Failure {
    Failure::other(format!("{doing} {}", disk.display()), error)
}

/// Where I/O of `size` lies in what is written, `each` bytes of it at most.
fn pieces(file: &File, size: u64, each: u64) -> std::io::Result<Vec<u64>> {
    let mut pieces = Vec::new();
    let wanted = (each / size) as usize;
    let mut at = DATA;
    while pieces.len() < wanted {
        let (begin, end) = match seek(file, SeekFrom::Data(at)) {
            Ok(begin) => (begin, seek(file, SeekFrom::Hole(begin))?),
            Err(Errno::NXIO) => break,
            // A device has no holes.
            Err(Errno::INVAL | Errno::OPNOTSUPP | Errno::SPIPE) => (at, seek(file, SeekFrom::End(0))?),
            Err(e) => return Err(e.into()),
        };
        let aligned = begin.max(at).next_multiple_of(size.min(DATA));
        let inside = (aligned..end).step_by(size as usize).take_while(|offset| offset + size <= end);
        pieces.extend(inside.take(wanted - pieces.len()));
        if end <= at {
            break;
        }
        at = end;
    }
    Ok(pieces)
}

/// The disks one after the other, so that none waits for another.
fn in_turn(turns: &[Vec<u64>]) -> Vec<(usize, u64)> {
    let longest = turns.iter().map(Vec::len).max().unwrap_or(0);
    let row =
        |index: usize| turns.iter().enumerate().filter_map(move |(disk, own)| Some((disk, *own.get(index)?)));
    (0..longest).flat_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_written_is_read_and_disks_take_turns() {
        let dir = tempfile::tempdir().unwrap();
        let disks: Vec<PathBuf> = (0..2).map(|n| dir.path().join(format!("disk{n}"))).collect();
        for disk in &disks {
            let file = File::create(disk).unwrap();
            file.set_len(64 << 20).unwrap();
            file.write_all_at(&vec![1; 2 << 20], DATA).unwrap();
            file.write_all_at(&vec![1; 1 << 20], 32 << 20).unwrap();
        }
        let setup = Setup { io_size: Bytes(1 << 20), threads: 3, ..Setup::default() };
        let moved = read(&disks, &setup, Bytes(64 << 20), &mut |_, _| {}).unwrap();
        assert_eq!((moved.bytes, moved.blocks), (6 << 20, 6));
        assert_eq!(moved.threads.threads, 3);
        let less = read(&disks, &setup, Bytes(4 << 20), &mut |_, _| {}).unwrap();
        assert_eq!(less.bytes, 4 << 20);
        assert_eq!(in_turn(&[vec![4, 5], vec![8]]), [(0, 4), (1, 8), (0, 5)]);
    }

    #[test]
    fn disks_without_data_are_an_error_that_names_it() {
        let dir = tempfile::tempdir().unwrap();
        let disk = dir.path().join("disk0");
        File::create(&disk).unwrap().set_len(64 << 20).unwrap();
        let setup = Setup::default();
        let error = read(std::slice::from_ref(&disk), &setup, Bytes(1 << 20), &mut |_, _| {})
            .err()
            .unwrap()
            .to_string();
        assert!(error.contains("nothing is written"), "{error}");
        std::fs::remove_file(&disk).unwrap();
        let error = read(&[disk], &setup, Bytes(1 << 20), &mut |_, _| {}).err().unwrap().to_string();
        assert!(error.contains("open") && error.contains("disk0"), "{error}");
    }
}
