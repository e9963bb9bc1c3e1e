//! OpenTelemetry profiles: ProfilesData and ExportProfilesServiceRequest, as protobuf or as JSON.
//!
//! Read: `opentelemetry.proto.profiles.v1development` with a dictionary and a stack table, which is
//! opentelemetry-proto 1.8, 1.9 and 1.10; the layout of samples is told from the samples. Versions before
//! 1.8 are refused by name. Several profiles of one scope that count the same samples in several units are
//! taken once. Sample messages are the unit of the stats. JSON is turned into protobuf and read like that;
//! the collector writes one message a line.

mod dictionary;
mod json;
mod sample;

use crate::interchange::frames;
use crate::interchange::meaning::{self, Meaning, Unit};
use crate::interchange::protobuf::{Fields, MAX_ENTRIES, Value};
use crate::interchange::rows::{Amount, Row};
use crate::interchange::{self, shown};
use crate::pprof::Key;
use crate::{Confidence, ErrorKind, FormatError, ImportOptions, Imported, Importer, Input, Position};
use dictionary::{Attribute, Dictionary};
use sample::{Layout, ProfileHead, Sample};
use zwhy_profile::{Event, FrameId, Nanos, StackId};

pub(crate) static IMPORTER: Importer = Importer { name: "otlp", sniff, read };

fn sniff(head: &[u8]) -> Confidence {
    if looks_like(head) || json::looks_like(head) { Confidence::Certain } else { Confidence::No }
}

fn read(input: &Input, options: &ImportOptions) -> Result<Imported, FormatError> {
    let mut taken = Taken::new(input.bytes().len(), options.limits.max_depth);
    if json::looks_like(input.bytes()) && !looks_like(input.bytes()) {
        json::read(input, options, &mut taken)?;
        return taken.finish(input, None);
    }
    let damage = taken.message(input, input.bytes(), None)?;
    taken.finish(input, damage)
}

/// Messages in a field of another message.
fn inside(message: &[u8], number: u32) -> impl Iterator<Item = &[u8]> {
    Fields::new(message).filter(move |f| f.number == number && f.value.is_bytes()).map(|f| f.value.bytes())
}

fn resources(data: &[u8]) -> impl Iterator<Item = &[u8]> {
    inside(data, 1)
}

fn scopes(resource: &[u8]) -> impl Iterator<Item = &[u8]> {
    inside(resource, 2)
}

fn profiles(scope: &[u8]) -> impl Iterator<Item = &[u8]> {
    inside(scope, 2)
}

fn samples(profile: &[u8]) -> impl Iterator<Item = &[u8]> {
    inside(profile, 2)
}

fn nothing(input: &Input, damage: Option<usize>, what: &str) -> FormatError {
    match damage {
        Some(at) => {
            FormatError::read(ErrorKind::Damaged, input.name(), format!("{what} before it breaks off"))
                .at(Position::Byte(at as u64))
                .hint("copy the file again: the dictionary is usually at the end")
        }
        None => FormatError::read(ErrorKind::Empty, input.name(), what)
            .hint("check that the file is a ProfilesData message"),
    }
}

/// Only fields 1 and 2, messages, with a profile or the empty first mapping of a dictionary inside.
fn looks_like(head: &[u8]) -> bool {
    let messages = |bytes, last| {
        let mut fields = Fields::of_head(bytes);
        fields.by_ref().all(|f| f.number <= last && f.value.is_bytes()) && fields.damage().is_none()
    };
    let mut certain = false;
    let mut fields = Fields::of_head(head);
    for field in fields.by_ref() {
        let Value::Bytes(message) = field.value else { return false };
        match field.number {
            1 if messages(message, 3) => {
                let inner = |bytes| Fields::of_head(bytes).filter(|f| f.number == 2).map(|f| f.value.bytes());
                certain |= inner(message).any(|scope| messages(scope, 3) && inner(scope).next().is_some());
            }
            2 if messages(message, 7) => {
                certain |= Fields::of_head(message)
                    .next()
                    .is_some_and(|f| f.number == 1 && f.value.bytes().is_empty());
            }
            _ => return false,
        }
    }
    certain && fields.damage().is_none()
}

/// What was read of all messages so far.
struct Taken {
    all: interchange::Taken,
    /// Scratch.
    sample: Sample,
    frames: Vec<FrameId>,
}

impl Taken {
    fn new(bytes: usize, max_depth: usize) -> Taken {
        Taken {
            all: interchange::Taken::new("otlp", "samples", bytes, max_depth),
            sample: Sample::default(),
            frames: Vec::new(),
        }
    }

