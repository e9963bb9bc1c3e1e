//! The place of results on a system without files: there is none.

use crate::error::PlaceError;
use std::convert::Infallible;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// As on systems with files, but none can be had.
#[derive(Debug)]
pub struct Place {
    none: Infallible,
}

impl Place {
    /// # Errors
    /// Always: there is nowhere to write.
    pub fn of(path: &Path) -> Result<Place, PlaceError> {
        Err(PlaceError::refused(path, io::ErrorKind::Unsupported.into()))
    }

    /// Never reached, as there is no place.
    pub fn is_taken(&self) -> bool {
        match self.none {}
    }

    /// Never reached, as there is no place.
    pub fn is_stream(&self) -> bool {
        match self.none {}
    }

    /// Never reached, as there is no place.
    pub fn write<E: From<PlaceError>>(
        &self,
        _: impl FnOnce(&mut dyn Write) -> Result<(), E>,
    ) -> Result<(), E> {
        match self.none {}
    }

    /// Never reached, as there is no place.
    pub fn write_seekable<E: From<PlaceError>>(
        &self,
        _: impl FnOnce(&mut File) -> Result<(), E>,
    ) -> Result<(), E> {
        match self.none {}
    }
}
