//! Programs and libraries by the short names that people use, and functions in them.

use super::error::CountError;
use super::pattern::{Pattern, did_you_mean};
use super::probe::{Point, Probe, module_of};
use crate::target::Target;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use zwhy_symbols::{FunctionPoint, ImageKind, Reason, demangle, function_points, parse_maps};

/// A file with code: how it is opened, and how frames call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Object {
    pub path: PathBuf,
    pub module: String,
}

/// Folders of the dynamic loader when it is given none (ld.so(8)), and those of distributions.
const LIBRARY_FOLDERS: [&str; 6] =
    ["/usr/local/lib", "/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib64"];

/// The object meant by `name`: a path, a mapped object of the target, its program, or a library.
pub(super) fn find_object(name: &str, target: &Target) -> Result<Object, CountError> {
    let none = |hint: String| CountError::NoObject { object: name.to_owned(), hint };
    if name.contains('/') {
        let path = PathBuf::from(name);
        // Frames are named after what the kernel shows as mapped.
        let real = path.canonicalize().map_err(|e| none(format!("{e}; check the path")))?;
        return Ok(Object { module: module_of(&real), path });
    }
    let mut found = of_target(target);
    found.retain(|object| is_called(&object.module, name));
    if found.is_empty() {
        found = libraries(name);
    }
    let mut files = BTreeMap::new();
    for object in found {
        if let Ok(meta) = fs::metadata(&object.path) {
            files.entry((meta.dev(), meta.ino())).or_insert(object);
        }
    }
    let mut files: Vec<Object> = files.into_values().collect();
    match files.len() {
        0 => Err(none(
            format!("it is neither mapped by the target nor in {}", LIBRARY_FOLDERS.join(", "))
                + "; give its path",
        )),
        1 => Ok(files.remove(0)),
        _ => {
            let all: Vec<String> = files.iter().map(|o| o.path.display().to_string()).collect();
            Err(none(format!("several files are called so: {}; give the path of one", all.join(", "))))
        }
    }
}

/// Objects that the target maps or, of a command, its program.
pub(super) fn of_target(target: &Target) -> Vec<Object> {
    match target {
        Target::System | Target::Cgroup(_) => Vec::new(),
        Target::Pid(pids) => pids.iter().flat_map(|pid| mapped(*pid)).collect(),
        Target::Command(words) => words.first().and_then(|w| program(Path::new(w))).into_iter().collect(),
    }
}

fn mapped(pid: i32) -> Vec<Object> {
    let bytes = fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let maps = parse_maps(&text).filter(|m| m.executable && ImageKind::of_path(&m.path) == ImageKind::File);
    // Through its root, because it may live in a container with files of its own.
    let mut objects: Vec<Object> = maps
        .map(|m| Object {
            path: PathBuf::from(format!("/proc/{pid}/root{}", m.path)),
            module: zwhy_symbols::module_name(&m.path).to_owned(),
        })
        .collect();
    objects.dedup();
    objects
}

/// The file that a shell would run for this word.
fn program(word: &Path) -> Option<Object> {
    let path = if word.components().count() > 1 {
        word.to_owned()
    } else {
        let folders = std::env::var_os("PATH")?;
        std::env::split_paths(&folders).map(|folder| folder.join(word)).find(|path| path.is_file())?
    };
    let real = path.canonicalize().ok()?;
    Some(Object { module: module_of(&real), path })
}

/// `libzpool` and `libzpool.so.6` both mean `libzpool.so.6.0.0`.
fn is_called(file: &str, name: &str) -> bool {
    file.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn libraries(name: &str) -> Vec<Object> {
    let mut folders: Vec<PathBuf> =
        std::env::var_os("LD_LIBRARY_PATH").iter().flat_map(std::env::split_paths).collect();
    for folder in LIBRARY_FOLDERS {
        folders.push(folder.into());
        // Debian and Ubuntu keep the libraries of each architecture in a folder of its own.
        let names = fs::read_dir(folder).into_iter().flatten().flatten();
        folders.extend(names.map(|e| e.path()).filter(|p| p.to_string_lossy().ends_with("-linux-gnu")));
    }
    let mut found = Vec::new();
    for folder in folders {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let file = entry.file_name().to_string_lossy().into_owned();
            let is_library = file.contains(".so");
            if is_library
                && is_called(&file, name)
                && let Ok(real) = entry.path().canonicalize()
            {
                found.push(Object { module: module_of(&real), path: entry.path() });
            }
        }
    }
    found
}

