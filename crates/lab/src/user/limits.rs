//! What this engine cannot do, and why: known from the experiment alone, before anything is made.

use super::zil::LARGEST;
use crate::Bytes;
use crate::spec::Variant;
use std::collections::BTreeSet;

/// What makes cells impossible, in words.
pub fn refusals(variants: &[Variant]) -> Vec<String> {
    let reasons: BTreeSet<String> = variants.iter().filter_map(of_cell).collect();
    reasons.into_iter().collect()
}

fn of_cell(variant: &Variant) -> Option<String> {
    let setup = &variant.setup;
    (setup.commits() && setup.io_size.0 > LARGEST).then(|| {
        format!(
            "io_size is {} and each write is committed: above {} a file system writes in place and logs a pointer, which \
             libzpool has no file system for; use --engine pool, or a smaller io_size",
            setup.io_size,
            Bytes(LARGEST)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Experiment;

    #[test]
    fn large_committed_writes_are_refused_with_the_way_out() {
        let mut experiment = Experiment::builtin("sync-writes").unwrap();
        assert!(refusals(&experiment.variants().unwrap()).is_empty());
        experiment.set("io_size", "128K").unwrap();
        let refused = refusals(&experiment.variants().unwrap());
        assert!(refused.len() == 1 && refused[0].contains("--engine pool"), "{refused:?}");
        experiment.set("fsync", "never").unwrap();
        assert!(refusals(&experiment.variants().unwrap()).is_empty());
    }
}
