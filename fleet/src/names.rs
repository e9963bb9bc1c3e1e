//! Stacks by their ids: what frames they have, as the files of the hosts say.
//!
//! Invariant: an id is believed only where it is the hash of what it is said to name, so that no host can rename the stacks
//! of another one. What is not believed or not there is unknown, and keeps its samples.

use crate::columns::{numbers, texts};
use crate::error::FleetError;
use crate::snapshot::Snapshot;
use datafusion::arrow::array::{BooleanArray, RecordBatch};
use datafusion::arrow::datatypes::{UInt32Type, UInt64Type};
use datafusion::prelude::col;
use rustc_hash::FxHashMap;
use zwhy_capture::{FrameRow, stack_row_id};
use zwhy_profile::{Frame, FrameId, FrameKind, Profile, StackId};

const STACK_COLUMNS: [&str; 3] = ["stack_id", "parent_id", "frame_id"];
const FRAME_COLUMNS: [&str; 7] = ["frame_id", "function", "module", "kind", "file", "line", "reason"];
/// The empty stack.
const ROOT: u64 = 0;
/// Callers of a frame; a kernel and a program together have some hundred at most.
const DEEPEST: usize = 4096;

/// Names of all stacks of a snapshot.
#[derive(Debug, Default)]
pub struct Names {
    /// Parent and frame of a stack.
    stacks: FxHashMap<u64, (u64, u64)>,
    frames: FxHashMap<u64, FrameText>,
    /// Rows whose id was that of something else.
    pub refused: u64,
}

#[derive(Debug)]
struct FrameText {
    texts: [String; 4],
    kind: FrameKind,
    line: u32,
}

impl Names {
    /// Reads the names of a snapshot.
    ///
    /// # Errors
    /// When the query fails.
    pub async fn read(snapshot: &Snapshot) -> Result<Names, FleetError> {
        let stacks = distinct(snapshot, "stacks", &STACK_COLUMNS);
        let (stacks, frames) = tokio::try_join!(stacks, distinct(snapshot, "frames", &FRAME_COLUMNS))?;
        let mut names = Names::default();
        for batch in &stacks {
            for (id, row) in stack_rows(batch)? {
                match row {
                    Some(row) => drop(names.stacks.insert(id, row)),
                    None => names.refused += 1,
                }
            }
        }
        for batch in &frames {
            for (id, row) in frame_rows(batch)? {
                match row {
                    Some(row) => drop(names.frames.insert(id, row)),
                    None => names.refused += 1,
                }
            }
        }
        Ok(names)
    }
}

/// The rows of a table of names, each once.
async fn distinct(
    snapshot: &Snapshot,
    table: &str,
    columns: &[&'static str],
) -> Result<Vec<RecordBatch>, FleetError> {
    let rows = snapshot.table(table).await?;
    let rows = match snapshot.has_names_once() {
        true => rows,
        false => rows.aggregate(columns.iter().copied().map(col).collect(), vec![])?,
    };
    snapshot.collect(rows).await
}

/// Which rows of a table of names are believed; `None` where it is no table of names.
pub fn believed(table: &str, batch: &RecordBatch) -> Result<Option<BooleanArray>, FleetError> {
    let rows: Vec<bool> = match table {
        "stacks" => stack_rows(batch)?.iter().map(|(_, row)| row.is_some()).collect(),
        "frames" => frame_rows(batch)?.iter().map(|(_, row)| row.is_some()).collect(),
        _ => return Ok(None),
    };
    Ok(Some(BooleanArray::from(rows)))
}

/// Id of a row, and the parent and frame that it names where it is believed.
type StackRow = (u64, Option<(u64, u64)>);

fn stack_rows(batch: &RecordBatch) -> Result<Vec<StackRow>, FleetError> {
    let column = |name| numbers::<UInt64Type>(batch, name);
    let (ids, parents, frames) = (column("stack_id")?, column("parent_id")?, column("frame_id")?);
    let row = |row: usize| {
        let (id, named) = (ids.value(row), (parents.value(row), frames.value(row)));
        (id, (stack_row_id(named.0, named.1) == id).then_some(named))
    };
    Ok((0..batch.num_rows()).map(row).collect())
}

fn frame_rows(batch: &RecordBatch) -> Result<Vec<(u64, Option<FrameText>)>, FleetError> {
    let ids = numbers::<UInt64Type>(batch, "frame_id")?;
    let lines = numbers::<UInt32Type>(batch, "line")?;
    let text = |name| texts(batch, name);
    let (functions, modules, kinds) = (text("function")?, text("module")?, text("kind")?);
    let (files, reasons) = (text("file")?, text("reason")?);
    let row = |row: usize| {
        let kind = FrameKind::from_name(kinds.value(row)).unwrap_or_default();
        let (function, module) = (functions.value(row), modules.value(row));
        let (file, reason, line) = (files.value(row), reasons.value(row), lines.value(row));
        let id = ids.value(row);
        let is_its = FrameRow { function, module, kind, file, line, reason }.id() == id;
        let texts = || [function, module, file, reason].map(str::to_owned);
        (id, is_its.then(|| FrameText { texts: texts(), kind, line }))
    };
    Ok((0..batch.num_rows()).map(row).collect())
}

/// Puts stacks into a profile, each once.
pub struct Placer<'a> {
    names: &'a Names,
    stacks: FxHashMap<u64, StackId>,
    frames: FxHashMap<u64, FrameId>,
    /// Scratch: callers without a place yet, the leaf first.
    open: Vec<(u64, u64)>,
}

impl<'a> Placer<'a> {
    pub fn new(names: &'a Names) -> Placer<'a> {
        let stacks = FxHashMap::from_iter([(ROOT, StackId::ROOT)]);
        Placer { names, stacks, frames: FxHashMap::default(), open: Vec::new() }
    }

    /// The stack with this id in `profile`; of one that nobody names, a frame that says so.
    pub fn stack(&mut self, id: u64, profile: &mut Profile) -> StackId {
        let mut at = id;
        let mut place = loop {
            if let Some(place) = self.stacks.get(&at) {
                break *place;
            }
            match self.names.stacks.get(&at) {
                Some((parent, frame)) if self.open.len() < DEEPEST => {
                    self.open.push((at, *frame));
                    at = *parent;
                }
                _ => {
                    let frame = unknown_frame(profile);
                    break profile.stacks.child(StackId::ROOT, frame);
                }
            }
        };
        // What nobody names is not asked for again.
        self.stacks.insert(at, place);
        while let Some((id, frame)) = self.open.pop() {
            let frame = self.frame(frame, profile);
            place = profile.stacks.child(place, frame);
            self.stacks.insert(id, place);
        }
        place
    }

    fn frame(&mut self, id: u64, profile: &mut Profile) -> FrameId {
        if let Some(known) = self.frames.get(&id) {
            return *known;
        }
        let frame = match self.names.frames.get(&id) {
            Some(FrameText { texts, kind, line }) => {
                let [function, module, file, reason] =
                    texts.each_ref().map(|text| profile.strings.intern(text));
                profile.frames.intern(Frame { function, module, kind: *kind, file, line: *line, reason })
            }
            None => unknown_frame(profile),
        };
        self.frames.insert(id, frame);
        frame
    }
}

fn unknown_frame(profile: &mut Profile) -> FrameId {
    let frame = Frame {
        function: profile.strings.intern("[unknown]"),
        reason: profile.strings.intern("no file of the store names it"),
        ..Frame::default()
    };
    profile.frames.intern(frame)
}
