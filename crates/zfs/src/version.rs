//! Versions of OpenZFS in all the spellings of distributions and tools.

use std::cmp::Ordering;
use std::fmt;

/// A release: `2.3.2`, with the packager's revision kept as text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version {
    pub major: u32,
    pub minor: u32,
    pub patch: u32,
    /// Release candidate number (`2.3.0-rc2`); it comes before the release.
    pub candidate: Option<u32>,
    /// What the distribution added: `2~bpo12+2`. Not part of the order.
    pub revision: String,
}

impl Version {
    pub fn new(major: u32, minor: u32, patch: u32) -> Version {
        Version { major, minor, patch, candidate: None, revision: String::new() }
    }

    /// At least this release, candidates of it not included.
    pub fn at_least(&self, major: u32, minor: u32, patch: u32) -> bool {
        *self >= Version::new(major, minor, patch)
    }

    /// Order ignores the revision: packages of one release behave alike until proved otherwise.
    fn key(&self) -> (u32, u32, u32, u32) {
        (self.major, self.minor, self.patch, self.candidate.unwrap_or(u32::MAX))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Version) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Version) -> Ordering {
        (self.key(), &self.revision).cmp(&(other.key(), &other.revision))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        if let Some(candidate) = self.candidate {
            write!(f, "-rc{candidate}")?;
        }
        if !self.revision.is_empty() {
            write!(f, "-{}", self.revision)?;
        }
        Ok(())
    }
}

/// Reads `2.3.2-2~bpo12+2`, `zfs-0.8.3-1`, `zfs-kmod-2.1.11-1`, `v2.3.0-rc2`, `2.4`.
pub fn parse_version(text: &str) -> Option<Version> {
    let text = text.trim();
    let text = text.strip_prefix("zfs-kmod-").or_else(|| text.strip_prefix("zfs-")).unwrap_or(text);
    let text = text.strip_prefix('v').unwrap_or(text);
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (numbers, rest) = text.split_at(end);
    let mut parts = numbers.trim_end_matches('.').split('.');
    let mut version = Version::new(parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, 0);
    if let Some(patch) = parts.next() {
        version.patch = patch.parse().ok()?;
    }
    let rest = rest.trim_start_matches(['-', '_', '~', '+']);
    version.revision = rest.to_owned();
    if let Some(candidate) = rest.strip_prefix("rc") {
        let end = candidate.find(|c: char| !c.is_ascii_digit()).unwrap_or(candidate.len());
        version.candidate = candidate[..end].parse().ok();
        if version.candidate.is_some() {
            version.revision = candidate[end..].trim_start_matches(['-', '_']).to_owned();
        }
    }
    Some(version)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn spellings_of_distributions_are_read() {
        for (text, shown) in [
            ("2.3.2-2~bpo12+2", "2.3.2-2~bpo12+2"),
            ("zfs-0.8.3-1", "0.8.3-1"),
            ("zfs-kmod-2.1.11-1\n", "2.1.11-1"),
            ("2.1.11", "2.1.11"),
            ("v2.3.0-rc2", "2.3.0-rc2"),
            ("2.3.0-rc2-1", "2.3.0-rc2-1"),
            ("2.4", "2.4.0"),
            ("2.2.2-0ubuntu9.1", "2.2.2-0ubuntu9.1"),
        ] {
            assert_eq!(parse_version(text).map(|v| v.to_string()).as_deref(), Some(shown), "{text}");
        }
        for text in ["", "zfs", "2", "x.y.z", "-1.2", "99999999999.1.1"] {
            assert_eq!(parse_version(text), None, "{text}");
        }
    }

    #[test]
    fn releases_are_ordered_and_candidates_come_before() {
        let order = ["0.6.5.11", "0.8.3", "2.1.9", "2.1.11", "2.3.0-rc2", "2.3.0-rc10", "2.3.0-1", "2.4.0"];
        let versions: Vec<_> = order.iter().map(|t| parse_version(t).unwrap()).collect();
        assert!(versions.windows(2).all(|w| w[0] < w[1]), "{versions:?}");
        assert!(parse_version("2.3.0-1").unwrap().at_least(2, 3, 0));
        assert!(!parse_version("2.3.0-rc9").unwrap().at_least(2, 3, 0));
    }

    proptest! {
        #[test]
        fn shown_versions_read_back(major in 0u32..9, minor in 0u32..99, patch in 0u32..99, rc in prop::option::of(1u32..20)) {
            let version = Version { candidate: rc, ..Version::new(major, minor, patch) };
            prop_assert_eq!(parse_version(&version.to_string()), Some(version));
        }

        #[test]
        fn any_text_is_survived(text in ".{0,30}") {
            let _ = parse_version(&text);
        }
    }
}
