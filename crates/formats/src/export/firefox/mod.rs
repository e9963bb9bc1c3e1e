//! Firefox profiler JSON (processed, version 57), for https://profiler.firefox.com.
//!
//! Carried: when each sample was, counts, times, threads, function, module, source line, kernel, user and
//! inlined frames. Not carried: on which CPU a sample was, why a frame has no name, other events than the one
//! chosen; counts of calls come back as CPU samples.

mod tables;

use super::parts::{usable, with_stacks};
use crate::{ExportOptions, Exporter};
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};
use serde_json::{Value, json};
use std::io::Write;
use tables::{
    File, FrameTable, FuncTable, Markers, NativeSymbols, ResourceTable, SampleTable, SharedJson, StackTable,
    ThreadJson, Weight,
};
use zwhy_evidence::Evidence;
use zwhy_profile::{Event, FrameId, FrameKind, Profile, Sample, StackId, ThreadId, Unit};

pub(super) const EXPORTER: Exporter = Exporter { name: "firefox", extension: "profile.json", write };

fn write(evidence: &Evidence, options: &ExportOptions, out: &mut dyn Write) -> std::io::Result<()> {
    let profile = &*with_stacks(&evidence.profile);
    let mut by_thread: FxHashMap<ThreadId, Vec<Sample>> = FxHashMap::default();
    for sample in profile.samples.iter().filter(|s| s.event == options.event && s.count > 0) {
        by_thread.entry(sample.thread).or_default().push(sample);
    }
    let mut by_thread: Vec<_> = by_thread.into_iter().collect();
    by_thread.sort_by_key(|(thread, _)| *thread);
    let mut shared = Shared::default();
    let mut threads = Vec::new();
    for (thread, mut samples) in by_thread {
        samples.sort_by_key(|s| s.t);
        threads.push(ThreadTables::new(profile, &mut shared).thread(thread, &samples));
    }
    let libs = shared.libs.iter().map(|name| lib(name)).collect();
    let file = File {
        meta: meta(evidence),
        libs,
        pages: [],
        shared: SharedJson { string_array: &shared.strings },
        threads,
    };
    serde_json::to_writer(&mut *out, &file)?;
    out.write_all(b"\n")
}

/// Names of the categories; the first is the one that the format requires.
const CATEGORIES: [(&str, &str); 4] =
    [("Other", "grey"), ("Kernel", "orange"), ("User", "yellow"), ("Unknown", "darkgrey")];

fn category(kind: FrameKind) -> Option<u32> {
    match kind {
        FrameKind::Kernel => Some(1),
        FrameKind::User => Some(2),
        FrameKind::Unknown => Some(3),
        FrameKind::Inlined => None, // that of the frame it is in
    }
}

fn meta(evidence: &Evidence) -> Value {
    let categories: Vec<Value> = CATEGORIES
        .iter()
        .map(|(name, color)| json!({ "name": name, "color": color, "subcategories": ["Other"] }))
        .collect();
    let start = usable(evidence.facts.start_unix_s).unwrap_or(0.0);
    json!({
        "version": 31,
        "preprocessedProfileVersion": 57,
        "product": "zwhy",
        "importedFrom": "zwhy",
        "interval": usable(evidence.facts.recorder.hz).map_or(1.0, |hz| 1e3 / hz),
        "startTime": start * 1e3,
        "processType": 0,
        "stackwalk": 1,
        "debug": false,
        "symbolicated": true,
        "usesOnlyOneStackType": true,
        "sourceCodeIsNotOnSearchfox": true,
        "categories": categories,
        "markerSchema": [],
        "oscpu": evidence.host.os.as_deref().unwrap_or(""),
        "CPUName": evidence.host.cpu_model.as_deref().unwrap_or(""),
        "sampleUnits": { "time": "ms", "eventDelay": "ms", "threadCPUDelta": "ns" },
        "extensions": { "length": 0, "baseURL": [], "id": [], "name": [] },
    })
}

fn lib(name: &str) -> Value {
    json!({
        "name": name, "path": name, "debugName": name, "debugPath": name,
        "breakpadId": "", "codeId": null, "arch": "",
    })
}

/// What all threads share: strings and objects.
#[derive(Default)]
struct Shared {
    strings: Rows<String>,
    libs: Rows<String>,
}

/// What has a row of its own, by its number.
type Rows<T> = IndexSet<T, FxBuildHasher>;

fn id_of(all: &mut Rows<String>, text: &str) -> u32 {
    all.get_index_of(text).unwrap_or_else(|| all.insert_full(text.to_owned()).0) as u32
}

/// The tables of one thread while they grow.
struct ThreadTables<'a, 's> {
    profile: &'a Profile,
    shared: &'s mut Shared,
    stacks: StackTable,
    stack_ids: FxHashMap<StackId, u32>,
    frames: FrameTable,
    /// A frame that is inlined three deep is another row than the same one deep.
    frame_ids: Rows<(FrameId, u32)>,
    funcs: FuncTable,
    func_ids: Rows<FrameId>,
    resources: ResourceTable,
    resource_ids: Rows<u32>,
}

impl<'a, 's> ThreadTables<'a, 's> {
    fn new(profile: &'a Profile, shared: &'s mut Shared) -> ThreadTables<'a, 's> {
        ThreadTables {
            profile,
            shared,
            stacks: StackTable::default(),
            stack_ids: FxHashMap::default(),
            frames: FrameTable::default(),
            frame_ids: Rows::default(),
            funcs: FuncTable::default(),
            func_ids: Rows::default(),
            resources: ResourceTable::default(),
            resource_ids: Rows::default(),
        }
    }

