//! The parent's side of this engine: which libzpool, and what it can be set to.

use super::cures::{self, Cure};
use super::library::{Library, LibraryInfo};
use super::shim::ShimFile;
use crate::engine::Engine;
use crate::engine::protocol::{EnginePlan, Parameter, UserPlan};
use crate::recorder::Whom;
use crate::spec::{Setup, Variant};
use crate::{Bytes, LabError};
use std::collections::BTreeSet;
use std::path::Path;
use zwhy_evidence::{CaptureFacts, DatasetFacts, PoolFacts, ZfsFacts};

pub struct UserEngine {
    library: Library,
    interposers: bool,
}

impl UserEngine {
    /// # Errors
    /// When there is no libzpool that the lab knows.
    pub fn find(library: Option<&Path>) -> Result<UserEngine, LabError> {
        Ok(UserEngine { library: Library::find(library)?, interposers: true })
    }

    /// OpenZFS as its distribution built it, uncured.
    pub fn without_interposers(self, without: bool) -> UserEngine {
        UserEngine { interposers: !without, ..self }
    }

    pub fn library(&self) -> &Library {
        &self.library
    }

    /// Parameters as the child sets them: with the size of the library's variable.
    ///
    /// # Errors
    /// The first that this library does not export.
    fn parameters(&self, setup: &Setup) -> Result<Vec<Parameter>, LabError> {
        let sizes = self.library.sizes(setup.parameters.keys().map(String::as_str))?;
        let library = || self.library.info.version_text().to_owned();
        let one = |(name, value): (&String, &i128)| match sizes.get(name.as_str()) {
            Some(size @ (4 | 8)) => Ok(Parameter { name: name.clone(), size: *size, value: *value }),
            _ => Err(LabError::NoParameter { name: name.clone(), library: library() }),
        };
        setup.parameters.iter().map(one).collect()
    }
}

impl Engine for UserEngine {
    fn info(&self) -> &LibraryInfo {
        &self.library.info
    }

    fn check(&mut self, variants: &[Variant], _bytes: Bytes) -> Result<(), LabError> {
        let mut reasons = super::limits::refusals(variants);
        let release = self.library.info.release;
        let too_new = variants.iter().flat_map(|v| super::limits::too_new(&v.setup, release));
        let missing = variants.iter().flat_map(|v| super::limits::not_exported(&v.steps, &self.library));
        reasons.extend(too_new.chain(missing).collect::<BTreeSet<String>>());
        if !reasons.is_empty() {
            return Err(LabError::UserCannot { reasons });
        }
        variants.iter().try_for_each(|variant| self.parameters(&variant.setup).map(drop))
    }

    fn space(&self, bytes: Bytes, variant: &Variant) -> Bytes {
        crate::scratch::space(bytes, &variant.setup, &variant.steps)
    }

    fn begin(&mut self, setup: &Setup, _scratch: &Path) -> Result<EnginePlan, LabError> {
        let parameters = self.parameters(setup)?;
        Ok(EnginePlan::User(UserPlan { library: self.library.clone(), parameters, existing: None }))
    }

    fn end(&mut self) -> Result<(), LabError> {
        // The pool ended with the child; its files go with the scratch folder.
        Ok(())
    }

    fn preload(&self) -> Result<Option<ShimFile>, LabError> {
        self.interposers.then(ShimFile::create).transpose()
    }

    fn whom(&self, child: u32) -> Whom {
        Whom::Process(child)
    }

    fn facts(&self, setup: &Setup) -> CaptureFacts {
        let pool = super::pool::POOL;
        let dataset = DatasetFacts {
            name: Some(format!("{pool}/data")),
            properties: Some(setup.properties.clone().into_iter().collect()),
            ..DatasetFacts::default()
        };
        CaptureFacts {
            zfs: ZfsFacts {
                version: Some(self.library.info.version_number()),
                library: Some(self.library.info.version_text().to_owned()),
                in_use: Some(true),
                in_user_space: Some(true),
                ..ZfsFacts::default()
            },
            pools: Some(vec![PoolFacts { name: Some(pool.to_owned()), ..PoolFacts::default() }]),
            datasets: Some(vec![dataset]),
            ..CaptureFacts::default()
        }
    }

    fn distortions(&self, cures: &[Cure]) -> Vec<String> {
        cures::remaining(cures, self.library.info.release)
    }
}
