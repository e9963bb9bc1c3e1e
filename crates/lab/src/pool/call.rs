//! The file on which single calls are made: what it should hold is kept in memory, so that every read is compared.
//!
//! Maps the file, and writes from memory that changes: what safe code keeps away from is what is asked about.

#![allow(unsafe_code)]

use crate::Bytes;
use crate::failure::Failure;
use crate::io::Buffer;
use crate::plan::SplitMix;
use crate::spec::{Call, CallKind, Called, Direction, RECORDS, TAIL, Way};
use memmap2::{MmapOptions, MmapRaw};
use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

const PAGE: usize = 4096;
/// Writes while the memory changes, at most: that one is not caught between two looks is likely, a hundred are not.
const TRIES: u32 = 100;

pub struct CallFile {
    path: PathBuf,
    /// What it should hold.
    holds: Vec<u8>,
    /// So that no two writes are alike.
    turns: SplitMix,
    mapped: Option<Mapped>,
}

impl CallFile {
    /// Makes it in the folder of the dataset.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn make(folder: &Path, recordsize: Bytes) -> Result<CallFile, Failure> {
        let mut file = CallFile {
            path: folder.join("calls"),
            holds: vec![0; (RECORDS * recordsize.0 + TAIL) as usize],
            turns: SplitMix(recordsize.0),
            mapped: None,
        };
        let all = 0..file.holds.len();
        file.refill(all);
        let made = File::create(&file.path).and_then(|made| {
            made.write_all_at(&file.holds, 0)?;
            made.sync_all()
        });
        made.map_err(|e| file.failed("make", &e))?;
        Ok(file)
    }

    /// Lets go of the file system, so that the pool can be exported.
    pub fn close(&mut self) {
        self.mapped = None;
    }

    /// # Errors
    /// What is no answer of the kernel to the call: a file that is gone, data that is not what was written.
    pub fn call(&mut self, call: &Call) -> Result<Called, Failure> {
        let end = (call.at + call.bytes.0).min(self.holds.len() as u64);
        let range = call.at.min(end) as usize..end as usize;
        let length = call.bytes.0 as usize;
        let flags = if call.way == Way::Direct { libc::O_DIRECT } else { 0 };
        let file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(&self.path);
        let file = file.map_err(|e| self.failed("open", &e))?;
        let asked = |direction| Some((direction, range.len() as u64));
        let errno = |result: &std::io::Result<usize>| {
            result.as_ref().err().map_or(0, |e| e.raw_os_error().unwrap_or(libc::EIO))
        };
        let mut memory = Buffer::new(length + PAGE);
        let memory = &mut memory.bytes()[call.memory as usize..call.memory as usize + length];
        Ok(match call.kind {
            CallKind::Make => Called::default(),
            CallKind::Fsync => {
                file.sync_all().map_err(|e| self.failed("sync", &e))?;
                Called::default()
            }
            CallKind::Map => {
                self.mapped = Some(Mapped::new(&file, range.clone()).map_err(|e| self.failed("map", &e))?);
                self.compare_mapped()?;
                Called::default()
            }
            CallKind::Read => {
                let read = file.read_at(memory, call.at);
                if let Ok(read) = read {
                    self.compare("read", &memory[..read], call.at as usize, range.len())?;
                }
                Called { asked: asked(Direction::Read), errno: errno(&read) }
            }
            CallKind::Write => {
                let before = self.holds[range.clone()].to_vec();
                self.refill(range.clone());
                memory[..range.len()].copy_from_slice(&self.holds[range.clone()]);
                let written = file.write_at(&memory[..range.len()], call.at);
                match written {
                    Ok(written) if written == range.len() => {}
                    Ok(written) => {
                        return Err(self.wrong("write", call.at as usize, &format!("only {written} bytes")));
                    }
                    Err(_) => self.holds[range.clone()].copy_from_slice(&before),
                }
                self.compare_mapped()?;
                Called { asked: asked(Direction::Write), errno: errno(&written) }
            }
            CallKind::WriteChanging => {
                let errno = write_changing(&file, call.at, range.len());
                // What it holds now nobody knows: it is written whole and buffered, as nothing of it may be readable.
                self.refill(range.clone());
                let plain = OpenOptions::new().write(true).open(&self.path);
                let healed = plain.and_then(|plain| plain.write_all_at(&self.holds[range.clone()], call.at));
                healed.map_err(|e| self.failed("write", &e))?;
                Called { asked: asked(Direction::Write), errno }
            }
        })
    }

    /// New contents, which do not compress.
    fn refill(&mut self, range: std::ops::Range<usize>) {
        let turns = &mut self.turns;
        self.holds[range].chunks_mut(8).for_each(|chunk| {
            let word = turns.next().to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        });
    }

    fn compare(&self, doing: &str, found: &[u8], at: usize, wanted: usize) -> Result<(), Failure> {
        if found.len() != wanted {
            return Err(self.wrong(doing, at, &format!("{} bytes came and {wanted} are there", found.len())));
        }
        let expected = &self.holds[at..at + wanted];
        match found.iter().zip(expected).position(|(a, b)| a != b) {
            None => Ok(()),
            Some(byte) => Err(self.wrong(doing, at + byte, "it is not what was written last")),
        }
    }

    /// What is mapped shows every write.
    fn compare_mapped(&self) -> Result<(), Failure> {
        match &self.mapped {
            None => Ok(()),
            Some(mapped) => {
                self.compare("look at the mapped part", &mapped.copy(), mapped.at, mapped.memory.len())
            }
        }
    }

    fn failed(&self, doing: &str, error: &std::io::Error) -> Failure {
        Failure::other(format!("{doing} {}", self.path.display()), error)
    }

    fn wrong(&self, doing: &str, at: usize, found: &str) -> Failure {
        Failure::other(format!("{doing} byte {at} of {}", self.path.display()), found)
    }
}

