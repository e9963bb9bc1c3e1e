//! What becomes of the blocks that are there already when a property only changes new ones.

use crate::answer::ChoiceAnswer;
use crate::facts::{FactBase, Requirement};

/// How blocks that exist come to have the new value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    /// `zfs rewrite` writes each block again in its place; send and receive does too.
    Rewrite,
    /// The size of blocks belongs to the file: only a new file has another one.
    Copy,
}

/// Dataset properties that only concern what is written from now on (zfsprops.7). What `zfs rewrite`
/// applies is in zfs-rewrite.8 (2.3.4 and later).
const NEW_WRITES_ONLY: [(&str, By); 8] = [
    ("compression", By::Rewrite),
    ("checksum", By::Rewrite),
    ("dedup", By::Rewrite),
    ("copies", By::Rewrite),
    ("special_small_blocks", By::Rewrite),
    ("recordsize", By::Copy),
    ("xattr", By::Copy),
    ("dnodesize", By::Copy),
];

/// Bytes a second that the estimate of time assumes; it is said with the estimate.
const ASSUMED_BYTES_S: f64 = 200e6;

/// A sentence or two; `None` where the commands take effect on what is there.
pub fn rewrite(commands: &[String], choices: &[ChoiceAnswer], facts: &FactBase<'_>) -> Option<String> {
    let all = commands.iter().chain(choices.iter().flat_map(|c| &c.commands));
    let (property, by, dataset) = all.filter_map(|c| sets(c)).next()?;
    let mut text = format!("{property} only applies to what is written from now on.");
    if let Some(bytes) = used(dataset, facts) {
        text.push_str(&format!(
            " {dataset} holds {}: reading and writing that once takes about {} at 200 MB/s.",
            bytes_in_words(bytes),
            time_in_words(bytes / ASSUMED_BYTES_S)
        ));
    }
    text.push_str(match (by, knows_rewrite(facts)) {
        (By::Copy, _) => {
            " Existing files keep what they have until they are copied (cp, rsync) to a new name or dataset; \
             that needs room for the largest of them, and snapshots keep the old blocks."
        }
        (By::Rewrite, Some(true)) => {
            " `zfs rewrite -r MOUNTPOINT` rewrites existing blocks; snapshots keep the old ones, \
             so free space for both is needed while they exist."
        }
        (By::Rewrite, _) => {
            " To apply it to existing blocks, send the dataset (without -c and -w) and receive it under a \
             new name, or copy its files; both need free space for a second copy (zfs rewrite does it in place from \
             2.3.4 on)."
        }
    });
    Some(text)
}

/// Property and dataset of a `zfs set` that only changes new writes.
fn sets(command: &str) -> Option<(&'static str, By, &str)> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let ["zfs", "set", assignments @ .., dataset] = words.as_slice() else { return None };
    let names = assignments.iter().filter_map(|a| a.split_once('=')).map(|(name, _)| name);
    names
        .filter_map(|name| NEW_WRITES_ONLY.iter().find(|(known, _)| *known == name))
        .map(|(p, by)| (*p, *by, *dataset))
        .next()
}

fn knows_rewrite(facts: &FactBase<'_>) -> Option<bool> {
    Requirement::parse(">=2.3.4")?.holds(facts.evidence.host.zfs_version.as_deref()?)
}

/// Bytes of a dataset, with all below it.
fn used(dataset: &str, facts: &FactBase<'_>) -> Option<f64> {
    facts.evidence.facts.dataset(dataset)?.properties.as_ref()?.get("used")?.parse().ok()
}

fn bytes_in_words(bytes: f64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let power = (bytes.max(1.0).log2() / 10.0).floor().clamp(0.0, 5.0);
    format!("{:.1} {}", bytes / 1024f64.powf(power), units[power as usize])
}

fn time_in_words(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{} s", s.ceil()),
        s if s < 5400.0 => format!("{} min", (s / 60.0).ceil()),
        s => format!("{:.1} h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_that_only_change_new_writes_are_told_from_others() {
        assert!(sets("zfs set compression=lz4 tank").is_some());
        assert!(matches!(
            sets("zfs set atime=off recordsize=16K tank/a"),
            Some(("recordsize", By::Copy, "tank/a"))
        ));
        for other in ["zfs set atime=off tank", "zpool set autotrim=off tank", "zfs inherit compression tank"]
        {
            assert!(sets(other).is_none(), "{other}");
        }
    }

    #[test]
    fn sizes_and_times_read_as_people_say_them() {
        assert_eq!(bytes_in_words(0.0), "0.0 B");
        assert_eq!(bytes_in_words(3.0 * 1024f64.powi(4)), "3.0 TiB");
        assert_eq!(
            (time_in_words(10.2), time_in_words(600.0), time_in_words(7200.0)),
            ("11 s".into(), "10 min".into(), "2.0 h".into())
        );
    }
}
