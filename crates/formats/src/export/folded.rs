//! Folded stacks, `command;frame;leaf count`, as stackcollapse-perf.pl writes them and flamegraph.pl reads them.
//!
//! The command comes first, blanks in it as `_`, with `-PID` or `-PID/TID` where asked for (`?` for an id that
//! is not known). Equal stacks are one line, in the order of their names. A stack whose first frame is the
//! command already (folded files and drawings have it there) gets no second one. Where no line had a `;` (flat
//! lists without commands) the command is `[unknown]`, as lines of a name and a number could be anything.
//!
//! The format has no escape: `;` in a name becomes `:`, control characters become blanks, blanks at the ends go.
//! A name that readers would take apart (`f+0x12`, ``zfs`f``, `f_[k]`, `# f`, one that ends in a number) is
//! written in square brackets. Not carried: modules, kinds, lines, times, CPUs, other events than the one
//! chosen.

use super::parts::with_stacks;
use crate::text::counts::Count;
use crate::text::names::is_plain_folded;
use crate::text::roots::split_ids;
use crate::{ExportOptions, Exporter, Ids};
use rustc_hash::FxHashMap;
use std::io::Write;
use zwhy_evidence::Evidence;
use zwhy_profile::{Frame, FrameKind, Profile, StackId, StringId, Thread, ThreadId};

/// What samples without a command, a stack or a name are called.
const UNKNOWN: &str = "[unknown]";

pub(crate) struct Folded;

impl Exporter for Folded {
    fn name(&self) -> &'static str {
        "folded"
    }

    fn extension(&self) -> &'static str {
        "folded"
    }

    fn write(
        &self,
        evidence: &Evidence,
        options: &ExportOptions,
        out: &mut dyn Write,
    ) -> std::io::Result<()> {
        let profile = &*with_stacks(&evidence.profile);
        let mut tree = Tree::default();
        let mut places: FxHashMap<(ThreadId, StackId), usize> = FxHashMap::default();
        let amounts = profile.amounts();
        for (row, sample) in profile.samples.iter().enumerate().filter(|(_, s)| s.event == options.event) {
            let place = (sample.thread, sample.stack);
            let node = *places.entry(place).or_insert_with(|| tree.place(profile, place, options.ids));
            tree.nodes[node].own = tree.nodes[node].own.saturating_add(amounts.of(row));
        }
        tree.write(out)
    }
}

/// Stacks by the names that are written, so that equal lines are one.
struct Tree {
    nodes: Vec<Node>,
    /// Child of a node by name.
    children: FxHashMap<(usize, u32), usize>,
    names: Vec<String>,
    name_ids: FxHashMap<String, u32>,
    /// Names by the functions they are written for: a function stands in many stacks.
    functions: FxHashMap<StringId, u32>,
    /// Some line has more than one name.
    deep: bool,
}

#[derive(Default)]
struct Node {
    name: u32,
    own: u64,
    children: Vec<usize>,
}

impl Default for Tree {
    fn default() -> Self {
        Tree {
            nodes: vec![Node::default()],
            children: FxHashMap::default(),
            names: Vec::new(),
            name_ids: FxHashMap::default(),
            functions: FxHashMap::default(),
            deep: false,
        }
    }
}

impl Tree {
    /// The node of a thread's stack, made where it is new.
    fn place(&mut self, profile: &Profile, (thread, stack): (ThreadId, StackId), ids: Ids) -> usize {
        let mut frames: Vec<Frame> =
            profile.stacks.leaf_to_root(stack).map(|f| profile.frames.get(f)).collect();
        let thread = profile.threads.get(thread);
        let command = command(profile, thread, ids);
        let mut at = 0;
        let named = frames.last().is_some_and(|f| is_command(profile, f, thread));
        if named && ids != Ids::None {
            frames.pop();
        }
        if !command.is_empty() && (!named || ids != Ids::None) {
            let name = self.name_id(command);
            at = self.child(at, name);
        }
        for frame in frames.iter().rev() {
            self.deep |= at != 0;
            let name = self.function(profile, frame.function);
            at = self.child(at, name);
        }
        at
    }

    fn function(&mut self, profile: &Profile, function: StringId) -> u32 {
        if let Some(name) = self.functions.get(&function) {
            return *name;
        }
        let name = self.name_id(written(profile.strings.get(function)));
        self.functions.insert(function, name);
        name
    }

    fn name_id(&mut self, name: String) -> u32 {
        if let Some(id) = self.name_ids.get(&name) {
            return *id;
        }
        let id = self.names.len() as u32;
        self.names.push(name.clone());
        self.name_ids.insert(name, id);
        id
    }

    fn child(&mut self, parent: usize, name: u32) -> usize {
        if let Some(node) = self.children.get(&(parent, name)) {
            return *node;
        }
        let node = self.nodes.len();
        self.nodes.push(Node { name, ..Node::default() });
        self.nodes[parent].children.push(node);
        self.children.insert((parent, name), node);
        node
    }

    fn name(&self, node: usize) -> &str {
        self.names.get(self.nodes[node].name as usize).map_or("", String::as_str)
    }

