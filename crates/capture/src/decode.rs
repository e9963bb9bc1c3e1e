//! Tables back into the model. Rows may come in any number of parts, names before what uses them.

use crate::column::Column;
use crate::damage::Damage;
use crate::id_map::IdMap;
use crate::ids::ROOT_STACK;
use crate::marks::Mark;
use crate::series::{Series, SeriesKind};
use crate::table::{FRAMES, MARKS, SAMPLES, SERIES, STACKS, THREADS, Table};
use zwhy_profile::{Event, Frame, FrameId, FrameKind, Nanos, Profile, StackId, StringId, Thread, ThreadId};

/// Collects parts of tables into one profile.
#[derive(Default)]
pub struct Decoder {
    pub profile: Profile,
    pub series: Series,
    pub marks: Vec<Mark>,
    frames: IdMap,
    stacks: IdMap,
    threads: IdMap,
}

impl Decoder {
    pub fn add(&mut self, table: &Table, damage: &mut Damage) {
        match table.spec {
            spec if spec == &FRAMES => self.add_frames(table),
            spec if spec == &STACKS => self.add_stacks(table, damage),
            spec if spec == &THREADS => self.add_threads(table),
            spec if spec == &SAMPLES => self.add_samples(table, damage),
            spec if spec == &SERIES => self.add_series(table, damage),
            spec if spec == &MARKS => self.add_marks(table),
            _ => {}
        }
    }

    fn add_frames(&mut self, table: &Table) {
        let [id, function, module, kind, file, line, reason] = &table.columns[..] else { return };
        let p = &mut self.profile;
        for row in 0..table.rows() {
            let frame = Frame {
                function: p.strings.intern(function.text(row)),
                module: p.strings.intern(module.text(row)),
                file: p.strings.intern(file.text(row)),
                line: line.i32(row) as u32,
                kind: FrameKind::from_name(kind.text(row)).unwrap_or_default(),
                reason: p.strings.intern(reason.text(row)),
            };
            self.frames.insert(id.u64(row), p.frames.intern(frame).0);
        }
    }

    fn add_stacks(&mut self, table: &Table, damage: &mut Damage) {
        let [id, parent, frame, _depth] = &table.columns[..] else { return };
        let mut dangling = 0;
        self.stacks.reserve(table.rows());
        self.profile.stacks.reserve(table.rows());
        // Most rows continue the stack of the row above them.
        let mut above = (ROOT_STACK, StackId::ROOT);
        for row in 0..table.rows() {
            let of = parent.u64(row);
            let known_parent = if of == above.0 && of != ROOT_STACK { Some(above.1) } else { self.stack(of) };
            let known_frame = self.frames.get(frame.u64(row)).map(FrameId);
            if known_parent.is_none() || known_frame.is_none() {
                dangling += 1;
            }
            let unknown = || missing_frame(&mut self.profile);
            let frame = known_frame.unwrap_or_else(unknown);
            let child = self.profile.stacks.child(known_parent.unwrap_or(StackId::ROOT), frame);
            above = (id.u64(row), child);
            self.stacks.insert(above.0, child.0);
        }
        damage.dangle(STACKS.name, dangling);
    }

    fn stack(&self, id: u64) -> Option<StackId> {
        if id == ROOT_STACK { Some(StackId::ROOT) } else { self.stacks.get(id).map(StackId) }
    }

    fn add_threads(&mut self, table: &Table) {
        let [id, tid, pid, comm] = &table.columns[..] else { return };
        for row in 0..table.rows() {
            let comm = self.profile.strings.intern(comm.text(row));
            let thread = Thread { pid: pid.i32(row), tid: tid.i32(row), comm };
            self.threads.insert(id.u64(row), self.profile.threads.intern(thread).0);
        }
    }

    fn add_samples(&mut self, table: &Table, damage: &mut Damage) {
        let [t, cpu, thread, stack, event, count, weight] = &table.columns[..] else { return };
        let mut dangling = 0;
        let rows = table.rows();
        self.profile.samples.reserve(rows);
        let events = Events::of(event);
        for row in 0..rows {
            let known_thread = self.threads.get(thread.u64(row)).map(ThreadId);
            let known_stack = self.stack(stack.u64(row));
            let known_event = events.at(row);
            if known_thread.is_none() || known_stack.is_none() || known_event.is_none() {
                dangling += 1;
            }
            let thread = known_thread.unwrap_or_else(|| self.profile.thread(-1, -1, "unknown"));
            let stack = known_stack.unwrap_or_else(|| {
                let frame = missing_frame(&mut self.profile);
                self.profile.stacks.child(StackId::ROOT, frame)
            });
            let samples = &mut self.profile.samples;
            samples.thread.push(thread);
            samples.stack.push(stack);
            samples.event.push(known_event.unwrap_or_default());
        }
        let samples = &mut self.profile.samples;
        samples.t.extend((0..rows).map(|row| Nanos(t.i64(row))));
        samples.cpu.extend((0..rows).map(|row| cpu.i32(row)));
        samples.count.extend((0..rows).map(|row| count.i32(row) as u32));
        samples.weight.extend((0..rows).map(|row| Nanos(weight.i64(row))));
        damage.dangle(SAMPLES.name, dangling);
    }

    fn add_series(&mut self, table: &Table, damage: &mut Damage) {
        let [t, source, name, kind, value] = &table.columns[..] else { return };
        let mut unknown = 0;
        for row in 0..table.rows() {
            let Some(kind) = SeriesKind::from_name(kind.text(row)) else {
                unknown += 1;
                continue;
            };
            self.series.push(Nanos(t.i64(row)), source.text(row), name.text(row), kind, value.i64(row));
        }
        damage.lost(SERIES.name, unknown);
    }

    fn add_marks(&mut self, table: &Table) {
        let [t, name, text] = &table.columns[..] else { return };
        for row in 0..table.rows() {
            self.marks.push(Mark {
                t: Nanos(t.i64(row)),
                name: name.text(row).to_owned(),
                text: text.text(row).to_owned(),
            });
        }
    }
}

/// The column of events, each distinct name of which is read once.
struct Events<'c> {
    ids: &'c [StringId],
    by_id: Vec<Option<Event>>,
}

impl<'c> Events<'c> {
    fn of(column: &'c Column) -> Events<'c> {
        let Column::Text(text) = column else { return Events { ids: &[], by_id: Vec::new() } };
        Events {
            ids: &text.ids,
            by_id: text.strings.iter().map(|(_, name)| Event::from_name(name)).collect(),
        }
    }

    fn at(&self, row: usize) -> Option<Event> {
        *self.by_id.get(self.ids.get(row)?.index())?
    }
}

/// Stands for a frame whose row is gone.
fn missing_frame(profile: &mut Profile) -> FrameId {
    let frame = Frame {
        function: profile.strings.intern("[unknown]"),
        reason: profile.strings.intern("its row was lost from the capture"),
        ..Frame::default()
    };
    profile.frames.intern(frame)
}
