//! Finding a control group by path or name, and who is in it.
//!
//! Invariant: what is opened is a folder that the kernel knows as a group of perf events: of the
//! unified hierarchy (cgroup v2) or of a v1 hierarchy with the `perf_event` controller.

use crate::error::RecordError;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Folders below a group that are looked through for processes.
const MOST_FOLDERS: usize = 10_000;

/// Opens a group for `perf_event_open(2)`; returns its full path too.
///
/// # Errors
/// When no such group exists in a hierarchy that counts perf events.
pub(crate) fn open(group: &Path) -> Result<(OwnedFd, PathBuf), RecordError> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let path = find(group, &roots(&mounts))?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::open(&path, flags, Mode::empty()).map_err(|e| RecordError::Cgroup {
        group: path.display().to_string(),
        found: e.to_string(),
        remedy: "run as root",
    })?;
    Ok((folder, path))
}

/// Processes of a group and of the groups below it, as far as they can be read.
pub(crate) fn members(group: &Path) -> Vec<i32> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let Ok(path) = find(group, &roots(&mounts)) else { return Vec::new() };
    let (mut folders, mut pids) = (vec![path], Vec::new());
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        seen += 1;
        if seen > MOST_FOLDERS {
            break;
        }
        let listed = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
        pids.extend(listed.lines().filter_map(|line| line.parse::<i32>().ok()));
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        folders.extend(entries.filter(|e| e.file_type().is_ok_and(|t| t.is_dir())).map(|e| e.path()));
    }
    pids
}

/// Mount points of hierarchies that count perf events, the unified one first; see proc(5) for the
/// columns of mountinfo.
fn roots(mountinfo: &str) -> Vec<PathBuf> {
    let (mut v2, mut v1) = (Vec::new(), Vec::new());
    for line in mountinfo.lines() {
        let Some((left, right)) = line.split_once(" - ") else { continue };
        let Some(point) = left.split(' ').nth(4) else { continue };
        let mut right = right.split(' ');
        match right.next() {
            Some("cgroup2") => v2.push(PathBuf::from(point)),
            Some("cgroup") if right.nth(1).is_some_and(|o| o.split(',').any(|o| o == "perf_event")) => {
                v1.push(PathBuf::from(point));
            }
            _ => {}
        }
    }
    v2.extend(v1);
    v2
}

fn find(group: &Path, roots: &[PathBuf]) -> Result<PathBuf, RecordError> {
    let failed =
        |found: String, remedy| RecordError::Cgroup { group: group.display().to_string(), found, remedy };
    if roots.is_empty() {
        return Err(failed(
            "no hierarchy of cgroups with perf events is mounted".to_owned(),
            "mount -t cgroup2 none /sys/fs/cgroup, or record processes with -p",
        ));
    }
    if group.components().any(|c| c == Component::ParentDir) {
        return Err(failed("its path holds `..`".to_owned(), "give the path without it"));
    }
    if group.is_absolute() && group.is_dir() {
        return match roots.iter().any(|root| group.starts_with(root)) {
            true => Ok(group.to_owned()),
            false => Err(failed(
                format!("it is not below {}", listed(roots)),
                "give a folder of a cgroup v2 or a v1 perf_event hierarchy",
            )),
        };
    }
    // As /proc/PID/cgroup shows names: with a leading slash, relative to the mount point.
    let name = group.strip_prefix("/").unwrap_or(group);
    let found = roots.iter().map(|root| root.join(name)).find(|path| path.is_dir());
    found.ok_or_else(|| {
        failed(
            format!("there is no such group below {}", listed(roots)),
            "systemd-cgls lists groups, cat /proc/PID/cgroup shows the one of a process",
        )
    })
}

fn listed(roots: &[PathBuf]) -> String {
    roots.iter().map(|r| r.display().to_string()).collect::<Vec<_>>().join(" or ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
25 20 0:22 / /sys/fs/cgroup/cpu rw,nosuid shared:7 - cgroup cgroup rw,cpu
26 20 0:23 / /sys/fs/cgroup/perf_event rw - cgroup cgroup rw,perf_event
27 20 0:24 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw,nsdelegate
";

    #[test]
    fn hierarchies_that_count_perf_events_are_found() {
        let want = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup/perf_event"].map(PathBuf::from);
        assert_eq!(roots(MOUNTS), want);
        assert!(roots("25 20 0:22 / /cpu rw - cgroup cgroup rw,cpu\ngarbage\n - \n").is_empty());
    }

    #[test]
    fn groups_are_found_by_path_and_by_name_and_nowhere_else() {
        let root = tempfile::tempdir().unwrap();
        let group = root.path().join("system.slice/x.service");
        fs::create_dir_all(&group).unwrap();
        fs::write(group.join("cgroup.procs"), "12\nx\n34\n").unwrap();
        let roots = [root.path().to_owned()];
        for name in [group.clone(), "system.slice/x.service".into(), "/system.slice/x.service".into()] {
            assert_eq!(find(&name, &roots).unwrap(), group);
        }
        for (name, word) in [("nosuch", "no such group"), ("../x", "`..`"), ("/proc", "not below")] {
            let error = find(Path::new(name), &roots).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
        assert!(find(Path::new("x"), &[]).unwrap_err().to_string().contains("mount"));
    }
}
