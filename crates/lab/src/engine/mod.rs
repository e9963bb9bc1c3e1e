//! The contract between the runner and what brings OpenZFS: the library in user space, or the kernel's.
//!
//! Each run is played in a child process, which may hang or die. [`Engine`] is the parent's side: what can
//! be run, and what has to be made good afterwards. [`Session`] is the child's: a pool with one dataset.

pub mod child;
pub mod clocks;
pub mod memory;
pub mod parent;
pub mod protocol;

use crate::failure::Failure;
use crate::io::Target;
use crate::recorder::Whom;
use crate::spec::{Call, Called, Form, Setup, Variant};
use crate::user::cures::Cure;
use crate::user::library::LibraryInfo;
use crate::user::shim::ShimFile;
use crate::{Bytes, LabError};
use clocks::PhaseClocks;
use protocol::EnginePlan;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use zwhy_evidence::CaptureFacts;

/// The parent's side.
pub trait Engine {
    /// Which OpenZFS runs.
    fn info(&self) -> &LibraryInfo;

    /// Looks at everything that can be looked at before anything is made.
    ///
    /// # Errors
    /// The first thing that some cell needs and this engine cannot do, with the reason.
    fn check(&mut self, variants: &[Variant], bytes: Bytes) -> Result<(), LabError>;

    /// Space that a run of this cell takes in the scratch folder.
    fn space(&self, bytes: Bytes, variant: &Variant) -> Bytes;

    /// Before each run: what the child has to know.
    ///
    /// # Errors
    /// When the run cannot begin.
    fn begin(&mut self, setup: &Setup, scratch: &Path) -> Result<EnginePlan, LabError>;

    /// After each run, however it ended: what it left on the host is taken away.
    ///
    /// # Errors
    /// When something stays. The experiment ends with this.
    fn end(&mut self) -> Result<(), LabError>;

    /// What is loaded into the child before OpenZFS.
    ///
    /// # Errors
    /// When it cannot be made.
    fn preload(&self) -> Result<Option<ShimFile>, LabError>;

    /// Whose work a recorded step is.
    fn whom(&self, child: u32) -> Whom;

    /// What captures of it know about OpenZFS.
    fn facts(&self, setup: &Setup) -> CaptureFacts;

    /// Where its figures differ from those of a quiet host with OpenZFS in its kernel.
    fn distortions(&self, cures: &[Cure]) -> Vec<String>;
}

/// The child's side: a pool and a dataset, made as the cell wants them. Errors are what OpenZFS refused, where nothing else
/// is said.
pub trait Session {
    /// The dataset's objects or files, one for each thread.
    fn objects(&self) -> Vec<u64>;

    fn target(&self) -> Box<dyn Target + '_>;

    /// The files or devices that hold the data.
    fn disks(&self) -> Vec<PathBuf>;

    /// Waits until all that was written is on disk.
    fn sync(&self) -> Result<(), Failure>;

    /// Takes the pool out and in again, so that the ARC holds nothing of it. `mark` names moments.
    fn reimport(&mut self, mark: &mut dyn FnMut(&str, &str)) -> Result<(), Failure>;

    /// Takes the snapshot of that number.
    fn snapshot(&self, number: u32) -> Result<(), Failure>;

    /// Destroys these snapshots in one call.
    fn destroy(&self, numbers: &[u32]) -> Result<(), Failure>;

    /// Takes the pool out and in again without so many of its disks. Engines that cannot are never asked.
    fn lose(&mut self, _count: u32) -> Result<(), Failure> {
        Err(Failure::other("take disks away", "this engine cannot"))
    }

    /// The same with all disks, and waits until what they missed is on them again.
    fn regain(&mut self) -> Result<(), Failure> {
        Err(Failure::other("bring disks back", "this engine cannot"))
    }

    /// Gives the snapshot of that number another name, and its own back.
    fn rename(&self, number: u32) -> Result<(), Failure>;

    /// Sends the snapshot of that number, and keeps the stream for [`receive`](Session::receive) or nothing of it; its
    /// length.
    fn send(&self, number: u32, form: Form, keep: bool) -> Result<u64, Failure>;

    /// Receives the stream that was kept, of that form, as a dataset of its own, which takes the place of the first;
    /// the length of the stream. Engines that cannot are never asked.
    fn receive(&mut self, _form: Form) -> Result<u64, Failure> {
        Err(Failure::other("receive a stream", "this engine cannot"))
    }

    /// Makes one call of the application on a file of its own. Engines that cannot are never asked.
    ///
    /// # Errors
    /// Data that is not what was written, and a file that is gone. What the kernel answers to the call is no error.
    fn call(&mut self, _call: &Call) -> Result<Called, Failure> {
        Err(Failure::other("call the file system", "this engine has none"))
    }

    /// How many writes OpenZFS caught whose memory changed under it, and the events it posted for them, where it counts
    /// them.
    fn caught(&self) -> Result<BTreeMap<String, i64>, Failure> {
        Ok(BTreeMap::new())
    }

    /// Lets OpenZFS see so much memory left; `None` for what there is.
    fn memory_left(&self, bytes: Option<i64>);

    /// Whether the provider of the set-up works, or OpenZFS alone; engines without providers have nothing to do.
    fn provider(&self, _works: bool) {}

    /// Begins to measure a step.
    fn begin(&mut self);

    /// Ends measuring it.
    fn end(&mut self) -> Measured;

    /// The process panics as OpenZFS does.
    fn panic(&self);

    /// Gives the pool back.
    fn close(self: Box<Self>) -> Result<(), Failure>;
}

/// What a step took.
pub struct Measured {
    pub clocks: PhaseClocks,
    /// Change of OpenZFS's counters, `arcstats.hits`.
    pub counters: BTreeMap<String, i64>,
    /// Counters of the lab that nobody counts here.
    pub not_counted: BTreeSet<String>,
}
