//! Where a shared library may be: the places the dynamic linker looks in, without its cache file.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// Sonames of OpenZFS 2.1 to 2.4, the newest first.
pub const SONAMES: [&str; 3] = ["libzpool.so.7", "libzpool.so.6", "libzpool.so.5"];

/// Folders in the order of the dynamic linker: LD_LIBRARY_PATH, the configured ones, the defaults.
pub fn folders(ld_library_path: Option<OsString>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    if let Some(paths) = ld_library_path {
        found.extend(std::env::split_paths(&paths).filter(|p| p.is_absolute()));
    }
    read_conf(Path::new("/etc/ld.so.conf"), &mut found, 0);
    let triple = format!("{}-linux-gnu", std::env::consts::ARCH);
    for base in ["/lib", "/usr/lib"] {
        found.push(Path::new(base).join(&triple));
    }
    found.extend(["/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib"].map(PathBuf::from));
    let mut seen = BTreeSet::new();
    found.retain(|p| seen.insert(p.clone()));
    found
}

/// Reads `ld.so.conf`: a folder a line, `#` comments, `include` with one `*` in the file name.
fn read_conf(path: &Path, found: &mut Vec<PathBuf>, depth: u32) {
    const MAX_DEPTH: u32 = 4;
    let Ok(text) = fs::read_to_string(path) else { return };
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or("").trim();
        if let Some(pattern) = line.strip_prefix("include").map(str::trim) {
            if depth < MAX_DEPTH {
                for file in matching(Path::new(pattern)) {
                    read_conf(&file, found, depth + 1);
                }
            }
        } else if line.starts_with('/') {
            found.push(PathBuf::from(line));
        }
    }
}

fn matching(pattern: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (pattern.parent(), pattern.file_name().and_then(|n| n.to_str())) else {
        return Vec::new();
    };
    let Some((before, after)) = name.split_once('*') else { return vec![pattern.to_owned()] };
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let fits = |p: &PathBuf| {
        p.file_name().and_then(|n| n.to_str()).is_some_and(|n| n.starts_with(before) && n.ends_with(after))
    };
    let mut files: Vec<PathBuf> = entries.flatten().map(|e| e.path()).filter(fits).collect();
    files.sort();
    files
}

/// All `libzpool.so.*` in `folders`, to name what is there when none fits.
pub fn any_libzpool(folders: &[PathBuf]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        folders.iter().flat_map(|folder| matching(&folder.join("libzpool.so.*"))).collect();
    found.sort();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn includes_and_comments_of_ld_so_conf_are_followed() {
        let dir = tempfile::tempdir().unwrap();
        let conf = dir.path().join("ld.so.conf");
        fs::write(&conf, format!("# top\n/first # why\ninclude {}/d/*.conf\n", dir.path().display()))
            .unwrap();
        fs::create_dir(dir.path().join("d")).unwrap();
        fs::write(dir.path().join("d/b.conf"), "/third\n").unwrap();
        fs::write(dir.path().join("d/a.conf"), "/second\nrelative\n").unwrap();
        fs::write(dir.path().join("d/a.txt"), "/not\n").unwrap();
        let mut found = Vec::new();
        read_conf(&conf, &mut found, 0);
        assert_eq!(found, ["/first", "/second", "/third"].map(PathBuf::from));
    }

    #[test]
    fn an_include_of_itself_ends() {
        let dir = tempfile::tempdir().unwrap();
        let conf = dir.path().join("loop.conf");
        fs::write(&conf, format!("/x\ninclude {}\n", conf.display())).unwrap();
        let mut found = Vec::new();
        read_conf(&conf, &mut found, 0);
        assert_eq!(found.len(), 5);
    }
}