/// Functions of one object that a pattern means.
pub(super) struct InObject {
    pub probes: Vec<Probe>,
    /// Functions that have a name at all.
    pub named: usize,
    /// A resolver was meant, and what it would choose is not known.
    pub indirect: bool,
    /// Sentence with near names, empty when something was found.
    pub suggestion: String,
}

pub(super) fn find_in(object: &Object, pattern: &Pattern) -> Result<InObject, CountError> {
    let points = function_points(&object.path).map_err(|reason| CountError::NoObject {
        object: object.path.display().to_string(),
        hint: match reason {
            Reason::NotElf => "it is no ELF object (a script?); name the program that runs it".to_owned(),
            other => other.to_string(),
        },
    })?;
    let meant = |p: &&FunctionPoint| pattern.matches(&p.name) || pattern.matches(&demangle(&p.name));
    let mut indirect = false;
    let mut offsets: BTreeMap<u64, String> = BTreeMap::new();
    for point in points.iter().filter(meant) {
        let offset = if point.indirect { chosen(object, &point.name) } else { Some(point.offset) };
        match offset {
            // Several names of one place are one function: the shortest is the plainest.
            Some(offset) => {
                let name = demangle(&point.name).into_owned();
                let kept = offsets.entry(offset).or_insert_with(|| name.clone());
                if (name.len(), &name) < (kept.len(), kept) {
                    *kept = name;
                }
            }
            None => indirect = true,
        }
    }
    let probe = |(offset, function)| Probe {
        point: Point::File(object.path.clone(), offset),
        function,
        module: object.module.clone(),
    };
    let probes: Vec<Probe> = offsets.into_iter().map(probe).collect();
    let suggestion = match probes.is_empty() && !indirect {
        true => did_you_mean(pattern.text(), points.iter().map(|p| p.name.as_str())),
        false => String::new(),
    };
    Ok(InObject { probes, named: points.len(), indirect, suggestion })
}

/// What the resolver of an indirect function chose in this process, when it maps the same file: the
/// choice depends on the CPU alone.
#[allow(unsafe_code)] // looks a symbol up without calling it
fn chosen(object: &Object, name: &str) -> Option<u64> {
    let this = libloading::os::unix::Library::this();
    // SAFETY: the symbol is only taken as an address and never called.
    let address = unsafe { this.get::<*const ()>(name) }.ok()?.as_raw_ptr() as u64;
    let wanted = fs::metadata(&object.path).ok()?;
    let text = fs::read_to_string("/proc/self/maps").ok()?;
    let map = parse_maps(&text).find(|m| m.executable && (m.start..m.end).contains(&address))?;
    let file = fs::metadata(&*map.path).ok()?;
    ((file.dev(), file.ino()) == (wanted.dev(), wanted.ino())).then(|| map.offset + (address - map.start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_mean_the_versioned_file() {
        assert!(is_called("libzpool.so.6.0.0", "libzpool"));
        assert!(is_called("libzpool.so.6.0.0", "libzpool.so.6"));
        assert!(is_called("zdb", "zdb"));
        assert!(!is_called("libzpool.so.60", "libzpool.so.6"));
        assert!(!is_called("libzfs_core.so.3", "libzfs"));
    }

    #[test]
    fn this_process_maps_its_own_program() {
        let own = Target::Pid(vec![std::process::id() as i32]);
        let module = module_of(&std::env::current_exe().unwrap());
        let object = find_object(&module, &own).unwrap();
        let found = find_in(&object, &Pattern::new("*this_process_maps_its_own_program*")).unwrap();
        assert!(!found.probes.is_empty() && found.named > 100);
        let none = find_object("no_such_object_here", &own).unwrap_err().to_string();
        assert!(none.contains("give its path"), "{none}");
    }
}
