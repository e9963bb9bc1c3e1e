//! Firefox profiler JSON: processed profiles (profiler.firefox.com, samply) and Gecko profiles as Firefox and
//! `perf script gecko` write them.
//!
//! Layouts: docs-developer/{processed-profile-format,gecko-profile-format,CHANGELOG-formats}.md of
//! firefox-devtools/profiler. Read are processed versions up to 75 (tables per thread or shared, prefix
//! offsets, flag columns), Gecko versions from 3 to 36, and what the profiler wrote before (`cleopatra`). Rows of the sample tables are the unit of the stats.
//! A sample whose thread used no CPU since the one before it is of a sleeping thread: it becomes a wait.
//! Not taken: markers, counters, allocations. A cut file is refused: its columns end at different rows.

mod cleopatra;
mod file;
mod names;

use crate::interchange::Taken;
use crate::interchange::json::{self, index};
use crate::interchange::rows::{Amount, Row};
use crate::{Confidence, ErrorKind, FormatError, ImportOptions, Imported, Importer, Input};
use file::{File, Libs, Meta, SampleTable, Shared, StackTable, Thread, Threads};
use names::Names;
use rustc_hash::FxHashMap;
use zwhy_profile::{Event, FrameId, Nanos, Profile, StackId, ThreadId, Unit};

pub(crate) static IMPORTER: Importer = Importer { name: "firefox", sniff, read };

fn sniff(head: &[u8]) -> Confidence {
    let has = |key| json::head_has_key(head, key);
    if cleopatra::looks_like(head) {
        Confidence::Certain
    } else if !json::is_object(head) || !has("meta") {
        Confidence::No
    } else if has("preprocessedProfileVersion") {
        Confidence::Certain
    } else if has("stackTable") || (has("interval") && (has("stackwalk") || has("processType"))) {
        Confidence::Likely
    } else {
        Confidence::No
    }
}

fn read(input: &Input, options: &ImportOptions) -> Result<Imported, FormatError> {
    let mut reader =
        Reader { taken: Taken::new("firefox", "samples", input.bytes().len(), options.limits.max_depth) };
    let meta = if cleopatra::looks_like(input.bytes()) {
        cleopatra::read(input, options, &mut reader.taken)?
    } else {
        let file: File = json::parse(input, &options.limits)?;
        reader.file(&file);
        file.meta
    };
    reader.finish(input, &meta)
}

/// A stack table with what was made of its rows so far.
struct Stacks<'a> {
    table: &'a StackTable,
    made: Vec<Option<StackId>>,
    /// Frames that were made, by row of the frame table: a map, as a small thread may use a few rows of a
    /// large shared table.
    frames: FxHashMap<usize, FrameId>,
}

impl<'a> Stacks<'a> {
    fn new(table: &'a StackTable) -> Stacks<'a> {
        Stacks { table, made: vec![None; table.rows()], frames: FxHashMap::default() }
    }

    /// The row a stack stands on; `Err` for one that cannot be (it must come before).
    fn prefix(&self, row: usize) -> Result<Option<usize>, &'static str> {
        let prefix = match index(self.table.prefix_offset(row)) {
            Some(0) => None,
            Some(up) => Some(row.checked_sub(up).ok_or(NO_STACK)?),
            None => index(self.table.prefix(row)),
        };
        match prefix {
            Some(prefix) if prefix >= row => Err(NO_STACK),
            other => Ok(other),
        }
    }

    fn frame(&mut self, profile: &mut Profile, names: &Names, row: usize) -> FrameId {
        let Some(at) = index(self.table.frame(row)) else { return names::missing(profile) };
        let make = || names.frame(profile, at).unwrap_or_else(|| names::missing(profile));
        *self.frames.entry(at).or_insert_with(make)
    }
}

/// What all samples of a thread have in common.
struct OneThread<'a> {
    samples: &'a SampleTable,
    id: ThreadId,
    names: &'a Names<'a>,
    /// Nanoseconds of one unit of the CPU deltas; 0 where they are no time.
    delta_ns: f64,
}

