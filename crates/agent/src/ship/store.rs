//! Where files are sent: something that takes bytes under a key, whole or not at all.

use crate::error::AgentError;
use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;

/// A store. Putting the same bytes under the same key again changes nothing.
pub trait Store: Send {
    /// # Errors
    /// When it is not known to be there; it may be, and is put again then.
    fn put(&mut self, key: &str, bytes: &[u8]) -> Result<(), AgentError>;

    /// Takes away what is under a key; where nothing is, all is well.
    ///
    /// # Errors
    /// When it may still be there.
    fn remove(&mut self, key: &str) -> Result<(), AgentError>;
}

/// A folder, as a store that is mounted or synchronised by other means.
#[derive(Clone, Debug)]
pub struct FileStore {
    root: PathBuf,
}

impl FileStore {
    /// The store at `file:///PATH`; `None` where the address is none of that kind.
    pub fn at(url: &str) -> Option<FileStore> {
        let path = url.strip_prefix("file://")?;
        path.starts_with('/').then(|| FileStore { root: PathBuf::from(path) })
    }
}

impl Store for FileStore {
    fn put(&mut self, key: &str, bytes: &[u8]) -> Result<(), AgentError> {
        let path = self.root.join(key);
        let temporary = path.with_extension("tmp");
        let put = || -> std::io::Result<()> {
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            let mut file = File::create(&temporary)?;
            file.write_all(bytes)?;
            file.sync_data()?;
            fs::rename(&temporary, &path)
        };
        put().map_err(AgentError::io("write", &path))
    }

    fn remove(&mut self, key: &str) -> Result<(), AgentError> {
        let path = self.root.join(key);
        match fs::remove_file(&path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(AgentError::io("remove", &path)(e)),
            _ => Ok(()),
        }
    }
}
