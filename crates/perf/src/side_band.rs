//! Records that tell what processes and the recording itself do: names, mappings, forks, ends, losses.
//!
//! Layout: `perf_event_open(2)`, "MMAP layout". Invariant: reading never goes past the record's own size; a
//! record that is too short is [`SideBand::Other`].

use crate::record::{self, Record};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SideBand<'a> {
    /// A thread took a name; with `exec` its process runs another program.
    Comm {
        pid: i32,
        tid: i32,
        exec: bool,
        comm: &'a [u8],
    },
    Mmap(Mmap<'a>),
    /// A thread was made, with `pid != ppid` a process.
    Fork {
        pid: i32,
        ppid: i32,
        tid: i32,
        ptid: i32,
    },
    /// A thread ended.
    Exit {
        pid: i32,
        tid: i32,
    },
    /// So many records found no room.
    Lost(u64),
    /// So many samples of one event found no room.
    LostSamples(u64),
    Throttle,
    /// The thread came to this CPU.
    SwitchedIn,
    Other,
}

/// A mapping of a file, or of memory without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mmap<'a> {
    pub pid: i32,
    pub start: u64,
    pub len: u64,
    /// Of its first byte in the file.
    pub offset: u64,
    pub path: &'a [u8],
    pub identity: Identity<'a>,
    /// `misc & 7`: kernel, user, guest.
    pub mode: u16,
    /// Not executable.
    pub data: bool,
}

/// What tells the mapped file from others of its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity<'a> {
    Unknown,
    Inode(u64),
    BuildId(&'a [u8]),
}

impl Mmap<'_> {
    /// The path as /proc/PID/maps would show it: memory without a file has none.
    pub fn shown_path(&self) -> std::borrow::Cow<'_, str> {
        if self.path == b"//anon" { "".into() } else { String::from_utf8_lossy(self.path) }
    }
}

impl<'a> SideBand<'a> {
    pub fn of(r: &Record<'a>) -> SideBand<'a> {
        read(r).unwrap_or(SideBand::Other)
    }
}

fn read<'a>(r: &Record<'a>) -> Option<SideBand<'a>> {
    let v = r.view;
    Some(match r.kind {
        record::COMM => SideBand::Comm {
            pid: v.i32(8)?,
            tid: v.i32(12)?,
            exec: r.misc & record::MISC_BIT13 != 0,
            comm: v.c_bytes(16),
        },
        record::MMAP | record::MMAP2 => SideBand::Mmap(mmap(r)?),
        record::FORK => {
            SideBand::Fork { pid: v.i32(8)?, ppid: v.i32(12)?, tid: v.i32(16)?, ptid: v.i32(20)? }
        }
        record::EXIT => SideBand::Exit { pid: v.i32(8)?, tid: v.i32(16)? },
        record::LOST => SideBand::Lost(v.u64(16)?),
        record::LOST_SAMPLES if r.misc & record::MISC_LOST_BY_BPF == 0 => SideBand::LostSamples(v.u64(8)?),
        record::THROTTLE => SideBand::Throttle,
        record::SWITCH | record::SWITCH_CPU_WIDE if r.misc & record::MISC_BIT13 == 0 => SideBand::SwitchedIn,
        _ => SideBand::Other,
    })
}

fn mmap<'a>(r: &Record<'a>) -> Option<Mmap<'a>> {
    let v = r.view;
    let is_new = r.kind == record::MMAP2;
    let identity = if is_new && r.misc & record::MISC_BUILD_ID != 0 {
        let len = usize::from(v.bytes.get(40).copied()?).min(20);
        v.part(44, len).map_or(Identity::Unknown, |id| Identity::BuildId(id.bytes))
    } else {
        match v.u64(48).filter(|inode| is_new && *inode != 0) {
            Some(inode) => Identity::Inode(inode),
            None => Identity::Unknown,
        }
    };
    Some(Mmap {
        pid: v.i32(8)?,
        start: v.u64(16)?,
        len: v.u64(24)?,
        offset: v.u64(32)?,
        path: v.c_bytes(if is_new { 72 } else { 40 }),
        identity,
        mode: r.misc & record::MISC_CPUMODE,
        data: r.misc & record::MISC_BIT13 != 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::{Order, View};

    fn record(bytes: &[u8], kind: u32, misc: u16) -> SideBand<'_> {
        SideBand::of(&Record { kind, misc, view: View::new(bytes, Order::Little) })
    }

    #[test]
    fn a_comm_record_ends_at_its_zero_and_keeps_control_characters() {
        let mut bytes = vec![0; 8];
        bytes.extend([5i32, 6].map(i32::to_le_bytes).concat());
        bytes.extend(b"a\nb\x1b\0\0\0\0");
        let want = SideBand::Comm { pid: 5, tid: 6, exec: true, comm: b"a\nb\x1b" };
        assert_eq!(record(&bytes, record::COMM, record::MISC_BIT13), want);
        assert_eq!(record(&bytes[..14], record::COMM, 0), SideBand::Other);
    }

    #[test]
    fn what_tells_files_of_one_path_apart_is_read_and_a_cut_mapping_is_not() {
        let mut bytes = vec![0; 8];
        bytes.extend([5i32, 6].map(i32::to_le_bytes).concat());
        bytes.extend([0x1000u64, 0x2000, 0x3000, 0, 77, 0, 0].map(u64::to_le_bytes).concat());
        bytes.extend(b"/a\0\0\0\0\0\0");
        let SideBand::Mmap(map) = record(&bytes, record::MMAP2, 2) else { panic!("no mapping") };
        assert_eq!((map.start, map.len, map.offset, map.path), (0x1000, 0x2000, 0x3000, &b"/a"[..]));
        assert_eq!((map.identity, map.mode, map.data), (Identity::Inode(77), 2, false));
        bytes[40] = 3;
        let SideBand::Mmap(map) = record(&bytes, record::MMAP2, record::MISC_BUILD_ID) else { panic!() };
        assert_eq!(map.identity, Identity::BuildId(&[0, 0, 0]));
        assert!((0..40).all(|cut| record(&bytes[..cut], record::MMAP2, 0) == SideBand::Other));
    }
}
