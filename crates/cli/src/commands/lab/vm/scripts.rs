//! The scripts that build and boot the VM: they are part of this program, and lie in a cache where bash can run them.
//!
//! Invariants: a folder of scripts appears whole, and is named after what is in it, so that programs of different
//! versions share the cache.

use anyhow::{Context, Result, bail};
use std::env;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

macro_rules! scripts {
    ($($name:literal)*) => {
        [$(($name, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/", $name)))),*]
    };
}

/// By their place in the sources, where they find each other.
const SCRIPTS: [(&str, &str); 13] = scripts! {
    "vm/run" "vm/keep" "vm/init" "vm/build.sh" "vm/packages.sh" "vm/accel.sh" "vm/disks.sh" "vm/needs.sh" "vm/zwhy.sh"
    "scripts/path.sh" "scripts/setup/apt.sh" "scripts/setup/needs.sh" "scripts/setup/say.sh"
};

/// Where the VM's kernel, its modules and the scripts are kept.
pub const CACHE: &str = "ZWHY_VM_DIR";

/// # Errors
/// When there is no home.
pub fn cache() -> Result<PathBuf> {
    let named = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = named(CACHE)
        .or_else(|| named("XDG_CACHE_HOME").map(|cache| cache.join("zwhy/vm")))
        .or_else(|| named("HOME").map(|home| home.join(".cache/zwhy/vm")))
        .with_context(|| format!("there is no home to keep the VM in; name a folder with {CACHE}=DIR"))?;
    std::path::absolute(&folder).with_context(|| format!("cannot find {}", folder.display()))
}

/// Puts the scripts into the cache, where they are not yet, and returns the folder with `run`.
///
/// # Errors
/// A cache that cannot be written.
pub fn unpack(cache: &Path) -> Result<PathBuf> {
    let mut hasher = DefaultHasher::new();
    SCRIPTS.hash(&mut hasher);
    let folder = cache.join(format!("scripts-{:016x}", hasher.finish()));
    let vm = folder.join("vm");
    if vm.join("run").is_file() {
        return Ok(vm);
    }
    let write = || -> std::io::Result<()> {
        fs::create_dir_all(cache)?;
        let fresh = tempfile::tempdir_in(cache)?;
        for (name, text) in SCRIPTS {
            let file = fresh.path().join(name);
            file.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::write(&file, text)?;
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755))?;
        }
        let fresh = fresh.keep();
        match fs::rename(&fresh, &folder) {
            // Somebody else was sooner.
            Err(_) if vm.join("run").is_file() => fs::remove_dir_all(&fresh),
            other => other,
        }
    };
    write().with_context(|| {
        format!("cannot write the VM's scripts to {}; {CACHE}=DIR names another folder", cache.display())
    })?;
    Ok(vm)
}

/// Refuses a system that cannot build or boot the VM, with what to install.
///
/// # Errors
/// What is missing, and the command that brings it.
pub fn check_needs(vm: &Path) -> Result<()> {
    let script = vm.join("needs.sh");
    if !script.is_file() {
        return Ok(());
    }
    let said = Command::new(&script).output();
    let said = said.with_context(|| format!("cannot run {} (bash is needed)", script.display()))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if !said.status.success() {
        bail!("the engine vm cannot run here: {}", text(&said.stderr));
    }
    let packages: Vec<String> = text(&said.stdout).split_whitespace().map(str::to_owned).collect();
    if packages.is_empty() {
        return Ok(());
    }
    let packages = packages.join(" ");
    bail!("the engine vm needs packages that are not installed: apt-get install {packages} (as root)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_lie_in_the_cache_once_and_can_be_run() {
        let cache = tempfile::tempdir().unwrap();
        let vm = unpack(cache.path()).unwrap();
        for name in ["run", "build.sh", "../scripts/setup/say.sh"] {
            let mode = fs::metadata(vm.join(name)).unwrap().permissions().mode();
            assert_eq!(mode & 0o111, 0o111, "{name}");
        }
        assert_eq!(unpack(cache.path()).unwrap(), vm);
        assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 1, "nothing else is left");
        let usage = Command::new(vm.join("run")).output().unwrap();
        assert_eq!(usage.status.code(), Some(2), "without a job it tells how it is called");
    }

    #[test]
    fn every_script_that_the_vm_sources_or_calls_is_there() {
        for (name, text) in SCRIPTS {
            let beside = text.match_indices("$here/").map(|(at, found)| &text[at + found.len()..]);
            for rest in beside {
                let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "./_-".contains(c))).unwrap();
                let wanted = &rest[..end];
                let file = wanted.strip_prefix("../").map_or_else(|| format!("vm/{wanted}"), str::to_owned);
                // Folders are made.
                let is_script = file.ends_with(".sh") || file == "vm/init";
                assert!(!is_script || SCRIPTS.iter().any(|(known, _)| *known == file), "{name} needs {file}");
            }
        }
    }

    #[test]
    fn what_is_missing_is_told_with_the_command_that_installs_it() {
        let vm = tempfile::tempdir().unwrap();
        let says = |text: &str| {
            let script = vm.path().join("needs.sh");
            fs::write(&script, format!("#!/bin/sh\n{text}\n")).unwrap();
            fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
            check_needs(vm.path()).map_err(|e| e.to_string())
        };
        assert_eq!(check_needs(vm.path()).map_err(|e| e.to_string()), Ok(()), "a VM of one's own");
        assert_eq!(says("true"), Ok(()));
        let missing = says("echo qemu-system-x86; echo cpio").unwrap_err();
        assert!(missing.contains("apt-get install qemu-system-x86 cpio"), "{missing}");
        let elsewhere = says("echo this is Fedora >&2; exit 1").unwrap_err();
        assert!(elsewhere.ends_with("cannot run here: this is Fedora"), "{elsewhere}");
    }
}
