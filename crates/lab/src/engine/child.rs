//! The child: opens a session of its engine, plays the steps, says what happened.
//!
//! It dies with its parent: by signal while it works, by the end of its input while it waits.

use super::clocks::monotonic;
use super::protocol::{ChildPlan, EnginePlan, Fault, FromChild, GO, StepEnd};
use super::{Measured, Session};
use crate::Bytes;
use crate::failure::Failure;
use crate::io::{Check, Data, Moved, Reading};
use crate::result::{Mark, StepResult};
use crate::spec::{Action, Age, Call, CallKind, Called, Destination, Form, Order, State, Step};
use crate::{pool, user};
use rustix::process::{Signal, set_parent_process_death_signal};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, StdinLock, Write};
use std::time::Duration;

/// Counts 1 in the step in which a provider went away.
const SWITCHED_OFF: &str = "offload.switched_off";

/// Runs the child; the program calls this for its hidden command and exits with what it returns.
///
/// The plan comes by standard input, results go to standard output, last words to standard error.
pub fn child_main() -> i32 {
    let Some(mut link) = Link::open() else { return 1 };
    let result = link.plan().and_then(|plan| run(&mut link, &plan));
    let (last, code) = match result {
        Ok(()) => (FromChild::Done, 0),
        Err(failure) => (FromChild::Failed { failure }, 1),
    };
    link.say(&last);
    code
}

/// The pipes to the parent.
struct Link {
    input: StdinLock<'static>,
    output: File,
}

impl Link {
    fn open() -> Option<Link> {
        // Fails only for an invalid signal.
        let _ = set_parent_process_death_signal(Some(Signal::KILL));
        // Threads that OpenZFS does not name inherit this.
        let _ = rustix::thread::set_name(c"lab-main");
        // What a library prints must not get between the lines of the protocol.
        let output = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3).ok()?;
        rustix::stdio::dup2_stdout(rustix::stdio::stderr()).ok()?;
        Some(Link { input: std::io::stdin().lock(), output: output.into() })
    }

    fn line(&mut self) -> Result<String, Failure> {
        let mut line = String::new();
        match self.input.read_line(&mut line) {
            Ok(0) => Err(Failure::other("hear from the parent", "it is gone")),
            Ok(_) => Ok(line),
            Err(e) => Err(Failure::other("hear from the parent", e)),
        }
    }

    fn plan(&mut self) -> Result<ChildPlan, Failure> {
        let line = self.line()?;
        serde_json::from_str(&line).map_err(|e| Failure::other("understand the plan", e))
    }

    fn say(&mut self, message: &FromChild) {
        let mut line = serde_json::to_vec(message).unwrap_or_default();
        line.push(b'\n');
        // A parent that is gone takes this process with it.
        let _ = self.output.write_all(&line);
    }

    fn mark(&mut self, name: &str, text: &str) {
        self.say(&FromChild::Mark(Mark { t_ns: monotonic().0, name: name.into(), text: text.into() }));
    }

    fn gate(&mut self, step: &Step) -> Result<(), Failure> {
        self.say(&FromChild::Ready { step: step.name.clone() });
        match self.line()?.trim() {
            GO => Ok(()),
            other => Err(Failure::other("pass the gate", format!("the parent said {other:?}"))),
        }
    }
}

fn run(link: &mut Link, plan: &ChildPlan) -> Result<(), Failure> {
    let (session, cures): (Box<dyn Session>, _) = match &plan.engine {
        EnginePlan::User(own) => user::session::open(own, plan)?,
        EnginePlan::Pool(own) => pool::session::open(own, plan)?,
    };
    let data = Data::new(session.objects(), &plan.setup, plan.bytes, plan.seed, plan.sample.as_deref())?;
    session.sync()?;
    link.say(&FromChild::Hello { cures });

    let mut stage = Stage { plan, session, data, snapshots: 0, kept: None, struck: false };
    for step in &plan.steps {
        link.gate(step)?;
        stage.session.begin();
        let Outcome { moved, operations, stream, called, counted } = stage.step(link, step)?;
        let Measured { mut clocks, mut counters, not_counted } = stage.session.end();
        counters.extend(counted);
        counters.extend(stream.map(|bytes| (STREAM.to_owned(), bytes.cast_signed())));
        if counters.contains_key(SWITCHED_OFF) {
            link.mark("provider", "switched off: it is gone, and OpenZFS does all stages from here on");
        }
        let (bytes, blocks) = moved.as_ref().map_or((0, 0), |moved| (moved.bytes, moved.blocks));
        let latency = moved.as_ref().and_then(|moved| moved.latencies.percentiles());
        if let Some(moved) = moved {
            clocks.set_group(moved.threads);
        }
        let (wall_s, cpu_s) = (clocks.wall_s(), clocks.cpu_s());
        let each = |figure: f64| (bytes > 0).then_some(figure);
        let result = StepResult {
            name: step.name.clone(),
            bytes,
            blocks,
            operations,
            wall_s,
            user_s: clocks.user_s,
            system_s: clocks.system_s,
            mb_per_s: each(bytes as f64 / 1e6 / wall_s),
            cpu_s_per_gb: each(cpu_s / (bytes as f64 / 1e9)),
            latency,
            device_read_bytes: clocks.read_bytes,
            device_written_bytes: clocks.written_bytes,
            threads: clocks.threads,
            peak_bytes: clocks.peak_bytes,
            outcome: called.outcome(|name| counters.get(name).copied().unwrap_or(0)),
            counters,
            not_counted,
            marks: Vec::new(),
            capture: None,
        };
        link.say(&FromChild::End(Box::new(StepEnd { result, end_ns: clocks.end_ns })));
    }
    stage.session.close()
}

