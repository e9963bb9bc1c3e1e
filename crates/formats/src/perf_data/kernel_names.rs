//! Names of kernel addresses, from a kallsyms that belongs to the file.
//!
//! Another boot's kallsyms gives plausible wrong names, so one is used only when it fits what the
//! recorder noted: the build-id, the address of the reference symbol, and of each module the
//! addresses it was loaded at.

use super::features::Features;
use super::known::Known;
use crate::ImportOptions;
use std::path::Path;
use zwhy_symbols::{KernelSymbol, KernelSymbols, Reason, module_name};

/// A stretch of kernel addresses that the recorder noted: the kernel, or a module.
#[derive(Clone, Debug)]
pub struct KernelMap {
    pub start: u64,
    pub end: u64,
    pub module: String,
    /// Name and address of the kernel's reference symbol.
    pub reference: Option<(String, u64)>,
}

impl KernelMap {
    /// From an MMAP record of the kernel: `[kernel.kallsyms]_text`, `[zfs]`, `/lib/…/zfs.ko.xz`.
    pub fn new(start: u64, len: u64, offset: u64, name: &str) -> KernelMap {
        let (module, reference) = match name.split_once(']') {
            Some(("[kernel.kallsyms" | "[kernel.vmlinux", symbol)) if !symbol.is_empty() => {
                ("kernel".to_owned(), Some((symbol.to_owned(), offset)))
            }
            Some(("[kernel.kallsyms" | "[kernel.vmlinux", _)) => ("kernel".to_owned(), None),
            Some((module, _)) => (module.trim_start_matches('[').replace('-', "_"), None),
            None => {
                let file = module_name(name);
                (file.split(".ko").next().unwrap_or(file).replace('-', "_"), None)
            }
        };
        KernelMap { start, end: start.saturating_add(len), module, reference }
    }
}

/// Code made at run time that the kernel announced: BPF programs, trampolines.
#[derive(Clone, Debug)]
pub struct KernelCode {
    pub start: u64,
    pub end: u64,
    pub name: String,
}

#[derive(Debug, PartialEq, Eq)]
pub enum KernelName<'a> {
    Named { function: &'a str, module: &'a str },
    Unnamed { module: &'a str, offset: u64, reason: &'static str },
}

#[derive(Debug, Default)]
pub struct KernelNames {
    symbols: Option<KernelSymbols>,
    /// Added to an address of the file to get the one in `symbols`; of the kernel itself only.
    slide: u64,
    maps: Vec<KernelMap>,
    code: Vec<KernelCode>,
    /// Why there are no symbols, for people.
    pub problem: Option<String>,
}

impl KernelNames {
    /// `maps` and `code` as the file has them. Reads kallsyms, so call it only if it is needed.
    pub fn load(
        mut maps: Vec<KernelMap>,
        mut code: Vec<KernelCode>,
        features: &Features,
        options: &ImportOptions,
        known: &Known,
    ) -> KernelNames {
        maps.sort_by_key(|m| m.start);
        // Of code at one address the last announced stays.
        code.sort_by_key(|c| c.start);
        code.reverse();
        code.dedup_by_key(|c| c.start);
        code.reverse();
        let reference = maps.iter().find_map(|m| m.reference.clone());
        let reference = reference.as_ref();
        let found = match (&options.kallsyms, &known.kallsyms) {
            (Some(path), _) => given(path, reference),
            (None, Some(text)) => fitting("the bundle's kallsyms", text, known.modules.as_deref(), reference),
            (None, None) if options.host_symbols => running(features, reference),
            (None, None) => Err("symbols of this host were not to be used".to_owned()),
        };
        let (symbols, slide, problem) = match found {
            Ok((symbols, slide)) => (Some(symbols), slide, None),
            Err(problem) => (None, 0, Some(problem)),
        };
        KernelNames { symbols, slide, maps, code, problem }
    }

