//! The parent's side of this engine: what the host allows, a journal for each run, and cleaning up after it.

use super::cleanup::Host;
use super::guard::{self, Device, Guard};
use super::host::Roots;
use super::journal::Journal;
use super::parameters::{self, ADMIN_SNAPSHOT, ARC_MAX, ARC_MIN, Wanted};
use super::{PoolChoice, limits};
use crate::engine::Engine;
use crate::engine::protocol::{EnginePlan, PoolPlan};
use crate::recorder::Whom;
use crate::scratch::{disk_size, space};
use crate::spec::{Experiment, Setup, Variant, Verb, Way};
use crate::user::cures::Cure;
use crate::user::library::{LibraryInfo, Release};
use crate::user::shim::ShimFile;
use crate::{Bytes, LabError};
use std::path::{Path, PathBuf};
use zwhy_evidence::{CaptureFacts, ZfsFacts};

pub struct PoolEngine {
    info: LibraryInfo,
    roots: Roots,
    choice: PoolChoice,
    /// The ARC limit is part of the experiment, and may be set.
    sets_arc: bool,
    /// Snapshots are folders: no program is started for each.
    by_folders: bool,
    left_out: Vec<String>,
    /// Of devices, once they were looked at.
    needed: Bytes,
    /// The journal of the run that is under way.
    journal: Option<PathBuf>,
}

impl PoolEngine {
    /// # Errors
    /// When this user may not make pools, or OpenZFS is not in the kernel.
    pub fn of_this_host(choice: &PoolChoice, experiment: &Experiment) -> Result<PoolEngine, LabError> {
        if !rustix::process::geteuid().is_root() {
            return Err(LabError::NotRoot);
        }
        let roots = Roots::default();
        Ok(PoolEngine {
            info: roots.module()?,
            by_folders: choice.allow_parameters
                && experiment.steps.iter().any(|step| step.verb == Verb::Snapshot)
                && parameters::file(&roots, ADMIN_SNAPSHOT).is_some(),
            roots,
            choice: choice.clone(),
            sets_arc: choice.allow_parameters && limits::sets_arc(experiment),
            left_out: limits::left_out(experiment, choice),
            needed: Bytes(0),
            journal: None,
        })
    }

    fn devices(&self, needed: Bytes) -> Result<Vec<Device>, LabError> {
        let guard = Guard { roots: &self.roots, stat: &guard::stat, open: &guard::open_alone };
        guard
            .check(&self.choice.devices, needed)
            .map_err(|(path, why)| LabError::Device { path, why: why.to_string() })
    }

    fn parameters(&self, setup: &Setup) -> Vec<Wanted> {
        // The limit first: the floor may not be above it.
        let arc = [ARC_MAX, ARC_MIN].map(|name| (name.to_owned(), setup.arc_max.0.to_string()));
        let arc = arc.into_iter().filter(|_| self.sets_arc);
        let numbers = setup.parameters.iter().map(|(name, value)| (name.clone(), value.to_string()));
        let words = setup.implementations.iter().map(|(name, word)| (name.clone(), word.clone()));
        let folders = self.by_folders.then(|| (ADMIN_SNAPSHOT.to_owned(), "1".to_owned()));
        let all = numbers.chain(words).chain(arc).chain(folders);
        all.map(|(name, value)| Wanted { name, value }).collect()
    }
}

impl Engine for PoolEngine {
    fn info(&self) -> &LibraryInfo {
        &self.info
    }

    fn check(&mut self, variants: &[Variant], bytes: Bytes) -> Result<(), LabError> {
        let mut reasons = limits::refusals(variants, &self.choice);
        if self.info.release < Release::V2_3 && variants.iter().any(|v| v.setup.io == Way::Direct) {
            reasons.push("io = direct: OpenZFS has Direct I/O since 2.3, and this one is older".into());
        }
        for wanted in variants.iter().flat_map(|v| self.parameters(&v.setup)) {
            if parameters::file(&self.roots, &wanted.name).is_none() {
                reasons.push(format!("{}: this module has no such parameter", wanted.name));
            }
        }
        reasons.dedup();
        if !reasons.is_empty() {
            return Err(LabError::PoolCannot { reasons });
        }
        let sizes = variants.iter().map(|v| disk_size(bytes, &v.setup, &v.steps).0);
        self.needed = Bytes(sizes.max().unwrap_or(0));
        self.devices(self.needed).map(drop)
    }

    fn space(&self, bytes: Bytes, variant: &Variant) -> Bytes {
        match self.choice.devices.is_empty() {
            true => space(bytes, &variant.setup, &variant.steps),
            false => Bytes(0),
        }
    }

    fn begin(&mut self, setup: &Setup, scratch: &Path) -> Result<EnginePlan, LabError> {
        let devices = self.devices(self.needed)?;
        let (journal, begin) = Journal::begin(&self.choice.journals, scratch, &self.roots)?;
        self.journal = Some(journal.folder().to_owned());
        Ok(EnginePlan::Pool(PoolPlan {
            journal: journal.folder().to_owned(),
            begin,
            roots: self.roots.clone(),
            numbers: devices.iter().map(|device| device.number).collect(),
            devices: devices.into_iter().map(|device| device.path).collect(),
            parameters: self.parameters(setup),
        }))
    }

    fn end(&mut self) -> Result<(), LabError> {
        let Some(folder) = self.journal.take() else { return Ok(()) };
        let left = Host::this().clean(&folder).left;
        match left.is_empty() {
            true => Ok(()),
            false => Err(LabError::LeftBehind { left, journals: self.choice.journals.clone() }),
        }
    }

    fn preload(&self) -> Result<Option<ShimFile>, LabError> {
        Ok(None)
    }

    fn whom(&self, _child: u32) -> Whom {
        Whom::Host
    }

    fn facts(&self, _setup: &Setup) -> CaptureFacts {
        // Pools and datasets are the recorder's to tell: it asks the host.
        CaptureFacts {
            zfs: ZfsFacts {
                version: Some(self.info.version_number()),
                in_use: Some(true),
                ..ZfsFacts::default()
            },
            ..CaptureFacts::default()
        }
    }

    fn distortions(&self, _cures: &[Cure]) -> Vec<String> {
        let mut list = vec![
            "CPU is that of the application and of all threads of the kernel: other work of the kernel counts, too"
                .to_owned(),
            "calls of zpool and zfs are made by programs; what these use themselves is left out".into(),
        ];
        if self.by_folders {
            list.push(
                "snapshots are taken, destroyed and renamed as folders of .zfs/snapshot, not by the program zfs: the sync \
                 task is the same, what zfs snapshot does around it (the log of the dataset stops for a moment) is not"
                    .into(),
            );
        }
        if self.choice.devices.is_empty() {
            list.push("the pool's disks are files: their file system works and caches on top; --device takes real ones".into());
        }
        list.extend(self.left_out.iter().cloned());
        list
    }
}
