//! Giving devices back blank: the labels that a pool of the lab left on them are zeroed, no others.
//!
//! Not by `zpool labelclear`, which leaves checksums of the boot environment behind. The list of the first label
//! goes last, so that a device that a kill left half done is known again.

use super::guard::{name_of, open_alone, stat};
use super::kill;
use super::labels::{Content, LABEL, LIST, afresh, last_labels, look};
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Zeroes the labels of the pool `name` with the guid, where that is known, on a device that was blank before;
/// false when there are none.
///
/// # Errors
/// Why they stay.
pub fn clear(path: &Path, number: u64, name: &str, guid: Option<u64>) -> Result<bool, String> {
    let node = stat(path).map_err(|e| format!("{} is not there any more ({e})", path.display()))?;
    if !node.block || node.number != number {
        return Err(format!("{} is another device by now; it was {}", path.display(), name_of(number)));
    }
    let mut device = open_alone(path).map_err(|e| format!("{} is in use ({e})", path.display()))?;
    afresh(&device);
    let unreadable = |e: io::Error| format!("{} cannot be read ({e})", path.display());
    let size = device.seek(SeekFrom::End(0)).map_err(unreadable)?;
    match ours(&look(&mut device, size).map_err(unreadable)?, name, guid) {
        Ours::Yes => {
            blank(&device, size).map_err(|e| format!("{} cannot be made blank ({e})", path.display()))?;
            Ok(true)
        }
        Ours::Nothing => Ok(false),
        Ours::No => Err(format!("{} has a label of another pool by now; it is not cleared", path.display())),
    }
}

/// All labels: those at the end, the second one, what is around the list of the first one, and that list.
fn blank(device: &File, size: u64) -> io::Result<()> {
    let (end, list) = (last_labels(size), LIST.start as u64..LIST.end as u64);
    for range in [end..size, LABEL..2 * LABEL, list.end..LABEL, 0..list.start, list] {
        kill::point().map_err(|killed| io::Error::other(killed.to_string()))?;
        device.write_all_at(&vec![0; (range.end - range.start) as usize], range.start)?;
        device.sync_all()?;
    }
    Ok(())
}

#[derive(Debug, PartialEq)]
enum Ours {
    Yes,
    No,
    Nothing,
}

fn ours(content: &Content, name: &str, guid: Option<u64>) -> Ours {
    match content {
        Content::Zfs { pool, guid: found } => {
            let same_guid = guid.is_none() || *found == guid;
            if pool.as_deref() == Some(name) && same_guid { Ours::Yes } else { Ours::No }
        }
        _ => Ours::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::super::labels::tests::label;
    use super::*;

    #[test]
    fn a_device_is_blank_again_and_known_until_then() {
        const SIZE: u64 = (8 << 20) + 4096;
        let mut written = vec![0_u8; SIZE as usize];
        for at in [8 << 10, 16_344, 200 << 10, 300 << 10, last_labels(SIZE) as usize, SIZE as usize - 5000] {
            written[at] = 1;
        }
        label(&mut written, "zwhy-lab-a", 7);
        for strikes in 0.. {
            let mut device = tempfile::tempfile().unwrap();
            device.write_all_at(&written, 0).unwrap();
            kill::strike_after(Some(strikes));
            let done = blank(&device, SIZE).is_ok();
            kill::strike_after(None);
            let found = look(&mut device, SIZE).unwrap();
            if done {
                assert_eq!(found, Content::Blank);
                assert!(strikes > 3);
                return;
            }
            assert_eq!(ours(&found, "zwhy-lab-a", Some(7)), Ours::Yes, "after {strikes}");
        }
    }

    #[test]
    fn only_a_label_of_the_own_pool_is_cleared() {
        let label = |name: &str, guid| Content::Zfs { pool: Some(name.into()), guid: Some(guid) };
        assert_eq!(ours(&label("zwhy-lab-a", 7), "zwhy-lab-a", Some(7)), Ours::Yes);
        assert_eq!(ours(&label("zwhy-lab-a", 7), "zwhy-lab-a", None), Ours::Yes);
        assert_eq!(ours(&label("zwhy-lab-a", 8), "zwhy-lab-a", Some(7)), Ours::No);
        assert_eq!(ours(&label("tank", 7), "zwhy-lab-a", Some(7)), Ours::No);
        assert_eq!(ours(&Content::Blank, "zwhy-lab-a", Some(7)), Ours::Nothing);
        assert_eq!(ours(&Content::Signed("x"), "zwhy-lab-a", None), Ours::Nothing);
    }
}
