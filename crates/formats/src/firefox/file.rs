//! The tables of a Firefox profile, of all versions at once: a column that a version lacks is empty.
//!
//! Processed profiles hold columns, Gecko profiles rows with a schema; a table here reads both. Since
//! version 60 of the processed format all tables but the samples may be in `shared`. Until version 3 of Gecko
//! the objects, and until version 4 the profiles of other processes, are JSON inside a text.

use crate::interchange::json::{Few, NumberRows, Numbers, Schema, Text, Texts};
use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct File {
    pub meta: Meta,
    pub libs: Libs,
    pub threads: Threads,
    pub shared: Shared,
    /// Gecko: profiles of other processes.
    pub processes: Few<Process, 512>,
}

/// A file inside a Gecko file; it has no processes of its own.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Process {
    pub meta: Meta,
    pub libs: Libs,
    pub threads: Few<Thread, 256>,
}

/// Threads, and between them profiles of other processes as texts.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "Few<ThreadOrProcess, 65_536>")]
pub struct Threads {
    pub all: Vec<Thread>,
    pub processes: Vec<Process>,
    /// Texts that are no profile, and their bytes.
    pub unread: u64,
    pub unread_bytes: u64,
}

impl From<Few<ThreadOrProcess, 65_536>> for Threads {
    fn from(entries: Few<ThreadOrProcess, 65_536>) -> Threads {
        let mut threads = Threads::default();
        for entry in entries.0 {
            match entry {
                ThreadOrProcess::Thread(thread) => threads.all.push(*thread),
                ThreadOrProcess::Process(process) => threads.processes.push(*process),
                ThreadOrProcess::Unread(bytes) => {
                    threads.unread += 1;
                    threads.unread_bytes += bytes as u64;
                }
            }
        }
        threads
    }
}

#[derive(Debug)]
enum ThreadOrProcess {
    Thread(Box<Thread>),
    Process(Box<Process>),
    Unread(usize),
}

