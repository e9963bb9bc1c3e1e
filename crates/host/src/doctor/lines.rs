//! Source lines of the ZFS module and of the kernel: is there debug information that belongs to what
//! is loaded?

use super::State;
use super::outcome::Outcome;
use super::remedy::Trouble;
use crate::facts::{Root, module_path};
use std::path::PathBuf;
use zwhy_symbols::{NoLines, build_id_of_notes, kernel_file, read_module_file};

/// Names come from kallsyms and need none of this; lines and inlined functions do.
pub(super) fn check(root: &Root) -> Outcome {
    if !root.exists("/sys/module/zfs") {
        return Outcome::optional(None, "not checked: the module is not loaded");
    }
    let notes = std::fs::read(root.path("/sys/module/zfs/notes/.note.gnu.build-id")).unwrap_or_default();
    let Some(loaded) = build_id_of_notes(&notes) else {
        return Outcome::optional(
            Some(Trouble::NoLines),
            "the loaded module has no build-id to find its file by",
        );
    };
    let (mut other, mut bare) = (None, None);
    for path in candidates(root, &loaded) {
        // A candidate that is not there or no module is no answer; the next may be.
        let Ok(file) = read_module_file(&root.path(&path)) else { continue };
        match (file.build_id.as_ref() == Some(&loaded), file.has_lines) {
            (true, true) => {
                return Outcome::ready(format!("{path} has debug information and is the loaded module"));
            }
            (true, false) => bare = bare.or(Some(path)),
            (false, _) => other = other.or(Some(path)),
        }
    }
    match (bare, other) {
        (Some(path), _) => {
            let found = format!("functions are named, lines are not: {path} has no debug information");
            Outcome::optional(Some(Trouble::NoLines), found)
        }
        (None, Some(path)) => {
            let found = format!("{path} is not the build of the loaded module");
            Outcome { state: State::Optional, found, trouble: Some(Trouble::OtherBuild) }
        }
        (None, None) => Outcome::optional(Some(Trouble::NoLines), "the module's file was not found"),
    }
}

/// Lines of the kernel's own functions, which ZFS calls for memory, locks and disks.
pub(super) fn check_kernel(root: &Root) -> Outcome {
    match kernel_file(&root.path("/")) {
        Ok(path) => {
            Outcome::ready(format!("{} has debug information and is the running kernel", path.display()))
        }
        Err(NoLines::NotFound) => {
            Outcome::optional(Some(Trouble::NoKernelLines), "the kernel's debug information is not installed")
        }
        Err(why) => Outcome::optional(Some(Trouble::NoKernelLines), format!("no lines of the kernel: {why}")),
    }
}

/// Where distributions keep the module and its debug files, absolute paths.
fn candidates(root: &Root, build_id: &[u8]) -> Vec<String> {
    let release = root.text("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut paths = Vec::new();
    let hex: String = build_id.iter().map(|b| format!("{b:02x}")).collect();
    if let (Some(first), Some(rest)) = (hex.get(..2), hex.get(2..)) {
        paths.push(format!("/usr/lib/debug/.build-id/{first}/{rest}.debug"));
    }
    if let Some(path) = module_path(root, "zfs") {
        let mut plain = PathBuf::from(&path);
        if plain.extension().is_some_and(|e| e != "ko") {
            plain.set_extension("");
        }
        let plain = plain.display();
        for folder in ["/usr/lib/debug/lib/modules", "/usr/lib/debug/usr/lib/modules"] {
            paths.push(format!("{folder}/{release}/{plain}.debug"));
            paths.push(format!("{folder}/{release}/{plain}"));
        }
        paths.push(format!("/lib/modules/{release}/{path}"));
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    fn write(dir: &Path, path: &str, bytes: &[u8]) {
        let path = dir.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn note(id: &[u8]) -> Vec<u8> {
        let words = [4u32, id.len() as u32, 3];
        let head: Vec<u8> = words.iter().flat_map(|w| w.to_ne_bytes()).collect();
        [&head[..], b"GNU\0", id].concat()
    }

    #[test]
    fn a_file_of_another_build_is_told_from_one_without_lines() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "proc/sys/kernel/osrelease", b"6.1.0\n");
        write(dir.path(), "lib/modules/6.1.0/modules.dep", b"updates/dkms/zfs.ko.gz: spl.ko\n");
        write(dir.path(), "sys/module/zfs/notes/.note.gnu.build-id", &note(&[1, 2, 3, 4]));
        let root = Root::at(dir.path());
        assert_eq!(check(&root).trouble, Some(Trouble::NoLines), "no file");
        // This test's own program is an ELF object with some other build-id or none.
        let program = fs::read(std::env::current_exe().unwrap()).unwrap();
        write(dir.path(), "usr/lib/debug/lib/modules/6.1.0/updates/dkms/zfs.ko", &program);
        let outcome = check(&root);
        assert_eq!(outcome.trouble, Some(Trouble::OtherBuild), "{}", outcome.found);
        assert_eq!(outcome.state, State::Optional);
    }

    #[test]
    fn debug_files_are_looked_for_by_build_id_and_by_path() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "proc/sys/kernel/osrelease", b"6.1.0\n");
        write(dir.path(), "lib/modules/6.1.0/modules.dep", b"extra/zfs/zfs.ko.xz:\n");
        let paths = candidates(&Root::at(dir.path()), &[0xab, 0xcd]);
        for path in [
            "/usr/lib/debug/.build-id/ab/cd.debug",
            "/usr/lib/debug/lib/modules/6.1.0/extra/zfs/zfs.ko.debug",
            "/lib/modules/6.1.0/extra/zfs/zfs.ko.xz",
        ] {
            assert!(paths.iter().any(|p| p == path), "{path} in {paths:?}");
        }
    }
}
