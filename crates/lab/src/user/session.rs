//! The child's side of this engine: opens libzpool, makes the pool of files, plays on its dataset.

use super::abi::Zpool;
use super::dataset::Dataset;
use super::disks::Disks;
use super::dmu::{self, Objects};
use super::kept::Kept;
use super::kstats::Counters;
use super::library::Release;
use super::nvlist::c_string;
use super::pool::{self, Pool};
use super::{cures, offload, shim, snapshots, streams, tune};
use crate::Bytes;
use crate::engine::clocks::{PhaseClocks, Snapshot};
use crate::engine::memory;
use crate::engine::protocol::{ChildPlan, UserPlan};
use crate::engine::{Measured, Session};
use crate::failure::Failure;
use crate::io::Target;
use crate::scratch::{STREAM, disk_size};
use crate::spec::{Action, Form, Setup};
use std::collections::BTreeSet;
use std::path::PathBuf;

struct UserSession {
    zpool: &'static Zpool,
    pool: Pool<'static>,
    dataset: Dataset<'static>,
    objects: Vec<u64>,
    /// Not a pool that is only read.
    writes: bool,
    /// Where it is left how to open the pool again.
    keep: Option<PathBuf>,
    disks: Disks,
    setup: Setup,
    release: Release,
    /// The file that a stream is kept in.
    stream: PathBuf,
    /// Of the step that is measured.
    begun: (Snapshot, Counters),
    /// The peak of memory is that of the step.
    peaks: bool,
    /// When the step before it ended.
    ended: Counters,
}

/// Opens OpenZFS and makes the pool; also says what was done about what user space distorts.
///
/// # Errors
/// What OpenZFS refused.
pub fn open(own: &UserPlan, plan: &ChildPlan) -> Result<(Box<dyn Session>, Vec<cures::Cure>), Failure> {
    let setup = &plan.setup;
    // Before there is much memory, which a provider in a process of its own would share.
    offload::prepare(setup)?;
    offload::pause(true);
    let mut done = vec![cures::tame_malloc()];
    done.extend(cures::memory(&memory_needed(plan)));
    let zpool = Zpool::open(&own.library).map_err(|found| Failure::other("open OpenZFS", found))?;
    // For as long as the process lives.
    let zpool: &'static Zpool = Box::leak(Box::new(zpool));
    done.extend(cures::apply(zpool, &own.library, setup, &pool::vdev_prefix(&plan.scratch)));
    dmu::prepare(zpool, setup.io)?;
    offload::hand_over(zpool);
    tune::parameters(zpool, &own.parameters)?;
    pool::start(zpool, &plan.scratch, own.existing.is_none())?;
    cures::confirm_arc(&mut done, setup);
    done.extend(cures::choose_checksums(zpool));
    tune::implementations(zpool, &setup.implementations)?;

    let (pool, dataset, objects) = match &own.existing {
        Some(kept) => kept_pool(zpool, plan, kept)?,
        None => new_pool(zpool, own, plan)?,
    };
    if let Some(device) = setup.device {
        shim::device(device);
    }
    let (begun, ended) = ((Snapshot::begin(), Counters::read()), Counters::read());
    offload::pause(false);
    let disks = Disks::new(&plan.scratch, setup.disks);
    let (writes, keep) = (own.existing.is_none(), plan.keep.then(|| plan.scratch.clone()));
    let session = UserSession {
        zpool,
        pool,
        dataset,
        objects,
        writes,
        keep,
        disks,
        setup: setup.clone(),
        release: own.library.info.release,
        stream: plan.scratch.join(STREAM),
        begun,
        peaks: false,
        ended,
    };
    Ok((Box::new(session), done))
}

type Made = (Pool<'static>, Dataset<'static>, Vec<u64>);

fn new_pool(zpool: &'static Zpool, own: &UserPlan, plan: &ChildPlan) -> Result<Made, Failure> {
    let setup = &plan.setup;
    let size = disk_size(plan.bytes, setup, &plan.steps);
    let pool = Pool::create(zpool, &own.library, &plan.scratch, setup, size)?;
    let sent = plan.steps.iter().any(|step| step.action == Action::Receive);
    let dataset = Dataset::create(zpool, setup, sent)?;
    let objects: Result<Vec<u64>, Failure> =
        (0..setup.threads).map(|_| dataset.new_object(setup.recordsize().0)).collect();
    let objects = objects?;
    dataset.sync();
    Ok((pool, dataset, objects))
}

fn kept_pool(zpool: &'static Zpool, plan: &ChildPlan, kept: &Kept) -> Result<Made, Failure> {
    let pool = Pool::open(zpool, &kept.config(zpool.call, &plan.scratch)?)?;
    let dataset = Dataset::existing(zpool, &plan.setup)?;
    Ok((pool, dataset, kept.objects.clone()))
}

/// The ARC as far as the data fills it (compressed and plain), and two copies (plain and encrypted) of the dirty data
/// that OpenZFS allows. With it the steps of the encryption experiment show no page faults
/// (`perf record -e page-faults`).
fn memory_needed(plan: &ChildPlan) -> cures::Memory {
    /// Headers, buffers and their ABDs.
    const EACH_RECORD: u64 = 2048;
    const ALWAYS: u64 = 64 << 20;
    let setup = &plan.setup;
    let data = setup.arc_max.0.min(plan.bytes.0 * 2) + plan.bytes.0.min(setup.memory.0 / 10) * 2;
    let records = data / setup.recordsize().0.max(EACH_RECORD);
    cures::Memory { data: Bytes(data), small: Bytes(records * EACH_RECORD + ALWAYS) }
}

