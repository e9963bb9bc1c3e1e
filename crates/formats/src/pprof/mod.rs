//! pprof profiles (Go, perf_to_profile, async-profiler, Pyroscope, Parca …), gzipped or not.
//!
//! Read: one kind of values (CPU before waits before counts) in the unit that pprof itself shows, the number
//! of samples beside it, inlined lines, mappings as modules, labels of threads. Other value types and the labels of applications are not
//! taken; the first are named in the warnings. Sample messages are the unit of the stats. The strings are
//! at the end of most files: a file that was cut keeps its samples, and their names only if it was cut late.

mod labels;
mod tables;

use crate::interchange::meaning::{self, Choice, Meaning, Unit};
use crate::interchange::protobuf::{Fields, MAX_ENTRIES, Value};
use crate::interchange::rows::{Amount, Row};
use crate::interchange::{Taken, frames, shown};
use crate::{Confidence, ErrorKind, FormatError, ImportOptions, Imported, Importer, Input, Position};
use labels::Context;
pub(crate) use labels::Key;
use tables::Tables;
use zwhy_profile::{Event, FrameId, Nanos, Unit as Amounts};

pub(crate) static IMPORTER: Importer = Importer { name: "pprof", sniff, read };

fn sniff(head: &[u8]) -> Confidence {
    if looks_like(head) { Confidence::Certain } else { Confidence::No }
}

fn read(input: &Input, options: &ImportOptions) -> Result<Imported, FormatError> {
    let tables = Tables::read(input.bytes());
    if tables.entries > MAX_ENTRIES {
        let found = format!("its tables have {} entries, at most {MAX_ENTRIES} are read", tables.entries);
        return Err(
            FormatError::read(ErrorKind::TooLarge, input.name(), found).hint("record for a shorter time")
        );
    }
    if tables.samples == 0 || !tables.has_strings() {
        return Err(nothing(input, &tables));
    }
    let mut reader = Reader::new(tables, input.bytes().len(), options.limits.max_depth);
    for field in Fields::new(input.bytes()).filter(|f| f.number == 2) {
        reader.sample(field.value);
    }
    reader.finish(input)
}

fn nothing(input: &Input, tables: &Tables) -> FormatError {
    let what =
        if tables.samples == 0 { "it has no samples" } else { "it has no strings, so nothing has a name" };
    match tables.damage {
        Some(at) => {
            FormatError::read(ErrorKind::Damaged, input.name(), format!("{what} before it breaks off"))
                .at(Position::Byte(at as u64))
                .hint("copy the file again: most writers put the names at the end")
        }
        None => FormatError::read(ErrorKind::Empty, input.name(), what)
            .hint("check that the profiler ran while something did"),
    }
}

/// The known fields of the message, and a value type or a sample among the first of them.
fn looks_like(head: &[u8]) -> bool {
    let mut certain = false;
    let mut fields = Fields::of_head(head);
    for field in fields.by_ref().take(64) {
        let known = match (field.number, field.value) {
            (1 | 11, Value::Bytes(message)) => {
                let mut inner = Fields::of_head(message);
                let numbers = inner.by_ref().all(|f| f.number <= 2 && matches!(f.value, Value::Varint(_)));
                certain |= numbers && field.number == 1 && !message.is_empty();
                numbers && inner.damage().is_none()
            }
            (2, Value::Bytes(message)) => Fields::of_head(message).all(|f| f.number <= 4),
            (3..=6 | 16, Value::Bytes(_)) => true,
            (13, Value::Bytes(_)) | (7..=10 | 12..=15, Value::Varint(_)) => true,
            _ => false,
        };
        if !known {
            return false;
        }
    }
    certain && fields.damage().is_none()
}

struct Reader<'a> {
    tables: Tables<'a>,
    taken: Taken,
    choice: Choice,
    /// What a value of the chosen column is multiplied by: nanoseconds of a time, else 1.
    scale: u32,
    /// Value of one sample, where the file says so in the unit of the chosen column; 0 where not.
    period: u64,
    context: Context,
    /// Scratch: frames of the sample at hand, leaf first.
    frames: Vec<FrameId>,
    without_stack: u64,
}

