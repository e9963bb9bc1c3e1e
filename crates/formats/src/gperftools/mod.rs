//! CPU profiles of gperftools (`CPUPROFILE=…`, old `/debug/pprof/profile`) and of Java under the same header.
//!
//! Layout: docs/cpuprofile-fileformat.html of gperftools; binary words of the recorded machine (4 or 8 bytes,
//! either byte order), then the text of `/proc/self/maps`, of which addresses get their module and offset.
//! Names are not in the file. As pprof does (profile/legacy_profile.go), an address that most samples have
//! next to their leaf is that of the signal handler and no caller, and a leaf that stands twice is taken
//! once. Records, one for each stack, are the unit of the stats. A file that breaks off keeps the records
//! before that and has no modules.

mod java;
mod maps;
mod words;

use crate::interchange::Taken;
use crate::interchange::frames::{self, Line, Place};
use crate::interchange::rows::{Amount, Row};
use crate::{Confidence, ErrorKind, FormatError, ImportOptions, Imported, Importer, Input, Position};
use java::Names;
use maps::Maps;
use rustc_hash::FxHashMap;
use words::{Header, Record, Records};
use zwhy_profile::{Event, FrameId, Nanos, Unit};

pub(crate) static IMPORTER: Importer = Importer { name: "gperftools", sniff, read };

fn sniff(head: &[u8]) -> Confidence {
    if Header::read(head).is_some() { Confidence::Certain } else { Confidence::No }
}

fn read(input: &Input, options: &ImportOptions) -> Result<Imported, FormatError> {
    let bytes = input.bytes();
    let header = Header::read(bytes).ok_or_else(|| {
        FormatError::read(ErrorKind::Damaged, input.name(), "it has no header of a gperftools CPU profile")
            .at(Position::Byte(0))
            .hint("check what it is with `file`")
    })?;
    let records = Records::read(bytes, header);
    let text = String::from_utf8_lossy(&bytes[records.end..]);
    let mut reader = Reader::new(bytes, &records, options.limits.max_depth);
    if header.java {
        reader.code = Code::Java(Names::read(&text, &mut reader.taken.profile));
    } else {
        reader.code = Code::Native(Maps::read(&text));
        reader.skips = handler_frames(&records);
    }
    for (number, record) in records.all.iter().enumerate() {
        let taken = reader.take(record, number);
        reader.taken.count(taken);
    }
    reader.finish(input, &records, &text)
}

/// What is said of addresses.
enum Code<'a> {
    Native(Maps<'a>),
    Java(Names),
}

