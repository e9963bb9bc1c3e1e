//! Tests of finding a module's debug information, in a folder that looks like a host.

use super::super::Lines;
use super::super::fixtures::{run, toy_module};
use super::*;
use crate::load::build_id_of;
use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

const ENTRY: u64 = 0xffff_ffff_c010_0000;

fn write(root: &Path, path: &str, bytes: &[u8]) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

fn note(id: &[u8]) -> Vec<u8> {
    let words = [4u32, id.len() as u32, 3];
    let head: Vec<u8> = words.iter().flat_map(|w| w.to_ne_bytes()).collect();
    [&head[..], b"GNU\0", id].concat()
}

/// A host that has loaded the module of `dir`, but not the module's file; and its build-id.
fn host(dir: &Path) -> Vec<u8> {
    let module = fs::read(toy_module(dir)).unwrap();
    let id = build_id_of(module.as_slice()).expect("ld gives a build-id");
    write(dir, "proc/sys/kernel/osrelease", b"6.1.0\n");
    write(dir, "lib/modules/6.1.0/modules.dep", b"kernel/x.ko:\nextra/toy-mod.ko.xz: kernel/x.ko\n");
    write(dir, "sys/module/toy_mod/notes/.note.gnu.build-id", &note(&id));
    write(dir, "sys/module/toy_mod/sections/.text.entry", format!("{ENTRY:#x}\n").as_bytes());
    write(dir, "sys/module/toy_mod/sections/.text", format!("{ENTRY:#x}\n").as_bytes());
    write(dir, "sys/module/toy_mod/sections/.data", b"0x0000000000000000\n");
    id
}

fn symbol(function: &'static str, start: u64) -> KernelSymbol<'static> {
    KernelSymbol { function, module: "toy_mod", start }
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 0);
    xz.write_all(bytes).unwrap();
    xz.finish().unwrap()
}

/// Names of what is at an address, from outside to inside.
fn names(lines: &mut Lines, address: u64, symbol: &KernelSymbol<'_>) -> Vec<String> {
    lines.kernel(address, symbol).into_iter().map(|f| f.function).collect()
}

#[test]
fn addresses_are_placed_by_section_and_by_symbol() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let id = host(root);
    write(root, "lib/modules/6.1.0/extra/toy-mod.ko.xz", &xz(&fs::read(root.join("toy.ko")).unwrap()));
    let mut live = Lines::of_running_kernel(root);
    let mut recorded = Lines::of_recording(root, HashMap::from([("toy_mod".to_owned(), id)]));
    // The recording's module was somewhere else in memory.
    let elsewhere = symbol("entry", 0x5000);
    let mut chains = 0;
    for offset in 0..40 {
        let by_section = live.kernel(ENTRY + offset, &symbol("entry", ENTRY));
        assert_eq!(by_section[0].function, "entry");
        assert_eq!(by_section, recorded.kernel(0x5000 + offset, &elsewhere));
        chains += usize::from(by_section.len() == 3);
    }
    assert!(chains > 0, "nothing was inlined");
    // In no section that the kernel shows, so by its symbol.
    assert_eq!(names(&mut live, 0x9001, &symbol("other", 0x9000))[0], "other");
    assert_eq!(live.modules_with_lines().collect::<Vec<_>>(), ["toy_mod"]);
    let kernel = KernelSymbol { function: "schedule", module: "kernel", start: 1 };
    assert_eq!(live.kernel(2, &kernel), []);
    assert_eq!(live.modules_without().count(), 0);
}