    /// Takes the samples of a ProfilesData message; where it breaks off, if it does. The layout of its
    /// samples is told from them where it is not known.
    fn message(
        &mut self,
        input: &Input,
        bytes: &[u8],
        layout: Option<Layout>,
    ) -> Result<Option<usize>, FormatError> {
        let samples = || resources(bytes).flat_map(scopes).flat_map(profiles).flat_map(samples);
        // Of several messages some may say nothing.
        if layout.is_some() && samples().next().is_none() {
            return Ok(None);
        }
        let mut dictionary = Dictionary::default();
        let mut fields = Fields::new(bytes);
        fields.by_ref().filter(|f| f.number == 2).for_each(|f| dictionary.add(f.value.bytes()));
        let damage = fields.damage();
        if dictionary.is_empty() {
            return Err(nothing(input, damage, "it has no dictionary, so nothing has a name"));
        }
        if dictionary.is_too_large() {
            let found = format!("its dictionary has more than {MAX_ENTRIES} entries, the most that are read");
            return Err(
                FormatError::read(ErrorKind::TooLarge, input.name(), found).hint("record for a shorter time")
            );
        }
        let before_18 = || layout.is_none() && samples().take(100).any(sample::is_before_18);
        if !dictionary.has_stacks() || before_18() {
            let found = "it is an OTLP profile of a version before 1.8, without a stack table";
            return Err(FormatError::read(ErrorKind::Unsupported, input.name(), found)
                .hint("update the profiler or the collector, or export pprof from it"));
        }
        let layout = layout.or_else(|| samples().find_map(Layout::shown_by)).unwrap_or(Layout::From110);
        let stacks = vec![None; dictionary.stacks()];
        let mut reader = Reader { dictionary, layout, stacks, pid: -1, taken: self };
        resources(bytes).for_each(|resource| reader.resource(resource));
        Ok(damage)
    }

    fn finish(mut self, input: &Input, damage: Option<usize>) -> Result<Imported, FormatError> {
        if let Some(at) = damage {
            let left = (input.bytes().len() - at) as u64;
            self.all.lose(left);
            self.all.warn(format!(
                "the file breaks off {left} bytes before its end: what stood there is lost: copy it again"
            ));
        }
        if self.all.rows.is_empty() {
            return Err(nothing(input, damage, "it has no samples that can be taken"));
        }
        self.all.rows.start_at_zero();
        Ok(self.all.finish(input))
    }
}

/// Reads one message, whose tables its samples point into.
struct Reader<'a, 't> {
    dictionary: Dictionary<'a>,
    layout: Layout,
    /// Stacks of the table that were made; an error inside for one over the budget.
    stacks: Vec<Option<Result<StackId, &'static str>>>,
    /// pid of the resource at hand, where it says one.
    pid: i32,
    taken: &'t mut Taken,
}

