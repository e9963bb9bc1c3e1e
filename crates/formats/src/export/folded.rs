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
use zwhy_profile::{
    Frame, FrameId, FrameKind, Profile, StackId, StackTable, StringId, StringTable, Thread, ThreadId,
};

/// What samples without a command, a stack or a name are called.
const UNKNOWN: &str = "[unknown]";

pub(super) const EXPORTER: Exporter = Exporter { name: "folded", extension: "folded", write };

fn write(evidence: &Evidence, options: &ExportOptions, out: &mut dyn Write) -> std::io::Result<()> {
    let profile = &*with_stacks(&evidence.profile);
    let mut lines = Lines::new(profile);
    let amounts = profile.amounts();
    for (row, sample) in profile.samples.iter().enumerate().filter(|(_, s)| s.event == options.event) {
        let line = lines.place(profile, sample.thread, sample.stack, options.ids).index();
        if lines.own.len() <= line {
            lines.own.resize(lines.tree.len(), 0);
        }
        lines.own[line] = lines.own[line].saturating_add(amounts.of(row));
    }
    lines.write(out)
}

/// Stacks by the names that are written, so that equal lines are one.
struct Lines {
    names: StringTable,
    /// Stacks of names: the id of a frame is that of its name.
    tree: StackTable,
    /// What each stack of the tree amounts to without what it calls.
    own: Vec<u64>,
    /// Where the command of each thread stands, once it was asked for; at the root where it has no name.
    commands: Vec<Option<StackId>>,
    /// Of each stack of the profile the command it had last and its place below that; the root where it had none.
    places: Vec<(StackId, StackId)>,
    /// Names by the functions they are written for: a function stands in many stacks.
    functions: FxHashMap<StringId, FrameId>,
    /// Scratch: stacks of the profile without a place, the leaf first.
    new: Vec<StackId>,
}

impl Lines {
    fn new(profile: &Profile) -> Lines {
        Lines {
            names: StringTable::default(),
            tree: StackTable::default(),
            own: Vec::new(),
            commands: vec![None; profile.threads.len()],
            places: vec![Default::default(); profile.stacks.len()],
            functions: FxHashMap::default(),
            new: Vec::new(),
        }
    }

    /// Where a thread's stack stands in the tree. Its callers have their places from other stacks, mostly.
    fn place(&mut self, profile: &Profile, thread: ThreadId, stack: StackId, ids: Ids) -> StackId {
        let command = self.command(profile, thread, ids);
        let (mut at, mut place) = (stack, command);
        while at != StackId::ROOT {
            let (of, known) = self.places.get(at.index()).copied().unwrap_or_default();
            if known != StackId::ROOT && of == command {
                place = known;
                break;
            }
            self.new.push(at);
            at = profile.stacks.parent(at);
        }
        while let Some(stack) = self.new.pop() {
            let Some(frame) = profile.stacks.frame(stack) else { continue };
            let frame = profile.frames.get(frame);
            let is_root = profile.stacks.parent(stack) == StackId::ROOT;
            let named = is_root && is_command(profile, &frame, profile.threads.get(thread));
            if !named || ids == Ids::None {
                let name = self.function(profile, frame.function);
                place = self.tree.child(if named { StackId::ROOT } else { place }, name);
            }
            self.places[stack.index()] = (command, place);
        }
        place
    }

    fn command(&mut self, profile: &Profile, thread: ThreadId, ids: Ids) -> StackId {
        if let Some(place) = self.commands.get(thread.index()).copied().flatten() {
            return place;
        }
        let name = command(profile, profile.threads.get(thread), ids);
        let place = match name.as_str() {
            "" => StackId::ROOT,
            name => self.tree.child(StackId::ROOT, FrameId(self.names.intern(name).0)),
        };
        if let Some(slot) = self.commands.get_mut(thread.index()) {
            *slot = Some(place);
        }
        place
    }

    fn function(&mut self, profile: &Profile, function: StringId) -> FrameId {
        let names = &mut self.names;
        let name = || FrameId(names.intern(&written(profile.strings.get(function))).0);
        *self.functions.entry(function).or_insert_with(name)
    }

    /// All lines, callers before what they call, siblings by name.
    fn write(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let name = |name: FrameId| self.names.get(StringId(name.0));
        let mut ranks = vec![0; self.names.len()];
        let mut names: Vec<u32> = (0..self.names.len() as u32).collect();
        names.sort_unstable_by_key(|id| name(FrameId(*id)));
        for (rank, id) in names.into_iter().enumerate() {
            ranks[id as usize] = rank;
        }
        let mut children: Vec<(StackId, usize, StackId)> =
            self.tree.iter().map(|(id, parent, name, _)| (parent, ranks[name.index()], id)).collect();
        children.sort_unstable();
        let deep = self.tree.iter().any(|(_, _, _, depth)| depth > 1);
        let mut line = if deep { String::new() } else { UNKNOWN.to_owned() };
        // Stacks to visit, with the bytes of the line that are their callers'.
        let mut open: Vec<(StackId, usize)> = vec![(StackId::ROOT, line.len())];
        while let Some((stack, callers)) = open.pop() {
            line.truncate(callers);
            if let Some(frame) = self.tree.frame(stack) {
                if callers > 0 {
                    line.push(';');
                }
                line.push_str(name(frame));
            }
            match self.own.get(stack.index()) {
                Some(own) if *own > 0 => writeln!(out, "{line} {own}")?,
                _ => {}
            }
            let first = children.partition_point(|(parent, ..)| *parent < stack);
            let below = children[first..].iter().take_while(|(parent, ..)| *parent == stack).count();
            open.extend(children[first..first + below].iter().rev().map(|(_, _, id)| (*id, line.len())));
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
        write(&Evidence { profile, ..Evidence::default() }, &options, &mut out).unwrap();
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
