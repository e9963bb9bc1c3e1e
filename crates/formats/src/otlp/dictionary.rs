//! The dictionary of an OTLP profiles message: tables that samples point into by index.
//!
//! Invariant: index 0 of every table means "not set", and an index may lead nowhere.

use crate::interchange::MAX_NAME;
use crate::interchange::frames::{self, MAX_INLINED, Place};
use crate::interchange::protobuf::{Field, Fields, MAX_ENTRIES, numbers_in};
use std::borrow::Cow;
use zwhy_profile::{FrameId, FrameKind, Profile};

#[derive(Debug, Default)]
pub struct Dictionary<'a> {
    strings: Vec<&'a [u8]>,
    mappings: Vec<&'a [u8]>,
    locations: Vec<&'a [u8]>,
    functions: Vec<&'a [u8]>,
    attributes: Vec<&'a [u8]>,
    stacks: Vec<&'a [u8]>,
    /// Frames of the locations that were needed: start and end in `frames`.
    resolved: Vec<Option<(u32, u32)>>,
    frames: Vec<FrameId>,
    /// Entries of all tables; reading stops beyond the limit.
    entries: usize,
}

/// A value of an attribute: the two kinds that matter here.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute<'a> {
    Text(Cow<'a, str>),
    Number(i64),
}

/// Bytes of an attribute that are looked at: every sample has some.
const MAX_ATTRIBUTE: usize = 256;

fn short(bytes: &[u8], most: usize) -> Cow<'_, str> {
    String::from_utf8_lossy(&bytes[..bytes.len().min(most)])
}

fn entry<'a>(table: &[&'a [u8]], index: u64) -> &'a [u8] {
    usize::try_from(index).ok().and_then(|i| table.get(i)).copied().unwrap_or(b"")
}

impl<'a> Dictionary<'a> {
    /// Adds the tables of one dictionary message (there should be one).
    pub fn add(&mut self, bytes: &'a [u8]) {
        for Field { number, value } in Fields::new(bytes) {
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                break;
            }
            let table = match number {
                1 => &mut self.mappings,
                2 => &mut self.locations,
                3 => &mut self.functions,
                5 => &mut self.strings,
                6 => &mut self.attributes,
                7 => &mut self.stacks,
                _ => continue,
            };
            table.push(value.bytes());
        }
        self.resolved.resize(self.locations.len(), None);
    }

    pub fn is_empty(&self) -> bool {
        self.strings.is_empty()
    }

    pub fn is_too_large(&self) -> bool {
        self.entries > MAX_ENTRIES
    }

    pub fn has_stacks(&self) -> bool {
        // Before version 1.8 field 7 was a table of attribute units, whose entries are numbers.
        self.stacks.iter().all(|stack| Fields::new(stack).all(|f| f.number == 1)) && !self.stacks.is_empty()
    }

    pub fn stacks(&self) -> usize {
        self.stacks.len()
    }

    /// The text at an index, cut at [`MAX_NAME`]; empty when there is none.
    pub fn text(&self, index: u64) -> Cow<'a, str> {
        short(entry(&self.strings, index), MAX_NAME)
    }

    /// Key and value of an attribute in the table.
    pub fn attribute(&self, index: u64) -> Option<(Cow<'a, str>, Attribute<'a>)> {
        let (mut key, mut value) = (0, None);
        for field in Fields::new(entry(&self.attributes, index)) {
            match field.number {
                1 => key = field.value.number(),
                2 => value = self.any_value(field.value.bytes()),
                _ => {}
            }
        }
        Some((short(entry(&self.strings, key), MAX_ATTRIBUTE), value?))
    }

    /// An AnyValue of opentelemetry/proto/common/v1.
    pub fn any_value(&self, bytes: &'a [u8]) -> Option<Attribute<'a>> {
        Fields::new(bytes).find_map(|field| match field.number {
            1 => Some(Attribute::Text(short(field.value.bytes(), MAX_ATTRIBUTE))),
            3 => Some(Attribute::Number(field.value.number() as i64)),
            8 => Some(Attribute::Text(short(entry(&self.strings, field.value.number()), MAX_ATTRIBUTE))),
            _ => None,
        })
    }

    /// Frames of an entry of the stack table, leaf first, `most` at most; `None` for no such entry.
    pub fn stack_frames(
        &mut self,
        profile: &mut Profile,
        stack: usize,
        most: usize,
        out: &mut Vec<FrameId>,
    ) -> Option<()> {
        let message = self.stacks.get(stack).copied()?;
        for field in Fields::new(message).filter(|f| f.number == 1) {
            for location in field.value.numbers() {
                if out.len() >= most {
                    return Some(());
                }
                let (start, end) = self.location(profile, location);
                out.extend_from_slice(self.frames.get(start as usize..end as usize).unwrap_or(&[]));
            }
        }
        Some(())
    }

    fn location(&mut self, profile: &mut Profile, index: u64) -> (u32, u32) {
        let slot = usize::try_from(index).ok().filter(|i| *i < self.resolved.len());
        if let Some(range) = slot.and_then(|i| self.resolved[i]) {
            return range;
        }
        let start = self.frames.len();
        match slot {
            Some(i) => self.resolve(profile, self.locations[i]),
            None => {
                let unknown = frames::unknown(profile, "the profile does not describe this location");
                self.frames.push(unknown);
            }
        }
        let at = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let range = (at(start), at(self.frames.len()));
        if let Some(i) = slot {
            self.resolved[i] = Some(range);
        }
        range
    }

    fn resolve(&mut self, profile: &mut Profile, location: &'a [u8]) {
        let (mut mapping, mut address, mut kind) = (0, 0, None);
        let mut lines = Vec::new();
        for field in Fields::new(location) {
            match field.number {
                1 => mapping = field.value.number(),
                2 => address = field.value.number(),
                3 if lines.len() < MAX_INLINED => lines.push(numbers_in(field.value.bytes(), [1, 2])),
                4 => kind = field.value.numbers().find_map(|i| self.frame_type(i)).or(kind),
                _ => {}
            }
        }
        let [start, offset, file] = numbers_in(entry(&self.mappings, mapping), [1, 3, 4]);
        let place = Place { module: &self.text(file), address, start, offset, kind };
        let frames = place.frames(profile, &lines, |function| self.function(function));
        self.frames.extend(frames);
    }

    fn function(&self, index: u64) -> (Cow<'a, str>, Cow<'a, str>) {
        let [name, system_name, file] = numbers_in(entry(&self.functions, index), [1, 2, 3]);
        let name = if self.text(name).is_empty() { system_name } else { name };
        (self.text(name), self.text(file))
    }

    /// The semantic convention `profile.frame.type`: `kernel`, or the runtime of a user frame.
    fn frame_type(&self, index: u64) -> Option<FrameKind> {
        match self.attribute(index)? {
            (key, Attribute::Text(kind)) if key == "profile.frame.type" && kind == "kernel" => {
                Some(FrameKind::Kernel)
            }
            (key, Attribute::Text(_)) if key == "profile.frame.type" => Some(FrameKind::User),
            _ => None,
        }
    }
}
