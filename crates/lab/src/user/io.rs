//! Data through the DMU: write, read front to back, compare.
//!
//! No two 4 KiB pieces are alike: one random buffer, with zeros in it where the data shall compress,
//! and in each piece a mark made of its object and offset. Reading checks the marks (cheap, so that it does not
//! count as work of ZFS); verifying compares every byte.

use super::abi::Zpool;
use super::dataset::{Dataset, Open, transaction};
use super::protocol::Failure;
use crate::plan::SplitMix;
use crate::result::ThreadGroup;
use crate::settings::Content;
use crate::{Bytes, Settings};
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use zwhy_profile::Nanos;

const PIECE: u64 = 4096;
/// Half of the data in pieces of this size is zeros where it shall compress.
const SECTOR: usize = 512;

/// One object of each thread, all of the same size.
pub struct Data {
    objects: Vec<u64>,
    each: u64,
    io_size: u64,
    /// One I/O without marks.
    random: Vec<u8>,
}

/// A buffer that starts at a page, as applications with direct I/O have it.
struct Buffer {
    memory: Vec<u8>,
    start: usize,
    len: usize,
}

impl Buffer {
    fn new(len: usize) -> Buffer {
        let memory = vec![0; len + PIECE as usize];
        let start = memory.as_ptr().align_offset(PIECE as usize);
        Buffer { memory, start, len }
    }

    fn bytes(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.len]
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Check {
    Marks,
    EveryByte,
}

/// Called with the bytes done, a few times a second.
pub type Report<'a> = &'a mut dyn FnMut(u64, u64);

impl Data {
    pub fn create(
        dataset: &Dataset<'_>,
        settings: &Settings,
        bytes: Bytes,
        seed: u64,
    ) -> Result<Data, Failure> {
        let io_size = settings.io_size.0;
        let each = bytes.0.div_ceil(u64::from(settings.threads)).next_multiple_of(io_size);
        let objects: Result<Vec<u64>, Failure> =
            (0..settings.threads).map(|_| dataset.new_object(settings.recordsize.0)).collect();
        let mut random = SplitMix(seed);
        let mut random: Vec<u8> = (0..io_size / 8).flat_map(|_| random.next().to_le_bytes()).collect();
        if settings.data == Content::Half {
            random.chunks_mut(SECTOR).skip(1).step_by(2).for_each(|sector| sector.fill(0));
        }
        Ok(Data { objects: objects?, each, io_size, random })
    }

    pub fn total(&self) -> u64 {
        self.each * self.objects.len() as u64
    }

    pub fn write(&self, dataset: &Dataset<'_>, report: Report<'_>) -> Result<ThreadGroup, Failure> {
        let (zpool, open) = (dataset.zpool, dataset.handle());
        self.in_threads("lab-writer", report, |object, done| {
            let mut buffer = Buffer::new(self.io_size as usize);
            buffer.bytes().copy_from_slice(&self.random);
            for offset in (0..self.each).step_by(self.io_size as usize) {
                mark(buffer.bytes(), object, offset);
                write_at(zpool, open, object, offset, buffer.bytes())?;
                done.fetch_add(self.io_size, Ordering::Relaxed);
            }
            Ok(())
        })
    }

    /// `spoil` turns one byte after it was read, to prove that the check finds it.
    pub fn read(
        &self,
        dataset: &Dataset<'_>,
        check: Check,
        spoil: bool,
        report: Report<'_>,
    ) -> Result<ThreadGroup, Failure> {
        let (zpool, open) = (dataset.zpool, dataset.handle());
        self.in_threads("lab-reader", report, |object, done| {
            let mut buffer = Buffer::new(self.io_size as usize);
            let mut expected = self.random.clone();
            for offset in (0..self.each).step_by(self.io_size as usize) {
                read_at(zpool, open, object, offset, buffer.bytes())?;
                if spoil {
                    buffer.bytes()[0] ^= 1;
                }
                match check {
                    Check::Marks => check_marks(buffer.bytes(), object, offset)?,
                    Check::EveryByte => {
                        mark(&mut expected, object, offset);
                        check_bytes(buffer.bytes(), &expected, object, offset)?;
                    }
                }
                done.fetch_add(self.io_size, Ordering::Relaxed);
            }
            Ok(())
        })
    }

    /// Runs `work` for each object in a thread of its own and reports how far they are. Returns what
    /// the threads used, which nobody can ask for once they have ended.
    fn in_threads(
        &self,
        name: &str,
        report: Report<'_>,
        work: impl Fn(u64, &AtomicU64) -> Result<(), Failure> + Sync,
    ) -> Result<ThreadGroup, Failure> {
        const REPORT_EVERY: Duration = Duration::from_millis(200);
        let done = AtomicU64::new(0);
        std::thread::scope(|scope| {
            let (finished, wait) = channel();
            for &object in &self.objects {
                let (finished, done, work) = (finished.clone(), &done, &work);
                std::thread::Builder::new()
                    .name(name.into())
                    .spawn_scoped(scope, move || {
                        // Nobody listens any more after another thread failed.
                        let _ = finished.send(work(object, done).map(|()| thread_cpu()));
                    })
                    .map_err(|e| Failure::other("start a thread", e.to_string()))?;
            }
            drop(finished);
            let mut left = self.objects.len();
            let mut group = ThreadGroup { comm: name.into(), threads: left as u32, cpu_s: 0.0 };
            while left > 0 {
                match wait.recv_timeout(REPORT_EVERY) {
                    Ok(result) => {
                        group.cpu_s += result?.as_secs_f64();
                        left -= 1;
                    }
                    Err(RecvTimeoutError::Timeout) => report(done.load(Ordering::Relaxed), self.total()),
                    Err(RecvTimeoutError::Disconnected) => {
                        return Err(Failure::other("finish the I/O", "a thread ended without a result"));
                    }
                }
            }
            Ok(group)
        })
    }
}

/// CPU the calling thread has used.
fn thread_cpu() -> Nanos {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Nanos(time.tv_sec * 1_000_000_000 + time.tv_nsec)
}

fn write_at(zpool: &Zpool, open: Open, object: u64, offset: u64, data: &[u8]) -> Result<(), Failure> {
    let call = zpool.call;
    transaction(
        zpool,
        open,
        &format!("write {} bytes at byte {offset} of object {object}", data.len()),
        // SAFETY: inside a transaction of this objset.
        |tx| unsafe { (call.dmu_tx_hold_write)(tx, object, offset, data.len() as c_int) },
        // SAFETY: as above, assigned; the data is copied.
        |tx| unsafe {
            (call.dmu_write)(
                open.objset,
                object,
                offset,
                data.len() as u64,
                data.as_ptr().cast::<c_void>(),
                tx,
                0,
            )
        },
    )
}

fn read_at(zpool: &Zpool, open: Open, object: u64, offset: u64, data: &mut [u8]) -> Result<(), Failure> {
    const PREFETCH: u32 = 0;
    // SAFETY: the objset is open; the buffer has the size that is given.
    let error = unsafe {
        (zpool.call.dmu_read)(
            open.objset,
            object,
            offset,
            data.len() as u64,
            data.as_mut_ptr().cast(),
            PREFETCH,
        )
    };
    if error == 0 {
        return Ok(());
    }
    let doing = format!("read {} bytes at byte {offset} of object {object}", data.len());
    Err(Failure::call(doing, "dmu_read", error))
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