struct Reader<'a> {
    bytes: &'a [u8],
    header: Header,
    taken: Taken,
    code: Code<'a>,
    /// By record, frames next to the leaf that are of the signal handler.
    skips: Vec<u8>,
    skipped: u64,
    made: FxHashMap<u64, FrameId>,
    /// Scratch.
    frames: Vec<FrameId>,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8], records: &Records, max_depth: usize) -> Reader<'a> {
        let mut taken = Taken::new("gperftools", "stacks", bytes.len(), max_depth);
        taken.rows.measure_in(Event::Cpu, Unit::Nanos);
        Reader {
            bytes,
            header: records.header,
            taken,
            code: Code::Native(Maps::default()),
            skips: Vec::new(),
            skipped: 0,
            made: FxHashMap::default(),
            frames: Vec::new(),
        }
    }

    fn take(&mut self, record: &Record, number: usize) -> Result<(), &'static str> {
        if record.count == 0 {
            return Err("count of zero");
        }
        self.resolve(record, self.skips.get(number).copied().unwrap_or(0));
        if self.frames.is_empty() {
            self.frames
                .push(frames::unknown(&mut self.taken.profile, "the profile holds no stack for this sample"));
        }
        let stack = self.taken.stack(self.frames.iter().copied())?;
        let thread = self.taken.profile.thread(-1, -1, "");
        let row = Row { t: Nanos(0), cpu: -1, thread, stack, event: Event::Cpu, weight: Nanos(0) };
        let time = record.count.saturating_mul(self.header.period_ns);
        self.taken.push(row, Amount::Both(record.count, time))?;
        self.skipped += u64::from(self.skips.get(number).copied().unwrap_or(0) > 0);
        Ok(())
    }

    /// Fills the frames of a record, leaf first, one more than the limit at most.
    fn resolve(&mut self, record: &Record, skip: u8) {
        self.frames.clear();
        let (bytes, header) = (self.bytes, self.header);
        let callers = record.callers(bytes, header, skip);
        let leaf = record.leaf(bytes, header);
        let most = self.taken.max_depth.saturating_add(1);
        if header.java {
            let all = leaf.into_iter().chain(callers);
            all.take(most).for_each(|address| self.frame(address));
            return;
        }
        // The handler may have both the interrupted address and, from the stack, the same once more.
        let mut callers = callers.peekable();
        callers.next_if(|caller| Some(*caller) == leaf);
        // A caller's address is where it goes on; the call is before that.
        let calls = callers.map(|address| address.wrapping_sub(1));
        leaf.into_iter().chain(calls).take(most).for_each(|address| self.frame(address));
    }

    fn frame(&mut self, address: u64) {
        let (profile, code) = (&mut self.taken.profile, &self.code);
        let frame = *self.made.entry(address).or_insert_with(|| match code {
            Code::Java(names) => names
                .get(address)
                .unwrap_or_else(|| frames::unknown(profile, "the profile does not describe this location")),
            Code::Native(maps) => {
                let place = maps.at(address).map_or(Place { address, ..Place::default() }, |map| Place {
                    module: map.path,
                    address,
                    start: map.start,
                    offset: map.offset,
                    kind: None,
                });
                place.frame(profile, Line::default(), false)
            }
        });
        self.frames.push(frame);
    }

    fn finish(mut self, input: &Input, records: &Records, text: &str) -> Result<Imported, FormatError> {
        if records.cut {
            let left = (self.bytes.len() - records.end) as u64;
            self.taken.stats.cut_at = Some(records.end as u64);
            if left > 0 {
                self.taken.lose(left);
            }
            self.taken.warn(format!(
                "the profile breaks off at byte {}: stacks after that are lost, and so is the list of mapped objects, so that addresses have no module: copy it again, or let the program end by itself",
                records.end
            ));
        }
        if self.taken.rows.is_empty() {
            let error = match records.cut {
                true => FormatError::read(
                    ErrorKind::Damaged,
                    input.name(),
                    "it breaks off before its first whole stack",
                )
                .at(Position::Byte(records.end as u64))
                .hint("copy it again, or let the program end by itself: the profile is written then"),
                false => FormatError::read(ErrorKind::Empty, input.name(), "it holds no samples")
                    .hint("check that the program ran long enough and used CPU time"),
            };
            return Err(error);
        }
        self.warn(records, text);
        Ok(self.taken.finish(input))
    }

    fn warn(&mut self, records: &Records, text: &str) {
        if self.skipped > 0 {
            self.taken.warn(format!(
                "in {} stacks an address of the profiler's signal handler stands next to the leaf: left out, as pprof does",
                self.skipped
            ));
        }
        let (empty, odd) = match &self.code {
            Code::Native(maps) => (maps.is_empty(), maps.odd),
            Code::Java(names) => (names.is_empty(), names.odd),
        };
        if empty && !records.cut {
            let what = if self.header.java { "names" } else { "mapped objects" };
            self.taken.warn(format!("the profile has no list of {what}: addresses say nothing"));
        }
        if odd > 0 {
            let broken = if text.ends_with('\n') { "" } else { "; the last line has no end: copy it again" };
            self.taken.warn(format!(
                "{odd} lines after the samples are neither a mapped object nor a name: not taken{broken}"
            ));
        }
    }
}

/// Frames of the signal handler by record: pprof looks twice for an address that all but one of 32 records
/// have next to their leaf.
fn handler_frames(records: &Records) -> Vec<u8> {
    const ROUNDS: u8 = 2;
    const SIMILAR: usize = 32;
    let enough = records.all.len() - records.all.len() / SIMILAR;
    let mut skips = vec![0u8; records.all.len()];
    for _ in 0..ROUNDS {
        let next = |record: &Record, skip: u8| record.callers(records.bytes, records.header, skip).next();
        let mut seen: FxHashMap<u64, usize> = FxHashMap::default();
        for (record, skip) in records.all.iter().zip(&skips) {
            next(record, *skip).into_iter().for_each(|address| *seen.entry(address).or_default() += 1);
        }
        let Some((&handler, _)) = seen.iter().find(|(_, count)| **count >= enough) else { break };
        for (record, skip) in records.all.iter().zip(&mut skips) {
            *skip += u8::from(next(record, *skip) == Some(handler));
        }
    }
    skips
}
