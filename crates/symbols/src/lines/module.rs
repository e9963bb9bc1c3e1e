//! Lines of a kernel module: its file or debug file is found, and kernel addresses are placed in it.
//!
//! Invariant: a file is used only when its build-id is that of the module that is loaded, or that was
//! when the recording was made.

use super::object_lines::{ObjectLines, SourceFrame};
use super::reason::{NoLines, first_of};
use super::vmlinux;
use crate::kallsyms::KernelSymbol;
use crate::load::{build_id_of, debug_file};
use crate::module_file::{build_id_of_notes, unpacked};
use std::fs;
use std::path::{Path, PathBuf};

/// `modules.dep` of a distribution is some 400 KB.
const LONGEST_LIST: u64 = 64 << 20;

#[derive(Debug)]
pub(super) struct ModuleLines {
    lines: ObjectLines,
    /// Where the kernel put each section, sorted; empty where only root may know.
    sections: Vec<(u64, String)>,
    /// Of the kernel itself, which is linked: what to take from an address.
    slide: Option<u64>,
}

impl ModuleLines {
    /// Of the kernel that runs, whose text begins at `base`.
    pub(super) fn of_kernel(root: &Path, base: u64, budget: u64) -> Result<ModuleLines, NoLines> {
        let (lines, slide) = vmlinux::open(root, base, budget)?;
        Ok(ModuleLines { lines, sections: Vec::new(), slide: Some(slide) })
    }

    /// Of a module that is loaded now.
    pub(super) fn loaded(root: &Path, module: &str, budget: u64) -> Result<ModuleLines, NoLines> {
        if !is_module_name(module) {
            return Err(NoLines::NotFound);
        }
        let folder = root.join("sys/module").join(module);
        let notes = fs::read(folder.join("notes/.note.gnu.build-id")).unwrap_or_default();
        let build_id = build_id_of_notes(&notes).filter(|id| !id.is_empty()).ok_or(NoLines::NoBuildId)?;
        let lines = find(root, module, &build_id, budget)?;
        Ok(ModuleLines { lines, sections: read_sections(&folder.join("sections")), slide: None })
    }

    /// Of a module that was loaded when a recording was made; it may since be elsewhere.
    pub(super) fn recorded(
        root: &Path,
        module: &str,
        build_id: Option<&[u8]>,
        budget: u64,
    ) -> Result<ModuleLines, NoLines> {
        if !is_module_name(module) {
            return Err(NoLines::NotFound);
        }
        let build_id = build_id.filter(|id| !id.is_empty()).ok_or(NoLines::NotRecorded)?;
        Ok(ModuleLines { lines: find(root, module, build_id, budget)?, sections: Vec::new(), slide: None })
    }

    pub(super) fn size(&self) -> u64 {
        self.lines.size()
    }

    pub(super) fn at(&self, address: u64, symbol: &KernelSymbol<'_>) -> Vec<SourceFrame> {
        if let Some(slide) = self.slide {
            return self.lines.at(address.wrapping_sub(slide));
        }
        let place = self
            .by_section(address)
            .or_else(|| self.lines.address_in_function(symbol.function, address.checked_sub(symbol.start)?));
        place.map_or_else(Vec::new, |place| self.lines.at(place))
    }

    fn by_section(&self, address: u64) -> Option<u64> {
        let after = self.sections.partition_point(|(start, _)| *start <= address);
        // Empty sections share their start with the next; the file tells which one has the byte.
        let (start, _) = self.sections.get(after.checked_sub(1)?)?;
        let same = self.sections[..after].iter().rev().take_while(|(s, _)| s == start);
        same.filter_map(|(start, name)| self.lines.address_in_section(name, address - start)).next()
    }
}

/// Names of modules come from recordings, too: no way out of the folders.
fn is_module_name(name: &str) -> bool {
    name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')) && !name.is_empty()
}

fn read_sections(folder: &Path) -> Vec<(u64, String)> {
    let mut sections = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let text = fs::read_to_string(entry.path()).unwrap_or_default();
        let start = u64::from_str_radix(text.trim().trim_start_matches("0x"), 16);
        // Addresses that the kernel hides read as 0.
        if let (Ok(start @ 1..), Ok(name)) = (start, entry.file_name().into_string()) {
            sections.push((start, name));
        }
    }
    sections.sort();
    sections
}

fn find(root: &Path, module: &str, build_id: &[u8], budget: u64) -> Result<ObjectLines, NoLines> {
    let mut paths = candidates(root, module, build_id);
    paths.retain(|path| path.is_file());
    first_of(&paths, |path| open(path, build_id, budget))
}

fn open(path: &Path, build_id: &[u8], budget: u64) -> Result<ObjectLines, NoLines> {
    let bytes = unpacked(path).map_err(|e| NoLines::Damaged(e.to_string()).at(path))?;
    if build_id_of(bytes.as_slice()).as_deref() != Some(build_id) {
        return Err(NoLines::OtherBuild(path.to_owned()));
    }
    ObjectLines::parse(&bytes, budget).map_err(|why| why.at(path))
}

/// The module's own file, its debug file beside it and where distributions keep those.
fn candidates(root: &Path, module: &str, build_id: &[u8]) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    let release = fs::read_to_string(root.join("proc/sys/kernel/osrelease")).unwrap_or_default();
    let release = release.trim();
    let modules = root.join("lib/modules").join(release);
    if let Some(listed) = file_of_module(&modules.join("modules.dep"), module) {
        let own = modules.join(&listed);
        let plain = |path: &str| -> String {
            let packed = [".xz", ".zst", ".gz"].iter().find_map(|end| path.strip_suffix(end));
            packed.unwrap_or(path).to_owned()
        };
        paths.push(own.clone());
        paths.push(format!("{}.debug", plain(&own.to_string_lossy())).into());
        for folder in ["usr/lib/debug/lib/modules", "usr/lib/debug/usr/lib/modules"] {
            let path = root.join(folder).join(release).join(plain(&listed));
            paths.push(format!("{}.debug", path.display()).into());
            paths.push(path);
        }
    }
    // Absolute, so the root has to be put before it.
    let by_id = debug_file(build_id).and_then(|p| Some(root.join(p.strip_prefix("/").ok()?)));
    paths.extend(by_id);
    paths
}

/// The path of a module below its folder: `updates/dkms/zfs.ko.xz`. `_` and `-` are the same in names.
fn file_of_module(list: &Path, module: &str) -> Option<String> {
    if fs::metadata(list).ok()?.len() > LONGEST_LIST {
        return None;
    }
    let text = fs::read_to_string(list).ok()?;
    let paths = text.lines().filter_map(|line| Some(line.split_once(':')?.0));
    let is_it = |path: &&str| {
        let file = path.rsplit('/').next().unwrap_or(path);
        file.split_once(".ko").is_some_and(|(stem, _)| stem.replace('-', "_") == module.replace('-', "_"))
    };
    paths.into_iter().find(is_it).map(str::to_owned)
}

#[cfg(test)]
#[path = "module_tests.rs"]
mod tests;
