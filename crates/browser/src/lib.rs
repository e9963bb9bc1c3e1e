//! zwhy for a page in a browser: bytes in, the answer as JSON and the report as HTML out.
//!
//! Invariants: nothing here reads a file, a clock or a network, or starts a thread, so it runs as WebAssembly
//! without any help of the page; the same bytes give the same answer as `zwhy explain` gives for a file.

#[cfg(target_family = "wasm")]
mod abi;

/// Faster than that of Rust's library for WebAssembly, and smaller.
#[cfg(target_family = "wasm")]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

use zwhy_capture::{Capture, CaptureError, Redactor};
use zwhy_diagnose::{Knowledge, Options, classify, explain_classified};
use zwhy_evidence::Imported;
use zwhy_flame::Roots;
use zwhy_formats::{FormatError, ImportOptions, Limits, import_bytes, with_drawn};
use zwhy_report::{PageError, page, page_data};

/// What [`prepare`] explains: stacks as people fold them.
const SAMPLE: &str = "\
z_rd_int;ret_from_fork;kthread;taskq_thread;zio_execute;zio_done;arc_read_done;arc_hdr_decrypt;aes_xor_block 60
fio;entry_SYSCALL_64_after_hwframe;do_syscall_64;ksys_read;vfs_read;zpl_iter_read;zfs_read;dmu_read_uio_dnode 30
";

thread_local! {
    static KNOWLEDGE: Knowledge = Knowledge::embedded();
}

/// Bytes that compression may hide: with what is made of them they have to fit into 4 GiB.
const MAX_DECOMPRESSED: u64 = 1 << 30;

/// What is being done, for whoever waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Step {
    /// Reading the format.
    Read = 0,
    /// Looking for the cause, and drawing the graphs.
    Explain = 1,
    /// Writing answer and page.
    Write = 2,
}

/// The answer to one input.
pub struct Explained {
    /// As `zwhy explain --json` prints it.
    pub json: String,
    /// As `zwhy report` writes it: one HTML file.
    pub page: String,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ExplainError {
    #[error(transparent)]
    Format(#[from] FormatError),
    #[error(transparent)]
    Capture(#[from] CaptureError),
    #[error(transparent)]
    Page(#[from] PageError),
    #[error("cannot write the answer: {0}")]
    Json(#[from] serde_json::Error),
}

/// Reads the knowledge and explains a few stacks, so that what every input needs is read, and compiled by the browser,
/// before there is one.
pub fn prepare() {
    // It counts that the code ran: the answer is nobody's.
    let _ = explain("sample", SAMPLE.as_bytes().to_vec(), false, &mut |_| {});
}

/// Explains `bytes` of any format that zwhy reads; `name` is what the answer calls them. With `redact` the names of
/// hosts, pools, datasets, paths and processes are replaced before anything is computed. `step` is told what is done.
///
/// # Errors
/// When the bytes are of no known format, or too damaged to be read.
pub fn explain(
    name: &str,
    bytes: Vec<u8>,
    redact: bool,
    step: &mut dyn FnMut(Step),
) -> Result<Explained, ExplainError> {
    KNOWLEDGE.with(|knowledge| explain_by(knowledge, name, bytes, redact, step))
}

fn explain_by(
    knowledge: &Knowledge,
    name: &str,
    bytes: Vec<u8>,
    redact: bool,
    step: &mut dyn FnMut(Step),
) -> Result<Explained, ExplainError> {
    step(Step::Read);
    let mut imported = read(name, bytes, knowledge)?;
    imported.evidence.set_recorder_aside();
    let name = if redact { "redacted" } else { name };
    if redact {
        Redactor::default().redact(&mut imported);
        // Words of whoever set them.
        imported.evidence.timeline.marks.clear();
    }
    step(Step::Explain);
    let made = with_drawn(&imported);
    let (blocks, mut answer) = page_data(&imported, made.as_ref(), name, knowledge, Roots::Threads)?;
    if made.is_some() {
        // The page also says how its graphs were made.
        let classified = classify(&imported.evidence.profile, &knowledge.anatomy);
        let options =
            Options { name: name.to_owned(), stats: Some(imported.stats.clone()), ..Options::default() };
        answer = explain_classified(&imported.evidence, &classified, knowledge, &options);
    }
    step(Step::Write);
    Ok(Explained { json: zwhy_report::answer_json(&answer)?, page: page(&blocks)? })
}

fn read(name: &str, bytes: Vec<u8>, knowledge: &Knowledge) -> Result<Imported, ExplainError> {
    if Capture::sniff(&bytes) {
        return Ok(Capture::from_bytes(name, bytes)?.into_imported(name));
    }
    let limits = Limits { max_decompressed: MAX_DECOMPRESSED, max_held: usize::MAX / 2, ..Limits::default() };
    let tools = Some(knowledge.tools.clone());
    Ok(import_bytes(name, bytes, &ImportOptions { tools, limits, ..ImportOptions::default() })?)
}
