//! pprof: profile.proto, gzipped, as `go tool pprof`, Pyroscope and Parca read it.
//!
//! Carried: counts and times by thread and stack, function, module, source line, inlined frames, kernel or
//! user (as the spelling of the module). Not carried: when and on which CPU a sample was, other events than
//! the one chosen, why a frame has no name; a frame of unknown kind comes back as user when it has a module,
//! and a kernel frame without a module stays only `[]`. Inlined frames take the module of the frame they are
//! in; at the root of a stack they come back as ordinary ones.

use super::parts::{by_thread_and_stack, usable, with_stacks};
use crate::interchange::frames::dressed;
use crate::interchange::protobuf::{put_bytes, put_number, put_numbers};
use crate::{ExportOptions, Exporter};
use flate2::{Compression, write::GzEncoder};
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use std::hash::Hash;
use std::io::Write;
use zwhy_evidence::Evidence;
use zwhy_profile::{Event, Frame, FrameId, FrameKind, Profile, StackId, StringTable, Thread, Unit};

pub(super) const EXPORTER: Exporter = Exporter { name: "pprof", extension: "pb.gz", write };

fn write(evidence: &Evidence, options: &ExportOptions, out: &mut dyn Write) -> std::io::Result<()> {
    let profile = &*with_stacks(&evidence.profile);
    let mut builder = Builder::new(profile, options.event);
    let rows = by_thread_and_stack(profile, options.event);
    builder.with_time = rows.iter().any(|(_, _, sum)| sum.weight > 0);
    let measure = profile.measure(options.event);
    // Made of percentages or printed stacks the counts are all there is.
    builder.with_count = measure.counted || measure.unit == Unit::Samples;
    for (thread, stack, sum) in rows {
        builder.sample(profile.threads.get(thread), stack, sum.count, sum.weight);
    }
    let mut gz = GzEncoder::new(out, Compression::default());
    gz.write_all(&builder.finish(evidence))?;
    gz.finish().map(drop)
}

/// Names of the two value types of an event.
fn type_names(event: Event) -> (&'static str, &'static str) {
    match event {
        Event::Cpu => ("samples", "cpu"),
        Event::Wait => ("waits", "off_cpu"),
        Event::Count => ("calls", "call_time"),
    }
}

/// What has a number from 1 on, in the order in which it came.
type Numbers<T> = IndexSet<T, FxBuildHasher>;

/// The number of a thing, and whether it is new.
fn number<T: Hash + Eq>(all: &mut Numbers<T>, thing: T) -> (u64, bool) {
    let (at, is_new) = all.insert_full(thing);
    (at as u64 + 1, is_new)
}

struct Builder<'a> {
    profile: &'a Profile,
    event: Event,
    with_time: bool,
    /// Numbers of samples are known.
    with_count: bool,
    /// The empty one first, as the format wants it.
    strings: StringTable,
    /// The messages, in the order in which they are written.
    samples: Vec<u8>,
    mappings: Vec<u8>,
    locations: Vec<u8>,
    functions: Vec<u8>,
    mapping_ids: Numbers<String>,
    /// A location is a frame and what is inlined into it, leaf first.
    location_ids: Numbers<Vec<FrameId>>,
    function_ids: Numbers<(u64, u64)>,
}

