//! Finds the host's libzpool and tells which OpenZFS it is, by reading the file and not running it.
//!
//! The soname alone is not enough (2.1 and 2.2 share one, 2.3 and 2.4 differ only in symbols), so the
//! release is told by functions that came or went. What is not known for sure is refused.

use super::{package, search};
use crate::bytes::hex;
use object::elf::{DT_SONAME, FileHeader64};
use object::read::elf::{Dyn, FileHeader, Sym};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// Names a library that is not where the dynamic linker looks.
pub const PATH_VARIABLE: &str = "ZWHY_LIBZPOOL";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Release {
    #[serde(rename = "2.1")]
    V2_1,
    #[serde(rename = "2.2")]
    V2_2,
    #[serde(rename = "2.3")]
    V2_3,
    #[serde(rename = "2.4")]
    V2_4,
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// What the file says of itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LibraryInfo {
    pub path: PathBuf,
    pub soname: String,
    pub release: Release,
    /// Version string inside the file (`zfs-2.1.11-0-ge25f9131d-dist`), if the build left one.
    pub version: Option<String>,
    /// Package and version that own the file, if the package database tells.
    pub package: Option<String>,
    pub build_id: Option<String>,
}

impl LibraryInfo {
    /// The most exact version that is known.
    pub fn version_text(&self) -> &str {
        self.package.as_deref().or(self.version.as_deref()).unwrap_or(&self.soname)
    }

    /// `2.3.2`; only `2.3` where neither package nor file tell more.
    pub fn version_number(&self) -> String {
        let told = |text: &str| {
            let from = text.split([' ', '-']).find(|part| part.starts_with("2."))?;
            let end = from.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(from.len());
            Some(from[..end].trim_end_matches('.').to_owned())
        };
        let package = self.package.as_deref().and_then(told);
        package.or_else(|| self.version.as_deref().and_then(told)).unwrap_or_else(|| self.release.to_string())
    }
}

/// A libzpool this engine can drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Library {
    pub info: LibraryInfo,
    /// Size in bytes of `spa_feature_table`, which has no count of its own.
    pub feature_table_size: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    #[error(
        "OpenZFS is not installed here: no {} in {folders} folders of the dynamic linker{}. Install it \
         (Debian: apt install libzpool6linux from bookworm-backports contrib, or libzpool5linux; Ubuntu: \
         apt install libzpool5linux; Fedora and RHEL: dnf install libzpool6 from the OpenZFS repository), \
         or name the file with {PATH_VARIABLE}=/path/to/libzpool.so.6", search::SONAMES.join(", "), instead(.others)
    )]
    NotFound { folders: usize, others: Vec<PathBuf> },

    #[error("cannot read the OpenZFS library {}: {source}", .path.display())]
    Unreadable { path: PathBuf, source: std::io::Error },

    #[error("{} is not a 64-bit shared library of this machine: {what}", .path.display())]
    NotALibrary { path: PathBuf, what: String },

    #[error(
        "{} calls itself {soname:?}; the lab knows {} (OpenZFS 2.1 to 2.4) and does not guess at the \
         functions of others. Install one of these beside it and name it with {PATH_VARIABLE}",
        .path.display(), search::SONAMES.join(", ")
    )]
    UnknownMajor { path: PathBuf, soname: String },

    #[error(
        "{} ({soname}) is an OpenZFS the lab does not know: {what}. It knows 2.1 to 2.4; install one of \
         these beside it and name it with {PATH_VARIABLE}", .path.display()
    )]
    UnknownRelease { path: PathBuf, soname: String, what: String },
}

fn instead(paths: &[PathBuf]) -> String {
    let names: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
    if names.is_empty() {
        String::new()
    } else {
        format!(" (there is {}, which is too old or too new)", names.join(", "))
    }
}

/// Functions that every supported release has and this engine calls.
const NEEDED: [&str; 4] = ["kernel_init", "spa_create", "dmu_objset_own", "dsl_crypto_params_create_nvlist"];

impl Library {
    /// The library at `path`, else at `$ZWHY_LIBZPOOL`, else the newest the dynamic linker would find.
    pub fn find(path: Option<&Path>) -> Result<Library, LibraryError> {
        let variable = std::env::var_os(PATH_VARIABLE).filter(|v| !v.is_empty()).map(PathBuf::from);
        if let Some(path) = path.map(Path::to_owned).or(variable) {
            return Library::open(&path);
        }
        Library::find_in(&search::folders(std::env::var_os("LD_LIBRARY_PATH")))
    }

    /// The newest release in `folders`; among equals the first folder wins.
    fn find_in(folders: &[PathBuf]) -> Result<Library, LibraryError> {
        let mut candidates =
            search::SONAMES.iter().flat_map(|name| folders.iter().map(move |f| f.join(name)));
        match candidates.find(|p| p.exists()) {
            Some(path) => Library::open(&path),
            None => {
                Err(LibraryError::NotFound { folders: folders.len(), others: search::any_libzpool(folders) })
            }
        }
    }

    /// Reads the file at `path`.
    pub fn open(path: &Path) -> Result<Library, LibraryError> {
        let unreadable = |source| LibraryError::Unreadable { path: path.to_owned(), source };
        let path = path.canonicalize().map_err(unreadable)?;
        let data = std::fs::read(&path).map_err(unreadable)?;
        let elf = Elf::parse(&data).map_err(|what| LibraryError::NotALibrary { path: path.clone(), what })?;
        if !search::SONAMES.contains(&elf.soname.as_str()) {
            return Err(LibraryError::UnknownMajor { path, soname: elf.soname });
        }
        let (release, feature_table_size) = match elf.release() {
            Ok(found) => found,
            Err(what) => return Err(LibraryError::UnknownRelease { path, soname: elf.soname, what }),
        };
        let info = LibraryInfo {
            version: version_string(&data),
            package: package::owner(&path),
            path,
            soname: elf.soname,
            release,
            build_id: elf.build_id,
        };
        Ok(Library { info, feature_table_size })
    }
}

