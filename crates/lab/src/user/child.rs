//! The child's side: open libzpool, make the pool, run the steps, say what happened.
//!
//! It dies with its parent: by signal while it works, by the end of its input while it waits.

use super::abi::Zpool;
use super::clocks::{Snapshot, monotonic};
use super::cures;
use super::dataset::Dataset;
use super::io::{Check, Data, Moved, Reading};
use super::kstats::Counters;
use super::nvlist::c_string;
use super::pool::{self, Pool};
use super::protocol::{ChildPlan, Failure, Fault, FromChild, GO, StepEnd};
use super::{dmu, shim, snapshots, tune};
use crate::Bytes;
use crate::result::Mark;
use crate::scratch::disk_size;
use crate::spec::{Action, Order, Step};
use rustix::process::{Signal, set_parent_process_death_signal};
use std::fs::File;
use std::io::{BufRead, StdinLock, Write};
use std::time::Duration;

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
            Err(e) => Err(Failure::other("hear from the parent", e.to_string())),
        }
    }

    fn plan(&mut self) -> Result<ChildPlan, Failure> {
        let line = self.line()?;
        serde_json::from_str(&line).map_err(|e| Failure::other("understand the plan", e.to_string()))
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
    let setup = &plan.setup;
    let mut done = vec![cures::tame_malloc(), cures::prefault(heap_needed(plan))];
    let zpool = Zpool::open(&plan.library).map_err(|found| Failure::other("open OpenZFS", found))?;
    done.extend(cures::apply(&zpool, &plan.library, setup, &pool::vdev_prefix(&plan.scratch)));
    dmu::prepare(&zpool, setup.io)?;
    tune::parameters(&zpool, &plan.parameters)?;
    pool::start(&zpool, &plan.scratch)?;
    cures::confirm_arc(&mut done, setup);
    done.extend(cures::choose_checksums(&zpool));
    tune::implementations(&zpool, &setup.implementations)?;

    let size = disk_size(plan.bytes, setup, &plan.steps);
    let pool = Pool::create(&zpool, &plan.library, &plan.scratch, setup, size)?;
    let dataset = Dataset::create(&zpool, setup)?;
    let data = Data::create(&dataset, setup, plan.bytes, plan.seed)?;
    dataset.sync();
    if let Some(device) = setup.device {
        shim::device(device);
    }
    link.say(&FromChild::Hello { cures: done });

    let mut stage = Stage { plan, pool, dataset, data, snapshots: 0, struck: false };
    for step in &plan.steps {
        link.gate(step)?;
        let (begin, counted) = (Snapshot::take(), Counters::read());
        let outcome = stage.step(link, step)?;
        let mut clocks = begin.until(&Snapshot::take());
        let counters = counted.until(&Counters::read());
        let (bytes, blocks) = outcome.moved.as_ref().map_or((0, 0), |moved| (moved.bytes, moved.blocks));
        if let Some(moved) = outcome.moved {
            clocks.set_group(moved.threads);
        }
        let operations = outcome.operations;
        link.say(&FromChild::End(StepEnd {
            step: step.name.clone(),
            bytes,
            blocks,
            operations,
            clocks,
            counters,
        }));
    }
    stage.dataset.close();
    stage.pool.export()?;
    // SAFETY: all pools are exported and no call of ours is under way.
    unsafe { (zpool.call.kernel_fini)() };
    Ok(())
}

/// The ARC as far as the data fills it (compressed and plain), two copies (plain and encrypted) of the dirty
/// data OpenZFS allows, and change. With it the
/// steps of the encryption experiment show no page faults (`perf record -e page-faults`).
fn heap_needed(plan: &ChildPlan) -> Bytes {
    let setup = &plan.setup;
    Bytes(setup.arc_max.0.min(plan.bytes.0 * 2) + plan.bytes.0.min(setup.memory.0 / 10) * 2 + (64 << 20))
}

/// What a step did.
#[derive(Default)]
struct Outcome {
    /// By the threads that play the application.
    moved: Option<Moved>,
    /// Snapshots taken or destroyed.
    operations: u64,
}

impl From<Moved> for Outcome {
    fn from(moved: Moved) -> Outcome {
        Outcome { moved: Some(moved), operations: 0 }
    }
}

/// The pool on which the steps are played.
struct Stage<'a> {
    plan: &'a ChildPlan,
    pool: Pool<'a>,
    dataset: Dataset<'a>,
    data: Data,
    /// Snapshots that are there.
    snapshots: u32,
    /// The plan's misbehaviour is over.
    struck: bool,
}

