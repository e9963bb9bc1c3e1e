//! The binary words of a gperftools profile: header, records, trailer.
//!
//! Invariant: a record lies in the file as a whole; reading ends at the trailer or at the first word that
//! cannot be one of a record.

/// How the words of a file are written, and its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    wide: bool,
    big: bool,
    /// Version 1: Java, whose file names its locations itself.
    pub java: bool,
    pub period_ns: u64,
}

/// Words of the header: count 0, three more, version, microseconds of the period, padding.
const HEADER_WORDS: usize = 5;

impl Header {
    pub fn read(bytes: &[u8]) -> Option<Header> {
        /// An hour between samples is no period.
        const MAX_PERIOD_US: u64 = 3_600_000_000;
        for (wide, big) in [(true, false), (true, true), (false, false), (false, true)] {
            let mut header = Header { wide, big, java: false, period_ns: 0 };
            let words: [Option<u64>; HEADER_WORDS] =
                std::array::from_fn(|i| header.word(bytes, i * header.width()));
            if let [Some(0), Some(3), Some(version @ (0 | 1)), Some(period @ 1..=MAX_PERIOD_US), Some(0)] =
                words
            {
                header.java = version == 1;
                header.period_ns = period * 1000;
                return Some(header);
            }
        }
        None
    }

    fn width(self) -> usize {
        if self.wide { 8 } else { 4 }
    }

    fn word(self, bytes: &[u8], at: usize) -> Option<u64> {
        let word = bytes.get(at..at.checked_add(self.width())?)?;
        let add = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        Some(if self.big { word.iter().fold(0, add) } else { word.iter().rev().fold(0, add) })
    }
}

/// One stack, and how many samples had it.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    pub count: u64,
    /// First address and number of addresses.
    at: usize,
    depth: usize,
}

impl Record {
    pub fn leaf(&self, bytes: &[u8], header: Header) -> Option<u64> {
        (self.depth > 0).then(|| header.word(bytes, self.at)).flatten()
    }

    /// Addresses above the leaf and `skip` more.
    pub fn callers<'a>(
        &self,
        bytes: &'a [u8],
        header: Header,
        skip: u8,
    ) -> impl Iterator<Item = u64> + use<'a> {
        let at = self.at;
        (1 + usize::from(skip)..self.depth).map_while(move |i| header.word(bytes, at + i * header.width()))
    }
}

/// All records of a file.
#[derive(Debug)]
pub struct Records<'a> {
    pub bytes: &'a [u8],
    pub header: Header,
    pub all: Vec<Record>,
    /// Where the text begins; of a file that breaks off, where its last whole record ends.
    pub end: usize,
    /// There is no trailer.
    pub cut: bool,
}

impl<'a> Records<'a> {
    pub fn read(bytes: &'a [u8], header: Header) -> Records<'a> {
        let width = header.width();
        let mut records = Records { bytes, header, all: Vec::new(), end: HEADER_WORDS * width, cut: true };
        while let Some(record) = record(bytes, header, records.end) {
            records.end = record.at + record.depth * width;
            if record.count == 0 && record.depth == 1 && record.leaf(bytes, header) == Some(0) {
                records.cut = false;
                break;
            }
            records.all.push(record);
        }
        records
    }
}

/// The record at a byte; `None` for one that is not there as a whole.
fn record(bytes: &[u8], header: Header, start: usize) -> Option<Record> {
    let width = header.width();
    let count = header.word(bytes, start)?;
    let depth = usize::try_from(header.word(bytes, start + width)?).ok()?;
    let at = start + 2 * width;
    let end = at.checked_add(depth.checked_mul(width)?)?;
    (end <= bytes.len()).then_some(Record { count, at, depth })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_told_in_all_four_ways_to_write_it() {
        for (wide, big) in [(true, false), (true, true), (false, false), (false, true)] {
            let write = |words: [u64; 5]| -> Vec<u8> {
                let bytes = words.iter().flat_map(|w| match (wide, big) {
                    (true, false) => w.to_le_bytes().to_vec(),
                    (true, true) => w.to_be_bytes().to_vec(),
                    (false, false) => (*w as u32).to_le_bytes().to_vec(),
                    (false, true) => (*w as u32).to_be_bytes().to_vec(),
                });
                bytes.collect()
            };
            let header = Header { wide, big, java: false, period_ns: 10_000_000 };
            assert_eq!(Header::read(&write([0, 3, 0, 10_000, 0])), Some(header));
            assert_eq!(Header::read(&write([0, 3, 1, 10_000, 0])), Some(Header { java: true, ..header }));
            for bad in [[1, 3, 0, 10_000, 0], [0, 4, 0, 10_000, 0], [0, 3, 2, 10_000, 0], [0, 3, 0, 0, 0]] {
                assert_eq!(Header::read(&write(bad)), None, "{bad:?}");
            }
        }
    }
}
