//! Where the symbols of this host are read from: the kernel, files that processes map, the vdso.
//!
//! Invariant: the file that is read is the one that was mapped, or the reason says why there is none.

use crate::processes::Image;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use zwhy_symbols::{ElfObject, FileId, ImageKind, KernelSymbols, Reason, open_elf, parse_maps};

/// The symbols of the running kernel and its modules.
pub(crate) fn read_kernel_symbols() -> Result<KernelSymbols, Reason> {
    let text = File::open("/proc/kallsyms").map_err(|_| Reason::KernelHidden)?;
    let modules = fs::read("/proc/modules").ok();
    KernelSymbols::read(text, modules.as_deref()).map_err(|_| Reason::KernelHidden)
}

/// Opens what was mapped: through the process while it lives, else by path if it is the same file.
pub(crate) fn open(image: &Image) -> Result<ElfObject, Reason> {
    if image.kind == ImageKind::Vdso {
        return open_vdso();
    }
    let Image { path, pid, start, end, .. } = image;
    let plain = path.strip_suffix(" (deleted)").unwrap_or(path);
    // The kernel's own link to the mapped file needs no other proof than its name: on overlay file
    // systems its inode number differs from the one that mmap records show.
    let link = PathBuf::from(format!("/proc/{pid}/map_files/{start:x}-{end:x}"));
    if fs::read_link(&link).is_ok_and(|to| to.as_os_str() == path.as_str())
        && let Ok(object) = open_elf(&[link], FileId::default())
    {
        return Ok(object);
    }
    let rooted = PathBuf::from(format!("/proc/{pid}/root{plain}"));
    let id = FileId { inode: (image.inode != 0).then_some(image.inode), build_id: None };
    match open_elf(&[rooted, PathBuf::from(plain)], id) {
        Err(Reason::Unreadable | Reason::Replaced)
            if matches!(image.kind, ImageKind::DeletedFile | ImageKind::Memfd) =>
        {
            Err(Reason::Deleted)
        }
        other => other,
    }
}

/// The vdso is the same in every process of our kind, so our own serves.
fn open_vdso() -> Result<ElfObject, Reason> {
    let bytes = || -> Option<Vec<u8>> {
        let maps = fs::read_to_string("/proc/self/maps").ok()?;
        let map = parse_maps(&maps).find(|m| m.path == "[vdso]")?;
        let mut bytes = vec![0; usize::try_from(map.end - map.start).ok()?];
        File::open("/proc/self/mem").ok()?.read_exact_at(&mut bytes, map.start).ok()?;
        Some(bytes)
    };
    let bytes = bytes().ok_or(Reason::Unreadable)?;
    ElfObject::parse(&bytes).map_err(|_| Reason::NotElf)
}
