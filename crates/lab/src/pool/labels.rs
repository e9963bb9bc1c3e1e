//! What is on a device: labels of ZFS, and signatures of others.
//!
//! ZFS keeps four labels of 256 KiB, two at each end (`include/sys/vdev_impl.h`): from 16 KiB on a list of
//! names and values in XDR, from 128 KiB on the uberblocks, each with a magic number.

use rustix::fs::{Advice, fadvise};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

pub const LABEL: u64 = 256 << 10;
pub const LIST: std::ops::Range<usize> = 16 << 10..128 << 10;
const UBERBLOCKS: std::ops::Range<usize> = 128 << 10..256 << 10;
const UBERBLOCK: u64 = 0x00ba_b10c;
/// An uberblock takes at least so much.
const STEP: usize = 1 << 10;
/// Looked at from the start: both labels there, and where others keep their signatures.
const HEAD: u64 = 1 << 20;

/// Offset, bytes, and whose they are.
const SIGNATURES: [(usize, &[u8], &str); 15] = [
    (0x200, b"EFI PART", "a partition table (GPT)"),
    (0x438, &[0x53, 0xef], "an ext2, ext3 or ext4 file system"),
    (0, b"XFSB", "an XFS file system"),
    (0x1_0040, b"_BHRfS_M", "a Btrfs file system"),
    (0, b"LUKS\xba\xbe", "an encrypted volume (LUKS)"),
    (0x218, b"LVM2 001", "a physical volume of LVM"),
    (4086, b"SWAPSPACE2", "swap space"),
    (0, &[0xfc, 0x4e, 0x2b, 0xa9], "a member of a Linux RAID"),
    (4096, &[0xfc, 0x4e, 0x2b, 0xa9], "a member of a Linux RAID"),
    (4120, &[0xc6, 0x85, 0x73, 0xf6], "a bcache device"),
    (3, b"NTFS    ", "an NTFS file system"),
    (0x36, b"FAT", "a FAT file system"),
    (0x52, b"FAT32", "a FAT file system"),
    (0x400, &[0x10, 0x20, 0xf5, 0xf2], "an F2FS file system"),
    (0x1fe, &[0x55, 0xaa], "a boot sector or partition table"),
];

/// What was found on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// The first MiB and the last labels are zeros.
    Blank,
    /// A disk of a pool; its name and guid where the label tells them.
    Zfs { pool: Option<String>, guid: Option<u64> },
    /// A signature that is known.
    Signed(&'static str),
    /// A byte that is not zero, and no signature that is known.
    Unknown { at: u64 },
}

/// Where the two labels at the end begin.
pub fn last_labels(size: u64) -> u64 {
    (size / LABEL * LABEL).saturating_sub(2 * LABEL)
}

/// Forgets what the kernel has read of a device before: ZFS writes past that.
pub fn afresh(device: &File) {
    // A kernel that does not take the advice reads what it has; nobody else had the device open meanwhile.
    let _ = fadvise(device, 0, None, Advice::DontNeed);
}

/// Looks at the start and the end of a device of `size` bytes.
///
/// # Errors
/// When it cannot be read.
pub fn look(device: &mut (impl Read + Seek), size: u64) -> io::Result<Content> {
    let end = last_labels(size);
    let head = read(device, 0, HEAD.min(size))?;
    let tail = read(device, end, size - end)?;
    let labels =
        |bytes: &[u8]| bytes.chunks_exact(LABEL as usize).take(2).map(<[u8]>::to_vec).collect::<Vec<_>>();
    for label in labels(&head).into_iter().chain(labels(&tail)) {
        if let Some(found) = zfs(&label) {
            return Ok(found);
        }
    }
    let has = |(at, bytes, _): &&(usize, &[u8], &str)| head.get(*at..at + bytes.len()) == Some(bytes);
    if let Some((_, _, whose)) = SIGNATURES.iter().find(has) {
        return Ok(Content::Signed(whose));
    }
    let not_zero = |bytes: &[u8]| bytes.iter().position(|b| *b != 0).map(|at| at as u64);
    let at = not_zero(&head).or_else(|| not_zero(&tail).map(|at| end + at));
    Ok(at.map_or(Content::Blank, |at| Content::Unknown { at }))
}