impl<'de> Deserialize<'de> for ThreadOrProcess {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ThreadOrProcess, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = ThreadOrProcess;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a thread, or the profile of a process as a text")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ThreadOrProcess, A::Error> {
                let thread = Thread::deserialize(MapAccessDeserializer::new(map))?;
                Ok(ThreadOrProcess::Thread(Box::new(thread)))
            }
            fn visit_str<E>(self, text: &str) -> Result<ThreadOrProcess, E> {
                let process = serde_json::from_str(text);
                Ok(process
                    .map_or(ThreadOrProcess::Unread(text.len()), |p| ThreadOrProcess::Process(Box::new(p))))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Meta {
    /// Milliseconds.
    pub interval: Text,
    pub categories: Few<Category, 4096>,
    pub sample_units: SampleUnits,
    pub oscpu: Text,
    #[serde(rename = "CPUName")]
    pub cpu_name: Text,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Category {
    pub name: Text,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct SampleUnits {
    #[serde(rename = "threadCPUDelta")]
    pub thread_cpu_delta: Text,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Lib {
    name: Text,
    debug_name: Text,
    path: Text,
    /// Gecko, and processed before version 41: where it was in memory.
    start: Option<u64>,
    end: Option<u64>,
    offset: Option<u64>,
}

impl Lib {
    /// The longest spelling: a path says more of the kind than a name.
    pub fn module(&self) -> &str {
        [&self.path, &self.name, &self.debug_name].into_iter().find(|t| !t.0.is_empty()).map_or("", |t| &t.0)
    }

    /// Where the object starts in memory, and what part of it is there.
    pub fn place(&self) -> (u64, u64) {
        (self.start.unwrap_or(0), self.offset.unwrap_or(0))
    }
}

/// Objects, found by index or by address.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "LibList")]
pub struct Libs {
    all: Few<Lib, 65_536>,
    /// They are a text that says nothing.
    pub unread: bool,
    /// Start and index, in order of start.
    by_start: Vec<(u64, usize)>,
}

/// A list, or a text of one.
#[derive(Debug)]
struct LibList(Option<Few<Lib, 65_536>>);

impl<'de> Deserialize<'de> for LibList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<LibList, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = LibList;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a list of objects")
            }
            fn visit_unit<E>(self) -> Result<LibList, E> {
                Ok(LibList(Some(Few::default())))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<LibList, A::Error> {
                Few::deserialize(SeqAccessDeserializer::new(seq)).map(|libs| LibList(Some(libs)))
            }
            fn visit_str<E>(self, text: &str) -> Result<LibList, E> {
                Ok(LibList(serde_json::from_str(text).ok()))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl From<LibList> for Libs {
    fn from(LibList(all): LibList) -> Libs {
        let unread = all.is_none();
        let all = all.unwrap_or_default();
        let starts = all.iter().enumerate().filter_map(|(i, lib)| Some((lib.start?, i)));
        let mut by_start: Vec<_> = starts.collect();
        by_start.sort_unstable();
        Libs { all, unread, by_start }
    }
}

impl Libs {
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub fn get(&self, index: usize) -> Option<&Lib> {
        self.all.get(index)
    }

    /// The object in memory at an address.
    pub fn at(&self, address: u64) -> Option<&Lib> {
        let after = self.by_start.partition_point(|(start, _)| *start <= address);
        let (_, index) = self.by_start.get(after.checked_sub(1)?)?;
        self.all.get(*index).filter(|lib| lib.end.is_some_and(|end| address < end))
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Thread {
    pub name: Text,
    pub process_name: Text,
    pub pid: Text,
    pub tid: Text,
    pub samples: SampleTable,
    pub libs: Libs,
    pub stack_table: StackTable,
    pub frame_table: FrameTable,
    pub func_table: FuncTable,
    pub resource_table: ResourceTable,
    #[serde(alias = "stringTable")]
    pub string_array: Texts,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Shared {
    pub stack_table: StackTable,
    pub frame_table: FrameTable,
    pub func_table: FuncTable,
    pub resource_table: ResourceTable,
    pub string_array: Texts,
    pub sources: Sources,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Sources {
    pub filename: Numbers,
}

/// A cell of a row of a Gecko table, by its column's name; `NaN` where there is none.
fn gecko_cell(schema: &Schema, data: &NumberRows, row: usize, column: &str) -> f64 {
    let at = schema.column(column);
    at.and_then(|at| data.row(row).get(at)).copied().unwrap_or(f64::NAN)
}

/// Declares a table of columns that may be Gecko rows instead; a cell is read as `table.column(row)`.
macro_rules! table {
    ($name:ident { $($(#[$doc:meta])* $column:ident $written:literal),* $(,)? } $(text $text:ident $text_written:literal)?) => {
        #[derive(Debug, Default, Deserialize)]
        #[serde(default)]
        pub struct $name {
            schema: Schema,
            data: NumberRows,
            $(#[serde(rename = $written)] $column: Numbers,)*
            $(#[serde(rename = $text_written)] pub $text: Text,)?
        }

        impl $name {
            pub fn rows(&self) -> usize {
                [self.data.len(), $(self.$column.len()),*].into_iter().max().unwrap_or(0)
            }

            $($(#[$doc])* pub fn $column(&self, row: usize) -> f64 {
                match self.data.len() {
                    0 => self.$column.get(row),
                    _ => gecko_cell(&self.schema, &self.data, row, $written),
                }
            })*
        }
    };
}

table!(StackTable {
    frame "frame",
    prefix "prefix",
    /// Since version 66: how far above the prefix is, 0 for none.
    prefix_offset "prefixOffset",
});

table!(FrameTable {
    func "func",
    /// Within the object.
    address "address",
    category "category",
    line "line",
    inline_depth "inlineDepth",
    /// Since version 70.
    lib "lib",
    /// Since version 71: which of the other columns are set.
    flags "flags",
    /// Gecko: index of a text with name or address.
    location "location",
});

table!(FuncTable {
    name "name",
    resource "resource",
    file_name "fileName",
    /// Since version 58.
    source "source",
    /// Since version 75: which of the other columns are set.
    flags "flags",
});

table!(ResourceTable {
    name "name",
    lib "lib",
});

table!(SampleTable {
    stack "stack",
    /// Milliseconds.
    time "time",
    /// Since version 50, instead of times.
    time_delta "timeDeltas",
    weight "weight",
    cpu_delta "threadCPUDelta",
} text weight_type "weightType");
