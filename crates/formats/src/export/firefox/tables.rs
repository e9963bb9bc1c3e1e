//! The JSON of a processed Firefox profile, version 57, with the columns that are the same everywhere empty
//! or constant: https://github.com/firefox-devtools/profiler/blob/main/src/types/profile.ts.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use serde::Serialize;
use serde_json::Value;

#[derive(Serialize)]
pub struct File<'a> {
    pub meta: Value,
    pub libs: Vec<Value>,
    pub pages: [(); 0],
    pub shared: SharedJson<'a>,
    pub threads: Vec<ThreadJson<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SharedJson<'a> {
    pub string_array: &'a IndexSet<String, FxBuildHasher>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ThreadJson<'a> {
    pub process_type: &'static str,
    pub process_startup_time: f64,
    pub process_shutdown_time: (),
    pub register_time: f64,
    pub unregister_time: (),
    pub paused_ranges: [(); 0],
    pub name: &'a str,
    pub is_main_thread: bool,
    pub pid: String,
    pub tid: i32,
    pub samples: SampleTable,
    pub markers: Markers,
    pub stack_table: StackTable,
    pub frame_table: FrameTable,
    pub func_table: FuncTable,
    pub resource_table: ResourceTable,
    pub native_symbols: NativeSymbols,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SampleTable {
    pub stack: Vec<Option<u32>>,
    pub time: Vec<f64>,
    pub weight: Vec<Weight>,
    pub weight_type: &'static str,
    #[serde(rename = "threadCPUDelta", skip_serializing_if = "Vec::is_empty")]
    pub thread_cpu_delta: Vec<Option<i64>>,
    pub length: usize,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Markers {
    pub data: [(); 0],
    pub name: [(); 0],
    pub start_time: [(); 0],
    pub end_time: [(); 0],
    pub phase: [(); 0],
    pub category: [(); 0],
    pub length: u32,
}

#[derive(Default, Serialize)]
pub struct StackTable {
    pub frame: Vec<u32>,
    pub prefix: Vec<Option<u32>>,
    pub length: u32,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FrameTable {
    pub address: Vec<i32>,
    pub inline_depth: Vec<u32>,
    pub category: Vec<Option<u32>>,
    pub subcategory: Vec<Option<u32>>,
    pub func: Vec<u32>,
    pub native_symbol: Vec<()>,
    #[serde(rename = "innerWindowID")]
    pub inner_window_id: Vec<u32>,
    pub line: Vec<Option<u32>>,
    pub column: Vec<()>,
    pub length: u32,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FuncTable {
    pub name: Vec<u32>,
    #[serde(rename = "isJS")]
    pub is_js: Vec<bool>,
    #[serde(rename = "relevantForJS")]
    pub relevant_for_js: Vec<bool>,
    pub resource: Vec<i64>,
    pub file_name: Vec<Option<u32>>,
    pub line_number: Vec<()>,
    pub column_number: Vec<()>,
    pub length: u32,
}

#[derive(Default, Serialize)]
pub struct ResourceTable {
    pub lib: Vec<u32>,
    pub name: Vec<u32>,
    pub host: Vec<()>,
    #[serde(rename = "type")]
    pub kind: Vec<u32>,
    pub length: u32,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NativeSymbols {
    pub address: [(); 0],
    pub function_size: [(); 0],
    pub lib_index: [(); 0],
    pub name: [(); 0],
    pub length: u32,
}

/// A number of samples or bytes, or milliseconds.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Weight {
    Whole(u64),
    Ms(f64),
}