impl<'a> Builder<'a> {
    fn new(profile: &'a Profile, event: Event) -> Builder<'a> {
        Builder {
            profile,
            event,
            with_time: false,
            with_count: true,
            strings: StringTable::default(),
            samples: Vec::new(),
            mappings: Vec::new(),
            locations: Vec::new(),
            functions: Vec::new(),
            mapping_ids: Numbers::default(),
            location_ids: Numbers::default(),
            function_ids: Numbers::default(),
        }
    }

    fn string(&mut self, text: &str) -> u64 {
        u64::from(self.strings.intern(text).0)
    }

    fn sample(&mut self, thread: Thread, stack: StackId, count: u64, weight: i64) {
        let mut message = Vec::new();
        let mut locations = Vec::new();
        let mut chain: Vec<FrameId> = Vec::new();
        for frame in self.profile.stacks.leaf_to_root(stack) {
            chain.push(frame);
            if self.profile.frames.get(frame).kind != FrameKind::Inlined {
                locations.push(self.location(&chain));
                chain.clear();
            }
        }
        if !chain.is_empty() {
            locations.push(self.location(&chain));
        }
        put_numbers(&mut message, 1, locations);
        let time = self.with_time.then_some(weight as u64);
        let count = self.with_count.then_some(count);
        put_numbers(&mut message, 2, count.into_iter().chain(time));
        let comm = self.profile.strings.get(thread.comm);
        if !comm.is_empty() {
            let text = self.string(comm);
            self.label(&mut message, "thread", |label| put_number(label, 2, text));
        }
        for (key, id) in [("pid", thread.pid), ("tid", thread.tid)] {
            // 0 is the idle task, and an absent number is 0 in this format.
            if id >= 0 {
                self.label(&mut message, key, |label| put_number(label, 3, u64::from(id.unsigned_abs())));
            }
        }
        put_bytes(&mut self.samples, 2, &message);
    }

    fn label(&mut self, sample: &mut Vec<u8>, key: &str, value: impl FnOnce(&mut Vec<u8>)) {
        let mut label = Vec::new();
        put_number(&mut label, 1, self.string(key));
        value(&mut label);
        put_bytes(sample, 3, &label);
    }

    fn location(&mut self, chain: &[FrameId]) -> u64 {
        if let Some(at) = self.location_ids.get_index_of(chain) {
            return at as u64 + 1;
        }
        let (id, _) = number(&mut self.location_ids, chain.to_vec());
        let mut message = Vec::new();
        put_number(&mut message, 1, id);
        if let Some(frame) = chain.last().map(|f| self.profile.frames.get(*f)) {
            put_number(&mut message, 2, self.mapping(frame));
        }
        for frame in chain {
            let frame = self.profile.frames.get(*frame);
            let mut line = Vec::new();
            put_number(&mut line, 1, self.function(frame));
            put_number(&mut line, 2, u64::from(frame.line));
            put_bytes(&mut message, 4, &line);
        }
        put_bytes(&mut self.locations, 4, &message);
        id
    }

    fn mapping(&mut self, frame: Frame) -> u64 {
        let module = dressed(self.profile.strings.get(frame.module), frame.kind);
        if module.is_empty() {
            return 0;
        }
        let name = self.string(&module);
        let (id, is_new) = number(&mut self.mapping_ids, module);
        if !is_new {
            return id;
        }
        let mut message = Vec::new();
        put_number(&mut message, 1, id);
        put_number(&mut message, 5, name);
        // Names are final: a reader must not look for symbols by the addresses, which are not kept.
        (7..=10).for_each(|flag| put_number(&mut message, flag, 1));
        put_bytes(&mut self.mappings, 3, &message);
        id
    }

    fn function(&mut self, frame: Frame) -> u64 {
        let name = self.string(self.profile.strings.get(frame.function));
        let file = self.string(self.profile.strings.get(frame.file));
        let (id, is_new) = number(&mut self.function_ids, (name, file));
        if !is_new {
            return id;
        }
        let mut message = Vec::new();
        put_number(&mut message, 1, id);
        put_number(&mut message, 2, name);
        put_number(&mut message, 3, name);
        put_number(&mut message, 4, file);
        put_bytes(&mut self.functions, 5, &message);
        id
    }

    fn value_type(&mut self, name: &str, unit: &str) -> Vec<u8> {
        let mut message = Vec::new();
        put_number(&mut message, 1, self.string(name));
        put_number(&mut message, 2, self.string(unit));
        message
    }

    fn finish(mut self, evidence: &Evidence) -> Vec<u8> {
        let (count, time) = type_names(self.event);
        let mut out = Vec::new();
        let unit = self.profile.measure(self.event).unit.clone();
        if self.with_count {
            put_bytes(&mut out, 1, &self.value_type(count, "count"));
        }
        let (time, unit_name) = match &unit {
            Unit::Samples | Unit::Nanos => (time, "nanoseconds"),
            Unit::Bytes => ("space", "bytes"),
            Unit::Other(name) => (name.as_str(), "count"),
        };
        let time_type = self.value_type(time, unit_name);
        if self.with_time {
            put_bytes(&mut out, 1, &time_type);
        }
        let default = self.string(if unit == Unit::Samples { count } else { time });
        for part in [&self.samples, &self.mappings, &self.locations, &self.functions] {
            out.extend_from_slice(part);
        }
        for (_, text) in self.strings.iter() {
            put_bytes(&mut out, 6, text.as_bytes());
        }
        if let Some(seconds) = usable(evidence.facts.start_unix_s) {
            put_number(&mut out, 9, (seconds * 1e9) as u64);
        }
        if let Some(seconds) = usable(evidence.facts.recorder.duration_s) {
            put_number(&mut out, 10, (seconds * 1e9) as u64);
        }
        if let Some(hz) = usable(evidence.facts.recorder.hz) {
            put_bytes(&mut out, 11, &time_type);
            put_number(&mut out, 12, (1e9 / hz) as u64);
        }
        put_number(&mut out, 14, default);
        out
    }
}
