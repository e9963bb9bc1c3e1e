//! One file, read or written in blocks.

use crate::count::Count;
use crate::data::{self, Kind, Noise};
use crate::settings::Settings;
use rustix::fs::{OFlags, SeekFrom, seek};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::thread::sleep;

/// Direct I/O takes buffers at page borders only.
const PAGE: usize = 4096;

/// A buffer that begins at a page, inside a larger one.
struct Pages {
    bytes: Vec<u8>,
    start: usize,
    len: usize,
}

impl Pages {
    fn new(len: usize) -> Pages {
        let bytes = vec![0; len + PAGE];
        let start = bytes.as_ptr().align_offset(PAGE);
        Pages { bytes, start, len }
    }

    fn get(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.len]
    }
}

fn open(path: &Path, settings: &Settings, write: bool) -> io::Result<File> {
    let flags = if settings.direct { OFlags::DIRECT.bits() as i32 } else { 0 };
    OpenOptions::new().read(!write).write(write).create(write).truncate(false).custom_flags(flags).open(path)
}

/// Offsets of one pass.
fn offsets(settings: &Settings, noise: &mut Noise) -> Vec<u64> {
    let accesses = settings.size / settings.stride();
    let mut at: Vec<u64> = (0..accesses).collect();
    if settings.random {
        for i in (1..at.len()).rev() {
            at.swap(i, (noise.next() % (i as u64 + 1)) as usize);
        }
    }
    let blocks = |access| {
        let first = access * settings.stride() + settings.shift;
        (0..settings.burst).map(move |block| first + block * settings.block as u64)
    };
    at.into_iter().flat_map(blocks).collect()
}

/// Writes with new content each time, unless it is zeros.
pub fn write(path: &Path, settings: &Settings) -> io::Result<()> {
    let file = open(path, settings, true)?;
    let mut noise = Noise::new(settings.seed);
    let mut buffer = Pages::new(settings.block);
    let mut clock = settings.clock();
    let count = Count::kept()?;
    data::fill(buffer.get(), settings.data, &mut noise);
    while clock.another_pass() {
        for at in offsets(settings, &mut noise) {
            if clock.over() {
                break;
            }
            clock.pace();
            if settings.data != Kind::Zero {
                // One new page a block is enough that no two are equal; making data is not the load.
                let page = PAGE.min(settings.block);
                data::fill(&mut buffer.get()[..page], settings.data, &mut noise);
            }
            file.write_all_at(buffer.get(), at)?;
            if settings.sync {
                file.sync_data()?;
            }
            if settings.holes {
                seek(&file, SeekFrom::Hole(0))?;
            }
            count.add(settings.block as u64);
            sleep(settings.pause);
        }
    }
    Ok(())
}

pub fn read(path: &Path, settings: &Settings) -> io::Result<()> {
    let file = open(path, settings, false)?;
    let mut noise = Noise::new(settings.seed);
    let mut buffer = Pages::new(settings.block);
    let mut clock = settings.clock();
    let count = Count::kept()?;
    while clock.another_pass() {
        for at in offsets(settings, &mut noise) {
            if clock.over() {
                break;
            }
            clock.pace();
            count.add(file.read_at(buffer.get(), at)? as u64);
            sleep(settings.pause);
        }
    }
    Ok(())
}
