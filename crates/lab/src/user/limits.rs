//! What this engine cannot do, and why: known from the experiment alone, before anything is made.

use super::library::{Library, Release};
use super::streams;
use super::zil::LARGEST;
use crate::Bytes;
use crate::spec::{Action, Setup, Step, Variant};
use std::collections::BTreeSet;

/// What makes cells impossible, in words.
pub fn refusals(variants: &[Variant]) -> Vec<String> {
    let reasons: BTreeSet<String> = variants.iter().flat_map(of_cell).collect();
    reasons.into_iter().collect()
}

fn of_cell(variant: &Variant) -> Vec<String> {
    let setup = &variant.setup;
    let mut reasons = Vec::new();
    if let Some(plugin) = setup.offload.plugin.as_ref().filter(|path| !path.is_file()) {
        reasons.push(format!("provider={}: there is no such file; build the plugin first", plugin.display()));
    }
    if variant.steps.iter().any(|step| matches!(step.action, Action::Call(_))) {
        reasons.push(
            "the steps call: what becomes of a read or write is decided by the file system of a kernel (zfs_setup_direct, \
             module/zfs/zfs_vnops.c), which libzpool does not have; use --engine pool or vm"
                .to_owned(),
        );
    }
    if setup.cache_disks > 0 {
        reasons.push("cache_disks: the lab has cache devices with --engine pool or vm only".to_owned());
    }
    if setup.commits() && setup.io_size.0 > LARGEST {
        reasons.push(format!(
            "io_size is {} and each write is committed: above {} a file system writes in place and logs a pointer, which \
             libzpool has no file system for; use --engine pool, or a smaller io_size",
            setup.io_size,
            Bytes(LARGEST)
        ));
    }
    reasons
}

/// Properties and values of them that came after 2.1 (`zfs_prop_init` of module/zcommon/zfs_prop.c).
const SINCE: [(&str, Option<&str>, Release); 4] = [
    ("checksum", Some("blake3"), Release::V2_2),
    ("dedup", Some("blake3"), Release::V2_2),
    ("prefetch", None, Release::V2_2),
    ("direct", None, Release::V2_3),
];

/// What cells ask of OpenZFS that this library does not have, in words.
pub fn unknown(variants: &[Variant], library: &Library) -> Vec<String> {
    let of_cell =
        |v: &Variant| unknown_of(&v.setup, library).into_iter().chain(not_exported(&v.steps, library));
    let reasons: BTreeSet<String> = variants.iter().flat_map(of_cell).collect();
    reasons.into_iter().collect()
}

fn unknown_of(setup: &Setup, library: &Library) -> Vec<String> {
    let properties = too_new(setup, library.info.release);
    let exported = library.sizes(setup.parameters.keys().map(String::as_str)).unwrap_or_default();
    let hidden = setup.parameters.keys().filter(|name| !exported.contains_key(name.as_str()));
    let hidden = hidden.map(|name| format!("this libzpool keeps {name} to itself"));
    properties.into_iter().chain(hidden).collect()
}

/// Functions of OpenZFS that steps call and that this library keeps to itself.
pub fn not_exported(steps: &[Step], library: &Library) -> Vec<String> {
    let called = |step: &Step| -> &'static [&'static str] {
        match step.action {
            Action::Send { .. } => &["dmu_send"],
            Action::Receive => &streams::RECEIVE,
            Action::Rename => &["dsl_dataset_rename_snapshot"],
            _ => &[],
        }
    };
    let called: BTreeSet<&str> = steps.iter().flat_map(called).copied().collect();
    let exported = library.sizes(called.iter().copied()).unwrap_or_default();
    let missing = called.into_iter().filter(|name| !exported.contains_key(name));
    missing.map(|name| format!("a step needs {name}, which this libzpool does not export")).collect()
}

/// Properties that this release does not have yet.
pub fn too_new(setup: &Setup, release: Release) -> Vec<String> {
    let asked = |name: &str, value: Option<&str>| {
        let own = setup.properties.get(name).map(String::as_str);
        own.is_some_and(|own| value.is_none_or(|value| own.split(',').next() == Some(value)))
    };
    let missing = SINCE.iter().filter(|(name, value, since)| release < *since && asked(name, *value));
    let told = |(name, value, since): &(&str, Option<&str>, Release)| {
        let value = value.map_or(String::new(), |value| format!("={value}"));
        format!("{name}{value} came with OpenZFS {since}, and this libzpool is of {release}")
    };
    missing.map(told).collect()
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

    #[test]
    fn a_plugin_that_is_not_there_is_told_before_anything_runs() {
        let mut experiment = Experiment::builtin("offload").unwrap();
        experiment.set("provider", "none,./nosuch.so").unwrap();
        let refused = refusals(&experiment.variants().unwrap());
        assert!(refused.len() == 1 && refused[0].contains("nosuch.so: there is no such file"), "{refused:?}");
    }

    #[test]
    fn properties_of_later_releases_are_named_with_the_release() {
        let with = |name: &str, value: &str| {
            let properties = [(name.to_owned(), value.to_owned())].into();
            Setup { properties, ..Setup::default() }
        };
        let (direct, blake3) = (with("direct", "always"), with("checksum", "blake3"));
        assert!(too_new(&direct, Release::V2_3).is_empty() && too_new(&blake3, Release::V2_2).is_empty());
        assert!(too_new(&direct, Release::V2_2)[0].contains("came with OpenZFS 2.3"));
        assert!(too_new(&blake3, Release::V2_1)[0].contains("checksum=blake3"));
        assert!(too_new(&with("checksum", "sha256"), Release::V2_1).is_empty());
    }
}
