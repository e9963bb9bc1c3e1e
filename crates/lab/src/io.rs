//! The application's data: write, read, compare, through the DMU or through files of a file system.
//!
//! No two 4 KiB pieces are alike: a pattern of random bytes, with zeros in it where the data shall compress,
//! repeats after 4 MiB, so that nothing repeats inside a record, and in each piece is a mark made of its object
//! and offset. Reading checks the marks (cheap, so that it does not
//! count as work of ZFS); verifying compares every byte.

use crate::Bytes;
use crate::failure::Failure;
use crate::latency::Latencies;
use crate::plan::SplitMix;
use crate::result::ThreadGroup;
use crate::spec::{Content, Order, Setup, Way};
use crate::workers::{self, Report};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use zwhy_host::thread_cpu;

const PIECE: u64 = 4096;
/// Length of the pattern, or of one I/O where that is longer.
const PATTERN: u64 = 4 << 20;
/// Half of the data in pieces of this size is zeros where it shall compress.
const SECTOR: usize = 512;
/// Text repeats after so many bytes, so that it compresses well.
const PHRASE: usize = 64;

/// Where the bytes go: objects of a dataset, or files.
pub trait Target: Sync {
    /// # Errors
    /// When not all of `data` was taken.
    fn write_at(&self, way: Way, object: u64, offset: u64, data: &[u8]) -> Result<(), Failure>;
    /// Fills `data`.
    ///
    /// # Errors
    /// When not all of it could be read.
    fn read_at(&self, way: Way, object: u64, offset: u64, data: &mut [u8]) -> Result<(), Failure>;
}

/// One object of each thread, all of the same size.
pub struct Data {
    objects: Vec<u64>,
    each: u64,
    io_size: u64,
    recordsize: u64,
    way: Way,
    /// Of the order in which blocks are touched.
    seed: u64,
    /// The data without marks.
    pattern: Vec<u8>,
}

/// What a step touched.
pub struct Moved {
    pub threads: ThreadGroup,
    /// Of the calls; empty where there were none that can be timed.
    pub latencies: Latencies,
    pub bytes: u64,
    pub blocks: u64,
}

/// A buffer that starts at a page, as applications with direct I/O have it.
pub struct Buffer {
    memory: Vec<u8>,
    start: usize,
    len: usize,
}

impl Buffer {
    pub fn new(len: usize) -> Buffer {
        let memory = vec![0; len + PIECE as usize];
        let start = memory.as_ptr().align_offset(PIECE as usize);
        Buffer { memory, start, len }
    }

    pub fn bytes(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.len]
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Check {
    Marks,
    EveryByte,
}

/// How data is read.
pub struct Reading {
    /// `None` for all.
    pub bytes: Option<Bytes>,
    pub order: Order,
    /// How often, from the first byte to the last, without a pause.
    pub count: u32,
    pub check: Check,
    /// Turns one byte after it was read, to prove that the check finds it.
    pub spoil: bool,
}

impl Reading {
    /// All of the data once, in its order.
    pub fn all(check: Check) -> Reading {
        Reading { bytes: None, order: Order::Sequential, count: 1, check, spoil: false }
    }
}

impl Data {
    /// `objects`: one for each thread. `sample`: of the user's own files.
    ///
    /// # Errors
    /// When the sample shall be written and cannot be read.
    pub fn new(
        objects: Vec<u64>,
        setup: &Setup,
        bytes: Bytes,
        seed: u64,
        sample: Option<&Path>,
    ) -> Result<Data, Failure> {
        let io_size = setup.io_size.0;
        let each = bytes.0.div_ceil(u64::from(setup.threads)).next_multiple_of(io_size);
        let pattern = pattern(setup, seed, sample)?;
        let recordsize = setup.recordsize().0;
        Ok(Data { objects, each, io_size, recordsize, way: setup.io, seed, pattern })
    }

    /// Writes `bytes` of the data, all when there are none.
    pub fn write(
        &self,
        target: &dyn Target,
        bytes: Option<Bytes>,
        order: Order,
        report: Report<'_>,
    ) -> Result<Moved, Failure> {
        self.in_threads("lab-writer", (bytes, 1), report, |object, each, done, calls| {
            let mut data = Buffer::new(self.pattern.len());
            data.bytes().copy_from_slice(&self.pattern);
            for offset in self.offsets(each, order, object) {
                let data = &mut data.bytes()[self.place(offset)];
                mark(data, object, offset);
                calls.of(|| target.write_at(self.way, object, offset, data))?;
                done.fetch_add(self.io_size, Ordering::Relaxed);
            }
            Ok(())
        })
    }

