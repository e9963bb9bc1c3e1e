//! The tables of a pprof profile, by the field numbers of google/pprof proto/profile.proto.
//!
//! Invariant: nothing is resolved here; ids and string indexes are looked up, and may lead nowhere, later.

use crate::interchange::MAX_NAME;
use crate::interchange::frames::{self, MAX_INLINED, Place};
use crate::interchange::protobuf::{Fields, MAX_ENTRIES, numbers_in};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use zwhy_profile::{FrameId, Profile};

/// Value types that are told apart; the most that is known is eleven.
const MAX_TYPES: usize = 64;

/// A value type: indexes of its name and unit.
#[derive(Clone, Copy, Debug, Default)]
pub struct ValueType {
    pub name: u64,
    pub unit: u64,
}

impl ValueType {
    fn read(bytes: &[u8]) -> ValueType {
        let [name, unit] = numbers_in(bytes, [1, 2]);
        ValueType { name, unit }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Mapping {
    start: u64,
    offset: u64,
    file: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Function {
    name: u64,
    system_name: u64,
    file: u64,
}

/// All of a file but its samples.
#[derive(Debug, Default)]
pub struct Tables<'a> {
    strings: Vec<&'a [u8]>,
    mappings: FxHashMap<u64, Mapping>,
    functions: FxHashMap<u64, Function>,
    /// Messages, read when a sample needs them.
    locations: FxHashMap<u64, &'a [u8]>,
    /// Frames of the locations that were needed: start and end in `frames`.
    resolved: FxHashMap<u64, (u32, u32)>,
    frames: Vec<FrameId>,
    pub types: Vec<ValueType>,
    pub default_type: u64,
    pub period_type: ValueType,
    pub period: i64,
    pub samples: u64,
    /// Entries of all tables; reading stops beyond the limit.
    pub entries: usize,
    /// Where the file stops making sense.
    pub damage: Option<usize>,
}

impl<'a> Tables<'a> {
    pub fn read(bytes: &'a [u8]) -> Tables<'a> {
        let mut tables = Tables::default();
        let mut fields = Fields::new(bytes);
        for field in fields.by_ref() {
            let value = field.value;
            tables.entries += usize::from(field.number != 2);
            if tables.entries > MAX_ENTRIES {
                break;
            }
            match field.number {
                1 if tables.types.len() < MAX_TYPES => tables.types.push(ValueType::read(value.bytes())),
                2 => tables.samples += 1,
                3 => tables.mapping(value.bytes()),
                4 => tables.location(value.bytes()),
                5 => tables.function(value.bytes()),
                6 => tables.strings.push(value.bytes()),
                11 => tables.period_type = ValueType::read(value.bytes()),
                12 => tables.period = value.number() as i64,
                14 => tables.default_type = value.number(),
                _ => {}
            }
        }
        tables.damage = fields.damage();
        tables
    }

    fn mapping(&mut self, bytes: &[u8]) {
        let [id, start, offset, file] = numbers_in(bytes, [1, 2, 4, 5]);
        self.mappings.insert(id, Mapping { start, offset, file });
    }

    fn function(&mut self, bytes: &[u8]) {
        let [id, name, system_name, file] = numbers_in(bytes, [1, 2, 3, 4]);
        self.functions.insert(id, Function { name, system_name, file });
    }

    fn location(&mut self, bytes: &'a [u8]) {
        let id = Fields::new(bytes).find(|f| f.number == 1).map_or(0, |f| f.value.number());
        self.locations.insert(id, bytes);
    }

    pub fn has_strings(&self) -> bool {
        !self.strings.is_empty()
    }

    /// The text at an index, cut at [`MAX_NAME`]; empty when there is none.
    pub fn text(&self, index: u64) -> Cow<'a, str> {
        self.text_up_to(index, MAX_NAME)
    }

    /// The text of a label, of which there is one a sample.
    pub fn label_text(&self, index: u64) -> Cow<'a, str> {
        const MAX_LABEL: usize = 256;
        self.text_up_to(index, MAX_LABEL)
    }

    fn text_up_to(&self, index: u64, most: usize) -> Cow<'a, str> {
        let bytes = usize::try_from(index).ok().and_then(|i| self.strings.get(i)).copied().unwrap_or(b"");
        String::from_utf8_lossy(&bytes[..bytes.len().min(most)])
    }

    /// Frames of a location, leaf first.
    pub fn frames(&mut self, profile: &mut Profile, location: u64) -> &[FrameId] {
        let (start, end) = match self.resolved.get(&location) {
            Some(&range) => range,
            None => {
                let range = self.resolve(profile, location);
                self.resolved.insert(location, range);
                range
            }
        };
        self.frames.get(start as usize..end as usize).unwrap_or(&[])
    }

    fn resolve(&mut self, profile: &mut Profile, location: u64) -> (u32, u32) {
        let start = self.frames.len();
        match self.locations.get(&location) {
            Some(bytes) => self.resolve_lines(profile, bytes),
            None => self.frames.push(frames::unknown(profile, "the profile does not describe this location")),
        }
        // Locations take more bytes than frames have: 4 Gi frames need a larger file than is read.
        (u32::try_from(start).unwrap_or(u32::MAX), u32::try_from(self.frames.len()).unwrap_or(u32::MAX))
    }

    fn resolve_lines(&mut self, profile: &mut Profile, location: &[u8]) {
        let (mut mapping, mut address) = (0, 0);
        let mut lines = Vec::new();
        for field in Fields::new(location) {
            match field.number {
                2 => mapping = field.value.number(),
                3 => address = field.value.number(),
                4 if lines.len() < MAX_INLINED => lines.push(numbers_in(field.value.bytes(), [1, 2])),
                _ => {}
            }
        }
        let Mapping { start, offset, file } = self.mappings.get(&mapping).copied().unwrap_or_default();
        let place = Place { module: &self.text(file), address, start, offset, kind: None };
        let frames = place.frames(profile, &lines, |function| self.name_and_file(function));
        self.frames.extend(frames);
    }

    fn name_and_file(&self, function: u64) -> (Cow<'a, str>, Cow<'a, str>) {
        let function = self.functions.get(&function).copied().unwrap_or_default();
        let name = self.text(function.name);
        let name = if name.is_empty() { self.text(function.system_name) } else { name };
        (name, self.text(function.file))
    }
}