impl<'a> Reader<'a, '_> {
    fn resource(&mut self, message: &'a [u8]) {
        self.pid = -1;
        for resource in inside(message, 1) {
            for attribute in inside(resource, 1) {
                self.resource_attribute(attribute);
            }
        }
        for scope in scopes(message) {
            self.scope(scope);
        }
    }

    /// A KeyValue of opentelemetry/proto/common/v1, with names of the semantic conventions.
    fn resource_attribute(&mut self, attribute: &'a [u8]) {
        let key = inside(attribute, 1).next().unwrap_or(b"");
        let value = inside(attribute, 2).next().and_then(|v| self.dictionary.any_value(v));
        let host = &mut self.taken.all.host;
        match (key, value) {
            (b"process.pid", Some(Attribute::Number(pid))) => self.pid = i32::try_from(pid).unwrap_or(-1),
            (b"host.name", Some(Attribute::Text(name))) if host.name.is_none() => {
                host.name = Some(name.into_owned());
            }
            (b"os.description", Some(Attribute::Text(os))) if host.os.is_none() => {
                host.os = Some(os.into_owned());
            }
            _ => {}
        }
    }

    fn scope(&mut self, scope: &'a [u8]) {
        let mut best = [0; Event::ALL.len()];
        for profile in profiles(scope) {
            let meaning = self.meaning(&ProfileHead::read(profile));
            let best = &mut best[meaning.event as usize];
            *best = sample::rank(meaning).max(*best);
        }
        for profile in profiles(scope) {
            let head = ProfileHead::read(profile);
            let meaning = self.meaning(&head);
            if sample::rank(meaning) < best[meaning.event as usize] {
                self.skip(profile, &head);
            } else {
                self.profile(profile, &head, meaning);
            }
        }
    }

    fn meaning(&self, head: &ProfileHead) -> Meaning {
        Meaning::of(&self.dictionary.text(head.value_type[0]), &self.dictionary.text(head.value_type[1]))
    }

    fn skip(&mut self, profile: &[u8], head: &ProfileHead) {
        let count = samples(profile).count() as u64;
        self.taken.all.stats.read += count;
        self.taken.all.stats.drop("same samples in another unit", count);
        let name = self.dictionary.text(head.value_type[0]);
        let unit = self.dictionary.text(head.value_type[1]);
        let (name, unit) = (shown(&name), shown(&unit));
        self.warn_once(format!("the file also holds `{name}` in {unit}: not taken"));
    }

    fn warn_once(&mut self, warning: String) {
        if !self.taken.all.stats.warnings.contains(&warning) && self.taken.all.stats.warnings.len() < 20 {
            self.taken.all.stats.warnings.push(warning);
        }
    }

    fn profile(&mut self, profile: &'a [u8], head: &ProfileHead, meaning: Meaning) {
        let name = self.dictionary.text(head.value_type[0]);
        if meaning::is_wall(&name) {
            let name = shown(&name);
            self.warn_once(format!("`{name}` is wall clock time: sleeping threads are in it"));
        }
        let period = head.period(&self.dictionary.text(head.period_unit));
        if meaning.unit != Unit::Count {
            let unit = self.dictionary.text(head.value_type[1]);
            self.taken.all.rows.measure_in(meaning.event, meaning.unit.of_amounts(&name, &unit));
        }
        let mut fields = Fields::new(profile);
        for field in fields.by_ref().filter(|f| f.number == 2) {
            self.sample(field.value.bytes(), meaning, period);
        }
        if fields.damage().is_some() {
            self.taken.all.lose(0);
        }
    }

    fn sample(&mut self, message: &[u8], meaning: Meaning, period: u64) {
        let mut sample = std::mem::take(&mut self.taken.sample);
        if !sample.read(message, self.layout) {
            self.taken.all.lose(0);
        } else {
            let taken = self.take(&sample, meaning, period);
            self.taken.all.count(taken);
        }
        self.taken.sample = sample;
    }

    fn take(&mut self, sample: &Sample, meaning: Meaning, period: u64) -> Result<(), &'static str> {
        if sample.points().any(|(_, value)| value < 0) {
            return Err("negative value");
        }
        if sample.points().all(|(_, value)| value == 0) {
            return Err("value of zero");
        }
        let stack = self.stack(sample.stack)?;
        let (mut comm, mut pid, mut tid, mut cpu) = (String::new(), self.pid, -1, -1);
        for (key, value) in sample.attributes.iter().filter_map(|i| self.dictionary.attribute(*i)) {
            let number = match &value {
                Attribute::Number(n) => i32::try_from(*n).unwrap_or(-1),
                Attribute::Text(text) => text.trim().parse().unwrap_or(-1),
            };
            match (Key::of(&key), value) {
                (Key::Comm | Key::Thread, Attribute::Text(text)) => comm = text.into_owned(),
                (Key::Pid, _) => pid = number,
                (Key::Tid | Key::Thread, _) => tid = number,
                (Key::Cpu, _) => cpu = number,
                _ => {}
            }
        }
        let thread = self.taken.all.profile.thread(pid, tid, &comm);
        for (time, value) in sample.points().filter(|(_, value)| *value > 0) {
            let t = Nanos(i64::try_from(time).unwrap_or(0));
            let (amount, weight) = amount(value, meaning.unit, period);
            let row = Row { t, cpu, thread, stack, event: meaning.event, weight };
            self.taken.all.push(row, amount)?;
        }
        Ok(())
    }

    /// The stack of an entry of the stack table.
    fn stack(&mut self, index: u64) -> Result<StackId, &'static str> {
        let slot = usize::try_from(index).ok().filter(|i| *i < self.stacks.len());
        if let Some(made) = slot.and_then(|i| self.stacks[i]) {
            return made;
        }
        let profile = &mut self.taken.all.profile;
        self.taken.frames.clear();
        let most = self.taken.all.max_depth.saturating_add(1);
        let known = slot.and_then(|i| self.dictionary.stack_frames(profile, i, most, &mut self.taken.frames));
        if known.is_none() || self.taken.frames.is_empty() {
            self.taken.frames.push(frames::unknown(profile, "the profile holds no stack for this sample"));
        }
        let made = self.taken.all.stack(self.taken.frames.iter().copied());
        if let Some(i) = slot {
            self.stacks[i] = Some(made);
        }
        made
    }
}

/// What a positive value counts for, and the time it stands for.
pub fn amount(value: i64, unit: Unit, period: u64) -> (Amount, Nanos) {
    let period_ns = i64::try_from(period).unwrap_or(0);
    let value = value.unsigned_abs();
    match unit {
        Unit::Other => (Amount::Value(value, None), Nanos(0)),
        Unit::Count => {
            let weight = i64::try_from(value).map_or(i64::MAX, |n| period_ns.saturating_mul(n));
            (Amount::Count(value), Nanos(weight))
        }
        Unit::Time(ns) => {
            let time = value.saturating_mul(u64::from(ns));
            let samples = |period: u64| (time.saturating_add(period / 2) / period).max(1);
            (Amount::Value(time, (period > 0).then(|| samples(period))), Nanos(0))
        }
    }
}
