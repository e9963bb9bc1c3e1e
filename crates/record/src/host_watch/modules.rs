//! Notices when kernel modules are loaded, unloaded, or loaded again elsewhere, from /proc/modules.
//!
//! Layout (`m_show`, kernel/module/procfs.c, Linux 6.1): `name size uses users state 0xaddress`. The
//! address reads as 0 where the kernel hides it; then only the list of names tells.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use zwhy_host::read_cut;

/// Each change has the kernel's symbols read again. A host that changes more often than this is not
/// followed: its names would cost more than its samples.
const MOST_CHANGES: usize = 60;

/// Size and address.
type Extent = (u64, u64);

pub(crate) struct ModuleWatch {
    path: PathBuf,
    /// By name; `None` where the list cannot be read.
    known: Option<BTreeMap<String, Extent>>,
    changes: usize,
}

impl ModuleWatch {
    pub(crate) fn new(proc_root: &Path) -> ModuleWatch {
        let path = proc_root.join("modules");
        let known = read_cut(&path).ok().map(|text| parse(&text));
        ModuleWatch { path, known, changes: 0 }
    }

    /// What changed since the last look, as sentences.
    pub(crate) fn look(&mut self) -> Vec<String> {
        let Some(known) = self.known.as_mut().filter(|_| self.changes < MOST_CHANGES) else {
            return Vec::new();
        };
        let Ok(text) = read_cut(&self.path) else { return Vec::new() };
        let now = parse(&text);
        let told = changes(known, &now);
        *known = now;
        self.changes += usize::from(!told.is_empty());
        told
    }

    /// A sentence on what is not in the capture.
    pub(crate) fn limits(&self) -> Option<String> {
        (self.changes >= MOST_CHANGES).then(|| {
            format!(
                "kernel modules were loaded or unloaded {MOST_CHANGES} times; later changes are not followed, \
                 and functions of such modules may have wrong names from then on"
            )
        })
    }
}

fn changes(before: &BTreeMap<String, Extent>, now: &BTreeMap<String, Extent>) -> Vec<String> {
    let gone = before.keys().filter(|name| !now.contains_key(*name));
    let mut told: Vec<String> = gone.map(|name| format!("{name} was unloaded")).collect();
    told.extend(now.iter().filter_map(|(name, place)| match before.get(name) {
        None => Some(format!("{name} was loaded")),
        Some(old) if old != place => Some(format!("{name} was unloaded and loaded again")),
        Some(_) => None,
    }));
    told
}

/// Lines of another form are passed over.
fn parse(text: &str) -> BTreeMap<String, Extent> {
    let lines = text.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let address = fields.get(5).and_then(|a| u64::from_str_radix(a.trim_start_matches("0x"), 16).ok());
        Some(((*fields.first()?).to_owned(), (fields.get(1)?.parse().ok()?, address.unwrap_or(0))))
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn modules_that_come_go_and_move_are_told_once() {
        let root = tempfile::tempdir().unwrap();
        let put = |text: &str| fs::write(root.path().join("modules"), text).unwrap();
        put("zfs 4096000 2 - Live 0xffffffffc0a00000 (OE)\nspl 90000 1 zfs, Live 0xffffffffc0900000\n");
        let mut watch = ModuleWatch::new(root.path());
        // How often a module is used is no change.
        put("zfs 4096000 7 - Live 0xffffffffc0a00000 (OE)\nspl 90000 1 zfs, Live 0xffffffffc0900000\n");
        assert!(watch.look().is_empty());
        put("spl 90000 0 - Live 0xffffffffc0900000\n");
        assert_eq!(watch.look(), ["zfs was unloaded"]);
        put("zfs 4096000 0 - Live 0xffffffffc0b00000\nspl 90000 0 - Live 0xffffffffc0900000\nodd\n");
        assert_eq!(watch.look(), ["zfs was loaded"]);
        put("zfs 4096000 0 - Live 0xffffffffc0c00000\nspl 90000 0 - Live 0xffffffffc0900000\n");
        assert_eq!(watch.look(), ["zfs was unloaded and loaded again"]);
        assert!(watch.look().is_empty() && watch.limits().is_none());
    }

    #[test]
    fn a_host_that_changes_all_the_time_is_not_followed_for_ever() {
        let root = tempfile::tempdir().unwrap();
        let mut watch = {
            fs::write(root.path().join("modules"), "").unwrap();
            ModuleWatch::new(root.path())
        };
        let told: usize = (0..200u32)
            .map(|i| {
                fs::write(root.path().join("modules"), format!("m{i} 1 0 - Live 0x1\n")).unwrap();
                watch.look().len().min(1)
            })
            .sum();
        assert_eq!(told, MOST_CHANGES);
        assert!(watch.limits().is_some_and(|l| l.contains("wrong names")));
        assert!(ModuleWatch::new(Path::new("/nonexistent")).look().is_empty());
    }
}