impl Stage<'_> {
    fn step(&mut self, link: &mut Link, step: &Step) -> Result<Outcome, Failure> {
        match &step.action {
            Action::Write => self.write(link, &step.name, None, Order::Sequential),
            Action::Overwrite { bytes, order } => self.write(link, &step.name, Some(*bytes), *order),
            Action::Read { bytes, order } => {
                link.mark(
                    &step.name,
                    &format!("{} of the data", bytes.map_or("all".into(), |b| b.to_string())),
                );
                let spoil = !self.struck && strike(self.plan, self.dataset.zpool);
                self.struck = true;
                let what = Reading { bytes: *bytes, order: *order, check: Check::Marks, spoil };
                self.read(link, &what)
            }
            Action::Verify => {
                link.mark(&step.name, "compare every byte");
                let order = Order::Sequential;
                self.read(link, &Reading { bytes: None, order, check: Check::EveryByte, spoil: false })
            }
            Action::Reimport => self.reimport(link).map(|()| Outcome::default()),
            Action::Snapshot { count, bytes } => self.snapshot(link, *count, *bytes),
            Action::Destroy { order } => self.destroy(link, *order),
            Action::Idle { seconds, available } => {
                idle(link, *seconds, *available);
                Ok(Outcome::default())
            }
        }
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
        let moved = self.data.write(&self.dataset, bytes, order, &mut report)?;
        link.mark("sync", "wait until all is on disk");
        self.dataset.sync();
        Ok(moved.into())
    }

    fn read(&self, link: &mut Link, what: &Reading) -> Result<Outcome, Failure> {
        let mut report = |done, total| link.say(&FromChild::Progress { done, total });
        self.data.read(&self.dataset, what, &mut report).map(Outcome::from)
    }

    fn reimport(&mut self, link: &mut Link) -> Result<(), Failure> {
        self.dataset.close();
        link.mark("reimport", "export and import the pool");
        self.pool.reimport()?;
        link.mark("key", "load the key, open the dataset");
        self.dataset.load_key()?;
        self.dataset.open()
    }

    /// Each snapshot is of a state of its own: something was written, and is on disk.
    fn snapshot(&mut self, link: &mut Link, count: u32, bytes: Bytes) -> Result<Outcome, Failure> {
        link.mark("snapshot", &format!("take {count}, with {bytes} written before each"));
        for index in 0..count {
            self.data.change(&self.dataset, bytes, self.snapshots)?;
            snapshots::take(self.dataset.zpool, self.snapshots)?;
            self.snapshots += 1;
            link.say(&FromChild::Progress { done: u64::from(index + 1), total: u64::from(count) });
        }
        self.dataset.sync();
        Ok(Outcome { moved: None, operations: u64::from(count) })
    }

    fn destroy(&mut self, link: &mut Link, order: crate::spec::Age) -> Result<Outcome, Failure> {
        let (count, calls) = (self.snapshots, snapshots::calls(order, self.snapshots));
        link.mark("destroy", &format!("{count} snapshots in {} calls", calls.len()));
        let mut done = 0;
        for call in &calls {
            snapshots::destroy(self.dataset.zpool, call)?;
            done += call.len() as u64;
            link.say(&FromChild::Progress { done, total: u64::from(count) });
        }
        self.dataset.sync();
        self.snapshots = 0;
        Ok(Outcome { moved: None, operations: u64::from(count) })
    }
}

/// Waits, and lets OpenZFS see so much memory left meanwhile.
fn idle(link: &mut Link, seconds: u32, available: Option<i64>) {
    if let Some(bytes) = available {
        shim::available_memory(bytes);
    }
    for second in 0..seconds {
        std::thread::sleep(Duration::from_secs(1));
        link.say(&FromChild::Progress { done: u64::from(second + 1), total: u64::from(seconds) });
    }
    shim::available_memory(i64::MAX);
}

/// Misbehaves as the plan wants; true when the data shall be spoiled.
fn strike(plan: &ChildPlan, zpool: &Zpool) -> bool {
    match plan.fault {
        None => false,
        Some(Fault::WrongByte) => true,
        Some(Fault::Hang) => loop {
            std::thread::sleep(Duration::from_secs(3600));
        },
        Some(Fault::Crash) => {
            type Panic = unsafe extern "C" fn(i32, *const std::ffi::c_char, ...);
            const CE_PANIC: i32 = 3;
            if let Some(address) = zpool.address("cmn_err") {
                let words = c_string("the lab was told to crash OpenZFS here");
                // SAFETY: `cmn_err(int, const char *, ...)` in all releases; the text has no directives.
                unsafe {
                    std::mem::transmute::<*mut std::ffi::c_void, Panic>(address)(CE_PANIC, words.as_ptr())
                };
            }
            std::process::abort()
        }
    }
}