impl Library {
    /// Sizes in bytes of the variables and functions that the library exports, of those in `names`.
    ///
    /// # Errors
    /// When the file cannot be read any more.
    pub fn sizes<'a>(
        &self,
        names: impl Iterator<Item = &'a str>,
    ) -> Result<BTreeMap<&'a str, u64>, LibraryError> {
        let path = &self.info.path;
        let names: Vec<&str> = names.collect();
        if names.is_empty() {
            return Ok(BTreeMap::new());
        }
        let data =
            std::fs::read(path).map_err(|source| LibraryError::Unreadable { path: path.clone(), source })?;
        let elf = Elf::parse(&data).map_err(|what| LibraryError::NotALibrary { path: path.clone(), what })?;
        Ok(names.into_iter().filter_map(|name| Some((name, *elf.exports.get(name)?))).collect())
    }
}

/// The parts of the file that tell what it is.
struct Elf {
    soname: String,
    /// Exported name → size.
    exports: BTreeMap<String, u64>,
    build_id: Option<String>,
}

impl Elf {
    fn parse(data: &[u8]) -> Result<Elf, String> {
        let text = |e: object::Error| e.to_string();
        let header = FileHeader64::<object::Endianness>::parse(data).map_err(text)?;
        let endian = header.endian().map_err(text)?;
        if header.e_machine(endian) != this_machine() {
            return Err("it is for another processor".into());
        }
        let sections = header.sections(endian, data).map_err(text)?;
        let (entries, strings) =
            sections.dynamic(endian, data).map_err(text)?.ok_or("it has no dynamic section")?;
        let strings = sections.strings(endian, data, strings).map_err(text)?;
        let soname = entries
            .iter()
            .find(|e| e.tag(endian) == DT_SONAME)
            .and_then(|e| e.string(endian, strings).ok())
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .unwrap_or_default();
        let symbols = sections.symbols(endian, data, object::elf::SHT_DYNSYM).map_err(text)?;
        let mut exports = BTreeMap::new();
        for symbol in symbols.iter().filter(|s| !s.is_undefined(endian)) {
            if let Ok(name) = symbols.symbol_name(endian, symbol) {
                exports.insert(String::from_utf8_lossy(name).into_owned(), symbol.st_size(endian));
            }
        }
        let build_id = object::File::parse(data)
            .ok()
            .and_then(|file| object::Object::build_id(&file).ok().flatten().map(hex));
        Ok(Elf { soname, exports, build_id })
    }

    fn has(&self, name: &str) -> bool {
        self.exports.contains_key(name)
    }

    fn release(&self) -> Result<(Release, u64), String> {
        if let Some(missing) = NEEDED.iter().find(|name| !self.has(name)) {
            return Err(format!("it has no function {missing}"));
        }
        let table = *self.exports.get("spa_feature_table").ok_or("it has no spa_feature_table")?;
        // Came after 2.4 together with other changes of what libzpool wants from its callers.
        if self.has("libspl_init") {
            return Err("it is a development version after 2.4 (it has libspl_init)".into());
        }
        let release = match (self.has("dmu_write_abd"), self.has("dmu_write_by_dnode_flags")) {
            (true, false) => Release::V2_4,
            (true, true) => Release::V2_3,
            (false, _) if self.has("zfs_impl_get_ops") => Release::V2_2,
            (false, _) => Release::V2_1,
        };
        Ok((release, table))
    }
}

fn this_machine() -> object::elf::Machine {
    use object::elf::{EM_AARCH64, EM_NONE, EM_X86_64};
    match std::env::consts::ARCH {
        "x86_64" => EM_X86_64,
        "aarch64" => EM_AARCH64,
        _ => EM_NONE,
    }
}

/// `zfs-2.…` as builds of some releases leave it in the file.
fn version_string(data: &[u8]) -> Option<String> {
    const START: &[u8] = b"zfs-2.";
    const LONGEST: usize = 64;
    let at = data.windows(START.len()).position(|w| w == START)?;
    let rest = &data[at..data.len().min(at + LONGEST)];
    let end = rest.iter().position(|b| !b.is_ascii_graphic())?;
    Some(String::from_utf8_lossy(&rest[..end]).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_without_a_fitting_library_is_told_what_to_install() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("libzpool.so.2"), "").unwrap();
        let error = Library::find_in(&[dir.path().to_owned()]).unwrap_err().to_string();
        for word in
            ["libzpool.so.2, which is too old or too new", "apt install libzpool6linux", PATH_VARIABLE]
        {
            assert!(error.contains(word), "{word} is not in {error}");
        }
    }

    #[test]
    fn the_version_number_comes_from_package_or_file_or_release() {
        let mut info = LibraryInfo {
            path: "/x/libzpool.so.6".into(),
            soname: "libzpool.so.6".into(),
            release: Release::V2_3,
            version: None,
            package: Some("libzpool6linux 2.3.2-2~bpo12+2".into()),
            build_id: None,
        };
        assert_eq!(info.version_number(), "2.3.2");
        info.package = None;
        assert_eq!(info.version_number(), "2.3");
        info.version = Some("zfs-2.1.11-0-ge25f9131d-dist".into());
        assert_eq!(info.version_number(), "2.1.11");
    }
}
