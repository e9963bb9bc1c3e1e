//! The child's side: open libzpool, make the pool, run the phases, say what happened.
//!
//! It dies with its parent: by signal while it works, by the end of its input while it waits.

use super::abi::Zpool;
use super::clocks::{Snapshot, monotonic};
use super::cures;
use super::dataset::Dataset;
use super::io::{Check, Data};
use super::nvlist::c_string;
use super::pool::{self, Pool};
use super::protocol::{ChildPlan, Failure, Fault, FromChild, GO};
use crate::result::{Mark, ThreadGroup};
use crate::scratch::vdev_size;
use crate::{Bytes, PhaseKind};
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

    fn gate(&mut self, phase: PhaseKind) -> Result<(), Failure> {
        self.say(&FromChild::Ready { phase });
        match self.line()?.trim() {
            GO => Ok(()),
            other => Err(Failure::other("pass the gate", format!("the parent said {other:?}"))),
        }
    }
}

fn run(link: &mut Link, plan: &ChildPlan) -> Result<(), Failure> {
    let mut done = vec![cures::tame_malloc(), cures::prefault(heap_needed(plan))];
    let zpool = Zpool::open(&plan.library).map_err(|found| Failure::other("open OpenZFS", found))?;
    done.extend(cures::apply(&zpool, &plan.library, &plan.settings, &pool::vdev_prefix(&plan.scratch)));
    pool::start(&zpool, &plan.scratch)?;
    done.extend(cures::choose_checksums(&zpool));

    let pool = Pool::create(&zpool, &plan.library, &plan.scratch, vdev_size(plan.bytes))?;
    let mut dataset = Dataset::create(&zpool, &plan.settings)?;
    let data = Data::create(&dataset, &plan.settings, plan.bytes, plan.seed)?;
    dataset.sync();
    link.say(&FromChild::Hello { cures: done });

    for &phase in &plan.phases {
        link.gate(phase)?;
        let begin = Snapshot::take();
        let application = run_phase(link, plan, phase, &pool, &mut dataset, &data)?;
        let mut clocks = begin.until(&Snapshot::take());
        let bytes = if application.is_some() { data.total() } else { 0 };
        if let Some(group) = application {
            clocks.set_group(group);
        }
        link.say(&FromChild::End { phase, bytes, clocks });
    }
    dataset.close();
    pool.export()?;
    // SAFETY: all pools are exported and no call of ours is under way.
    unsafe { (zpool.call.kernel_fini)() };
    Ok(())
}

/// The ARC, two copies (plain and encrypted) of the dirty data OpenZFS allows, and change. With it the
/// phases of the encryption experiment show no page faults (`perf record -e page-faults`).
fn heap_needed(plan: &ChildPlan) -> Bytes {
    Bytes(plan.settings.arc_max.0 + plan.bytes.0.min(plan.settings.memory.0 / 10) * 2 + (64 << 20))
}

/// Returns the threads that played the application, if the phase moves data.
fn run_phase(
    link: &mut Link,
    plan: &ChildPlan,
    phase: PhaseKind,
    pool: &Pool<'_>,
    dataset: &mut Dataset<'_>,
    data: &Data,
) -> Result<Option<ThreadGroup>, Failure> {
    match phase {
        PhaseKind::Write => {
            link.mark("write", &format!("{} bytes", data.total()));
            let group =
                data.write(dataset, &mut |done, total| link.say(&FromChild::Progress { done, total }))?;
            link.mark("sync", "wait until all is on disk");
            dataset.sync();
            Ok(Some(group))
        }
        PhaseKind::Reimport => {
            dataset.close();
            link.mark("reimport", "export and import the pool");
            pool.reimport()?;
            link.mark("key", "load the key, open the dataset");
            dataset.load_key()?;
            dataset.open()?;
            Ok(None)
        }
        PhaseKind::Read => {
            link.mark("read", &format!("{} bytes", data.total()));
            let spoil = strike(plan, dataset.zpool);
            let mut report = |done, total| link.say(&FromChild::Progress { done, total });
            data.read(dataset, Check::Marks, spoil, &mut report).map(Some)
        }
        PhaseKind::Verify => {
            link.mark("verify", "compare every byte");
            let mut report = |done, total| link.say(&FromChild::Progress { done, total });
            data.read(dataset, Check::EveryByte, false, &mut report).map(Some)
        }
    }
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