    /// All lines, callers before what they call, siblings by name.
    fn write(mut self, out: &mut dyn Write) -> std::io::Result<()> {
        self.children.clear();
        let mut line = String::new();
        // Nodes to visit, with the bytes of the line that are their callers'.
        let start = if self.deep { 0 } else { UNKNOWN.len() };
        line.push_str(&UNKNOWN[..start]);
        let mut open: Vec<(usize, usize)> = vec![(0, start)];
        while let Some((node, callers)) = open.pop() {
            line.truncate(callers);
            if node != 0 {
                if callers > 0 {
                    line.push(';');
                }
                line.push_str(self.name(node));
            }
            if self.nodes[node].own > 0 {
                writeln!(out, "{line} {}", self.nodes[node].own)?;
            }
            let mut children = std::mem::take(&mut self.nodes[node].children);
            children.sort_unstable_by(|a, b| self.name(*b).cmp(self.name(*a)));
            open.extend(children.into_iter().map(|child| (child, line.len())));
        }
        Ok(())
    }
}

/// `fio`, `fio-12`, `fio-12/13`; empty where the name is not known.
fn command(profile: &Profile, thread: Thread, ids: Ids) -> String {
    let comm = profile.strings.get(thread.comm);
    if comm.is_empty() {
        return String::new();
    }
    let comm = written_command(comm);
    let id = |id: i32| if id < 0 { "?".to_owned() } else { id.to_string() };
    match ids {
        Ids::None => comm,
        Ids::Process => format!("{comm}-{}", id(thread.pid)),
        Ids::Thread => format!("{comm}-{}/{}", id(thread.pid), id(thread.tid)),
    }
}

/// Whether a first frame is the name of its thread, as folded files and drawings have it.
fn is_command(profile: &Profile, frame: &Frame, thread: Thread) -> bool {
    if !profile.strings.get(frame.module).is_empty() || frame.kind != FrameKind::Unknown {
        return false;
    }
    let name = written_command(profile.strings.get(frame.function));
    let comm = command(profile, thread, Ids::None);
    !comm.is_empty() && (comm == name || split_ids(&name).0 == comm)
}

/// The name of a command as it is written: without blanks.
fn written_command(name: &str) -> String {
    let name = written(&written(name).replace(' ', "_"));
    // With ids behind it a part before a backtick could be taken for a module.
    if name.contains('`') && !name.starts_with('[') { format!("[{name}]") } else { name }
}

/// A name as it is written.
fn written(name: &str) -> String {
    let text: String = name
        .chars()
        .map(|c| match c {
            ';' => ':',
            c if c.is_control() => ' ',
            c => c,
        })
        .collect();
    let text = text.trim();
    if text.is_empty() {
        return UNKNOWN.to_owned();
    }
    let number = text.rsplit_once(' ').is_some_and(|(_, last)| Count::parse(last.as_bytes()).is_some());
    if number || text.starts_with('#') || !is_plain_folded(text) {
        format!("[{text}]")
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zwhy_profile::Event;

    fn fold(profile: Profile, ids: Ids) -> String {
        let mut out = Vec::new();
        let options = ExportOptions { event: Event::Cpu, ids };
        Folded.write(&Evidence { profile, ..Evidence::default() }, &options, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn commands_come_first_and_equal_stacks_are_one_line() {
        let mut p = Profile::new();
        let (a, b) = (p.frame("b c", "fio", FrameKind::User), p.frame("a", "fio", FrameKind::User));
        let stacks = [p.stack(&[a]), p.stack(&[b]), StackId::ROOT];
        let threads = [p.thread(7, 8, "Web Content"), p.thread(7, 9, "Web Content"), p.thread(-1, -1, "x")];
        for (thread, stack, count) in [(0, 0, 1), (1, 0, 2), (2, 1, 4), (0, 2, 8)] {
            p.samples.push_counted(threads[thread], stacks[stack], Event::Cpu, count);
        }
        assert_eq!(fold(p.clone(), Ids::None), "Web_Content;[unknown] 8\nWeb_Content;b c 3\nx;a 4\n");
        assert_eq!(
            fold(p.clone(), Ids::Process),
            "Web_Content-7;[unknown] 8\nWeb_Content-7;b c 3\nx-?;a 4\n"
        );
        assert_eq!(
            fold(p, Ids::Thread),
            "Web_Content-7/8;[unknown] 8\nWeb_Content-7/8;b c 1\nWeb_Content-7/9;b c 2\nx-?/?;a 4\n"
        );
    }

    #[test]
    fn names_that_readers_take_apart_are_in_brackets() {
        for (name, want) in [
            ("std::f(int, char)", "std::f(int, char)"),
            ("a;b\nc\t", "a:b c"),
            (" \n", "[unknown]"),
            ("libc.so.6+0x12", "[libc.so.6+0x12]"),
            ("zfs`f", "[zfs`f]"),
            ("f_[k]", "[f_[k]]"),
            ("# f", "[# f]"),
            ("f 5", "[f 5]"),
            ("f 1.5e3", "[f 1.5e3]"),
            ("[unknown]", "[unknown]"),
        ] {
            assert_eq!(written(name), want);
            assert_eq!(written(&written(name)), want, "written twice");
        }
    }
}
