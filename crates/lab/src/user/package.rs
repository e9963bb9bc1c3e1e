//! Which Debian package owns a file and its version, from the files of the package database.

use std::fs;
use std::path::Path;

const DATABASE: &str = "/var/lib/dpkg";

/// `libzpool6linux 2.3.2-2~bpo12+2`, or `None` where there is no such database or no owner.
pub fn owner(path: &Path) -> Option<String> {
    owner_in(Path::new(DATABASE), path)
}

fn owner_in(database: &Path, path: &Path) -> Option<String> {
    // Packages list /lib/… where the merged /usr resolves to /usr/lib/….
    let text = path.to_str()?;
    let names = [text, text.strip_prefix("/usr").unwrap_or(text)];
    for entry in fs::read_dir(database.join("info")).ok()?.flatten() {
        let name = entry.file_name();
        let Some(package) = name.to_str().and_then(|n| n.strip_suffix(".list")) else { continue };
        if !package.contains("libzpool") {
            continue;
        }
        let list = fs::read_to_string(entry.path()).ok()?;
        if list.lines().any(|line| names.contains(&line)) {
            let package = package.split(':').next().unwrap_or(package);
            return Some(format!("{package} {}", version_of(database, package)?));
        }
    }
    None
}

fn version_of(database: &Path, package: &str) -> Option<String> {
    let status = fs::read_to_string(database.join("status")).ok()?;
    let stanza = status.split("\n\n").find(|s| s.lines().next() == Some(&format!("Package: {package}")))?;
    stanza.lines().find_map(|line| line.strip_prefix("Version: ")).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owner_is_found_through_the_merged_usr() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("info")).unwrap();
        fs::write(dir.path().join("info/libzpool6linux:amd64.list"), "/.\n/lib/x/libzpool.so.6.0.0\n")
            .unwrap();
        let status = "Package: other\nVersion: 1\n\nPackage: libzpool6linux\nStatus: ok\nVersion: 2.3.2-2\n";
        fs::write(dir.path().join("status"), status).unwrap();
        let owner = owner_in(dir.path(), Path::new("/usr/lib/x/libzpool.so.6.0.0"));
        assert_eq!(owner.as_deref(), Some("libzpool6linux 2.3.2-2"));
        assert_eq!(owner_in(dir.path(), Path::new("/opt/libzpool.so.6.0.0")), None);
        assert_eq!(owner_in(&dir.path().join("none"), Path::new("/x")), None);
    }
}
