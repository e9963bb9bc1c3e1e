//! Embeds the knowledge files: every `.toml` below `knowledge/` becomes part of the library, so a
//! new cause is one new file and nothing else. A digest of them all is the version of the knowledge.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("knowledge");
    let mut code = String::new();
    for (constant, folder) in [("ANATOMY", "anatomy"), ("CAUSES", "causes")] {
        let folder = root.join(folder);
        println!("cargo::rerun-if-changed={}", folder.display());
        // Writing to a String cannot fail.
        let _ = writeln!(code, "pub const {constant}: &[(&str, &str)] = &[");
        for file in toml_files(&folder)? {
            println!("cargo::rerun-if-changed={}", file.display());
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let path = file.canonicalize()?;
            let _ = writeln!(code, "    ({name:?}, include_str!({path:?})),");
        }
        code.push_str("];\n");
    }
    println!("cargo::rerun-if-changed={}", root.display());
    let _ = writeln!(code, "pub const DIGEST: &str = \"{:016x}\";", digest(&root)?);
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo gives no OUT_DIR"))?;
    fs::write(Path::new(&out).join("knowledge.rs"), code)
}

/// FNV-1a of names and texts of all knowledge files, in the order of their names; no folder of the machine
/// that builds is in it.
fn digest(root: &Path) -> io::Result<u64> {
    let mut folders = vec![root.to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        files.extend(toml_files(&folder)?);
        let inside = fs::read_dir(&folder)?.map(|entry| entry.map(|e| e.path()));
        folders.extend(inside.collect::<io::Result<Vec<_>>>()?.into_iter().filter(|path| path.is_dir()));
    }
    files.sort();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for file in files {
        let name = file.strip_prefix(root).unwrap_or(&file).to_string_lossy().into_owned();
        for byte in name.into_bytes().into_iter().chain(fs::read(&file)?).chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
    Ok(hash)
}

fn toml_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)?
        .map(|entry| entry.map(|e| e.path()))
        .collect::<io::Result<Vec<_>>>()?
        .into_iter()
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    Ok(files)
}
