//! A store whose user dies: after so many changes no request is answered any more.

use async_trait::async_trait;
use datafusion::object_store::path::Path;
use datafusion::object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use futures::StreamExt;
use futures::stream::BoxStream;
use std::fmt::{Display, Formatter};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use zwhy_fleet::Store;

#[derive(Debug)]
pub struct Dying {
    inner: Arc<dyn ObjectStore>,
    left: Arc<AtomicI64>,
    /// The last change is made, and nobody is told.
    after: bool,
}

impl Dying {
    pub fn over(store: Store, changes: i64, after: bool) -> Dying {
        Dying { inner: store.objects(), left: Arc::new(AtomicI64::new(changes)), after }
    }

    fn dead() -> Error {
        Error::Generic { store: "dying", source: "the process is dead".into() }
    }

    /// `true` for the change at which it dies.
    fn change(left: &AtomicI64) -> Result<bool> {
        match left.fetch_sub(1, Ordering::SeqCst) {
            0 => Ok(true),
            n if n < 0 => Err(Dying::dead()),
            _ => Ok(false),
        }
    }

    fn alive(&self) -> Result<()> {
        if self.left.load(Ordering::SeqCst) < 0 { Err(Dying::dead()) } else { Ok(()) }
    }
}

impl Display for Dying {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "dying")
    }
}

#[async_trait]
impl ObjectStore for Dying {
    async fn put_opts(&self, at: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        if Dying::change(&self.left)? {
            if self.after {
                let _ = self.inner.put_opts(at, payload, options).await;
            }
            return Err(Dying::dead());
        }
        self.inner.put_opts(at, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        at: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.alive()?;
        self.inner.put_multipart_opts(at, options).await
    }

    async fn get_opts(&self, at: &Path, options: GetOptions) -> Result<GetResult> {
        self.alive()?;
        self.inner.get_opts(at, options).await
    }

    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let (inner, left, after) = (Arc::clone(&self.inner), Arc::clone(&self.left), self.after);
        let one = move |path: Result<Path>| {
            let (inner, left) = (Arc::clone(&inner), Arc::clone(&left));
            async move {
                let path = path?;
                let dies = Dying::change(&left)?;
                if !dies || after {
                    let done =
                        inner.delete_stream(futures::stream::iter([Ok(path.clone())]).boxed()).next().await;
                    if !dies {
                        return done.unwrap_or(Ok(path));
                    }
                }
                Err(Dying::dead())
            }
        };
        paths.then(one).boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        match self.alive() {
            Ok(()) => self.inner.list(prefix),
            Err(e) => futures::stream::iter([Err(e)]).boxed(),
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.alive()?;
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.alive()?;
        self.inner.copy_opts(from, to, options).await
    }
}
