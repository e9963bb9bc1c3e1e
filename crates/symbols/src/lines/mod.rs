//! Source lines and inlined functions of addresses, from DWARF where it is there.
//!
//! Invariants: debug information is used only when its build-id is that of the code that ran; what
//! is missing has a [`NoLines`] reason; each object is read once, and all together hold a bounded
//! number of bytes.

mod frames;
mod module;
mod object_lines;
mod reason;
mod sections;
mod user;
mod vmlinux;

pub use frames::source_frames;
pub(crate) use object_lines::has_dwarf;
pub use object_lines::{ObjectLines, SourceFrame};
pub use reason::NoLines;
pub use vmlinux::kernel_file;

use crate::kallsyms::KernelSymbol;
use crate::load::FileId;
use module::ModuleLines;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// The kernel itself, among modules.
const KERNEL: &str = "kernel";
/// Bytes of debug information kept of all objects together.
const BUDGET: u64 = 1 << 30;

/// Lines of kernel modules and of programs and libraries, read when first asked for.
#[derive(Debug)]
pub struct Lines {
    root: PathBuf,
    /// Build-ids of modules as a recording has them; `None`: the modules loaded now are asked.
    recorded: Option<HashMap<String, Vec<u8>>>,
    modules: BTreeMap<String, Result<ModuleLines, NoLines>>,
    objects: HashMap<u32, Result<ObjectLines, NoLines>>,
    /// Where the text of the kernel itself begins, if its lines are wanted.
    kernel_base: Option<u64>,
    left: u64,
}

impl Lines {
    /// For the kernel that runs here; `root` is the folder that holds /proc, /sys, /lib and /usr.
    pub fn of_running_kernel(root: &Path) -> Lines {
        Lines {
            root: root.to_owned(),
            recorded: None,
            modules: BTreeMap::new(),
            objects: HashMap::new(),
            kernel_base: None,
            left: BUDGET,
        }
    }

    /// For a recording that has the build-ids of its modules, by name.
    pub fn of_recording(root: &Path, build_ids: HashMap<String, Vec<u8>>) -> Lines {
        Lines { recorded: Some(build_ids), ..Lines::of_running_kernel(root) }
    }

    /// Looks up lines of the kernel itself, too, whose `_text` is at `base` ([`crate::KernelSymbols::base`]).
    pub fn with_kernel_at(&mut self, base: u64) {
        self.kernel_base = Some(base);
    }

    /// The source of a kernel address, the function itself first, then what is inlined there.
    ///
    /// `symbol` is what kallsyms has at `address`. Empty where nothing is known.
    pub fn kernel(&mut self, address: u64, symbol: &KernelSymbol<'_>) -> Vec<SourceFrame> {
        let of_kernel = symbol.module == KERNEL;
        if matches!(symbol.module, "bpf" | "") || of_kernel && self.kernel_base.is_none() {
            return Vec::new();
        }
        self.prepare(symbol.module);
        match self.modules.get(symbol.module) {
            Some(Ok(module)) => module.at(address, symbol),
            _ => Vec::new(),
        }
    }

    /// Reads the debug information of a module, or of `kernel`, where that was not done. It takes a
    /// second or more; else it is done when an address of the module is first looked up.
    pub fn prepare(&mut self, module: &str) {
        if self.modules.contains_key(module) || module == KERNEL && self.kernel_base.is_none() {
            return;
        }
        let found = match (&self.recorded, self.kernel_base.filter(|_| module == KERNEL)) {
            (_, Some(base)) => ModuleLines::of_kernel(&self.root, base, self.left),
            (None, None) => ModuleLines::loaded(&self.root, module, self.left),
            (Some(ids), None) => {
                let id = ids.get(module).map(Vec::as_slice);
                ModuleLines::recorded(&self.root, module, id, self.left)
            }
        };
        self.left -= found.as_ref().map_or(0, |m| m.size().min(self.left));
        self.modules.insert(module.to_owned(), found);
    }

    /// The source of a virtual address in a program or library, as [`Lines::kernel`].
    ///
    /// `key` stands for the object; `files` gives, when it is met first, where it may be and what
    /// must hold for a file to be it.
    pub fn user<'a>(
        &mut self,
        key: u32,
        address: u64,
        files: impl FnOnce() -> (Vec<PathBuf>, FileId<'a>),
    ) -> Vec<SourceFrame> {
        let left = &mut self.left;
        let object = self.objects.entry(key).or_insert_with(|| {
            let (paths, id) = files();
            let found = user::open(&paths, id, *left);
            *left -= found.as_ref().map_or(0, |o| o.size().min(*left));
            found
        });
        object.as_ref().map_or_else(|_| Vec::new(), |object| object.at(address))
    }

    /// Modules were loaded, unloaded or moved: what is known of them is read again.
    pub fn forget_modules(&mut self) {
        let left = &mut self.left;
        self.modules.retain(|name, module| {
            let keep = name == KERNEL;
            let held = module.as_ref().map_or(0, ModuleLines::size);
            *left = if keep { *left } else { left.saturating_add(held).min(BUDGET) };
            keep
        });
    }

    /// Modules that were asked for and have lines; the kernel itself is `kernel`.
    pub fn modules_with_lines(&self) -> impl Iterator<Item = &str> {
        self.modules.iter().filter(|(_, m)| m.is_ok()).map(|(name, _)| name.as_str())
    }

    /// Modules that were asked for and have none, and why.
    pub fn modules_without(&self) -> impl Iterator<Item = (&str, &NoLines)> {
        self.modules.iter().filter_map(|(name, m)| Some((name.as_str(), m.as_ref().err()?)))
    }

    /// What has no lines as sentences, with what to do.
    pub fn missing(&self) -> Vec<String> {
        let remedy = "zwhy doctor --fix-hints tells how to get them";
        let modules = self.modules_without();
        let mut missing: Vec<String> =
            modules.map(|(module, why)| format!("no source lines for {module}: {why}; {remedy}")).collect();
        if let (with, without @ 1..) = self.objects() {
            missing.push(format!(
                "no source lines for {without} of {} programs and libraries: they were built without debug \
                 information or its package is not installed",
                with + without
            ));
        }
        missing
    }

    /// Programs and libraries that were asked for: with lines, and without.
    pub fn objects(&self) -> (usize, usize) {
        let with = self.objects.values().filter(|o| o.is_ok()).count();
        (with, self.objects.len() - with)
    }
}

#[cfg(test)]
mod fixtures;
#[cfg(test)]
#[path = "tests.rs"]
mod tests;