impl UserSession {
    /// Takes the pool out and in again; meanwhile its disks change.
    fn with_other_disks(&mut self, change: impl Fn(&Disks) -> Result<(), Failure>) -> Result<(), Failure> {
        self.dataset.close();
        self.pool.reimport(|| change(&self.disks))?;
        self.dataset.load_key()?;
        self.dataset.open()
    }
}

impl Session for UserSession {
    fn objects(&self) -> Vec<u64> {
        self.objects.clone()
    }

    fn target(&self) -> Box<dyn Target + '_> {
        Box::new(Objects { zpool: self.zpool, open: self.dataset.handle(), log: self.dataset.log() })
    }

    fn disks(&self) -> Vec<PathBuf> {
        self.disks.all()
    }

    fn sync(&self) -> Result<(), Failure> {
        // A pool that is only read has no transaction groups to wait for.
        if self.writes {
            self.dataset.sync();
        }
        Ok(())
    }

    fn reimport(&mut self, mark: &mut dyn FnMut(&str, &str)) -> Result<(), Failure> {
        self.dataset.close();
        mark("reimport", "export and import the pool");
        self.pool.reimport(|| Ok(()))?;
        mark("key", "load the key, open the dataset");
        self.dataset.load_key()?;
        self.dataset.open()
    }

    fn lose(&mut self, count: u32) -> Result<(), Failure> {
        self.with_other_disks(|disks| disks.lose(count))
    }

    fn regain(&mut self) -> Result<(), Failure> {
        self.with_other_disks(Disks::regain)?;
        self.dataset.await_resilver();
        Ok(())
    }

    fn snapshot(&self, number: u32) -> Result<(), Failure> {
        snapshots::take(self.zpool, number)
    }

    fn destroy(&self, numbers: &[u32]) -> Result<(), Failure> {
        snapshots::destroy(self.zpool, numbers)
    }

    fn rename(&self, number: u32) -> Result<(), Failure> {
        snapshots::rename(self.zpool, number)
    }

    fn send(&self, number: u32, form: Form, keep: bool) -> Result<u64, Failure> {
        streams::send(self.zpool, number, form, keep.then_some(self.stream.as_path()))
    }

    fn receive(&mut self, form: Form) -> Result<u64, Failure> {
        self.dataset.close();
        streams::receive(self.zpool, self.release, &self.setup, form, &self.stream)?;
        self.dataset = Dataset::copy(self.zpool, &self.setup)?;
        let stream = std::fs::metadata(&self.stream);
        let length = stream.map_err(|e| Failure::other("measure the stream", e))?.len();
        // Its room is that of the next run.
        let _ = std::fs::remove_file(&self.stream);
        Ok(length)
    }

    fn memory_left(&self, bytes: Option<i64>) {
        shim::available_memory(bytes.unwrap_or(i64::MAX));
    }

    fn provider(&self, works: bool) {
        offload::pause(!works);
    }

    fn begin(&mut self) {
        // OpenZFS also writes between steps: what a provider did there counts for the next one, its death above all.
        // The clocks come last, so that reading the counters is no work of the step.
        let counters = Counters::read().but("offload", &self.ended);
        self.peaks = memory::reset_peak();
        self.begun = (Snapshot::begin(), counters);
    }

    fn end(&mut self) -> Measured {
        let (clocks, counters) = (Snapshot::end(), Counters::read());
        let (begun, counted) = &self.begun;
        let peak_bytes = zwhy_host::peak_rss().filter(|_| self.peaks);
        let measured = Measured {
            clocks: PhaseClocks { peak_bytes, ..begun.until(&clocks) },
            counters: counted.until(&counters),
            not_counted: BTreeSet::new(),
        };
        self.ended = counters;
        measured
    }

    fn panic(&self) {
        type Panic = unsafe extern "C" fn(i32, *const std::ffi::c_char, ...);
        const CE_PANIC: i32 = 3;
        if let Some(address) = self.zpool.address("cmn_err") {
            let words = c_string("the lab was told to crash OpenZFS here");
            // SAFETY: `cmn_err(int, const char *, ...)` in all releases; the text has no directives.
            unsafe {
                std::mem::transmute::<*mut std::ffi::c_void, Panic>(address)(CE_PANIC, words.as_ptr());
            };
        }
    }

    fn close(mut self: Box<Self>) -> Result<(), Failure> {
        self.dataset.close();
        if !self.writes {
            // OpenZFS exports no pool while it may only read; the process ends with it.
            return Ok(());
        }
        let config = self.pool.export()?;
        if let Some(folder) = &self.keep {
            Kept::of(self.zpool.call, &self.objects, &config).write(folder)?;
        }
        drop(config);
        // SAFETY: all pools are exported and no call of ours is under way.
        unsafe { (self.zpool.call.kernel_fini)() };
        Ok(())
    }
}
