//! Each crate can be packed by itself, so that `cargo install` works from packages: nothing that it is built from lies
//! outside of its folder, where `cargo package` does not look. What crates share is linked into their folders.

use std::fs;
use std::path::{Path, PathBuf};

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in
        fs::read_dir(folder).expect("a folder of sources").map(|entry| entry.expect("an entry").path())
    {
        if entry.is_dir() {
            sources(&entry, into);
        } else if entry.extension().is_some_and(|e| e == "rs") {
            into.push(entry);
        }
    }
}

/// What `include_str!` and its like name in a text of Rust, as far as they name it by a text alone.
fn included(text: &str) -> Vec<&str> {
    let macros = ["include_str!(\"", "include_bytes!(\"", "include!(\""];
    let found = macros.iter().flat_map(|name| text.split(name).skip(1));
    found.filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn what_a_crate_is_built_from_is_in_its_folder() {
    let (mut files, mut seen, mut outside) = (Vec::new(), 0, Vec::new());
    for member in fs::read_dir(crates()).expect("crates").map(|entry| entry.expect("a crate").path()) {
        let build = member.join("build.rs");
        if build.is_file() {
            let text = fs::read_to_string(&build).expect("a build script");
            assert!(!text.contains("\"../"), "{} looks outside of its folder", build.display());
        }
        sources(&member.join("src"), &mut files);
        for file in files.drain(..) {
            let text = fs::read_to_string(&file).expect("a source");
            // Tests are not built from a package.
            let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            let folder = file.parent().and_then(|at| at.strip_prefix(&member).ok()).expect("in the crate");
            for name in included(text) {
                seen += 1;
                let up = name.split('/').take_while(|part| *part == "..").count();
                if up > folder.components().count() {
                    outside.push(format!("{}: {name}", file.display()));
                }
            }
        }
    }
    assert!(seen > 20, "only {seen} files are included");
    assert!(outside.is_empty(), "these would be missing in a package: {outside:#?}");
}
