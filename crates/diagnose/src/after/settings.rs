//! What was set otherwise on the two sides: release, kernel, parameters, properties.

use super::answer::SettingChange;
use crate::properties::PROPERTIES;
use std::collections::BTreeMap;
use zwhy_evidence::Evidence;

/// Name of a property and whose it is.
type Key<'a> = (Option<&'a str>, &'a str);

pub fn settings(before: &Evidence, after: &Evidence) -> Vec<SettingChange> {
    let mut out = Vec::new();
    let (a, b) = (&before.host, &after.host);
    for (kind, name, before, after) in [
        ("release", "OpenZFS", &a.zfs_version, &b.zfs_version),
        ("kernel", "kernel", &a.kernel, &b.kernel),
        ("kernel", "system", &a.os, &b.os),
    ] {
        if let (Some(before), Some(after)) = (before, after)
            && before != after
        {
            out.push(change(kind, None, name, Some(before), Some(after)));
        }
    }
    let [a, b] = [before, after].map(parameters);
    out.extend(differing(&a, &b).map(|(name, x, y)| change("parameter", None, name, Some(x), Some(y))));
    let [a, b] = [before, after].map(properties);
    out.extend(differing(&a, &b).map(|((of, name), x, y)| change("property", of, name, Some(x), Some(y))));
    out
}

fn change(
    kind: &str,
    of: Option<&str>,
    name: &str,
    before: Option<&str>,
    after: Option<&str>,
) -> SettingChange {
    let owned = |text: Option<&str>| text.map(str::to_owned);
    SettingChange {
        kind: kind.to_owned(),
        of: owned(of),
        name: name.to_owned(),
        before: owned(before),
        after: owned(after),
    }
}

/// What both sides tell, and tell differently; what only one was asked for says nothing.
fn differing<'m, 'e, K: Ord + Copy>(
    a: &'m BTreeMap<K, &'e str>,
    b: &'m BTreeMap<K, &'e str>,
) -> impl Iterator<Item = (K, &'e str, &'e str)> + use<'m, 'e, K> {
    a.iter().filter_map(|(key, x)| b.get(key).filter(|y| *y != x).map(|y| (*key, *x, *y)))
}

fn parameters(evidence: &Evidence) -> BTreeMap<&str, &str> {
    evidence.params.iter().map(|p| (p.name.as_str(), p.value.trim())).collect()
}

fn properties(evidence: &Evidence) -> BTreeMap<Key<'_>, &str> {
    let is_setting = |name: &str| {
        !PROPERTIES.figures.contains(&name)
            && !name.ends_with("_pct")
            && !name.ends_with("_bytes")
            && !name.contains('@')
    };
    let settings = evidence.properties.iter().filter(|p| is_setting(&p.name));
    settings.map(|p| ((p.dataset.as_deref(), p.name.as_str()), p.value.trim())).collect()
}
