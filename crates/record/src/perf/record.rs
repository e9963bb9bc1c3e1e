//! Records of the ring as types, read from copied bytes.
//!
//! Layout: `perf_event_open(2)`, "MMAP layout", for the sample type of `attr`. Invariant: reading
//! never goes past the record's own size; a record that is too short is `Other`.

use perf_event_open_sys::bindings as sys;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Record<'a> {
    Sample(Sample<'a>),
    Comm { pid: i32, tid: i32, exec: bool, comm: &'a [u8] },
    Mmap { pid: i32, start: u64, len: u64, offset: u64, inode: u64, path: &'a [u8] },
    Fork { pid: i32, ppid: i32, tid: i32, ptid: i32 },
    Exit { pid: i32, tid: i32 },
    Lost(u64),
    Throttle,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sample<'a> {
    pub event_id: u64,
    pub pid: i32,
    pub tid: i32,
    pub period: u64,
    /// Taken while a virtual machine's code ran.
    pub guest: bool,
    chain: &'a [u8],
}

impl<'a> Sample<'a> {
    /// A sample of a test.
    #[cfg(test)]
    pub(crate) fn of(pid: i32, tid: i32, chain: &'a [u8]) -> Sample<'a> {
        Sample { event_id: 0, pid, tid, period: 1, guest: false, chain }
    }

    /// The bytes of the call chain: equal ones are equal chains of one process.
    pub(crate) fn raw_chain(&self) -> &'a [u8] {
        self.chain
    }

    /// The call chain, leaf first, with the kernel's context marks in it.
    pub(crate) fn chain(&self) -> impl Iterator<Item = u64> + use<'a> {
        self.chain.chunks_exact(8).filter_map(|b| b.try_into().ok().map(u64::from_ne_bytes))
    }
}

/// A record, when (nanoseconds of the monotonic clock) and on which CPU it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timed<'a> {
    pub time: u64,
    pub cpu: u32,
    pub record: Record<'a>,
}

/// Length of the record at the start of `bytes`; `None` when no whole record is there.
pub(crate) fn record_len(bytes: &[u8]) -> Option<usize> {
    let size = usize::from(u16::from_ne_bytes(bytes.get(6..8)?.try_into().ok()?));
    (size >= 8 && size <= bytes.len()).then_some(size)
}

/// Reads one whole record.
pub(crate) fn parse(record: &[u8]) -> Timed<'_> {
    let body = Body(record.get(8..).unwrap_or_default());
    let kind = u32::from_ne_bytes(record.get(..4).and_then(|b| b.try_into().ok()).unwrap_or_default());
    let misc = u16::from_ne_bytes(record.get(4..6).and_then(|b| b.try_into().ok()).unwrap_or_default());
    if kind == sys::PERF_RECORD_SAMPLE {
        return sample(body, misc).unwrap_or(Timed { time: 0, cpu: 0, record: Record::Other });
    }
    // Behind every other record: tid, time, cpu and identifier, eight bytes each.
    let trailer = body.0.len().saturating_sub(32);
    let time = body.u64(trailer + 8).unwrap_or(0);
    let cpu = body.i32(trailer + 16).unwrap_or(0) as u32;
    let payload = Body(body.0.get(..trailer).unwrap_or_default());
    Timed { time, cpu, record: side_band(kind, misc, payload).unwrap_or(Record::Other) }
}

