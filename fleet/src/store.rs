//! Where the files of all hosts lie: objects under keys, each written whole or not at all.

use crate::engine::{Engine, runtime};
use crate::error::FleetError;
use crate::listings::Listings;
use crate::s3;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::object_store::local::LocalFileSystem;
use datafusion::object_store::path::Path as Key;
use datafusion::object_store::{
    self, Error, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload,
};
use futures::TryStreamExt;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A store that is open, and who runs queries over it.
#[derive(Clone, Debug)]
pub struct Store {
    objects: Arc<dyn ObjectStore>,
    engine: Engine,
    runtime: Arc<OnceLock<Arc<RuntimeEnv>>>,
    listings: Arc<Listings>,
}

impl Store {
    /// The store at `file:///PATH`, in a folder, or at `s3://BUCKET/PREFIX` with the variables of AWS's tools.
    ///
    /// # Errors
    /// When the address is of another kind, nothing is there, or a variable is missing.
    pub fn open(at: &str) -> Result<Store, FleetError> {
        Store::open_with(at, &|name| std::env::var(name).ok())
    }

    /// As [`Store::open`]; `env` reads a variable.
    ///
    /// # Errors
    /// The same.
    pub fn open_with(at: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<Store, FleetError> {
        if at.starts_with("s3://") {
            return Ok(Store::over(s3::open(at, env)?));
        }
        let path = at.strip_prefix("file://").unwrap_or(at);
        if path.is_empty() || path.contains("://") {
            return Err(FleetError::NoStore(at.to_owned()));
        }
        let folder = Path::new(path);
        let folder = folder.canonicalize().map_err(FleetError::io("open the store", folder))?;
        let objects = LocalFileSystem::new_with_prefix(&folder).map_err(FleetError::store("open", path))?;
        Ok(Store::over(Arc::new(objects)))
    }

    /// As [`Store::open`]; the folder is made where it is not there.
    ///
    /// # Errors
    /// Also when it cannot be made.
    pub fn create(at: &str) -> Result<Store, FleetError> {
        let path = Path::new(at.strip_prefix("file://").unwrap_or(at));
        if !at.contains("://") || at.starts_with("file://") {
            std::fs::create_dir_all(path).map_err(FleetError::io("make the store", path))?;
        }
        Store::open(at)
    }

    /// A store of any kind.
    pub fn over(objects: Arc<dyn ObjectStore>) -> Store {
        Store { objects, engine: Engine::Embedded, runtime: Arc::default(), listings: Arc::default() }
    }

    /// The same store, asked by another engine.
    #[must_use]
    pub fn asked_by(self, engine: Engine) -> Store {
        Store { engine, ..self }
    }

    /// The same store, for a server: what other processes write is seen up to `kept_for` later.
    #[must_use]
    pub fn listed_every(self, kept_for: Duration) -> Store {
        Store { listings: Arc::new(Listings::kept_for(kept_for)), ..self }
    }

    /// Who runs queries over it.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// What lies beneath, for the engine and for a store over it.
    pub fn objects(&self) -> Arc<dyn ObjectStore> {
        Arc::clone(&self.objects)
    }

    /// Of all queries over it: they share its memory, and what one has read of the end of a file is kept for the others.
    pub(crate) fn runtime(&self) -> Result<Arc<RuntimeEnv>, FleetError> {
        let made = match self.runtime.get() {
            Some(made) => return Ok(Arc::clone(made)),
            None => runtime(self.objects())?,
        };
        Ok(Arc::clone(self.runtime.get_or_init(|| made)))
    }

    /// Writes an object; what was there is replaced.
    ///
    /// # Errors
    /// When it is not known to be there.
    pub async fn put(&self, key: &str, bytes: Vec<u8>) -> Result<(), FleetError> {
        let put = self.objects.put(&parsed(key)?, PutPayload::from(bytes)).await;
        self.listings.wrote();
        put.map(|_| ()).map_err(FleetError::store("write", key))
    }

    /// Writes an object where none is; `false` where another one is there already.
    ///
    /// # Errors
    /// When neither is known.
    pub async fn put_new(&self, key: &str, bytes: Vec<u8>) -> Result<bool, FleetError> {
        let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        let put = self.objects.put_opts(&parsed(key)?, PutPayload::from(bytes), options).await;
        self.listings.wrote();
        match put {
            Ok(_) => Ok(true),
            Err(Error::AlreadyExists { .. }) => Ok(false),
            Err(e) => Err(FleetError::store("write", key)(e)),
        }
    }

    /// The bytes of an object; `None` where nothing is under the key.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, FleetError> {
        let read = async { self.objects.get(&parsed_raw(key)?).await?.bytes().await };
        match read.await {
            Ok(bytes) => Ok(Some(bytes.to_vec())),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(e) => Err(FleetError::store("read", key)(e)),
        }
    }

