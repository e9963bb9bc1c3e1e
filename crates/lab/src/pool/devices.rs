//! Giving devices back blank: the labels that a pool of the lab left on them are cleared, no others.

use super::commands::Tools;
use super::guard::{name_of, stat};
use super::labels::{Content, afresh, look};
use std::fs::File;
use std::path::Path;

/// Clears the labels of the pool `name` with the guid, where that is known, from a device.
///
/// # Errors
/// Why they stay.
pub fn clear(tools: &Tools, path: &Path, number: u64, name: &str, guid: Option<u64>) -> Result<bool, String> {
    let node = stat(path).map_err(|e| format!("{} is not there any more ({e})", path.display()))?;
    if !node.block || node.number != number {
        return Err(format!("{} is another device by now; it was {}", path.display(), name_of(number)));
    }
    let unreadable = |e: std::io::Error| format!("{} cannot be read ({e})", path.display());
    let mut device = File::open(path).map_err(unreadable)?;
    afresh(&device);
    let size = std::io::Seek::seek(&mut device, std::io::SeekFrom::End(0)).map_err(unreadable)?;
    let content = look(&mut device, size).map_err(unreadable)?;
    drop(device);
    match ours(&content, name, guid) {
        Ours::Yes => {
            let device = path.as_os_str();
            tools
                .change("zpool", &["labelclear".as_ref(), "-f".as_ref(), device])
                .map_err(|e| e.to_string())?;
            Ok(true)
        }
        Ours::Nothing => Ok(false),
        Ours::No => Err(format!("{} has a label of another pool by now; it is not cleared", path.display())),
    }
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
    use super::*;

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