/// What a step did.
#[derive(Default)]
struct Outcome {
    /// By the threads that play the application.
    moved: Option<Moved>,
    /// Snapshots taken or destroyed, names given.
    operations: u64,
    /// Bytes that were sent or received.
    stream: Option<u64>,
    called: Called,
    /// What only the session can count.
    counted: BTreeMap<String, i64>,
}

/// The thread that plays steps without workers.
const MAIN: &str = "lab-main";
/// Length of what a step sent or received.
const STREAM: &str = "lab.stream_bytes";

impl Outcome {
    fn operations(count: u64) -> Outcome {
        Outcome { operations: count, ..Outcome::default() }
    }
}

impl From<Moved> for Outcome {
    fn from(moved: Moved) -> Outcome {
        Outcome { moved: Some(moved), ..Outcome::default() }
    }
}

/// The pool on which the steps are played.
struct Stage<'a> {
    plan: &'a ChildPlan,
    session: Box<dyn Session>,
    data: Data,
    /// Snapshots that are there.
    snapshots: u32,
    /// The form of the stream that waits to be received.
    kept: Option<Form>,
    /// The plan's misbehaviour is over.
    struck: bool,
}

impl Stage<'_> {
    fn step(&mut self, link: &mut Link, step: &Step) -> Result<Outcome, Failure> {
        match &step.action {
            Action::Write => self.write(link, &step.name, None, Order::Sequential),
            Action::Overwrite { bytes, order } => self.write(link, &step.name, *bytes, *order),
            Action::Read { bytes, order, count } => {
                link.mark(
                    &step.name,
                    &format!("{} of the data", bytes.map_or("all".into(), |b| b.to_string())),
                );
                let spoil = !self.struck && self.strike();
                self.struck = true;
                let (order, count) = (*order, *count);
                self.read(link, &Reading { bytes: *bytes, order, count, check: Check::Marks, spoil })
            }
            Action::Verify => {
                link.mark(&step.name, "compare every byte");
                self.session.provider(false);
                let read = self.read(link, &Reading::all(Check::EveryByte));
                self.session.provider(true);
                read
            }
            Action::Raw => {
                link.mark(&step.name, "the disks themselves, past OpenZFS");
                let (disks, setup) = (self.session.disks(), &self.plan.setup);
                let mut report = |done, total| link.say(&FromChild::Progress { done, total });
                crate::raw::read(&disks, setup, self.plan.bytes, &mut report).map(Outcome::from)
            }
            Action::Cache { state } => {
                let reimported = self.reimport(link)?;
                if *state == State::Warm {
                    link.mark(&step.name, "all of the data is read once");
                    self.read(link, &Reading::all(Check::Marks))?;
                }
                // It prepares a step, and is none of the application's.
                Ok(reimported)
            }
            Action::Reimport => self.reimport(link),
            Action::Snapshot { count, bytes } => self.snapshot(link, *count, *bytes),
            Action::Destroy { order } => self.destroy(link, *order),
            Action::Lose { count } => {
                link.mark("lose", &format!("{count} of the disks are gone"));
                self.session.lose(*count).map(|()| Outcome::default())
            }
            Action::Regain => {
                link.mark("regain", "the disks are back");
                self.session.regain().map(|()| Outcome::default())
            }
            Action::Rename => self.rename(link),
            Action::Send { form, to } => self.send(link, *form, *to == Destination::File),
            Action::Receive => self.receive(link),
            Action::Call(call) => self.call(call),
            Action::Idle { seconds, available } => {
                self.idle(link, *seconds, *available);
                Ok(Outcome::default())
            }
        }
    }

    fn reimport(&mut self, link: &mut Link) -> Result<Outcome, Failure> {
        let mut mark = |name: &str, text: &str| link.mark(name, text);
        self.session.reimport(&mut mark).map(|()| Outcome::default())
    }

    fn write(
        &self,
        link: &mut Link,
        name: &str,
        bytes: Option<Bytes>,
        order: Order,
    ) -> Result<Outcome, Failure> {
        link.mark(name, "the application writes");
        let mut report = |done, total| link.say(&FromChild::Progress { done, total });
        let moved = self.data.write(&*self.session.target(), bytes, order, &mut report)?;
        link.mark("sync", "wait until all is on disk");
        self.session.sync()?;
        Ok(moved.into())
    }

    fn read(&self, link: &mut Link, what: &Reading) -> Result<Outcome, Failure> {
        let mut report = |done, total| link.say(&FromChild::Progress { done, total });
        self.data.read(&*self.session.target(), what, &mut report).map(Outcome::from)
    }

    /// Each snapshot is of a state of its own: something was written, and is on disk.
    fn snapshot(&mut self, link: &mut Link, count: u32, bytes: Bytes) -> Result<Outcome, Failure> {
        link.mark("snapshot", &format!("take {count}, with {bytes} written before each"));
        for index in 0..count {
            self.data.change(&*self.session.target(), bytes, self.snapshots)?;
            self.session.snapshot(self.snapshots)?;
            self.snapshots += 1;
            link.say(&FromChild::Progress { done: u64::from(index + 1), total: u64::from(count) });
        }
        self.session.sync()?;
        Ok(Outcome::operations(u64::from(count)))
    }

    fn rename(&self, link: &mut Link) -> Result<Outcome, Failure> {
        let count = self.snapshots;
        link.mark("rename", &format!("{count} snapshots, and back"));
        for index in 0..count {
            self.session.rename(index)?;
            link.say(&FromChild::Progress { done: u64::from(index + 1), total: u64::from(count) });
        }
        Ok(Outcome::operations(2 * u64::from(count)))
    }

    /// The data that the stream is of counts as moved, however short the stream is.
    fn send(&mut self, link: &mut Link, form: Form, keep: bool) -> Result<Outcome, Failure> {
        let Some(newest) = self.snapshots.checked_sub(1) else {
            return Err(Failure::other("send a snapshot", "none is there"));
        };
        link.mark("send", "the newest snapshot, whole");
        let session = &*self.session;
        let (sent, moved) = self.data.moved_by(MAIN, || session.send(newest, form, keep))?;
        self.kept = keep.then_some(form);
        Ok(Outcome { stream: Some(sent), ..moved.into() })
    }

    /// The data of the stream counts as moved. Everything after it is done to the copy.
    fn receive(&mut self, link: &mut Link) -> Result<Outcome, Failure> {
        let Some(form) = self.kept.take() else {
            return Err(Failure::other("receive a stream", "none was kept"));
        };
        link.mark("receive", "the stream, as a dataset of its own");
        let session = &mut self.session;
        let (received, moved) = self.data.moved_by(MAIN, || session.receive(form))?;
        self.session.sync()?;
        Ok(Outcome { stream: Some(received), ..moved.into() })
    }

    fn destroy(&mut self, link: &mut Link, order: Age) -> Result<Outcome, Failure> {
        let (count, calls) = (self.snapshots, calls(order, self.snapshots));
        link.mark("destroy", &format!("{count} snapshots in {} calls", calls.len()));
        let mut done = 0;
        for call in &calls {
            self.session.destroy(call)?;
            done += call.len() as u64;
            link.say(&FromChild::Progress { done, total: u64::from(count) });
        }
        self.session.sync()?;
        self.snapshots = 0;
        Ok(Outcome::operations(u64::from(count)))
    }

    fn call(&mut self, call: &Call) -> Result<Outcome, Failure> {
        let called = self.session.call(call)?;
        if call.kind == CallKind::Make {
            self.session.sync()?;
        }
        let changing = call.kind == CallKind::WriteChanging;
        let counted = if changing { self.session.caught()? } else { BTreeMap::new() };
        Ok(Outcome { called, counted, ..Outcome::default() })
    }

    /// Waits, and lets OpenZFS see so much memory left meanwhile.
    fn idle(&self, link: &mut Link, seconds: u32, available: Option<i64>) {
        if available.is_some() {
            self.session.memory_left(available);
        }
        for second in 0..seconds {
            std::thread::sleep(Duration::from_secs(1));
            link.say(&FromChild::Progress { done: u64::from(second + 1), total: u64::from(seconds) });
        }
        if available.is_some() {
            self.session.memory_left(None);
        }
    }

    /// Misbehaves as the plan wants; true when the data shall be spoiled.
    fn strike(&self) -> bool {
        match self.plan.fault {
            None => false,
            Some(Fault::WrongByte) => true,
            Some(Fault::Hang) => loop {
                std::thread::sleep(Duration::from_secs(3600));
            },
            Some(Fault::Crash) => {
                self.session.panic();
                std::process::abort()
            }
        }
    }
}

/// The calls that destroy `count` snapshots: the numbers in each.
fn calls(order: Age, count: u32) -> Vec<Vec<u32>> {
    match order {
        Age::OldestFirst => (0..count).map(|index| vec![index]).collect(),
        Age::NewestFirst => (0..count).rev().map(|index| vec![index]).collect(),
        Age::AllAtOnce => vec![(0..count).collect()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_of_destroying() {
        assert_eq!(calls(Age::OldestFirst, 3), [[0], [1], [2]]);
        assert_eq!(calls(Age::NewestFirst, 3), [[2], [1], [0]]);
        assert_eq!(calls(Age::AllAtOnce, 3), [vec![0, 1, 2]]);
    }
}
