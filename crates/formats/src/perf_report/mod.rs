//! Text of `perf report --stdio` and `perf top`, also pasted from their screens: flat rows with or
//! without children, and call trees in both directions.
//!
//! Percentages relative to a parent are made absolute where the tree itself shows that they are relative;
//! where it does not say, they stay as they are and are marked unclear. Lines are the unit of the stats.

mod row;
mod stacks;
mod tree;

use crate::text::blocks::{self, Block, Line, Sink, Taken};
use crate::{Confidence, ErrorKind, FormatError, ImportOptions, Imported, Importer, Input};
use row::Columns;
pub(crate) use row::is_cpu_event;
use zwhy_evidence::FlatRow;

pub(crate) static IMPORTER: Importer = Importer { name: "perf-report", sniff, read };

fn sniff(head: &[u8]) -> Confidence {
    blocks::sniff(head, &PerfRows, 0.8)
}

fn read(input: &Input, options: &ImportOptions) -> Result<Imported, FormatError> {
    let imported = blocks::read("perf-report", input, &[&PerfRows], options.limits.max_depth)?;
    if imported.evidence.flat.is_empty() && imported.evidence.trees.is_empty() {
        return Err(FormatError::read(
            ErrorKind::Empty,
            input.name(),
            "no line is a row of perf report or perf top",
        )
        .hint("write it with `perf report --stdio -i perf.data`, or import perf.data itself"));
    }
    Ok(imported)
}

/// Rows of perf with their trees, and the comment lines around them.
pub(crate) struct PerfRows;

impl Block for PerfRows {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let mut reader = Reader::default();
        let used = reader.run(lines);
        if used == 0 {
            return reader.only_comments();
        }
        for event in reader.keep_one_event() {
            sink.warn(format!(
                "rows of the event {event} are left out: their percentages are of no CPU time"
            ));
        }
        let origin = sink.origin("perf report or top", &lines[..used]);
        let relative = stacks::Relative::of(&reader.entries);
        for entry in reader.entries {
            stacks::emit(&entry, relative, sink.max_depth, &mut |stack| {
                sink.evidence.trees.push(zwhy_evidence::PctStack { origin, ..stack });
            });
            sink.evidence.flat.push(FlatRow { origin, ..entry.row });
        }
        Some(reader.taken)
    }
}

/// A call tree without the row that it belongs to: `- 47.9% zfs_write` and what it calls below it.
pub(crate) struct PerfTree;

impl Block for PerfTree {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        const FEWEST_LINES: usize = 3;
        // Told by the first lines: a long list that is no tree must not be read to its end from each of its lines.
        const TELLING_LINES: usize = 16;
        let head = tree::line(&lines.first()?.text)?;
        if !matches!(head, tree::TreeLine::Branch { pct: Some(_), .. }) {
            return None;
        }
        let build = |most: usize| {
            let mut builder = tree::Builder::default();
            let lines = lines.iter().take(most);
            let used = lines.take_while(|l| !l.is_blank() && builder.push(&l.text)).count();
            (used, builder.finish())
        };
        let (used, nodes) = build(TELLING_LINES);
        if used < FEWEST_LINES || !nodes.iter().all(tree::Node::is_of_kernel) {
            return None;
        }
        let (used, nodes) = build(lines.len());
        let origin = sink.origin("call tree", &lines[..used]);
        let row = FlatRow { symbol: row::NO_SYMBOL.to_owned(), ..FlatRow::default() };
        let entries = [Entry { row, tree: nodes, event: 0 }];
        let relative = stacks::Relative::of(&entries);
        for entry in &entries {
            stacks::emit(entry, relative, sink.max_depth, &mut |stack| {
                sink.evidence.trees.push(zwhy_evidence::PctStack { origin, ..stack });
            });
        }
        Taken::kept(used)
    }
}

/// A row and the lines of its tree.
pub(crate) struct Entry {
    pub row: FlatRow,
    pub tree: Vec<tree::Node>,
    /// Index into [`Reader::events`].
    event: usize,
}

#[derive(Default)]
struct Reader {
    columns: Columns,
    entries: Vec<Entry>,
    taken: Taken,
    /// Events in the order of the text, with the lines of their rows; the first has no name where rows
    /// come before any.
    events: Vec<(String, usize)>,
}

impl Reader {
    /// Takes lines while they are of perf; returns how many.
    fn run(&mut self, lines: &[Line]) -> usize {
        let mut at = 0;
        let mut tree = tree::Builder::default();
        while let Some(line) = lines.get(at) {
            let text = &*line.text;
            if let Some(row) = row::parse(text, &self.columns) {
                self.close(&mut tree);
                if self.events.is_empty() {
                    self.events.push((String::new(), 0));
                }
                let event = self.events.len() - 1;
                self.events[event].1 += 1;
                self.entries.push(Entry { row, tree: Vec::new(), event });
            } else if self.columns.header(text) {
                self.close(&mut tree);
                if let Some(name) = row::event(text) {
                    self.events.push((name.to_owned(), 0));
                }
            } else if line.is_blank() {
                // A blank line belongs to the block only when the block goes on after it.
                let next = lines[at..].iter().take(4).find(|l| !l.is_blank());
                let goes_on = next.is_some_and(|l| {
                    row::parse(&l.text, &self.columns).is_some()
                        || row::is_header(&l.text)
                        || (!self.entries.is_empty() && tree::line(&l.text).is_some())
                });
                if !goes_on {
                    break;
                }
                self.taken.drop("blank line", 1);
                at += 1;
                continue;
            } else if !self.entries.is_empty() && tree.push(text) {
                if let Some(last) = self.events.last_mut() {
                    last.1 += 1;
                }
            } else {
                break;
            }
            self.taken.kept += 1;
            at += 1;
        }
        self.close(&mut tree);
        // Comments alone are prose or a shell script.
        if self.entries.is_empty() { 0 } else { at }
    }

    /// Leaves out the rows of all events but one, the first that counts CPU time if there is one:
    /// percentages of page faults are no shares of CPU. Returns the names left out.
    fn keep_one_event(&mut self) -> Vec<String> {
        let with_rows = |event: usize| self.entries.iter().any(|e| e.event == event);
        let candidates: Vec<usize> = (0..self.events.len()).filter(|e| with_rows(*e)).collect();
        let is_cpu = |e: &&usize| self.events[**e].0.is_empty() || row::is_cpu_event(&self.events[**e].0);
        let Some(kept) = candidates.iter().find(is_cpu).or(candidates.first()) else { return Vec::new() };
        let kept = self.events[*kept].0.clone();
        let mut left_out: Vec<String> = Vec::new();
        for &event in &candidates {
            let (name, lines) = &self.events[event];
            if *name != kept {
                self.taken.kept -= (*lines).min(self.taken.kept);
                self.taken.drop("row of another event", *lines);
                left_out.push(name.clone());
            }
        }
        self.entries.retain(|e| self.events[e.event].0 == kept);
        left_out
    }

    /// Comments without rows are nobody's; a long run of them is passed over at once.
    fn only_comments(&self) -> Option<Taken> {
        const MANY: usize = 64;
        let mut taken = Taken::default();
        taken.drop(blocks::NOT_RECOGNISED, self.taken.used());
        (self.taken.kept > MANY).then_some(taken)
    }

    fn close(&mut self, tree: &mut tree::Builder) {
        let nodes = std::mem::take(tree).finish();
        if let Some(entry) = self.entries.last_mut().filter(|e| e.tree.is_empty()) {
            entry.tree = nodes;
        }
    }
}