impl<'a> Reader<'a> {
    fn new(tables: Tables<'a>, bytes: usize, max_depth: usize) -> Reader<'a> {
        let names: Vec<(String, String)> = tables
            .types
            .iter()
            .map(|t| (tables.text(t.name).into_owned(), tables.text(t.unit).into_owned()))
            .collect();
        let meanings: Vec<Meaning> = names.iter().map(|(name, unit)| Meaning::of(name, unit)).collect();
        let default = tables.text(tables.default_type);
        let default = names.iter().position(|(name, _)| !name.is_empty() && **name == *default);
        let mut choice = Choice::among(&meanings, default);
        if names.is_empty() {
            // A file without types: its first value can only be a count.
            (choice.amount, choice.count) = (Some(0), Some(0));
        }
        let mut taken = Taken::new("pprof", "samples", bytes, max_depth);
        for (i, (name, unit)) in names.iter().enumerate() {
            let (name, unit) = (shown(name), shown(unit));
            if !choice.takes(i) {
                taken.warn(format!("the profile also holds `{name}` in {unit}: not taken"));
            } else if meaning::is_wall(&name) {
                taken.warn(format!("`{name}` is wall clock time: sleeping threads are in it"));
            } else if choice.event == Event::Count {
                taken.warn(format!("the profile is of `{name}` in {unit}, not of CPU time"));
            }
        }
        let chosen = choice.amount.and_then(|i| meanings.get(i).zip(names.get(i)));
        let unit = chosen.map_or(Unit::Count, |(m, _)| m.unit);
        if let Some((meaning, (name, unit_name))) = chosen
            && (choice.count != choice.amount || !meaning.samples)
        {
            taken.rows.measure_in(choice.event, unit.of_amounts(name, unit_name));
        }
        // Of events that were counted, their own column says nothing of samples.
        if choice.count == choice.amount && chosen.is_some_and(|(m, _)| !m.samples) {
            (choice.count, choice.time) = (None, None);
        }
        let scale = if let Unit::Time(ns) = unit { ns } else { 1 };
        let period = period_in(&tables, unit);
        Reader {
            tables,
            taken,
            choice,
            scale,
            period,
            context: Context::default(),
            frames: Vec::new(),
            without_stack: 0,
        }
    }

    fn sample(&mut self, message: Value) {
        let mut values = Values::new(self.choice, self.scale);
        self.context.clear();
        self.frames.clear();
        let mut fields = Fields::new(message.bytes());
        for field in fields.by_ref() {
            match field.number {
                1 => self.locations(field.value),
                2 => field.value.numbers().for_each(|value| values.take(value as i64)),
                3 => self.context.take(&self.tables, field.value.bytes()),
                _ => {}
            }
        }
        if fields.damage().is_some() {
            return self.taken.lose(0);
        }
        let taken = self.take(&values);
        self.taken.count(taken);
    }

    fn take(&mut self, values: &Values) -> Result<(), &'static str> {
        let amount = values.amount(self.period)?;
        if self.frames.is_empty() {
            self.without_stack += 1;
            let unknown = "the profile holds no stack for this sample";
            self.frames.push(frames::unknown(&mut self.taken.profile, unknown));
        }
        let stack = self.taken.stack(self.frames.iter().copied())?;
        let row = Row {
            t: Nanos(0),
            cpu: self.context.cpu.unwrap_or(-1),
            thread: self.context.thread(&mut self.taken.profile),
            stack,
            event: self.choice.event,
            weight: values.weight(),
        };
        self.taken.push(row, amount)
    }

    /// Frames of location ids, leaf first, one more than the limit at most.
    fn locations(&mut self, ids: Value) {
        for id in ids.numbers() {
            if self.frames.len() > self.taken.max_depth {
                return;
            }
            let frames = self.tables.frames(&mut self.taken.profile, id);
            self.frames.extend_from_slice(frames);
        }
    }

    fn finish(mut self, input: &Input) -> Result<Imported, FormatError> {
        if let Some(at) = self.tables.damage {
            let left = (input.bytes().len() - at) as u64;
            self.taken.lose(left);
            self.taken.warn(format!(
                "the profile breaks off {left} bytes before its end: samples after that are lost, and names that stood there: copy the file again"
            ));
        }
        let stats = &self.taken.stats;
        if self.taken.rows.is_empty() {
            let reasons: Vec<&str> = stats.dropped.keys().map(String::as_str).collect();
            let found = format!("none of its {} samples can be taken ({})", stats.read, reasons.join(", "));
            return Err(FormatError::read(ErrorKind::Empty, input.name(), found)
                .hint("check that it is a CPU profile, not the difference of two"));
        }
        if self.without_stack > 0 {
            self.taken.warn(format!("{} samples have no stack", self.without_stack));
        }
        if self.choice.count.is_none() && self.period > 0 {
            self.taken.warn(format!(
                "the profile says how much time samples took, not how many there were: their number is taken from its period, {}",
                Amounts::Nanos.words(self.period)
            ));
        }
        Ok(self.taken.finish(input))
    }
}

/// Nanoseconds of the period, where it and the values are times; else 0.
fn period_in(tables: &Tables, unit: Unit) -> u64 {
    match (unit, Unit::from_name(&tables.text(tables.period_type.unit)), u64::try_from(tables.period)) {
        (Unit::Time(_), Unit::Time(ns), Ok(period)) => period.saturating_mul(u64::from(ns)),
        _ => 0,
    }
}

/// The values of one sample that were chosen.
struct Values {
    choice: Choice,
    scale: u32,
    column: usize,
    amount: Option<i64>,
    count: Option<i64>,
    time: Option<i64>,
}

impl Values {
    fn new(choice: Choice, scale: u32) -> Values {
        Values { choice, scale, column: 0, amount: None, count: None, time: None }
    }

    /// Takes the value of the next column.
    fn take(&mut self, value: i64) {
        if self.choice.amount == Some(self.column) {
            self.amount = Some(value);
        }
        if self.choice.count == Some(self.column) {
            self.count = Some(value);
        }
        if let Some((column, ns)) = self.choice.time
            && column == self.column
        {
            self.time = Some(value.saturating_mul(i64::from(ns)));
        }
        self.column += 1;
    }

    fn weight(&self) -> Nanos {
        Nanos(self.time.unwrap_or(0).max(0))
    }

    /// What the sample counts for, or why it does not.
    fn amount(&self, period: u64) -> Result<Amount, &'static str> {
        let value = self.amount.ok_or("sample without the chosen value")?;
        let value = u64::try_from(value).map_err(|_| "negative value")?;
        let value = value.saturating_mul(u64::from(self.scale));
        let count = match self.count.map(u64::try_from) {
            Some(Err(_)) => return Err("negative value"),
            Some(Ok(count)) => Some(count),
            None => None,
        };
        if value == 0 && count.unwrap_or(0) == 0 && self.weight().0 == 0 {
            return Err("value of zero");
        }
        Ok(match (count, period) {
            _ if self.choice.count == self.choice.amount => Amount::Count(value.max(1)),
            (Some(count), _) => Amount::Both(count.max(1), value),
            (None, 0) => Amount::Value(value, None),
            (None, period) => Amount::Value(value, Some((value.saturating_add(period / 2) / period).max(1))),
        })
    }
}
