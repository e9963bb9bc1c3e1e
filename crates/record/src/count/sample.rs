//! A sample of a probe, in the layout that `probe` asks for.
//!
//! Invariant: reading never goes past the record's own size.

use perf_event_open_sys::bindings as sys;

pub(super) struct ProbeSample<'a> {
    pub event_id: u64,
    pub pid: i32,
    pub tid: i32,
    pub time: u64,
    chain: &'a [u8],
    /// The return address of the function, where the architecture keeps it on the stack.
    pub caller: Option<u64>,
}

impl<'a> ProbeSample<'a> {
    /// Reads a whole record; `None` when it is no sample, or cut.
    pub(super) fn parse(record: &'a [u8]) -> Option<ProbeSample<'a>> {
        let kind = u32::from_ne_bytes(record.get(..4)?.try_into().ok()?);
        if kind != sys::PERF_RECORD_SAMPLE {
            return None;
        }
        let body = record.get(8..)?;
        let word = |at: usize| -> Option<u64> {
            Some(u64::from_ne_bytes(body.get(at..at.checked_add(8)?)?.try_into().ok()?))
        };
        let half =
            |at: usize| -> Option<i32> { Some(i32::from_ne_bytes(body.get(at..at + 4)?.try_into().ok()?)) };
        let entries = usize::try_from(word(32)?).ok()?;
        let end = 40usize.checked_add(entries.checked_mul(8)?)?;
        let chain = body.get(40..end)?;
        // Size, bytes, and how many of them are real.
        let caller = match word(end) {
            Some(8) if word(end + 16) == Some(8) => word(end + 8),
            _ => None,
        };
        Some(ProbeSample {
            event_id: word(0)?,
            pid: half(8)?,
            tid: half(12)?,
            time: word(16)?,
            chain,
            caller,
        })
    }

    /// The call chain, leaf first, with the kernel's context marks in it.
    pub(super) fn chain(&self) -> impl Iterator<Item = u64> + use<'a> {
        self.chain.chunks_exact(8).filter_map(|b| b.try_into().ok().map(u64::from_ne_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(words: &[u64]) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(sys::PERF_RECORD_SAMPLE.to_ne_bytes());
        bytes.extend(0u16.to_ne_bytes());
        bytes.extend(((words.len() + 1) as u16 * 8).to_ne_bytes());
        words.iter().for_each(|w| bytes.extend(w.to_ne_bytes()));
        bytes
    }

    #[test]
    fn fields_and_the_top_of_the_stack_are_read() {
        let tid = 7 | 9 << 32;
        let with = record(&[5, tid, 100, 1, 2, 0xaa, 0xbb, 8, 0xcc, 8]);
        let sample = ProbeSample::parse(&with).unwrap();
        assert_eq!((sample.event_id, sample.pid, sample.tid, sample.time), (5, 7, 9, 100));
        assert_eq!((sample.chain().collect::<Vec<_>>(), sample.caller), (vec![0xaa, 0xbb], Some(0xcc)));
        let unreadable = record(&[5, tid, 100, 1, 0, 8, 0, 0]);
        assert_eq!(ProbeSample::parse(&unreadable).unwrap().caller, None);
        let kernel = record(&[5, tid, 100, 1, 0]);
        assert_eq!(ProbeSample::parse(&kernel).unwrap().caller, None);
    }

    #[test]
    fn a_lying_length_gives_nothing() {
        for entries in [3, u64::MAX, u64::MAX / 8] {
            assert!(ProbeSample::parse(&record(&[5, 0, 100, 1, entries, 1, 2])).is_none());
        }
        for cut in 0..48 {
            let _ = ProbeSample::parse(&record(&[5, 0, 100, 1, 1, 1])[..cut]);
        }
    }
}