    /// The symbol of an address in a module, where [`KernelNames::resolve`] has a name for it.
    pub fn module_symbol(&self, address: u64) -> Option<KernelSymbol<'_>> {
        let KernelName::Named { function, module } = self.resolve(address) else { return None };
        // Only the kernel itself is ever slid, so a module's addresses are those of its symbols.
        let symbol = self.symbols.as_ref()?.resolve(address)?;
        (module != "kernel" && (symbol.function, symbol.module) == (function, module)).then_some(symbol)
    }

    pub fn resolve(&self, address: u64) -> KernelName<'_> {
        let after = self.code.partition_point(|c| c.start <= address);
        if let Some(code) = after.checked_sub(1).and_then(|i| self.code.get(i)).filter(|c| address < c.end) {
            return KernelName::Named { function: &code.name, module: "bpf" };
        }
        let after = self.maps.partition_point(|m| m.start <= address);
        let map = after.checked_sub(1).and_then(|i| self.maps.get(i)).filter(|m| address < m.end);
        let unnamed = |reason| match map {
            Some(map) => KernelName::Unnamed { module: &map.module, offset: address - map.start, reason },
            None => KernelName::Unnamed { module: "kernel", offset: address, reason },
        };
        let Some(symbols) = &self.symbols else { return unnamed("no kallsyms of this recording") };
        let in_kernel = map.is_none_or(|m| m.module == "kernel");
        let slide = if in_kernel { self.slide } else { 0 };
        let Some(symbol) = symbols.resolve(address.wrapping_add(slide)) else {
            return unnamed(Reason::OutsideKernel.text());
        };
        // A module at other addresses than in this kallsyms: reloaded, or another boot.
        let fits = match map {
            Some(map) => map.module == symbol.module,
            None => self.slide == 0 || symbol.module == "kernel",
        };
        if fits {
            KernelName::Named { function: symbol.function, module: symbol.module }
        } else {
            unnamed("module loaded elsewhere")
        }
    }
}

type Found = Result<(KernelSymbols, u64), String>;

fn given(path: &Path, reference: Option<&(String, u64)>) -> Found {
    let shown = path.display().to_string();
    let text = std::fs::read(path).map_err(|e| format!("{shown} cannot be read: {e}"))?;
    fitting(&shown, &text, None, reference)
}

/// Symbols of a kallsyms text if it is of the boot that was recorded.
fn fitting(shown: &str, text: &[u8], modules: Option<&[u8]>, reference: Option<&(String, u64)>) -> Found {
    let symbols = KernelSymbols::parse(text, modules).map_err(|e| format!("{shown}: {e}"))?;
    match reference {
        Some((name, address)) if symbol_address(text, name) != Some(*address) => Err(format!(
            "{shown} is of another boot or kernel: the recording has {name} at {address:#x}; \
             copy /proc/kallsyms on the recorded host before it reboots"
        )),
        _ => Ok((symbols, 0)),
    }
}

fn running(features: &Features, reference: Option<&(String, u64)>) -> Found {
    let notes = std::fs::read("/sys/kernel/notes").unwrap_or_default();
    let release = read_line("/proc/sys/kernel/osrelease");
    let host = read_line("/proc/sys/kernel/hostname");
    let same_kernel = match &features.kernel_build_id {
        Some(id) => !id.is_empty() && notes.windows(id.len()).any(|w| w == id),
        None => features.kernel.is_some() && features.kernel == release && features.hostname == host,
    };
    // A stream and the file of a killed recorder do not say of which kernel they are; the address of
    // the reference symbol is all there is, and it proves the boot only where it is randomised.
    let unknown = features.kernel_build_id.is_none() && features.kernel.is_none();
    if !same_kernel && !unknown {
        let kernel = features.kernel.as_deref().unwrap_or("unknown");
        let on = features.hostname.as_deref().unwrap_or("another host");
        return Err(format!(
            "it was recorded on {on} with kernel {kernel}, which is not the one running here"
        ));
    }
    let text = std::fs::read("/proc/kallsyms").map_err(|e| format!("/proc/kallsyms cannot be read: {e}"))?;
    let Some((name, address)) = reference else {
        return Err("the recording does not say where the kernel was loaded".to_owned());
    };
    let here = symbol_address(&text, name).unwrap_or(0);
    if unknown && here != *address {
        return Err("it does not say of which kernel it is, and the one running here is another".to_owned());
    }
    let modules = std::fs::read("/proc/modules").ok();
    let symbols = KernelSymbols::parse(&text, modules.as_deref()).map_err(|e| e.to_string())?;
    Ok((symbols, here.wrapping_sub(*address)))
}

