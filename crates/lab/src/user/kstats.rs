//! Counters of OpenZFS, as /proc/spl/kstat shows those of the kernel.
//!
//! In user space nothing keeps kstats: the shim does, and hands out what they count.

use super::shim;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_void};

/// Values of all counters at one time, `arcstats.hits`.
pub struct Counters(BTreeMap<String, i64>);

unsafe extern "C" fn take(into: *mut c_void, table: *const c_char, name: *const c_char, value: i64) {
    // SAFETY: the shim hands back what it was given, and texts that end.
    unsafe {
        let counters = &mut *into.cast::<BTreeMap<String, i64>>();
        let (table, name) = (CStr::from_ptr(table).to_string_lossy(), CStr::from_ptr(name).to_string_lossy());
        *counters.entry(format!("{table}.{name}")).or_default() += value;
    }
}

impl Counters {
    pub fn read() -> Counters {
        let mut counters: BTreeMap<String, i64> = BTreeMap::new();
        shim::each_counter(take, (&raw mut counters).cast());
        Counters(counters)
    }

    /// `arcstats.c_max`; `None` where there is no such counter.
    pub fn value(&self, name: &str) -> Option<i64> {
        self.0.get(name).copied()
    }

    /// These, but tables whose names begin with `tables` as they were at `earlier`.
    pub fn but(mut self, tables: &str, earlier: &Counters) -> Counters {
        self.0.retain(|name, _| !name.starts_with(tables));
        let of_tables = earlier.0.iter().filter(|(name, _)| name.starts_with(tables));
        self.0.extend(of_tables.map(|(name, value)| (name.clone(), *value)));
        self
    }

    /// What changed until `end`.
    pub fn until(&self, end: &Counters) -> BTreeMap<String, i64> {
        let change = |(name, value): (&String, &i64)| (name.clone(), value - self.0.get(name).unwrap_or(&0));
        end.0.iter().map(change).filter(|(_, change)| *change != 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_can_be_taken_from_an_earlier_time() {
        let of = |pairs: &[(&str, i64)]| {
            Counters(pairs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect())
        };
        let ended = of(&[("arcstats.hits", 1), ("offload.switched_off", 0)]);
        let begun = of(&[("arcstats.hits", 5), ("offload.switched_off", 1), ("offload_checksum.calls", 2)]);
        let counted = begun.but("offload", &ended).until(&of(&[
            ("arcstats.hits", 6),
            ("offload.switched_off", 1),
            ("offload_checksum.calls", 2),
        ]));
        let expected = [("arcstats.hits", 1), ("offload.switched_off", 1), ("offload_checksum.calls", 2)];
        assert_eq!(counted, of(&expected).0);
    }
}
