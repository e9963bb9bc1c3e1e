//! The host as the kernel shows it: where its trees are, and which OpenZFS is loaded.

use crate::LabError;
use crate::user::library::{LibraryInfo, Release};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Where /proc and /sys are; tests give folders of their own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Roots {
    pub proc: PathBuf,
    pub sys: PathBuf,
}

impl Default for Roots {
    fn default() -> Self {
        Roots { proc: "/proc".into(), sys: "/sys".into() }
    }
}

impl Roots {
    /// The module in this kernel.
    ///
    /// # Errors
    /// When none is loaded, or one that the lab does not know.
    pub fn module(&self) -> Result<LibraryInfo, LabError> {
        let folder = self.sys.join("module/zfs");
        let version = read(&folder.join("version")).ok_or(LabError::NoModule)?;
        let release =
            release(&version).ok_or_else(|| LabError::UnknownModule { version: version.clone() })?;
        Ok(LibraryInfo {
            soname: "zfs.ko".into(),
            release,
            package: None,
            build_id: read(&folder.join("srcversion")),
            version: Some(version),
            path: folder,
        })
    }

    pub fn has_module(&self) -> bool {
        self.sys.join("module/zfs/version").exists()
    }

    /// When a process started, in ticks since boot; with its number it names a process for good.
    pub fn started(&self, pid: u32) -> Option<u64> {
        let stat = std::fs::read_to_string(self.proc.join(format!("{pid}/stat"))).ok()?;
        zwhy_host::stat_fields(&stat)?.nth(19)?.parse().ok()
    }

    /// Processes with this word in their command line.
    pub fn processes_with(&self, word: &str) -> Vec<i32> {
        let has_word = |pid: &i32| {
            let line = std::fs::read(self.proc.join(format!("{pid}/cmdline"))).unwrap_or_default();
            line.windows(word.len()).any(|part| part == word.as_bytes())
        };
        zwhy_host::numbers_in(&self.proc).into_iter().filter(has_word).collect()
    }
}

/// A file of one line, without its end.
pub fn read(path: &Path) -> Option<String> {
    Some(std::fs::read_to_string(path).ok()?.trim_end().to_owned())
}

fn release(version: &str) -> Option<Release> {
    let mut parts = version.split(['.', '-', '_']);
    serde_json::from_value(format!("{}.{}", parts.next()?, parts.next()?).into()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_module_says_its_version() {
        let dir = tempfile::tempdir().unwrap();
        let roots = Roots { proc: "/proc".into(), sys: dir.path().into() };
        assert!(matches!(roots.module(), Err(LabError::NoModule)));
        let folder = dir.path().join("module/zfs");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("version"), "2.3.2-1~bpo12+2\n").unwrap();
        std::fs::write(folder.join("srcversion"), "ABC\n").unwrap();
        let info = roots.module().unwrap();
        assert_eq!((info.release, info.version_number().as_str()), (Release::V2_3, "2.3.2"));
        assert_eq!(info.build_id.as_deref(), Some("ABC"));
        std::fs::write(folder.join("version"), "0.8.6-1\n").unwrap();
        let error = roots.module().unwrap_err().to_string();
        assert!(error.contains("0.8.6-1") && error.contains("2.1 to 2.4"), "{error}");
    }

    #[test]
    fn a_process_is_named_by_its_start() {
        let roots = Roots::default();
        let own = std::process::id();
        assert!(roots.started(own).is_some_and(|ticks| ticks > 0));
        assert_eq!(roots.started(u32::MAX), None);
    }
}