    pub fn read(&self, target: &dyn Target, what: &Reading, report: Report<'_>) -> Result<Moved, Failure> {
        self.in_threads("lab-reader", (what.bytes, what.count), report, |object, each, done, calls| {
            let mut buffer = Buffer::new(self.io_size as usize);
            let mut expected = match what.check {
                Check::Marks => Vec::new(),
                Check::EveryByte => self.pattern.clone(),
            };
            let offsets = self.offsets(each, what.order, object);
            for &offset in (0..what.count).flat_map(|_| &offsets) {
                calls.of(|| target.read_at(self.way, object, offset, buffer.bytes()))?;
                if what.spoil {
                    buffer.bytes()[0] ^= 1;
                }
                match what.check {
                    Check::Marks => check_marks(buffer.bytes(), object, offset)?,
                    Check::EveryByte => {
                        let expected = &mut expected[self.place(offset)];
                        mark(expected, object, offset);
                        check_bytes(buffer.bytes(), expected, object, offset)?;
                    }
                }
                done.fetch_add(self.io_size, Ordering::Relaxed);
            }
            Ok(())
        })
    }

    /// Writes `bytes` at a place of the first object that moves on with `turn`.
    pub fn change(&self, target: &dyn Target, bytes: Bytes, turn: u32) -> Result<(), Failure> {
        let mut buffer = Buffer::new(self.io_size as usize);
        let object = self.objects[0];
        let mut left = bytes.0;
        let mut at = u64::from(turn) * bytes.0.next_multiple_of(self.recordsize) % self.each;
        while left > 0 {
            let part = left.min(self.io_size - at % self.io_size).min(self.each - at);
            let start = at - at % self.io_size;
            buffer.bytes().copy_from_slice(&self.pattern[self.place(start)]);
            mark(buffer.bytes(), object, start);
            let from = (at - start) as usize;
            target.write_at(Way::Buffered, object, at, &buffer.bytes()[from..from + part as usize])?;
            left -= part;
            at = (at + part) % self.each;
        }
        Ok(())
    }