    fn thread(mut self, thread: ThreadId, samples: &[Sample]) -> ThreadJson<'a> {
        let event = samples.first().map_or(Event::Cpu, |s| s.event);
        let unit = &self.profile.measure(event).unit;
        let weight_type = match unit {
            Unit::Nanos => "tracing-ms",
            Unit::Bytes => "bytes",
            Unit::Samples | Unit::Other(_) => "samples",
        };
        let mut table = SampleTable { weight_type, length: samples.len(), ..SampleTable::default() };
        let with_cpu =
            *unit == Unit::Samples && samples.iter().any(|s| s.weight.0 > 0 || s.event == Event::Wait);
        for sample in samples {
            table.stack.push(self.stack(sample.stack));
            table.time.push(sample.t.0 as f64 / 1e6);
            let value = u64::try_from(sample.weight.0).unwrap_or(0);
            table.weight.push(match unit {
                Unit::Samples => Weight::Whole(u64::from(sample.count)),
                Unit::Nanos => Weight::Ms(value as f64 / 1e6),
                _ => Weight::Whole(value),
            });
            table.thread_cpu_delta.extend(with_cpu.then_some(match (sample.event, sample.weight.0) {
                (Event::Wait, _) => Some(0),
                (_, weight) => (weight > 0).then_some(weight),
            }));
        }
        let row = self.profile.threads.get(thread);
        ThreadJson {
            process_type: "default",
            process_startup_time: 0.0,
            process_shutdown_time: (),
            register_time: 0.0,
            unregister_time: (),
            paused_ranges: [],
            name: self.profile.strings.get(row.comm),
            is_main_thread: row.pid == row.tid,
            pid: row.pid.to_string(),
            tid: row.tid,
            samples: table,
            markers: Markers::default(),
            stack_table: self.stacks,
            frame_table: self.frames,
            func_table: self.funcs,
            resource_table: self.resources,
            native_symbols: NativeSymbols::default(),
        }
    }

    /// The row of a stack; `None` for the empty one.
    fn stack(&mut self, stack: StackId) -> Option<u32> {
        let mut missing = Vec::new();
        let mut at = stack;
        while at != StackId::ROOT && !self.stack_ids.contains_key(&at) {
            missing.push(at);
            at = self.profile.stacks.parent(at);
        }
        for at in missing.into_iter().rev() {
            let prefix = self.stack_ids.get(&self.profile.stacks.parent(at)).copied();
            let frame = self.frame_of(at, prefix);
            let id = self.stacks.length;
            self.stacks.length += 1;
            self.stacks.frame.push(frame);
            self.stacks.prefix.push(prefix);
            self.stack_ids.insert(at, id);
        }
        self.stack_ids.get(&stack).copied()
    }

    fn frame_of(&mut self, stack: StackId, prefix: Option<u32>) -> u32 {
        let id = self.profile.stacks.frame(stack).unwrap_or_default();
        let frame = self.profile.frames.get(id);
        let below = prefix
            .and_then(|p| self.stacks.frame.get(p as usize))
            .and_then(|f| self.frames.inline_depth.get(*f as usize).copied());
        let depth = if frame.kind == FrameKind::Inlined { below.unwrap_or(0) + 1 } else { 0 };
        let (row, is_new) = self.frame_ids.insert_full((id, depth));
        if !is_new {
            return row as u32;
        }
        let func = self.func(id);
        let table = &mut self.frames;
        table.length += 1;
        table.address.push(-1);
        table.inline_depth.push(depth);
        table.category.push(category(frame.kind));
        table.subcategory.push(category(frame.kind).map(|_| 0));
        table.func.push(func);
        table.native_symbol.push(());
        table.inner_window_id.push(0);
        table.line.push((frame.line > 0).then_some(frame.line));
        table.column.push(());
        row as u32
    }

    fn func(&mut self, id: FrameId) -> u32 {
        let (row, is_new) = self.func_ids.insert_full(id);
        if !is_new {
            return row as u32;
        }
        let frame = self.profile.frames.get(id);
        let text = |id| self.profile.strings.get(id);
        let (name, file, module) = (text(frame.function), text(frame.file), text(frame.module));
        let resource = if module.is_empty() { -1 } else { i64::from(self.resource(module)) };
        let table = &mut self.funcs;
        table.length += 1;
        table.name.push(id_of(&mut self.shared.strings, name));
        table.is_js.push(false);
        table.relevant_for_js.push(false);
        table.resource.push(resource);
        table.file_name.push((!file.is_empty()).then(|| id_of(&mut self.shared.strings, file)));
        table.line_number.push(());
        table.column_number.push(());
        row as u32
    }

    fn resource(&mut self, module: &str) -> u32 {
        /// Type of resources that are objects.
        const LIBRARY: u32 = 1;
        let lib = id_of(&mut self.shared.libs, module);
        let (row, is_new) = self.resource_ids.insert_full(lib);
        if !is_new {
            return row as u32;
        }
        self.resources.length += 1;
        self.resources.lib.push(lib);
        self.resources.name.push(id_of(&mut self.shared.strings, module));
        self.resources.host.push(());
        self.resources.kind.push(LIBRARY);
        row as u32
    }
}
