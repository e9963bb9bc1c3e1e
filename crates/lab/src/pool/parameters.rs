//! Parameters of the module for one run: the old value is in the journal before, and written back after it.

use super::host::{Roots, read};
use super::journal::{Entry, Journal, OldValue};
use super::kill;
use crate::failure::Failure;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The limit of the ARC.
pub const ARC_MAX: &str = "zfs_arc_max";
/// Its floor. A kernel's ARC begins there and grows only with what is read, and the dbuf cache is a part of what the ARC
/// aims at, not of its limit (`dbuf_cache_target_bytes`, `arc_target_bytes`, 2.3.2): the floor is set to the limit.
pub const ARC_MIN: &str = "zfs_arc_min";
/// With 1 a folder that is made in .zfs/snapshot is a snapshot.
pub const ADMIN_SNAPSHOT: &str = "zfs_admin_snapshot";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    pub name: String,
    pub value: String,
}

/// The file of a parameter; parts of OpenZFS 2.1 are modules of their own.
pub fn file(roots: &Roots, name: &str) -> Option<PathBuf> {
    const MODULES: [&str; 9] =
        ["zfs", "spl", "icp", "zcommon", "zzstd", "zlua", "zavl", "znvpair", "zunicode"];
    let files =
        MODULES.iter().map(|module| roots.sys.join("module").join(module).join("parameters").join(name));
    let mut files = files.filter(|file| file.exists());
    files.next()
}

/// Sets one, after noting how it was.
///
/// # Errors
/// When it is not there, or OpenZFS does not take the value.
pub fn set(roots: &Roots, journal: &mut Journal, wanted: &Wanted) -> Result<(), Failure> {
    let Wanted { name, value } = wanted;
    let doing = || format!("set {name} to {value}");
    let file =
        file(roots, name).ok_or_else(|| Failure::other(doing(), "this module has no such parameter"))?;
    let old = read(&file).map(|text| chosen(&text).to_owned());
    let old = old.ok_or_else(|| Failure::other(doing(), "its value cannot be read"))?;
    // 0 stands for the default, and does not lift a limit that was set: the limit of now does.
    let kstat = match name.as_str() {
        ARC_MAX => Some("c_max"),
        ARC_MIN => Some("c_min"),
        _ => None,
    };
    let before = kstat.filter(|_| old == "0").and_then(|kstat| arc(roots, kstat));
    journal.note(&Entry::Parameter(OldValue { file: file.clone(), value: old, before }))?;
    write(&file, value).map_err(|e| Failure::other(doing(), e))?;
    kill::point()?;
    if kstat.and_then(|kstat| arc(roots, kstat)).is_some_and(|now| now != *value) {
        let least = arc(roots, "c_min").unwrap_or_default();
        let found = format!("OpenZFS did not take it: its least is {least} here ({ARC_MIN})");
        return Err(Failure::other(doing(), found));
    }
    Ok(())
}

/// Writes back how it was.
///
/// # Errors
/// What stands in the way.
pub fn put_back(old: &OldValue) -> Result<(), String> {
    for value in old.before.iter().chain([&old.value]) {
        write(&old.file, value)?;
    }
    Ok(())
}

/// In one call, without making a file that is not there.
fn write(file: &Path, value: &str) -> Result<(), String> {
    std::fs::OpenOptions::new()
        .write(true)
        .truncate(true)
        .open(file)
        .and_then(|mut open| std::io::Write::write_all(&mut open, value.as_bytes()))
        .map_err(|e| format!("cannot write {value} to {}: {e}", file.display()))
}

/// `avx2` of `cycle [avx2] x86_64`.
fn chosen(text: &str) -> &str {
    let inner = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    inner.map_or(text, |(chosen, _)| chosen)
}

/// A value of arcstats.
fn arc(roots: &Roots, name: &str) -> Option<String> {
    let text = read(&roots.proc.join("spl/kstat/zfs/arcstats"))?;
    let mut lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    lines.find(|fields| fields.first() == Some(&name)).and_then(|fields| Some((*fields.get(2)?).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_implementations_has_one_that_is_chosen() {
        assert_eq!(chosen("cycle fastest [avx2] x86_64"), "avx2");
        assert_eq!(chosen("1073741824"), "1073741824");
    }
}
