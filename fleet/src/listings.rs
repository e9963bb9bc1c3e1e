//! Keys that a server has listed lately: a page asks several questions at once, and each of them needs the same list.
//!
//! Invariants: what this process wrote is in the next answer; what others wrote is so after [`Listings::kept_for`]. Who
//! lists manifests after units may use an old list of units, as what was merged since then is in the manifests.

use crate::error::FleetError;
use datafusion::object_store::ObjectMeta;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// Listings of folders, each for a short time.
#[derive(Debug, Default)]
pub struct Listings {
    kept_for: Duration,
    /// Objects that this process wrote: a list from before the last one is not used.
    writes: AtomicU64,
    /// By folder: who asks for one that is being listed waits for it, and for no other.
    known: Mutex<FxHashMap<String, Arc<Mutex<Option<Listing>>>>>,
}

#[derive(Debug)]
struct Listing {
    ended: Instant,
    /// [`Listings::writes`] when it began.
    writes: u64,
    objects: Arc<[ObjectMeta]>,
}

impl Listings {
    /// Each is used for `kept_for`; for none at all where that is zero.
    pub fn kept_for(kept_for: Duration) -> Listings {
        Listings { kept_for, ..Listings::default() }
    }

    /// This process has written or removed an object.
    pub fn wrote(&self) {
        self.writes.fetch_add(1, Ordering::Release);
    }

    /// What is below `folder`, by `list` where it is not known. Who asks meanwhile waits for the same list.
    ///
    /// # Errors
    /// Those of `list`.
    pub async fn of(
        &self,
        folder: &str,
        list: impl Future<Output = Result<Vec<ObjectMeta>, FleetError>>,
    ) -> Result<Arc<[ObjectMeta]>, FleetError> {
        if self.kept_for.is_zero() {
            return Ok(list.await?.into());
        }
        let place = {
            let mut known = self.known.lock().await;
            known.retain(|_, place| {
                place.try_lock().map_or(true, |listing| listing.as_ref().is_some_and(|l| self.holds(l)))
            });
            Arc::clone(known.entry(folder.to_owned()).or_default())
        };
        let mut listing = place.lock().await;
        if let Some(listing) = listing.as_ref().filter(|listing| self.holds(listing)) {
            return Ok(Arc::clone(&listing.objects));
        }
        let writes = self.writes.load(Ordering::Acquire);
        let objects: Arc<[ObjectMeta]> = list.await?.into();
        *listing = Some(Listing { ended: Instant::now(), writes, objects: Arc::clone(&objects) });
        Ok(objects)
    }

    fn holds(&self, listing: &Listing) -> bool {
        listing.writes == self.writes.load(Ordering::Acquire) && listing.ended.elapsed() < self.kept_for
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// How often five questions for two folders list them, with a write before the third and the last.
    async fn lists(kept_for: Duration) -> usize {
        let listings = Listings::kept_for(kept_for);
        let lists = Cell::new(0);
        for (folder, wrote) in [("a", false), ("a", false), ("a", true), ("b", false), ("a", true)] {
            if wrote {
                listings.wrote();
            }
            let list = async {
                lists.set(lists.get() + 1);
                Ok(Vec::new())
            };
            listings.of(folder, list).await.unwrap();
        }
        lists.get()
    }

    #[tokio::test]
    async fn a_list_is_used_until_it_is_old_or_this_process_has_written() {
        assert_eq!(lists(Duration::from_secs(3600)).await, 4, "the second question alone needs none");
        assert_eq!(lists(Duration::ZERO).await, 5);
        assert_eq!(lists(Duration::from_nanos(1)).await, 5);
    }
}