    /// Removes an object; where nothing is, all is well.
    ///
    /// # Errors
    /// When it may still be there.
    pub async fn remove(&self, key: &str) -> Result<(), FleetError> {
        let removed = self.objects.delete(&parsed(key)?).await;
        self.listings.wrote();
        match removed {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(e) => Err(FleetError::store("remove", key)(e)),
        }
    }

    /// All objects below a folder, in the order of their keys.
    ///
    /// # Errors
    /// When the store cannot be listed.
    pub async fn list(&self, folder: &str) -> Result<Vec<ObjectMeta>, FleetError> {
        let listed = self.objects.list(Some(&parsed(folder)?)).try_collect::<Vec<_>>().await;
        let mut found = listed.map_err(FleetError::store("list", folder))?;
        found.sort_by(|a, b| a.location.cmp(&b.location));
        Ok(found)
    }

    /// As [`Store::list`], for units and findings: a server may answer what it listed a moment ago.
    ///
    /// # Errors
    /// The same.
    pub async fn list_lately(&self, folder: &str) -> Result<Arc<[ObjectMeta]>, FleetError> {
        self.listings.of(folder, self.list(folder)).await
    }

    /// Folders directly below a folder.
    ///
    /// # Errors
    /// When the store cannot be listed.
    pub async fn folders(&self, folder: &str) -> Result<Vec<String>, FleetError> {
        let listed = self.objects.list_with_delimiter(Some(&parsed(folder)?)).await;
        let listed = listed.map_err(FleetError::store("list", folder))?;
        Ok(listed.common_prefixes.iter().map(ToString::to_string).collect())
    }
}

fn parsed_raw(key: &str) -> object_store::Result<Key> {
    Ok(Key::parse(key)?)
}

fn parsed(key: &str) -> Result<Key, FleetError> {
    parsed_raw(key).map_err(FleetError::store("use the key", key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_object_is_made_once_replaced_listed_and_removed() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::create(&format!("file://{}", dir.path().join("new").display())).unwrap();
        let key = "samples/host=a%2Fb/day=2026-11-22/start_ms=1/x-000000.parquet";
        assert!(store.put_new(key, b"1".to_vec()).await.unwrap());
        assert!(!store.put_new(key, b"2".to_vec()).await.unwrap());
        assert_eq!(store.get(key).await.unwrap().as_deref(), Some(&b"1"[..]));
        store.put(key, b"3".to_vec()).await.unwrap();
        assert_eq!(store.get(key).await.unwrap().as_deref(), Some(&b"3"[..]));
        let listed = store.list("samples").await.unwrap();
        assert_eq!(listed.iter().map(|m| m.location.to_string()).collect::<Vec<_>>(), [key]);
        assert!(dir.path().join("new").join(key).is_file(), "the agent writes the same names");
        assert_eq!(store.folders("samples").await.unwrap(), ["samples/host=a%2Fb"]);
        store.remove(key).await.unwrap();
        store.remove(key).await.unwrap();
        assert!(store.get(key).await.unwrap().is_none() && store.list("samples").await.unwrap().is_empty());
        assert!(store.put("a/../b", vec![]).await.is_err());
    }

    #[test]
    fn what_is_no_store_is_told() {
        for odd in ["", "ftp://x", "/nonexistent/store"] {
            assert!(Store::open(odd).is_err(), "{odd}");
        }
    }
}