fn read(device: &mut (impl Read + Seek), at: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    device.seek(SeekFrom::Start(at))?;
    device.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// `None` when these 256 KiB are no label.
fn zfs(label: &[u8]) -> Option<Content> {
    let magic = |bytes: &[u8]| bytes == UBERBLOCK.to_le_bytes() || bytes == UBERBLOCK.to_be_bytes();
    let is_one = label[UBERBLOCKS].chunks_exact(STEP).any(|block| magic(&block[..8]));
    let pool = text(&label[LIST], "name");
    let guid = number(&label[LIST], "pool_guid");
    (is_one || guid.is_some()).then_some(Content::Zfs { pool, guid })
}

/// A value in XDR: its name with length, its type, one element.
fn value<'a>(list: &'a [u8], name: &str, kind: u8) -> Option<&'a [u8]> {
    let mut key = (name.len() as u32).to_be_bytes().to_vec();
    key.extend(name.as_bytes());
    key.resize(key.len().next_multiple_of(4), 0);
    key.extend([0, 0, 0, kind, 0, 0, 0, 1]);
    let at = list.windows(key.len()).position(|part| part == key)?;
    list.get(at + key.len()..)
}

/// DATA_TYPE_UINT64
fn number(list: &[u8], name: &str) -> Option<u64> {
    Some(u64::from_be_bytes(value(list, name, 8)?.get(..8)?.try_into().ok()?))
}

/// DATA_TYPE_STRING
fn text(list: &[u8], name: &str) -> Option<String> {
    let value = value(list, name, 9)?;
    let length = u32::from_be_bytes(value.get(..4)?.try_into().ok()?) as usize;
    Some(String::from_utf8_lossy(value.get(4..4usize.checked_add(length)?)?).into_owned())
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::io::Cursor;

    const SIZE: usize = 8 << 20;

    /// A list as `zpool create` writes it, into the first label.
    pub fn label(bytes: &mut [u8], name: &str, guid: u64) {
        let mut list = vec![1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 36, 0, 0, 0, 32];
        list.extend(b"\0\0\0\x04name\0\0\0\x09\0\0\0\x01");
        list.extend((name.len() as u32).to_be_bytes());
        list.extend(name.as_bytes());
        list.resize(list.len().next_multiple_of(4), 0);
        list.extend(b"\0\0\0\x24\0\0\0\x20\0\0\0\x09pool_guid\0\0\0\0\0\0\x08\0\0\0\x01");
        list.extend(guid.to_be_bytes());
        bytes[16 << 10..(16 << 10) + list.len()].copy_from_slice(&list);
    }

    fn found(change: impl FnOnce(&mut [u8])) -> Content {
        // Not a multiple of the label: the last ones begin before the end.
        let mut bytes = vec![0; SIZE + 4096];
        change(&mut bytes);
        look(&mut Cursor::new(&bytes), bytes.len() as u64).unwrap()
    }

    #[test]
    fn zeros_are_blank_and_data_in_the_middle_is_not_looked_for() {
        assert_eq!(found(|_| ()), Content::Blank);
        assert_eq!(found(|bytes| bytes[3 << 20] = 1), Content::Blank);
        assert_eq!(found(|bytes| bytes[77] = 1), Content::Unknown { at: 77 });
        let last = SIZE + 4095;
        assert_eq!(found(|bytes| bytes[last] = 1), Content::Unknown { at: last as u64 });
    }

    #[test]
    fn every_signature_is_found() {
        for (at, magic, whose) in SIGNATURES {
            let content = found(|bytes| bytes[at..at + magic.len()].copy_from_slice(magic));
            assert_eq!(content, Content::Signed(whose), "at {at}");
        }
    }

    #[test]
    fn labels_of_zfs_are_found_at_both_ends() {
        let whole = found(|bytes| label(bytes, "tank", 4711));
        assert_eq!(whole, Content::Zfs { pool: Some("tank".into()), guid: Some(4711) });
        // Only an uberblock is left of the last label, of a host with the other byte order.
        let at = SIZE - LABEL as usize + (200 << 10);
        let rest = found(|bytes| bytes[at..at + 8].copy_from_slice(&UBERBLOCK.to_be_bytes()));
        assert_eq!(rest, Content::Zfs { pool: None, guid: None });
    }
}