/// Why a sample with an impossible stack is dropped.
const NO_STACK: &str = "stack that is not in the file";

struct Reader {
    taken: Taken,
}

impl Reader {
    fn file(&mut self, file: &File) {
        self.threads(&file.meta, &file.libs, &file.shared, &file.threads.all);
        self.unread(&file.threads);
        for process in file.threads.processes.iter().chain(file.processes.iter()) {
            self.threads(&process.meta, &process.libs, &Shared::default(), &process.threads);
        }
    }

    fn unread(&mut self, threads: &Threads) {
        if threads.unread > 0 {
            self.taken.stats.lost_bytes += threads.unread_bytes;
            self.taken.warn(format!(
                "{} profiles of other processes are damaged, {} bytes: their samples are lost",
                threads.unread, threads.unread_bytes
            ));
        }
    }

    fn threads(&mut self, meta: &Meta, libs: &Libs, shared: &Shared, threads: &[Thread]) {
        if libs.unread {
            self.taken.warn("a list of mapped objects is damaged: addresses of its process have no module");
        }
        let shared_names = Names {
            meta,
            libs,
            texts: &shared.string_array,
            frames: &shared.frame_table,
            funcs: &shared.func_table,
            resources: &shared.resource_table,
            sources: &shared.sources.filename,
        };
        let mut shared_stacks = Stacks::new(&shared.stack_table);
        for thread in threads {
            if thread.stack_table.rows() > 0 {
                let names = names_of(thread, shared_names);
                let mut stacks = Stacks::new(&thread.stack_table);
                self.thread(thread, &names, &mut stacks);
            } else {
                self.thread(thread, &shared_names, &mut shared_stacks);
            }
        }
    }

    fn thread(&mut self, thread: &Thread, names: &Names, stacks: &mut Stacks) {
        let comm = if thread.name.0.is_empty() { &thread.process_name.0 } else { &thread.name.0 };
        let id = self.taken.profile.thread(thread.pid.id(), thread.tid.id(), comm);
        let delta_ns = match names.meta.sample_units.thread_cpu_delta.0.as_str() {
            "ns" => 1.0,
            "µs" | "us" => 1e3,
            _ => 0.0, // cycles of a variable clock are no time
        };
        match thread.samples.weight_type.0.as_str() {
            "tracing-ms" => {
                self.taken.rows.measure_in(Event::Cpu, Unit::Nanos);
                self.taken.rows.measure_in(Event::Wait, Unit::Nanos);
            }
            "bytes" => self.taken.rows.measure_in(Event::Count, Unit::Bytes),
            _ => {}
        }
        let of = OneThread { samples: &thread.samples, id, names, delta_ns };
        let mut now = 0.0;
        for row in 0..thread.samples.rows() {
            let delta = thread.samples.time_delta(row);
            now += if delta.is_finite() { delta } else { 0.0 };
            let taken = self.sample(&of, stacks, row, now);
            self.taken.count(taken);
        }
    }

