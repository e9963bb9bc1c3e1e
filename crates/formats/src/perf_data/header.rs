//! The head of a perf.data file or stream: byte order, events, where the records and features are.

use super::features::Features;
use crate::{ErrorKind, FormatError, Input, Position};
use std::ops::Range;
use zwhy_perf::attr::{Attr, Schema};
use zwhy_perf::bytes::{Order, View};

const MAGIC: &[u8; 8] = b"PERFILE2";
const MAGIC_SWAPPED: &[u8; 8] = b"2ELIFREP";
const PIPE_HEADER: usize = 16;
const FILE_HEADER: usize = 104;
/// Bits of the feature bitmap.
const FEATURES: u64 = 256;

#[derive(Debug)]
pub struct Layout {
    pub order: Order,
    /// Bytes of the input that hold records.
    pub data: Range<usize>,
    pub schema: Schema,
    pub features: Features,
    /// The recorder did not write the size of the data: it was killed.
    pub unfinished: bool,
    /// Bytes of records that the header promises beyond the end of the file.
    pub missing: u64,
}

pub fn byte_order(head: &[u8]) -> Option<Order> {
    match head.get(..8)? {
        magic if magic == MAGIC => Some(Order::Little),
        magic if magic == MAGIC_SWAPPED => Some(Order::Big),
        _ => None,
    }
}

impl Layout {
    pub fn read(input: &Input) -> Result<Layout, FormatError> {
        let bytes = input.bytes();
        let damaged = |found: String, at: u64| {
            FormatError::read(ErrorKind::Damaged, input.name(), found)
                .at(Position::Byte(at))
                .hint("copy the file again from the recorded host, or record again")
        };
        let order = byte_order(bytes).ok_or_else(|| damaged("no perf.data header".into(), 0))?;
        let view = View::new(bytes, order);
        let size = view.u64(8).ok_or_else(|| damaged("the header is cut".into(), 8))?;
        if size == PIPE_HEADER as u64 {
            return Ok(Layout {
                order,
                data: PIPE_HEADER..bytes.len(),
                schema: Schema::default(),
                features: Features::default(),
                unfinished: false,
                missing: 0,
            });
        }
        if size < FILE_HEADER as u64 || bytes.len() < FILE_HEADER {
            return Err(damaged(format!("the header claims {size} bytes, {} are there", bytes.len()), 8));
        }
        let field = |at: usize| view.u64(at).unwrap_or(0);
        let section = |at: usize| (field(at), field(at + 8));
        let attr_size = field(16);
        let (data_at, data_size) = section(40);
        let start = usize::try_from(data_at).ok().filter(|at| *at <= bytes.len());
        let start = start.ok_or_else(|| {
            damaged(format!("its records should begin at byte {data_at}, it has {}", bytes.len()), 40)
        })?;
        let available = (bytes.len() - start) as u64;
        // A recorder that is killed leaves the size of the data at 0; all that follows is data.
        let unfinished = data_size == 0;
        let taken = if unfinished { available } else { data_size.min(available) };
        let end = start + taken as usize;
        let mut features = Features::default();
        if !unfinished {
            read_features(&mut features, &view, end);
        }
        let mut schema = read_attrs(&view, section(24), attr_size);
        for (index, described) in features.events.attrs.iter().enumerate() {
            // Same events in the same order, here with their names.
            if let Some(attr) = schema.attrs.get_mut(index) {
                attr.name.clone_from(&described.name);
            }
        }
        if schema.attrs.is_empty() {
            schema = features.events.clone();
        }
        if schema.attrs.is_empty() {
            return Err(damaged("it describes no event, so its samples cannot be read".into(), 24));
        }
        let missing = if unfinished { 0 } else { data_size - taken };
        Ok(Layout { order, data: start..end, schema, features, unfinished, missing })
    }
}

/// Entries of an attr and the section of its ids.
fn read_attrs(view: &View<'_>, (at, size): (u64, u64), entry: u64) -> Schema {
    let mut schema = Schema::default();
    let (Ok(at), Ok(size), Ok(entry)) = (usize::try_from(at), usize::try_from(size), usize::try_from(entry))
    else {
        return schema;
    };
    if entry < zwhy_perf::attr::LEAST_ATTR + 16 {
        return schema;
    }
    for index in 0..size / entry {
        let Some(raw) = index.checked_mul(entry).and_then(|o| view.part(at.checked_add(o)?, entry)) else {
            break;
        };
        let Some(attr) = raw.part(0, entry - 16).and_then(Attr::parse) else { break };
        let ids = (raw.u64(entry - 16), raw.u64(entry - 8));
        let ids = match ids {
            (Some(at), Some(len)) => usize::try_from(at).ok().zip(usize::try_from(len).ok()),
            _ => None,
        };
        let ids = ids.and_then(|(at, len)| view.part(at, len)).unwrap_or(view.from(usize::MAX));
        schema.add(attr, (0..ids.len() / 8).filter_map(|i| ids.u64(i * 8)));
    }
    schema
}

/// One section a set bit of the bitmap, in order of the bits, right after the data.
fn read_features(features: &mut Features, view: &View<'_>, mut at: usize) {
    for bit in 0..FEATURES {
        let word = view.u64(72 + (bit / 64) as usize * 8).unwrap_or(0);
        if word & (1 << (bit % 64)) == 0 {
            continue;
        }
        let (Some(offset), Some(size)) = (view.u64(at), view.u64(at + 8)) else { return };
        at += 16;
        if let (Ok(offset), Ok(size)) = (usize::try_from(offset), usize::try_from(size))
            && let Some(body) = view.part(offset, size)
        {
            features.take(bit, body);
        }
    }
}
