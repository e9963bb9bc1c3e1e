//! Profiles as the profiler of Firefox kept them until 2016: `profileJSONWithSymbolicationTable,1`.
//!
//! Layout: src/profile-logic/old-cleopatra-profile-format.js of firefox-devtools/profiler before 2017. Samples
//! are lists of indexes into one table of names, root first; `profileJSON` is the list of samples of one
//! thread, or holds several threads. Of markers nothing is taken.

use super::NO_STACK;
use super::file::{FrameTable, FuncTable, Libs, Meta, ResourceTable};
use super::names::{self, Names};
use crate::interchange::Taken;
use crate::interchange::json::{self, Cell, Few, NumberRows, Numbers, Text, Texts, index};
use crate::interchange::rows::{Amount, Row};
use crate::{FormatError, ImportOptions, Input};
use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;
use zwhy_profile::{Event, FrameId, Nanos, ThreadId};

pub fn looks_like(head: &[u8]) -> bool {
    json::is_object(head) && json::head_has_key(head, "profileJSONWithSymbolicationTable,1")
}

/// Takes all samples; what the file says of the host.
pub fn read(input: &Input, options: &ImportOptions, taken: &mut Taken) -> Result<Meta, FormatError> {
    let file: File = json::parse(input, &options.limits)?;
    let texts = Texts::default();
    let (libs, numbers) = (Libs::default(), Numbers::default());
    let (frames, funcs, resources) = (FrameTable::default(), FuncTable::default(), ResourceTable::default());
    let names = Names {
        meta: &file.meta,
        libs: &libs,
        texts: &texts,
        frames: &frames,
        funcs: &funcs,
        resources: &resources,
        sources: &numbers,
    };
    let mut made = FxHashMap::default();
    for thread in file.profile.0.iter() {
        let comm = if thread.name.0.is_empty() { "GeckoMain" } else { &thread.name.0 };
        let id = taken.profile.thread(-1, -1, comm);
        let interval = file.meta.interval.0.parse().unwrap_or(0.0);
        let mut now = 0.0;
        for row in 0..thread.samples.frames.len() {
            let time = thread.samples.times.get(row).copied().unwrap_or(f64::NAN);
            now = if time.is_finite() { time } else { now + interval };
            let stack = thread.samples.frames.row(row);
            let outcome = sample(taken, &names, &file.symbols, &mut made, stack, id, now);
            taken.count(outcome);
        }
    }
    Ok(file.meta)
}

fn sample(
    taken: &mut Taken,
    names: &Names,
    symbols: &Symbols,
    made: &mut FxHashMap<usize, FrameId>,
    root_first: &[f64],
    thread: ThreadId,
    milliseconds: f64,
) -> Result<(), &'static str> {
    if root_first.is_empty() {
        return Err("sample without a stack");
    }
    let mut frames = Vec::new();
    for cell in root_first.iter().rev().take(taken.max_depth.saturating_add(1)) {
        let at = index(*cell).ok_or(NO_STACK)?;
        let profile = &mut taken.profile;
        frames.push(*made.entry(at).or_insert_with(|| match symbols.get(at) {
            Some(text) => names.gecko_frame(profile, text, None, 0),
            None => names::missing(profile),
        }));
    }
    let stack = taken.stack(frames)?;
    let t = Nanos((milliseconds * 1e6).round() as i64);
    let row = Row { t, cpu: -1, thread, stack, event: Event::Cpu, weight: Nanos(0) };
    taken.push(row, Amount::Count(1))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct File {
    meta: Meta,
    #[serde(rename = "profileJSON")]
    profile: Threads,
    #[serde(rename = "symbolicationTable")]
    symbols: Symbols,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Thread {
    name: Text,
    samples: Samples,
}

/// Threads of a profile: of a list of samples there is one, without a name.
#[derive(Debug, Default)]
struct Threads(Vec<Thread>);

impl<'de> Deserialize<'de> for Threads {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Threads, D::Error> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Several {
            threads: ListOrMap,
        }
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Threads;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("samples or threads")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Threads, A::Error> {
                let samples = Samples::deserialize(SeqAccessDeserializer::new(seq))?;
                Ok(Threads(vec![Thread { samples, ..Thread::default() }]))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Threads, A::Error> {
                let several = Several::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Threads(several.threads.0.0))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// A list, or an object whose keys are the indexes.
#[derive(Default)]
struct ListOrMap(Few<Thread, 4096>);

impl<'de> Deserialize<'de> for ListOrMap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ListOrMap, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = ListOrMap;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("threads")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<ListOrMap, A::Error> {
                Few::deserialize(SeqAccessDeserializer::new(seq)).map(ListOrMap)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ListOrMap, A::Error> {
                let mut threads = Vec::new();
                while let Some((_, thread)) = map.next_entry::<serde::de::IgnoredAny, Thread>()? {
                    threads.push(thread);
                    if threads.len() > 4096 {
                        return Err(serde::de::Error::custom("more threads than are read"));
                    }
                }
                Ok(ListOrMap(Few(threads)))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// Stacks and times of samples, in columns.
#[derive(Debug, Default)]
struct Samples {
    frames: NumberRows,
    times: Vec<f64>,
}

impl<'de> Deserialize<'de> for Samples {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Samples, D::Error> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Extra {
            time: Option<Cell>,
        }
        #[derive(Default, Deserialize)]
        #[serde(default, rename_all = "camelCase")]
        struct Sample {
            frames: Numbers,
            extra_info: Extra,
        }
        let mut samples = Samples::default();
        json::sequence(deserializer, |sample: Sample| {
            samples.times.push(sample.extra_info.time.map_or(f64::NAN, |Cell(time)| time));
            samples.frames.push(sample.frames)
        })?;
        Ok(samples)
    }
}

/// Names by index: an object whose keys are numbers.
#[derive(Debug, Default)]
struct Symbols {
    texts: Texts,
    rows: FxHashMap<u32, u32>,
}

impl Symbols {
    fn get(&self, at: usize) -> Option<&str> {
        let row = self.rows.get(&u32::try_from(at).ok()?)?;
        Some(self.texts.get(Some(*row as usize)))
    }
}

impl<'de> Deserialize<'de> for Symbols {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Symbols, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Symbols;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("names by their index")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Symbols, A::Error> {
                let mut symbols = Symbols::default();
                while let Some((key, Text(text))) = map.next_entry::<String, Text>()? {
                    let row = symbols.texts.push(&text).map_err(serde::de::Error::custom)?;
                    symbols.rows.extend(key.parse().ok().map(|at: u32| (at, row)));
                }
                Ok(symbols)
            }
        }
        deserializer.deserialize_map(Entries)
    }
}
