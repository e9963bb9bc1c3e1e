//! Keeping the figures of this machine, as nothing changes them but another CPU, microcode or kernel.

use crate::machine::Machine;
use crate::measure::{Limits, SCHEMA};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use zwhy_place::{Place, PlaceError};

#[derive(Debug, thiserror::Error)]
pub enum LimitsError {
    #[error(
        "cannot keep the figures in {}: {source}; set XDG_CACHE_HOME to a folder that can be written",
        path.display()
    )]
    Store { path: PathBuf, source: io::Error },
}

/// Where the figures of this machine are kept (XDG Base Directory Specification 0.8): below
/// `XDG_CACHE_HOME`, else `$HOME/.cache`; `None` when neither is an absolute path.
pub fn cache_file() -> Option<PathBuf> {
    let folder = cache_folder(std::env::var_os("XDG_CACHE_HOME"), std::env::var_os("HOME"))?;
    Some(folder.join("zwhy").join(Machine::this().file_name()))
}

fn cache_folder(xdg: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let absolute = |path: OsString| Some(PathBuf::from(path)).filter(|p| p.is_absolute());
    xdg.and_then(absolute).or_else(|| Some(home.and_then(absolute)?.join(".cache")))
}

/// What `path` holds of this machine, by this layout; `None` when there is nothing to use. A damaged
/// file is as good as none: it is measured again.
pub fn load(path: &Path) -> Option<Limits> {
    let limits: Limits = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    let usable = limits.schema == SCHEMA
        && limits.machine == Machine::this()
        && limits.optimized != cfg!(debug_assertions)
        && limits.rows.iter().all(|r| r.mb_s.is_finite() && r.mb_s > 0.0);
    usable.then_some(limits)
}

/// Writes the figures whole or not at all.
///
/// # Errors
/// When the folder cannot be made or the file cannot be written.
pub fn store(path: &Path, limits: &Limits) -> Result<(), LimitsError> {
    let failed = |source: io::Error| LimitsError::Store { path: path.to_owned(), source };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let text = serde_json::to_vec_pretty(limits).map_err(|e| failed(e.into()))?;
    let written = Place::of(path)
        .and_then(|place| place.write(|out| out.write_all(&text).map_err(|e| PlaceError::refused(path, e))));
    written.map_err(|e| failed(io::Error::other(e.reason)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Limit;

    fn limits() -> Limits {
        Limits {
            schema: SCHEMA,
            machine: Machine::this(),
            optimized: !cfg!(debug_assertions),
            record_bytes: 1,
            rounds: 1,
            rows: vec![Limit {
                work: "blake3".into(),
                mb_s: 2.0,
                low: 1.0,
                high: 3.0,
                with: "blake3".into(),
            }],
        }
    }

    #[test]
    fn figures_of_this_machine_come_back_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b.json");
        assert_eq!(load(&path), None);
        store(&path, &limits()).unwrap();
        assert_eq!(load(&path), Some(limits()));
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "no temporary file is left");

        let mut other = limits();
        other.machine.microcode = "0xother".into();
        store(&path, &other).unwrap();
        assert_eq!(load(&path), None);
        let mut other = limits();
        other.optimized = !other.optimized;
        store(&path, &other).unwrap();
        assert_eq!(load(&path), None);
        fs::write(&path, b"{").unwrap();
        assert_eq!(load(&path), None);
    }

    #[test]
    fn a_place_that_cannot_be_written_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, b"").unwrap();
        let error = store(&file.join("x.json"), &limits()).unwrap_err().to_string();
        assert!(error.contains("file/x.json") && error.contains("XDG_CACHE_HOME"), "{error}");
    }

    #[test]
    fn relative_cache_folders_are_passed_over() {
        let text = |s: &str| Some(OsString::from(s));
        assert_eq!(cache_folder(text("/c"), text("/h")), Some("/c".into()));
        assert_eq!(cache_folder(text("c"), text("/h")), Some("/h/.cache".into()));
        assert_eq!(cache_folder(None, text("")), None);
    }
}
