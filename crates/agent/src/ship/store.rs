//! Where files are sent: something that takes bytes under a key, whole or not at all.

use super::S3Store;
use crate::error::AgentError;
use crate::spool::replace;
use std::fs;
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

/// Where a store is.
#[derive(Clone, Debug)]
pub enum StoreAt {
    Folder(FileStore),
    Bucket(S3Store),
}

impl StoreAt {
    /// `file:///PATH` or `s3://BUCKET/PREFIX`; `env` reads a variable of the environment.
    ///
    /// # Errors
    /// A sentence on what is wrong with it, or missing.
    pub fn at(url: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<StoreAt, String> {
        let odd = || format!("`{url}` is no store; write file:///mnt/fleet or s3://BUCKET/PREFIX");
        match url.starts_with("s3://") {
            true => S3Store::at(url, env).map(StoreAt::Bucket),
            false => FileStore::at(url).map(StoreAt::Folder).ok_or_else(odd),
        }
    }

    pub(crate) fn open(self) -> Box<dyn Store> {
        match self {
            StoreAt::Folder(store) => Box::new(store),
            StoreAt::Bucket(store) => Box::new(store),
        }
    }
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
        let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
        folder
            .and_then(|()| replace(&path, &path.with_extension("tmp"), bytes))
            .map_err(AgentError::io("write", &path))
    }

    fn remove(&mut self, key: &str) -> Result<(), AgentError> {
        let path = self.root.join(key);
        match fs::remove_file(&path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(AgentError::io("remove", &path)(e)),
            _ => Ok(()),
        }
    }
}