fn read_line(path: &str) -> Option<String> {
    Some(std::fs::read_to_string(path).ok()?.trim_end().to_owned())
}

/// The address of a symbol in the text of a kallsyms.
fn symbol_address(text: &[u8], name: &str) -> Option<u64> {
    text.split(|b| *b == b'\n').find_map(|line| {
        let line = line.strip_suffix(name.as_bytes())?;
        let (address, kind) = line.split_at_checked(line.len().checked_sub(3)?)?;
        if kind[0] != b' ' || kind[2] != b' ' {
            return None;
        }
        u64::from_str_radix(std::str::from_utf8(address).ok()?, 16).ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const KALLSYMS: &[u8] =
        b"ffffffff81000000 T _stext\nffffffff81000000 T _text\nffffffff81000100 T zio_wait\n\
        ffffffff81002000 T _etext\nffffffffc0001000 t spa_sync [zfs]\nffffffffc0001100 t spa_done [zfs]\n";

    fn names(zfs_at: u64, slide: u64) -> KernelNames {
        let maps = vec![
            KernelMap::new(
                0xffff_ffff_8100_0000 - slide,
                0x2000,
                0xffff_ffff_8100_0000,
                "[kernel.kallsyms]_text",
            ),
            KernelMap::new(zfs_at, 0x1000, 0, "/lib/modules/6.1/updates/dkms/zfs.ko.xz"),
        ];
        KernelNames {
            symbols: KernelSymbols::parse(KALLSYMS, None).ok(),
            slide,
            maps,
            code: vec![KernelCode { start: 0x5000, end: 0x5010, name: "bpf_prog_x".into() }],
            problem: None,
        }
    }

    #[test]
    fn the_reference_symbol_is_found_by_its_whole_name() {
        assert_eq!(symbol_address(KALLSYMS, "_text"), Some(0xffff_ffff_8100_0000));
        assert_eq!(symbol_address(KALLSYMS, "text"), None);
        assert_eq!(KernelMap::new(0, 1, 7, "[kernel.kallsyms]_stext").reference, Some(("_stext".into(), 7)));
        assert_eq!(KernelMap::new(0, 1, 7, "[zfs]").module, "zfs");
    }

    #[test]
    fn a_module_that_moved_gets_no_wrong_name() {
        let here = names(0xffff_ffff_c000_1000, 0);
        assert_eq!(
            here.resolve(0xffff_ffff_c000_1010),
            KernelName::Named { function: "spa_sync", module: "zfs" }
        );
        assert_eq!(here.resolve(0x5001), KernelName::Named { function: "bpf_prog_x", module: "bpf" });
        let mut moved = names(0xffff_ffff_c000_1000, 0);
        moved.maps[1].module = "spl".into();
        assert!(matches!(
            moved.resolve(0xffff_ffff_c000_1010),
            KernelName::Unnamed { module: "spl", offset: 0x10, .. }
        ));
    }

    #[test]
    fn another_boot_of_the_same_kernel_slides_the_kernel_and_not_its_modules() {
        let slid = names(0xffff_ffff_c000_9000, 0x10_0000);
        assert_eq!(
            slid.resolve(0xffff_ffff_80f0_0100),
            KernelName::Named { function: "zio_wait", module: "kernel" }
        );
        assert!(matches!(slid.resolve(0xffff_ffff_c000_9010), KernelName::Unnamed { module: "zfs", .. }));
    }

    #[test]
    fn symbols_of_modules_are_given_only_where_names_are() {
        let names = names(0xffff_ffff_c000_1000, 0x100_0000);
        let symbol = names.module_symbol(0xffff_ffff_c000_1104).unwrap();
        assert_eq!((symbol.function, symbol.module), ("spa_done", "zfs"));
        assert_eq!(symbol.start, 0xffff_ffff_c000_1100);
        assert_eq!(names.module_symbol(0xffff_ffff_8000_0100), None, "the kernel itself");
        assert_eq!(names.module_symbol(0x5008), None, "generated code");
        // The module was somewhere else when it was recorded.
        assert_eq!(self::names(0xffff_ffff_c000_0000, 0).module_symbol(0xffff_ffff_c000_2000), None);
    }
}
