//! Walks the records of a file in file order, and past what is damaged.
//!
//! Invariants: every byte of the data section is in exactly one item (a record, a sample, or a
//! gap); two walks of one file give the same items, so that a second pass can rely on the first.
//!
//! Damage: where a record cannot be one (unknown type, odd or too large size, inner lengths that
//! do not add up), the walk looks for the next place from which [`CHAIN`] records follow each
//! other, or from which records lead exactly to the end, and reports the bytes between as a gap.

use super::gap::{Gap, Why};
use super::zstd_stream::ZstdStream;
use crate::{Input, Limits};
use std::ops::Range;
use zwhy_perf::attr::{Attr, Schema};
use zwhy_perf::bytes::{Order, View};
use zwhy_perf::record::{self, Record};
use zwhy_perf::{Sample, ip_register};

/// Records that must follow each other before a place is believed to be a record's start.
const CHAIN: usize = 4;

/// Bytes in which a chain surely ends.
const TAIL: usize = CHAIN << 16;

/// Bytes of decompressed records that are walked at a time.
const BATCH: usize = 1 << 20;

/// Bytes between two releases of mapped pages.
const RELEASE: usize = 4 << 20;

pub enum Item<'a> {
    Sample(Sample<'a>),
    Record(Record<'a>),
    Gap(Gap),
}

/// What starts at a place.
enum Shape<'a> {
    Whole(Found<'a>, usize),
    /// A record that would need more bytes than are there.
    Beyond,
    Bad,
}

enum Found<'a> {
    Sample(Sample<'a>),
    Record(Record<'a>),
}

pub struct Walker {
    pub schema: Schema,
    order: Order,
    ip_register: u32,
    search: Search,
}

/// Whether the bytes before were a gap whose end was not found yet.
#[derive(Clone, Copy, Default)]
struct Search {
    active: bool,
    /// A part of the gap was reported.
    reported: bool,
}

impl Walker {
    /// `schema` holds the events of the header; those that come as records are added on the way.
    pub fn new(schema: Schema, order: Order, arch: &str) -> Walker {
        Walker { schema, order, ip_register: ip_register(arch), search: Search::default() }
    }

    /// Shows every item of `data` to `sink`.
    pub fn walk(
        &mut self,
        input: &Input,
        data: Range<usize>,
        limits: &Limits,
        sink: &mut impl FnMut(&Schema, Item<'_>),
    ) {
        let bytes = input.bytes().get(data.clone()).unwrap_or_default();
        let mut inner = Inner::default();
        let mut zstd = ZstdStream::new(limits.max_decompressed);
        let mut released = 0;
        self.stretch(bytes, data.start as u64, true, &mut |walker, item, at| {
            if at > released + RELEASE {
                input.release(data.start + released, data.start + at);
                released = at;
            }
            match item {
                Item::Record(r) if matches!(r.kind, record::COMPRESSED | record::COMPRESSED2) => {
                    let head = if r.kind == record::COMPRESSED { 8 } else { 16 };
                    let stated = r.view.u64(8).and_then(|n| usize::try_from(n).ok());
                    let payload = r.view.from(head).bytes;
                    let payload = match stated {
                        Some(len) if r.kind == record::COMPRESSED2 => payload.get(..len).unwrap_or(payload),
                        _ => payload,
                    };
                    let continues = zstd.broken;
                    match zstd.feed(payload, &mut inner.bytes) {
                        Ok(()) if inner.bytes.len() < BATCH => {}
                        Ok(()) => inner.walk(walker, false, sink),
                        Err(why) => {
                            let (at, bytes) = ((data.start + at) as u64, payload.len() as u64);
                            sink(&walker.schema, Item::Gap(Gap { at, bytes, why, continues }));
                        }
                    }
                }
                item => sink(&walker.schema, item),
            }
        });
        self.search = Search::default();
        inner.walk(self, true, sink);
    }

    /// Walks `bytes`; returns how many were used. Unless `last`, a record that runs over the end
    /// waits for more bytes. The sink gets each item's offset in `bytes` too.
    fn stretch(
        &mut self,
        bytes: &[u8],
        base: u64,
        last: bool,
        sink: &mut impl FnMut(&mut Walker, Item<'_>, usize),
    ) -> usize {
        let mut at = 0;
        while at < bytes.len() {
            match if self.search.active { Shape::Bad } else { self.shape(bytes, at) } {
                Shape::Whole(found, len) => {
                    if let Found::Record(r) = &found {
                        self.learn(r);
                    }
                    let item = match found {
                        Found::Sample(s) => Item::Sample(s),
                        Found::Record(r) => Item::Record(r),
                    };
                    sink(self, item, at);
                    at += len;
                }
                Shape::Beyond if !last => return at,
                shape => {
                    let from = if self.search.active { at } else { at + 1 };
                    let (to, why) = match self.resync(bytes, from, last) {
                        Some(to) => (to, Why::Damaged),
                        None if last && matches!(shape, Shape::Beyond) => (bytes.len(), Why::Cut),
                        None if last => (bytes.len(), Why::Damaged),
                        // The start may be among the last bytes, with too few after it to tell.
                        None => (at.max(bytes.len().saturating_sub(TAIL)), Why::Damaged),
                    };
                    let found = to == bytes.len() || self.starts_chain(bytes, to, last);
                    let continues = self.search.reported;
                    self.search = Search { active: !found, reported: !found && (continues || to > at) };
                    if to > at {
                        let (position, bytes) = (base + at as u64, (to - at) as u64);
                        sink(self, Item::Gap(Gap { at: position, bytes, why, continues }), at);
                    }
                    at = to;
                    if self.search.active {
                        return at;
                    }
                }
            }
        }
        at
    }

    /// Takes up events that come as records (pipe mode).
    fn learn(&mut self, r: &Record<'_>) {
        match r.kind {
            record::HEADER_ATTR => {
                let body = r.view.from(record::HEADER);
                let size = body.u32(4).unwrap_or(0) as usize;
                if let Some(attr) = body.part(0, size).and_then(Attr::parse) {
                    let ids = body.from(size);
                    self.schema.add(attr, (0..ids.len() / 8).filter_map(|i| ids.u64(i * 8)));
                }
            }
            record::EVENT_UPDATE => {
                const NAME: u64 = 2;
                let (what, id) = (r.view.u64(8), r.view.u64(16));
                if what == Some(NAME)
                    && let Some(index) = id.and_then(|id| self.schema.ids.get(&id))
                    && let Some(attr) = self.schema.attrs.get_mut(*index as usize)
                {
                    attr.name = String::from_utf8_lossy(r.view.c_bytes(24)).into_owned();
                }
            }
            _ => {}
        }
    }

    #[inline]
    fn shape<'a>(&self, bytes: &'a [u8], at: usize) -> Shape<'a> {
        let rest = View::new(&bytes[at.min(bytes.len())..], self.order);
        let (Some(kind), Some(misc), Some(size)) = (rest.u32(0), rest.u16(4), rest.u16(6)) else {
            return Shape::Beyond;
        };
        let size = usize::from(size);
        if !record::known(kind) {
            return Shape::Bad;
        }
        if kind == record::COMPRESSED2 {
            return compressed2(rest, misc, size);
        }
        // perf's own records end where their texts do; the kernel's are whole words.
        let aligned = size.is_multiple_of(8) || record::is_of_perf(kind);
        if !aligned || size < record::least_size(kind) {
            return Shape::Bad;
        }
        let Some(view) = rest.part(0, size) else { return Shape::Beyond };
        let payload = match kind {
            record::SAMPLE => {
                return match Sample::parse(&self.schema, view, misc, self.ip_register) {
                    Some(sample) => Shape::Whole(Found::Sample(sample), size),
                    None => Shape::Bad,
                };
            }
            // Two kinds of records have bytes behind them that their size does not count.
            record::TRACING_DATA => view.u32(8).map(|n| u64::from(n).next_multiple_of(8)),
            record::AUXTRACE => view.u64(8),
            _ => Some(0),
        };
        let whole = payload.and_then(|p| usize::try_from(p).ok()).and_then(|p| p.checked_add(size));
        match whole {
            Some(whole) if whole <= rest.len() => {
                Shape::Whole(Found::Record(Record { kind, misc, view }), whole)
            }
            _ => Shape::Beyond,
        }
    }

    /// The next place at or after `from` that surely starts a record.
    fn resync(&self, bytes: &[u8], from: usize, last: bool) -> Option<usize> {
        (from..bytes.len().saturating_sub(record::HEADER - 1)).find(|&to| self.starts_chain(bytes, to, last))
    }

    fn starts_chain(&self, bytes: &[u8], from: usize, last: bool) -> bool {
        let mut at = from;
        for _ in 0..CHAIN {
            match self.shape(bytes, at) {
                Shape::Whole(_, len) => at += len,
                _ => return false,
            }
            if at == bytes.len() {
                return last;
            }
        }
        true
    }
}

/// perf 6.16 and later pad these records and let the size run over when the payload is large
/// (`record__pushfn` in tools/perf/builtin-record.c): then the payload's own length holds, unpadded.
fn compressed2(rest: View<'_>, misc: u16, size: usize) -> Shape<'_> {
    let Some(data) = rest.u64(8) else { return Shape::Beyond };
    let Some(len) = usize::try_from(data).ok().filter(|n| *n <= usize::from(u16::MAX)).map(|n| n + 16) else {
        return Shape::Bad;
    };
    let padded = len.next_multiple_of(8);
    let whole = if padded == size {
        padded
    } else if padded % (1 << 16) == size {
        len
    } else {
        return Shape::Bad;
    };
    match rest.part(0, whole) {
        Some(view) => Shape::Whole(Found::Record(Record { kind: record::COMPRESSED2, misc, view }), whole),
        None => Shape::Beyond,
    }
}

/// Records that came out of the decompressor and were not walked yet.
#[derive(Default)]
struct Inner {
    bytes: Vec<u8>,
    /// Position of `bytes` among all decompressed bytes.
    base: u64,
    /// The search among compressed records, apart from that of the file around them.
    search: Search,
}

impl Inner {
    fn walk(&mut self, walker: &mut Walker, last: bool, sink: &mut impl FnMut(&Schema, Item<'_>)) {
        let outer = std::mem::replace(&mut walker.search, self.search);
        let used = walker.stretch(&self.bytes, self.base, last, &mut |walker, item, _| {
            sink(&walker.schema, item);
        });
        self.search = std::mem::replace(&mut walker.search, outer);
        self.bytes.drain(..used);
        self.base += used as u64;
    }
}
