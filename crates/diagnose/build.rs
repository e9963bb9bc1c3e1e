//! Embeds the knowledge files: every `.toml` below `knowledge/` becomes part of the library, so a
//! new cause is one new file and nothing else.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../knowledge");
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
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo gives no OUT_DIR"))?;
    fs::write(Path::new(&out).join("knowledge.rs"), code)
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
