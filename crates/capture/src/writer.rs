//! Writing a capture while it happens: a folder of segments, each whole or absent.
//!
//! Invariant: what a segment refers to (frames, stacks, threads) is in this or an earlier segment,
//! so a folder is readable at any moment, whatever ended the recorder.

use crate::encode::{self, Written};
use crate::error::CaptureError;
use crate::ids::IdCache;
use crate::marks::Mark;
use crate::pack;
use crate::parquet_io::write_table;
use crate::series::Series;
use crate::table::Table;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use zwhy_evidence::CaptureFacts;
use zwhy_place::Place;
use zwhy_profile::Profile;

/// The folder that a capture is recorded into: `NAME.zwhy.part`.
pub fn part_folder(out: &Path) -> PathBuf {
    let mut name = out.as_os_str().to_owned();
    name.push(".part");
    PathBuf::from(name)
}

/// An open capture.
pub struct Writer {
    out: PathBuf,
    folder: PathBuf,
    segment: u32,
    ids: IdCache,
    written: Written,
    bytes: u64,
    durable: bool,
}

impl Writer {
    /// Starts a capture that will become `out`.
    ///
    /// # Errors
    /// When `out` or its folder exists already, `out` is no place for a file, or the folder cannot be
    /// made.
    pub fn create(out: &Path) -> Result<Writer, CaptureError> {
        let folder = part_folder(out);
        let place = Place::of(out)?;
        if place.is_stream() {
            return Err(CaptureError::Stream(out.to_owned()));
        }
        if place.is_taken() {
            return Err(CaptureError::Exists(out.to_owned()));
        }
        fs::create_dir(&folder).map_err(|source| match source.kind() {
            std::io::ErrorKind::AlreadyExists => CaptureError::Exists(folder.clone()),
            _ => CaptureError::Io { deed: "create the folder", path: folder.clone(), source },
        })?;
        Ok(Writer {
            out: out.to_owned(),
            folder,
            segment: 0,
            ids: IdCache::default(),
            written: Written::default(),
            bytes: 0,
            durable: false,
        })
    }

    /// From here on every segment is on disk before it gets its name, so that none is lost with the power either.
    pub fn durable(mut self) -> Writer {
        self.durable = true;
        self
    }

    /// The folder being written.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Bytes written so far.
    pub fn bytes_written(&self) -> u64 {
        self.bytes
    }

    /// Writes the frames, stacks and threads that are new since the last call and all samples,
    /// then clears the samples.
    ///
    /// On an error nothing is marked as written and the samples stay, so the call can be repeated.
    pub fn flush(&mut self, profile: &mut Profile) -> Result<(), CaptureError> {
        self.ids.extend(profile);
        self.segment += 1;
        let written = self.written;
        self.put(&encode::frames(profile, &self.ids, written.frames))?;
        self.put(&encode::stacks(profile, &self.ids, written.stacks))?;
        self.put(&encode::threads(profile, &self.ids, written.threads))?;
        self.put(&encode::samples(profile, &self.ids))?;
        self.written = Written {
            frames: profile.frames.len(),
            stacks: profile.stacks.len() - 1,
            threads: profile.threads.len(),
        };
        profile.samples.clear();
        Ok(())
    }

    /// The next flush is of a profile whose tables were reset: what its samples refer to is written again.
    ///
    /// Rows that are written twice are equal, since ids are hashes of content; packing keeps the first.
    pub fn reset_names(&mut self) {
        self.ids = IdCache::default();
        self.written = Written::default();
    }

    /// Writes readings; the caller clears them.
    pub fn append_series(&mut self, series: &Series) -> Result<(), CaptureError> {
        self.segment += 1;
        self.put(&encode::series(series))
    }

    pub fn mark(&mut self, mark: Mark) -> Result<(), CaptureError> {
        self.segment += 1;
        self.put(&encode::marks(&[mark]))
    }

    /// Replaces facts.json.
    pub fn set_facts(&mut self, facts: &CaptureFacts) -> Result<(), CaptureError> {
        let text = serde_json::to_vec_pretty(facts)
            .map_err(|e| CaptureError::Encode { table: "facts", why: e.to_string() })?;
        self.put_file("facts.json", &text)
    }

    /// Packs the folder into the final file and removes the folder.
    ///
    /// # Errors
    /// When packing fails the folder stays and is itself a readable capture.
    pub fn finish(self) -> Result<PathBuf, CaptureError> {
        let Writer { out, folder, ids, .. } = self;
        drop(ids); // packing needs memory of its own
        pack::pack_folder(&folder, &out)?;
        Ok(out)
    }

    fn put(&mut self, table: &Table) -> Result<(), CaptureError> {
        if table.rows() == 0 {
            return Ok(());
        }
        let mut bytes = Vec::new();
        write_table(table, &mut bytes)?;
        let name = format!("{}-{:06}.parquet", table.spec.name, self.segment);
        self.put_file(&name, &bytes)
    }

    fn put_file(&mut self, name: &str, bytes: &[u8]) -> Result<(), CaptureError> {
        let path = self.folder.join(name);
        let temporary = self.folder.join(format!("{name}.tmp"));
        let result = self.put_bytes(&temporary, bytes).and_then(|()| fs::rename(&temporary, &path));
        if result.is_err() {
            // Half a file on a full disk only takes room that the next segment needs.
            let _ = fs::remove_file(&temporary);
        }
        result.map_err(CaptureError::io("write", &path))?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    fn put_bytes(&self, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
        let mut file = fs::File::create(path)?;
        file.write_all(bytes)?;
        if self.durable { file.sync_data() } else { Ok(()) }
    }
}