#[test]
fn the_kernel_itself_has_lines_wherever_it_was_put() {
    const SLIDE: u64 = 0x1d60_0000;
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    toy_module(root);
    let args = ["--build-id", "-Ttext=0xffffffff81000000", "--defsym=_text=0xffffffff81000000"];
    run(root, "ld", &[&args[..], &["-e", "entry", "toy.o", "-o", "vmlinux"]].concat());
    let linked = fs::read(root.join("vmlinux")).unwrap();
    let file = object::File::parse(linked.as_slice()).unwrap();
    let entry = {
        use object::read::{Object, ObjectSymbol};
        file.symbols().find(|s| s.name() == Ok("entry")).unwrap().address()
    };
    let id = build_id_of(linked.as_slice()).unwrap();
    write(root, "proc/sys/kernel/osrelease", b"6.1.0\n");
    write(root, "sys/kernel/notes", &note(&id));
    let symbol = KernelSymbol { function: "entry", module: "kernel", start: entry + SLIDE };
    let at = |offset: u64| {
        let mut lines = Lines::of_running_kernel(root);
        lines.with_kernel_at(0xffff_ffff_8100_0000 + SLIDE);
        let found = lines.kernel(entry + SLIDE + offset, &symbol);
        lines.forget_modules();
        assert_eq!(lines.modules_with_lines().count(), usize::from(!found.is_empty()), "it never moves");
        (found, lines.missing())
    };
    let (found, missing) = at(0);
    assert!(found.is_empty() && missing[0].contains("no source lines for kernel"), "{missing:?}");
    write(root, "usr/lib/debug/boot/vmlinux-6.1.0", &linked);
    assert_eq!((at(0).0[0].function.as_str(), at(0).1.len()), ("entry", 0));
    assert!((0..40).any(|offset| at(offset).0.len() == 3), "nothing was inlined");
    assert_eq!(crate::kernel_file(root), Ok(root.join("usr/lib/debug/boot/vmlinux-6.1.0")));
    run(root, "strip", &["--strip-debug", "usr/lib/debug/boot/vmlinux-6.1.0"]);
    assert!(matches!(crate::kernel_file(root), Err(NoLines::NoDwarf(_))));
    write(root, "sys/kernel/notes", &note(&[7; 20]));
    assert!(at(0).1[0].contains("another build"), "{:?}", at(0).1);
}

#[test]
fn debug_files_are_found_where_they_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let id = host(root);
    run(root, "objcopy", &["--only-keep-debug", "toy.ko", "toy.debug"]);
    run(root, "objcopy", &["--strip-debug", "toy.ko", "bare.ko"]);
    let debug = fs::read(root.join("toy.debug")).unwrap();
    write(root, "lib/modules/6.1.0/extra/toy-mod.ko.xz", &xz(&fs::read(root.join("bare.ko")).unwrap()));
    let hex: String = id.iter().map(|b| format!("{b:02x}")).collect();
    let by_id = format!("usr/lib/debug/.build-id/{}/{}.debug", &hex[..2], &hex[2..]);
    let why = |lines: &Lines| lines.modules_without().next().map(|(_, why)| why.to_string());
    for path in [
        by_id.as_str(),
        "usr/lib/debug/lib/modules/6.1.0/extra/toy-mod.ko.debug",
        "lib/modules/6.1.0/extra/toy-mod.ko.debug",
    ] {
        let mut lines = Lines::of_running_kernel(root);
        assert_eq!(names(&mut lines, ENTRY + 8, &symbol("entry", ENTRY)), [""; 0], "{path}");
        assert!(why(&lines).unwrap().ends_with("toy-mod.ko.xz has no debug information"));
        write(root, path, &debug);
        let mut lines = Lines::of_running_kernel(root);
        assert_eq!(names(&mut lines, ENTRY + 8, &symbol("entry", ENTRY))[0], "entry", "{path}");
        fs::remove_file(root.join(path)).unwrap();
    }
}

#[test]
fn a_module_of_another_build_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    host(root);
    let file = "lib/modules/6.1.0/extra/toy-mod.ko.xz";
    write(root, file, &xz(&fs::read(root.join("toy.ko")).unwrap()));
    write(root, "sys/module/toy_mod/notes/.note.gnu.build-id", &note(&[7; 20]));
    let why = |mut lines: Lines, module| {
        let symbol = KernelSymbol { module, ..symbol("entry", ENTRY) };
        assert_eq!(lines.kernel(ENTRY + 8, &symbol), []);
        lines.modules_without().next().unwrap().1.clone()
    };
    let live = || Lines::of_running_kernel(root);
    assert_eq!(why(live(), "toy_mod"), NoLines::OtherBuild(root.join(file)));
    assert_eq!(why(Lines::of_recording(root, HashMap::new()), "toy_mod"), NoLines::NotRecorded);
    assert_eq!(why(live(), "absent"), NoLines::NoBuildId);
    assert_eq!(why(live(), "../../etc"), NoLines::NotFound);
    fs::remove_file(root.join(file)).unwrap();
    assert_eq!(why(live(), "toy_mod"), NoLines::NotFound);
    write(root, file, b"\xfd7zXZ\0 cut short");
    assert!(matches!(why(live(), "toy_mod"), NoLines::Damaged(_)));
}
