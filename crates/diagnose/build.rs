//! Embeds the knowledge files: every `.toml` below `knowledge/` becomes part of the library, so a
//! new cause is one new file and nothing else. A digest of them all is the version of the knowledge.

#[path = "src/knowledge/in_two.rs"]
mod in_two;

use in_two::in_two;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("knowledge");
    let mut code = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(code, "pub const ANATOMY: &[(&str, &str)] = &[");
    for file in watched(&root.join("anatomy"))? {
        let _ = writeln!(code, "    ({:?}, {:?}),", name(&file), as_json(&fs::read_to_string(&file)?));
    }
    code.push_str("];\n");
    let _ = writeln!(code, "pub const CAUSES: &[CauseText] = &[");
    for file in watched(&root.join("causes"))? {
        let text = fs::read_to_string(&file)?;
        let (head, tests) = in_two(&text);
        let (name, head, above) = (name(&file), as_json(head), head.lines().count());
        let _ = writeln!(
            code,
            "    CauseText {{ name: {name:?}, head: {head:?}, tests: {tests:?}, above: {above} }},"
        );
    }
    code.push_str("];\n");
    for (constant, file) in [("FACTS", "facts.toml"), ("GROUPS", "groups.toml")] {
        let text = as_json(&fs::read_to_string(root.join(file))?);
        let _ = writeln!(code, "pub const {constant}: &str = {text:?};");
    }
    println!("cargo::rerun-if-changed={}", root.display());
    let _ = writeln!(code, "pub const DIGEST: &str = \"{:016x}\";", digest(&root)?);
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo gives no OUT_DIR"))?;
    fs::write(Path::new(&out).join("knowledge.rs"), code)
}

/// All of it is read at every start, and JSON is read in a fifth of the time. What is no TOML stays as it is, and is told
/// where it is read.
fn as_json(toml: &str) -> String {
    let value: Result<toml::Table, _> = toml::from_str(toml);
    value.ok().and_then(|table| serde_json::to_string(&table).ok()).unwrap_or_else(|| toml.to_owned())
}

fn name(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The files of a folder, each of which makes this run again.
fn watched(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let files = toml_files(folder)?;
    for path in files.iter().map(PathBuf::as_path).chain([folder]) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    Ok(files)
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