    /// Calls `work`, which moves all data once, in the calling thread.
    ///
    /// # Errors
    /// Those of `work`.
    pub fn moved_by<T>(
        &self,
        thread: &str,
        work: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<(T, Moved), Failure> {
        let before = thread_cpu().as_secs_f64();
        let result = work()?;
        let cpu_s = thread_cpu().as_secs_f64() - before;
        let bytes = self.each * self.objects.len() as u64;
        let threads = ThreadGroup { comm: thread.into(), threads: 1, cpu_s };
        let (latencies, blocks) = (Latencies::default(), bytes.div_ceil(self.recordsize));
        Ok((result, Moved { threads, latencies, bytes, blocks }))
    }

    /// Where in the pattern the data of an I/O at `offset` is.
    fn place(&self, offset: u64) -> std::ops::Range<usize> {
        let at = (offset % self.pattern.len() as u64) as usize;
        at..at + self.io_size as usize
    }

    /// Where each I/O of `each` bytes of an object begins.
    fn offsets(&self, each: u64, order: Order, object: u64) -> Vec<u64> {
        let mut offsets: Vec<u64> = (0..self.each).step_by(self.io_size as usize).collect();
        if order == Order::Random {
            SplitMix(self.seed ^ object).shuffle(&mut offsets);
        }
        offsets.truncate((each / self.io_size) as usize);
        offsets
    }

    /// Runs `work` for each object in a thread of its own, which moves `bytes` so many times.
    fn in_threads(
        &self,
        name: &str,
        (bytes, count): (Option<Bytes>, u32),
        report: Report<'_>,
        work: impl Fn(u64, u64, &AtomicU64, &mut Latencies) -> Result<(), Failure> + Sync,
    ) -> Result<Moved, Failure> {
        let objects = self.objects.len() as u64;
        let each =
            bytes.map_or(self.each, |b| b.0.div_ceil(objects).next_multiple_of(self.io_size).min(self.each));
        let total = each * objects * u64::from(count);
        let of_object = |number: usize, done: &AtomicU64, calls: &mut Latencies| {
            work(self.objects[number], each, done, calls)
        };
        let (threads, latencies) = workers::run(name, self.objects.len(), total, report, of_object)?;
        // A small I/O touches its block, a large one several.
        let ios = total / self.io_size;
        let blocks = ios * self.io_size.div_ceil(self.recordsize);
        Ok(Moved { threads, latencies, bytes: total, blocks })
    }
}

/// The data without marks.
fn pattern(setup: &Setup, seed: u64, sample: Option<&Path>) -> Result<Vec<u8>, Failure> {
    let io_size = setup.io_size.0;
    let mut random = SplitMix(seed);
    let words = io_size.max(PATTERN) / 8;
    let made_up =
        |random: &mut SplitMix| (0..words).flat_map(|_| random.next().to_le_bytes()).collect::<Vec<u8>>();
    Ok(match setup.data {
        Content::Random => made_up(&mut random),
        Content::Half => {
            let mut pattern = made_up(&mut random);
            pattern.chunks_mut(SECTOR).skip(1).step_by(2).for_each(|sector| sector.fill(0));
            pattern
        }
        Content::Text => {
            let mut pattern = made_up(&mut random);
            let phrase = pattern[..PHRASE].to_vec();
            pattern.chunks_mut(PHRASE).for_each(|chunk| chunk.copy_from_slice(&phrase[..chunk.len()]));
            pattern
        }
        Content::Prose => crate::prose::prose(&mut random, words as usize * 8),
        Content::Sample => {
            let doing = "read the sample of the data";
            let path = sample.ok_or_else(|| Failure::other(doing, "there is none"))?;
            crate::sample::read(path, io_size).map_err(|e| Failure::other(doing, e))?
        }
    })
}

fn mark_of(object: u64, offset: u64) -> u64 {
    SplitMix(object.rotate_left(32) ^ offset).next()
}

fn mark(buffer: &mut [u8], object: u64, offset: u64) {
    for (piece, at) in buffer.chunks_exact_mut(PIECE as usize).zip((offset..).step_by(PIECE as usize)) {
        piece[..8].copy_from_slice(&mark_of(object, at).to_le_bytes());
    }
}

fn check_marks(buffer: &[u8], object: u64, offset: u64) -> Result<(), Failure> {
    for (piece, at) in buffer.chunks_exact(PIECE as usize).zip((offset..).step_by(PIECE as usize)) {
        if piece[..8] != mark_of(object, at).to_le_bytes() {
            return Err(wrong(object, at, "the mark at its start is another"));
        }
    }
    Ok(())
}

fn check_bytes(buffer: &[u8], expected: &[u8], object: u64, offset: u64) -> Result<(), Failure> {
    if buffer == expected {
        return Ok(());
    }
    let at = buffer.iter().zip(expected).position(|(a, b)| a != b).unwrap_or(0);
    let found = format!("the byte is {:#04x} and {:#04x} was written", buffer[at], expected[at]);
    Err(wrong(object, offset + at as u64, &found))
}

fn wrong(object: u64, at: u64, found: &str) -> Failure {
    Failure::other(
        format!("trust what was read at byte {at} of object {object}"),
        format!("{found}; OpenZFS returned wrong data without an error"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_differ_by_object_and_offset() {
        let mut buffer = vec![7; 3 * PIECE as usize];
        mark(&mut buffer, 2, 8192);
        assert!(check_marks(&buffer, 2, 8192).is_ok());
        assert!(check_marks(&buffer, 3, 8192).is_err());
        let error = check_marks(&buffer, 2, 12288).unwrap_err().to_string();
        assert!(error.contains("byte 12288 of object 2"), "{error}");
    }

    #[test]
    fn a_single_wrong_byte_is_found_and_placed() {
        let expected = vec![7; 2 * PIECE as usize];
        let mut read = expected.clone();
        read[5000] = 8;
        let error = check_bytes(&read, &expected, 1, 1 << 20).unwrap_err().to_string();
        assert!(error.contains(&format!("byte {}", (1 << 20) + 5000)) && error.contains("0x08"), "{error}");
    }

    #[test]
    fn buffers_start_at_a_page() {
        assert!((Buffer::new(4096).bytes().as_ptr() as u64).is_multiple_of(PIECE));
    }
}
