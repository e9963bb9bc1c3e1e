//! Symbols of the programs and libraries that are mapped, for the addresses that were seen.
//!
//! An object is looked through once for all new addresses of a flush, which takes no memory that lasts. Those that are
//! asked for again and again, and cost most to look through for each byte that their tables take, have these kept.
//!
//! Invariant: tables that are kept hold at most [`BUDGET`] bytes, and at most [`MOST_OPEN`] objects are open.

use crate::processes::{Image, ImageId};
use crate::symbol_sources::open;
use rustc_hash::FxHashMap;
use zwhy_symbols::{ElfObject, ElfSymbol, ElfSymbols, Reason};

/// Bytes of tables that are kept.
const BUDGET: usize = 8 << 20;
/// Objects that are open, each with a file or two.
const MOST_OPEN: usize = 256;
/// What one look counts for after a flush: it fades within some twenty.
const FADES: f32 = 0.9;
/// An object is asked for again and again when its looks come to this: twice within some five flushes.
const AGAIN: f32 = 1.5;
/// A table goes for another one that saves so many times as much.
const BETTER: f32 = 2.0;

struct Known {
    object: Result<ElfObject, Reason>,
    /// All symbols, where they are kept.
    table: Option<ElfSymbols>,
    /// Flushes that asked for it, fading.
    asked: f32,
    used: u32,
}

impl Known {
    fn asked_at(&self, flush: u32) -> f32 {
        self.asked * FADES.powi(flush.saturating_sub(self.used).min(1000) as i32)
    }

    /// What `bytes` for its table save, by the byte.
    fn worth(&self, bytes: usize, flush: u32) -> f32 {
        let cost = self.object.as_ref().map_or(0, ElfObject::cost);
        self.asked_at(flush) * cost as f32 / bytes.max(1) as f32
    }

    fn memory(&self) -> usize {
        self.table.as_ref().map_or(0, ElfSymbols::memory)
    }
}

#[derive(Default)]
pub(crate) struct Objects {
    known: FxHashMap<ImageId, Known>,
    /// The symbols of one object that are at hand, and the addresses that they are for.
    near: Option<(ImageId, Vec<u64>, ElfSymbols)>,
    flush: u32,
    /// Times that an object was looked through.
    #[cfg(test)]
    pub looks: u64,
}

impl Objects {
    /// Gets ready to tell what is at some offsets of an image. `true`: its file was written since it was asked for the
    /// last time, so names given before may be wrong from now on.
    pub(crate) fn prepare(&mut self, id: ImageId, image: &Image, offsets: &[u64]) -> bool {
        self.near = None;
        let mut changed = false;
        if let Some(Ok(object)) = self.known.get(&id).map(|known| known.object.as_ref())
            && object.has_changed()
        {
            self.known.remove(&id);
            changed = true;
        }
        let (flush, known) = (self.flush, self.known(id, image));
        if known.used != flush || known.asked == 0.0 {
            (known.asked, known.used) = (known.asked_at(flush) + 1.0, flush);
        }
        let (Ok(object), None) = (&known.object, &known.table) else { return changed };
        let mut addresses: Vec<u64> = offsets.iter().filter_map(|o| object.address_of_offset(*o)).collect();
        addresses.sort_unstable();
        if known.asked >= AGAIN && self.keep(id) {
            return changed;
        }
        if let Some(Ok(object)) = self.known.get(&id).map(|known| known.object.as_ref()) {
            let symbols = object.symbols_near(&addresses);
            self.count_look();
            self.near = Some((id, addresses, symbols));
        }
        changed
    }

    /// The virtual address of an offset of an image, and what is there; `None` where it lies in no segment.
    ///
    /// # Errors
    /// Why its symbols cannot be read.
    pub(crate) fn find(
        &mut self,
        id: ImageId,
        image: &Image,
        offset: u64,
    ) -> Result<Option<(u64, ElfSymbol)>, Reason> {
        let known = self.known(id, image);
        let object = known.object.as_ref().map_err(|reason| *reason)?;
        let Some(at) = object.address_of_offset(offset) else { return Ok(None) };
        if known.table.is_none() {
            let has =
                |near: &(ImageId, Vec<u64>, ElfSymbols)| near.0 == id && near.1.binary_search(&at).is_ok();
            if !self.near.as_ref().is_some_and(has) {
                self.prepare(id, image, &[offset]);
            }
        }
        let table = self.known.get(&id).and_then(|known| known.table.as_ref());
        let symbols = table.or(self.near.as_ref().map(|near| &near.2));
        Ok(symbols.map(|symbols| (at, symbols.resolve(at))))
    }

    /// The object of an image that was asked for.
    pub(crate) fn object(&self, id: ImageId) -> Option<&ElfObject> {
        self.known.get(&id)?.object.as_ref().ok()
    }

    fn count_look(&mut self) {
        #[cfg(test)]
        {
            self.looks += 1;
        }
    }

    fn known(&mut self, id: ImageId, image: &Image) -> &mut Known {
        let flush = self.flush;
        let new = || Known { object: open(image), table: None, asked: 0.0, used: flush };
        self.known.entry(id).or_insert_with(new)
    }

    /// Reads all symbols of an object and keeps them, where there is room or what has it is worth less.
    fn keep(&mut self, id: ImageId) -> bool {
        let flush = self.flush;
        let Some(known) = self.known.get(&id) else { return false };
        let Ok(object) = &known.object else { return false };
        // About: most symbols are functions, at 16 bytes.
        let bytes = object.cost() as usize * 16;
        if !self.make_room(bytes.min(BUDGET), known.worth(bytes, flush) / BETTER) {
            return false;
        }
        self.count_look();
        let table = self.known.get(&id).and_then(|known| Some(known.object.as_ref().ok()?.symbols()));
        if let Some(known) = self.known.get_mut(&id) {
            known.table = table;
        }
        true
    }

    /// Drops tables that are worth less than `worth`, the least first, until there is room for `bytes`; where that is
    /// not enough, none.
    fn make_room(&mut self, bytes: usize, worth: f32) -> bool {
        let flush = self.flush;
        let kept = self.known.iter().filter(|(_, known)| known.table.is_some());
        let mut kept: Vec<(f32, usize, ImageId)> =
            kept.map(|(id, k)| (k.worth(k.memory(), flush), k.memory(), *id)).collect();
        kept.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut all: usize = kept.iter().map(|(_, bytes, _)| bytes).sum();
        let mut going = Vec::new();
        for (own, size, id) in kept {
            if all + bytes <= BUDGET {
                break;
            }
            if own >= worth {
                return false;
            }
            all -= size;
            going.push(id);
        }
        for id in going {
            self.known.entry(id).and_modify(|known| known.table = None);
        }
        all + bytes <= BUDGET
    }

    /// Call it after each flush: forgets images that are gone, and closes those not asked for lately where many are open.
    pub(crate) fn flushed(&mut self, is_there: impl Fn(ImageId) -> bool) {
        self.flush += 1;
        self.near = None;
        self.known.retain(|id, _| is_there(*id));
        if self.known.len() > MOST_OPEN {
            let mut used: Vec<(u32, ImageId)> = self.known.iter().map(|(id, k)| (k.used, *id)).collect();
            used.sort_unstable_by_key(|(used, _)| *used);
            for (_, id) in &used[..self.known.len() - MOST_OPEN / 2] {
                self.known.remove(id);
            }
        }
        // Tables may have come out larger than was thought.
        self.make_room(0, f32::INFINITY);
    }
}

#[cfg(test)]
#[path = "objects_tests.rs"]
mod tests;
