//! What the recorder noted of the host, the events and the objects: feature sections and records.
//!
//! Layouts: tools/perf/Documentation/perf.data-file-format.txt. What is missing or damaged stays unknown.

use rustc_hash::FxHashMap;
use zwhy_perf::attr::{Attr, Schema};
use zwhy_perf::bytes::View;
use zwhy_perf::record;

pub const BUILD_ID: u64 = 2;
const HOSTNAME: u64 = 3;
const OSRELEASE: u64 = 4;
const VERSION: u64 = 5;
const ARCH: u64 = 6;
const NRCPUS: u64 = 7;
const CPUDESC: u64 = 8;
const TOTAL_MEM: u64 = 10;
const CMDLINE: u64 = 11;
const EVENT_DESC: u64 = 12;
const DIR_FORMAT: u64 = 24;
const CLOCK_DATA: u64 = 29;

#[derive(Clone, Debug, Default)]
pub struct Features {
    pub hostname: Option<String>,
    pub kernel: Option<String>,
    pub perf_version: Option<String>,
    pub arch: Option<String>,
    pub cpus: Option<u32>,
    pub cpu_model: Option<String>,
    pub memory_bytes: Option<u64>,
    pub command: Option<String>,
    /// The samples are in other files of a directory.
    pub directory: bool,
    /// (Unix time, recording clock) of one moment, in nanoseconds.
    pub clock: Option<(u64, u64)>,
    pub kernel_build_id: Option<Vec<u8>>,
    /// Build-id by path of the object.
    pub build_ids: FxHashMap<Vec<u8>, Vec<u8>>,
    /// Events as described for people: with names, and again with attrs and ids.
    pub events: Schema,
}

impl Features {
    pub fn take(&mut self, feature: u64, view: View<'_>) {
        match feature {
            BUILD_ID => self.build_id_table(view),
            HOSTNAME => self.hostname = string(&view, 0).map(|(text, _)| text),
            OSRELEASE => self.kernel = string(&view, 0).map(|(text, _)| text),
            VERSION => self.perf_version = string(&view, 0).map(|(text, _)| text),
            ARCH => self.arch = string(&view, 0).map(|(text, _)| text),
            NRCPUS => self.cpus = view.u32(4),
            CPUDESC => self.cpu_model = string(&view, 0).map(|(text, _)| text),
            TOTAL_MEM => self.memory_bytes = view.u64(0).map(|kb| kb.saturating_mul(1024)),
            CMDLINE => self.command = command(&view),
            EVENT_DESC => self.event_descriptions(view),
            DIR_FORMAT => self.directory = true,
            CLOCK_DATA => self.clock = view.u64(8).zip(view.u64(16)),
            _ => {}
        }
    }

    /// A list of records of the kind BUILD_ID.
    fn build_id_table(&mut self, view: View<'_>) {
        let mut at = 0;
        while let Some(size) = view.u16(at + 6).map(usize::from).filter(|s| *s > record::HEADER) {
            let Some(entry) = view.part(at, size) else { return };
            self.build_id(entry);
            at += size;
        }
    }

    /// One record: header, pid, build-id in 24 bytes, file name.
    pub fn build_id(&mut self, entry: View<'_>) {
        const HAS_SIZE: u16 = 1 << 15;
        const KERNEL: u16 = 1;
        let (Some(misc), Some(raw)) = (entry.u16(4), entry.part(12, 24)) else { return };
        let len = if misc & HAS_SIZE != 0 { usize::from(raw.bytes[20]).min(20) } else { 20 };
        let id = raw.bytes[..len].to_vec();
        let name = entry.c_bytes(36);
        if misc & record::MISC_CPUMODE == KERNEL && name.starts_with(b"[kernel.kallsyms]") {
            self.kernel_build_id = Some(id);
        } else {
            self.build_ids.insert(name.to_vec(), id);
        }
    }

    /// Count, attr size; of each event: attr, number of ids, name, ids.
    fn event_descriptions(&mut self, view: View<'_>) {
        let (Some(count), Some(size)) = (view.u32(0), view.u32(4)) else { return };
        let mut at = 8;
        for _ in 0..count {
            let Some(mut attr) = view.part(at, size as usize).and_then(Attr::parse) else { return };
            at += size as usize;
            let Some(ids) = view.u32(at) else { return };
            let Some((name, next)) = string(&view, at + 4) else { return };
            at = next;
            let Some(id_view) = view.part(at, (ids as usize).saturating_mul(8)) else { return };
            at += id_view.len();
            attr.name = name;
            self.events.add(attr, (0..ids as usize).filter_map(|i| id_view.u64(i * 8)));
        }
    }
}

/// A length and that many bytes, zero-padded; with where the next field begins.
fn string(view: &View<'_>, at: usize) -> Option<(String, usize)> {
    let len = view.u32(at)? as usize;
    let body = view.part(at + 4, len)?;
    Some((String::from_utf8_lossy(body.c_bytes(0)).into_owned(), at + 4 + len))
}

fn command(view: &View<'_>) -> Option<String> {
    let mut at = 4;
    let mut words = Vec::new();
    for _ in 0..view.u32(0)? {
        let (word, next) = string(view, at)?;
        words.push(word);
        at = next;
    }
    Some(words.join(" "))
}