fn sample(body: Body<'_>, misc: u16) -> Option<Timed<'_>> {
    let entries = usize::try_from(body.u64(48)?).ok()?;
    let chain = body.0.get(56..56usize.checked_add(entries.checked_mul(8)?)?)?;
    let mode = u32::from(misc) & sys::PERF_RECORD_MISC_CPUMODE_MASK;
    let guest = mode == sys::PERF_RECORD_MISC_GUEST_KERNEL || mode == sys::PERF_RECORD_MISC_GUEST_USER;
    let sample = Sample {
        event_id: body.u64(0)?,
        pid: body.i32(16)?,
        tid: body.i32(20)?,
        period: body.u64(40)?,
        guest,
        chain,
    };
    Some(Timed { time: body.u64(24)?, cpu: body.i32(32)? as u32, record: Record::Sample(sample) })
}

fn side_band(kind: u32, misc: u16, body: Body<'_>) -> Option<Record<'_>> {
    Some(match kind {
        sys::PERF_RECORD_COMM => Record::Comm {
            pid: body.i32(0)?,
            tid: body.i32(4)?,
            exec: u32::from(misc) & sys::PERF_RECORD_MISC_COMM_EXEC != 0,
            comm: body.text(8)?,
        },
        sys::PERF_RECORD_MMAP2 => Record::Mmap {
            pid: body.i32(0)?,
            start: body.u64(8)?,
            len: body.u64(16)?,
            offset: body.u64(24)?,
            inode: body.u64(40)?,
            path: body.text(64)?,
        },
        sys::PERF_RECORD_FORK => {
            Record::Fork { pid: body.i32(0)?, ppid: body.i32(4)?, tid: body.i32(8)?, ptid: body.i32(12)? }
        }
        sys::PERF_RECORD_EXIT => Record::Exit { pid: body.i32(0)?, tid: body.i32(8)? },
        sys::PERF_RECORD_LOST => Record::Lost(body.u64(8)?),
        sys::PERF_RECORD_LOST_SAMPLES => Record::Lost(body.u64(0)?),
        sys::PERF_RECORD_THROTTLE => Record::Throttle,
        _ => Record::Other,
    })
}

#[derive(Clone, Copy)]
struct Body<'a>(&'a [u8]);

impl<'a> Body<'a> {
    fn u64(self, at: usize) -> Option<u64> {
        Some(u64::from_ne_bytes(self.0.get(at..at.checked_add(8)?)?.try_into().ok()?))
    }

    fn i32(self, at: usize) -> Option<i32> {
        Some(i32::from_ne_bytes(self.0.get(at..at.checked_add(4)?)?.try_into().ok()?))
    }

    /// Bytes up to the first zero.
    fn text(self, at: usize) -> Option<&'a [u8]> {
        let rest = self.0.get(at..)?;
        Some(rest.split(|b| *b == 0).next().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u32, misc: u16, body: &[u8]) -> Vec<u8> {
        let mut bytes = kind.to_ne_bytes().to_vec();
        bytes.extend(misc.to_ne_bytes());
        bytes.extend((body.len() as u16 + 8).to_ne_bytes());
        bytes.extend(body);
        bytes
    }

    #[test]
    fn a_sample_is_read_and_a_cut_one_is_not() {
        let mut body = Vec::new();
        for word in [7u64, 0x1000] {
            body.extend(word.to_ne_bytes());
        }
        body.extend(11i32.to_ne_bytes());
        body.extend(12i32.to_ne_bytes());
        body.extend(99u64.to_ne_bytes());
        body.extend(3u64.to_ne_bytes());
        body.extend(1000u64.to_ne_bytes());
        body.extend(2u64.to_ne_bytes());
        body.extend(0x10u64.to_ne_bytes());
        body.extend(0x20u64.to_ne_bytes());
        let bytes = record(sys::PERF_RECORD_SAMPLE, 1, &body);
        assert_eq!(record_len(&bytes), Some(bytes.len()));
        let Timed { time: 99, cpu: 3, record: Record::Sample(sample) } = parse(&bytes) else {
            panic!("no sample")
        };
        assert_eq!((sample.pid, sample.tid, sample.period), (11, 12, 1000));
        assert_eq!(sample.chain().collect::<Vec<_>>(), [0x10, 0x20]);
        for cut in 0..bytes.len() {
            let cut = &bytes[..cut];
            assert_eq!(record_len(cut), None);
            assert!(!matches!(parse(cut).record, Record::Sample(_)));
        }
    }

    #[test]
    fn a_comm_record_ends_at_its_zero_and_keeps_control_characters() {
        let mut body = 5i32.to_ne_bytes().to_vec();
        body.extend(6i32.to_ne_bytes());
        body.extend(b"a\nb\x1b\0\0\0\0");
        for word in [0u64, 42, 1, 0] {
            body.extend(word.to_ne_bytes());
        }
        let misc = sys::PERF_RECORD_MISC_COMM_EXEC as u16;
        let bytes = record(sys::PERF_RECORD_COMM, misc, &body);
        let want = Record::Comm { pid: 5, tid: 6, exec: true, comm: b"a\nb\x1b" };
        assert_eq!(parse(&bytes), Timed { time: 42, cpu: 1, record: want });
    }
}
