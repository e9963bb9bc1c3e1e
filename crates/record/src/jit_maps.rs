//! Maps of code made at run time, of the processes that keep one: Node with `--perf-basic-prof`, Java
//! with an agent, Python with `-X perf`.
//!
//! Invariants: a map is read only from inside the process's own root and only if the process's user or
//! root owns it; it is read again when it has grown, at most once a flush.

use rustc_hash::FxHashMap;
use rustix::fs::{Mode, OFlags, ResolveFlags, open, openat2};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use zwhy_symbols::JitMap;

/// Bytes read of one map and of all: a hostile map takes four times as much memory. The rest of a
/// longer map, what was made last, is not named.
const LONGEST: u64 = 16 << 20;
const LONGEST_ALL: u64 = 32 << 20;
/// Processes whose maps are kept at a time.
const MOST: usize = 64;

#[derive(Default)]
pub(crate) struct JitMaps {
    maps: FxHashMap<i32, Kept>,
}

struct Kept {
    map: JitMap,
    /// Bytes read.
    length: u64,
    /// Device, inode, length and time of change of the file that was read.
    state: Option<[i64; 4]>,
    /// Looked at since the last flush.
    fresh: bool,
}

impl JitMaps {
    /// The name of the code at an address of a process.
    pub(crate) fn resolve(&mut self, pid: i32, address: u64) -> Option<&str> {
        if self.maps.len() >= MOST && !self.maps.contains_key(&pid) {
            self.maps.retain(|_, kept| kept.fresh);
            if self.maps.len() >= MOST {
                return None;
            }
        }
        let first = self.maps.get(&pid).is_none_or(|kept| !kept.fresh);
        let others = self.maps.iter().filter(|(other, _)| first && **other != pid);
        let all: u64 = others.map(|(_, kept)| kept.length).sum();
        let kept = self.maps.entry(pid).or_insert_with(|| Kept {
            map: JitMap::default(),
            length: 0,
            state: None,
            fresh: false,
        });
        if !std::mem::replace(&mut kept.fresh, true) {
            kept.read(pid, LONGEST.min(LONGEST_ALL.saturating_sub(all)));
        }
        kept.map.resolve(address)
    }

    /// After a flush: files may have grown, and a number may mean another process.
    pub(crate) fn flushed(&mut self) {
        self.maps.retain(|_, kept| std::mem::take(&mut kept.fresh));
    }
}

impl Kept {
    fn read(&mut self, pid: i32, longest: u64) {
        let file = open_map(pid);
        let state = file.as_ref().and_then(|f| f.metadata().ok()).map(|m| {
            let number = |n: u64| n.cast_signed();
            [number(m.dev()), number(m.ino()), number(m.len()), m.mtime_nsec() ^ m.mtime() << 30]
        });
        if state == self.state {
            return;
        }
        let mut bytes = Vec::new();
        let read = file.map(|f| f.take(longest).read_to_end(&mut bytes));
        self.map = if matches!(read, Some(Ok(_))) { JitMap::parse(&bytes) } else { JitMap::default() };
        self.length = bytes.len() as u64;
        self.state = state;
    }
}

/// Opens the map of a process, if it is a file that may be believed.
fn open_map(pid: i32) -> Option<File> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let user: u32 = field("Uid")?.split_whitespace().nth(1)?.parse().ok()?;
    // In a container the program knows itself by another number, the last of these.
    let inner = field("NSpid").and_then(|ids| ids.split_whitespace().last()).map(str::to_owned);
    let inner = inner.unwrap_or_else(|| pid.to_string());
    let root = open(format!("/proc/{pid}/root"), OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
    // No link leads out of its root, and neither a pipe nor a device is waited for.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    let file = openat2(root, format!("tmp/perf-{inner}.map"), flags, Mode::empty(), resolve).ok()?;
    let file = File::from(file);
    let meta = file.metadata().ok()?;
    (meta.is_file() && (meta.uid() == user || meta.uid() == 0)).then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Other tests of this program must not look at this file: it is the only one with a map.
    #[test]
    fn the_map_of_a_process_is_read_again_when_it_has_grown() {
        let pid = std::process::id().cast_signed();
        let path = format!("/tmp/perf-{pid}.map");
        let mut maps = JitMaps::default();
        assert_eq!(maps.resolve(pid, 0x1008), None);
        fs::write(&path, "1000 10 first\n").unwrap();
        assert_eq!(maps.resolve(pid, 0x1008), None, "once a flush");
        maps.flushed();
        let first = maps.resolve(pid, 0x1008).map(str::to_owned);
        fs::write(&path, "1000 10 first\n2000 10 second\n").unwrap();
        maps.flushed();
        let second = maps.resolve(pid, 0x2000).map(str::to_owned);
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/etc/hostname", &path).unwrap();
        maps.flushed();
        let link = maps.resolve(pid, 0x2000).map(str::to_owned);
        fs::remove_file(&path).unwrap();
        assert_eq!((first.as_deref(), second.as_deref(), link), (Some("first"), Some("second"), None));
    }
}