    /// Takes one row; `now` is its time where the table has only deltas.
    fn sample(
        &mut self,
        of: &OneThread,
        stacks: &mut Stacks,
        row: usize,
        now: f64,
    ) -> Result<(), &'static str> {
        let samples = of.samples;
        let (event, amount) = amount(&samples.weight_type.0, samples.weight(row))?;
        let at = index(samples.stack(row)).ok_or("sample without a stack")?;
        let stack = self.stack(of.names, stacks, at)?;
        let cpu_delta = samples.cpu_delta(row);
        let time = samples.time(row);
        let row = Row {
            t: Nanos(((if time.is_finite() { time } else { now }) * 1e6).round() as i64),
            cpu: -1,
            thread: of.id,
            stack,
            event: if event == Event::Cpu && cpu_delta == 0.0 { Event::Wait } else { event },
            // Casts of floats saturate, and NaN is 0.
            weight: Nanos((cpu_delta * of.delta_ns).max(0.0) as i64),
        };
        self.taken.push(row, amount)
    }

    /// The stack of a row, making those it stands on first.
    fn stack(&mut self, names: &Names, stacks: &mut Stacks, row: usize) -> Result<StackId, &'static str> {
        if row >= stacks.made.len() {
            return Err(NO_STACK);
        }
        let mut path = Vec::new();
        let mut at = Some(row);
        let mut base = StackId::ROOT;
        while let Some(row) = at {
            if let Some(made) = stacks.made[row] {
                base = made;
                break;
            }
            path.push(row);
            if path.len() > self.taken.max_depth {
                break;
            }
            at = stacks.prefix(row)?;
        }
        let depth = self.taken.profile.stacks.depth(base) as usize + path.len();
        if depth > self.taken.max_depth {
            return self.deep_stack(names, stacks, row);
        }
        let mut stack = base;
        for row in path.into_iter().rev() {
            let frame = stacks.frame(&mut self.taken.profile, names, row);
            stack = self.taken.profile.stacks.child(stack, frame);
            stacks.made[row] = Some(stack);
        }
        Ok(stack)
    }

    /// A stack beyond the depth limit: its frames next to the root are cut.
    fn deep_stack(
        &mut self,
        names: &Names,
        stacks: &mut Stacks,
        row: usize,
    ) -> Result<StackId, &'static str> {
        let mut frames = Vec::new();
        let mut at = Some(row);
        while let Some(row) = at.filter(|_| frames.len() <= self.taken.max_depth) {
            frames.push(stacks.frame(&mut self.taken.profile, names, row));
            at = stacks.prefix(row)?;
        }
        self.taken.stack(frames)
    }

    fn finish(mut self, input: &Input, meta: &Meta) -> Result<Imported, FormatError> {
        if self.taken.rows.is_empty() {
            let found = match self.taken.stats.read {
                0 => "it holds no samples".to_owned(),
                n => format!("none of its {n} samples has a stack and a weight"),
            };
            return Err(FormatError::read(ErrorKind::Empty, input.name(), found)
                .hint("check that the profiler recorded stacks"));
        }
        let known = |text: &json::Text| Some(text.0.clone()).filter(|t| !t.is_empty());
        self.taken.host.os = known(&meta.oscpu);
        self.taken.host.cpu_model = known(&meta.cpu_name);
        Ok(self.taken.finish(input))
    }
}

/// A thread's own tables where it has them.
fn names_of<'a>(thread: &'a Thread, shared: Names<'a>) -> Names<'a> {
    Names {
        libs: if thread.libs.is_empty() { shared.libs } else { &thread.libs },
        texts: if thread.string_array.len() > 0 { &thread.string_array } else { shared.texts },
        frames: if thread.frame_table.rows() > 0 { &thread.frame_table } else { shared.frames },
        funcs: if thread.func_table.rows() > 0 { &thread.func_table } else { shared.funcs },
        resources: if thread.resource_table.rows() > 0 { &thread.resource_table } else { shared.resources },
        ..shared
    }
}

/// What a weight counts for.
fn amount(weight_type: &str, weight: f64) -> Result<(Event, Amount), &'static str> {
    if weight < 0.0 {
        return Err("negative weight");
    }
    if weight == 0.0 {
        return Err("weight of zero");
    }
    // Casts of floats saturate.
    let count = Amount::Count((weight.round() as u64).max(1));
    match weight_type {
        "tracing-ms" if weight.is_nan() => Err("sample without a weight"),
        "tracing-ms" => Ok((Event::Cpu, Amount::Value(((weight * 1e6).round() as u64).max(1), None))),
        "bytes" => Ok((Event::Count, Amount::Value((weight.round() as u64).max(1), None))),
        _ => Ok((Event::Cpu, count)),
    }
}