/// The first error of many writes of memory that another thread changes; 0 when none had one.
fn write_changing(file: &File, at: u64, length: usize) -> i32 {
    let memory: Vec<AtomicU8> = (0..length + PAGE).map(|_| AtomicU8::new(0)).collect();
    let start = memory.as_ptr().align_offset(PAGE);
    let written = &memory[start..start + length];
    let over = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                written.iter().step_by(PAGE).for_each(|byte| {
                    byte.fetch_add(1, Ordering::Relaxed);
                });
            }
        });
        let mut errno = 0;
        for _ in 0..TRIES {
            // SAFETY: the kernel reads `length` bytes that live until the scope ends; that they change meanwhile is what
            // is asked about, and they are atomics on this side.
            let done =
                unsafe { libc::pwrite(file.as_raw_fd(), written.as_ptr().cast(), length, at.cast_signed()) };
            if done < 0 {
                errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
                break;
            }
        }
        over.store(true, Ordering::Relaxed);
        errno
    })
}

/// A part of the file in memory.
struct Mapped {
    memory: MmapRaw,
    at: usize,
}

impl Mapped {
    fn new(file: &File, range: std::ops::Range<usize>) -> std::io::Result<Mapped> {
        let part = MmapOptions::new().offset(range.start as u64).len(range.len()).map_raw_read_only(file)?;
        Ok(Mapped { memory: part, at: range.start })
    }

    fn copy(&self) -> Vec<u8> {
        // Volatile: the kernel changes what is behind it.
        let byte = |at| self.memory.as_ptr().wrapping_add(at);
        // SAFETY: all of the mapping is in the file, which never gets shorter.
        (0..self.memory.len()).map(|at| unsafe { byte(at).read_volatile() }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(kind: CallKind, at: u64, bytes: u64) -> Call {
        Call { kind, at, bytes: Bytes(bytes), way: Way::Buffered, memory: 0 }
    }

    #[test]
    fn reads_see_the_last_write_up_to_the_end_of_the_file_and_a_foreign_byte_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let mut file = CallFile::make(dir.path(), Bytes(4096)).unwrap();
        let whole = RECORDS * 4096;
        file.call(&call(CallKind::Map, 4096, 8192)).unwrap();
        assert_eq!(
            file.call(&call(CallKind::Write, 4096, 4096)).unwrap().asked,
            Some((Direction::Write, 4096))
        );
        let odd = Call { memory: 512, ..call(CallKind::Read, whole - 100, 4096) };
        assert_eq!(file.call(&odd).unwrap().asked, Some((Direction::Read, 100 + TAIL)));
        file.call(&call(CallKind::WriteChanging, 0, 4096)).unwrap();
        file.call(&call(CallKind::Fsync, 0, 0)).unwrap();
        file.call(&call(CallKind::Read, 0, whole)).unwrap();
        let other = OpenOptions::new().write(true).open(dir.path().join("calls")).unwrap();
        other.write_all_at(b"?????????", 5000).unwrap();
        let error = file.call(&call(CallKind::Read, 0, whole)).unwrap_err().to_string();
        assert!(error.contains("not what was written last"), "{error}");
        let error = file.call(&call(CallKind::Write, 8192, 10)).unwrap_err().to_string();
        assert!(error.contains("mapped part"), "{error}");
    }
}
