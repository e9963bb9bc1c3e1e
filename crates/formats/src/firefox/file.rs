//! The tables of a Firefox profile, of all versions at once: a column that a version lacks is empty.
//!
//! Processed profiles hold columns, Gecko profiles rows with a schema; a table here reads both. Since version 60 of the processed
//! format all tables but the samples may be in `shared`.

use crate::interchange::json::{Cell, NumberRows, Numbers, Text, Texts, index};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct File {
    pub meta: Meta,
    pub libs: Vec<Lib>,
    pub threads: Vec<Thread>,
    pub shared: Shared,
    /// Gecko: profiles of other processes.
    pub processes: Vec<File>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Meta {
    pub categories: Vec<Category>,
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

    pub fn holds(&self, address: u64) -> bool {
        self.start.is_some_and(|s| s <= address) && self.end.is_some_and(|e| address < e)
    }

    /// Where the object starts in memory, and what part of it is there.
    pub fn place(&self) -> (u64, u64) {
        (self.start.unwrap_or(0), self.offset.unwrap_or(0))
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
    pub libs: Vec<Lib>,
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
fn gecko_cell(schema: &BTreeMap<String, Cell>, data: &NumberRows, row: usize, column: &str) -> f64 {
    let at = schema.get(column).and_then(|c| index(c.0));
    at.and_then(|at| data.row(row).get(at)).copied().unwrap_or(f64::NAN)
}

/// Declares a table of columns that may be Gecko rows instead; a cell is read as `table.column(row)`.
macro_rules! table {
    ($name:ident { $($(#[$doc:meta])* $column:ident $written:literal),* $(,)? } $(text $text:ident $text_written:literal)?) => {
        #[derive(Debug, Default, Deserialize)]
        #[serde(default)]
        pub struct $name {
            schema: BTreeMap<String, Cell>,
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
