//! Names as people give them: `*` for any characters, suffixes of the compiler left out, and what
//! was perhaps meant.

/// Suffixes of whole functions that the compiler changed; `.part` and `.cold` are pieces of one.
const WHOLE: [&str; 4] = [".isra.", ".constprop.", ".llvm.", ".lto_priv."];
const PIECES: [&str; 2] = [".part.", ".cold"];
/// Names offered when one is unknown.
const SUGGESTIONS: usize = 3;

#[derive(Clone, Debug)]
pub(super) struct Pattern(String);

impl Pattern {
    pub(super) fn new(text: &str) -> Pattern {
        Pattern(text.to_owned())
    }

    pub(super) fn text(&self) -> &str {
        &self.0
    }

    /// Several functions may be meant.
    pub(super) fn is_wild(&self) -> bool {
        self.0.contains('*')
    }

    /// Whether a function of this name is meant; pieces of a function are not.
    pub(super) fn matches(&self, name: &str) -> bool {
        if base(name, &PIECES).is_some() && !self.0.contains('.') {
            return false;
        }
        matches_wild(&self.0, name) || whole(name).is_some_and(|base| matches_wild(&self.0, base))
    }

    /// As [`Pattern::matches`] for a frame of a stack, where a piece belongs to its function.
    pub(super) fn matches_frame(&self, name: &str) -> bool {
        self.matches(name) || base(name, &PIECES).is_some_and(|base| self.matches(base))
    }
}

/// The name without the suffix of a changed function; `None` when there is none.
fn whole(name: &str) -> Option<&str> {
    if base(name, &PIECES).is_some() { None } else { base(name, &WHOLE) }
}

fn base<'a>(name: &'a str, suffixes: &[&str]) -> Option<&'a str> {
    suffixes.iter().filter_map(|suffix| name.find(suffix)).filter(|at| *at > 0).min().map(|at| &name[..at])
}

/// Linear in both lengths: the last star is the only one that is ever tried again.
fn matches_wild(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut p, mut n) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while n < name.len() {
        if pattern.get(p) == Some(&b'*') {
            retry = Some((p + 1, n));
            p += 1;
        } else if pattern.get(p) == Some(&name[n]) {
            (p, n) = (p + 1, n + 1);
        } else if let Some((after, from)) = retry {
            retry = Some((after, from + 1));
            (p, n) = (after, from + 1);
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|c| *c == b'*')
}

/// A sentence with the names nearest to an unknown one; empty when none is near.
pub(super) fn did_you_mean<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> String {
    let wanted = wanted.trim_matches('*');
    let mut near: Vec<(usize, &str)> = names
        .filter(|name| name.len().abs_diff(wanted.len()) <= 12)
        .filter_map(|name| {
            let distance = strsim::osa_distance(wanted, name);
            let inside = wanted.len() >= 4 && (name.contains(wanted) || wanted.contains(name));
            (distance <= 1 + wanted.len() / 5 || inside && name.len() >= 4).then_some((distance, name))
        })
        .collect();
    near.sort_unstable();
    near.dedup();
    let near: Vec<&str> = near.into_iter().take(SUGGESTIONS).map(|(_, name)| name).collect();
    if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_characters() {
        for (pattern, name, expected) in [
            ("zio_*", "zio_read", true),
            ("zio_*", "zi_read", false),
            ("*_read*", "zio_read_bp", true),
            ("a*b*c", "aXbbYc", true),
            ("a*b*c", "aXbbY", false),
            ("*", "", true),
            ("dmu_read", "dmu_read.isra.0", true),
            ("dmu_read", "dmu_read.constprop.3", true),
            ("dmu_read", "dmu_read.cold", false),
            ("dmu_*", "dmu_read.cold", false),
            ("dmu_read.cold", "dmu_read.cold", true),
            ("dmu_read", "dmu_read.part.0", false),
            ("dmu_read", "dmu_read_uio", false),
        ] {
            assert_eq!(Pattern::new(pattern).matches(name), expected, "{pattern} on {name}");
        }
        assert!(Pattern::new("dmu_read").matches_frame("dmu_read.part.0"));
        assert!(Pattern::new("dmu_read").matches_frame("dmu_read.isra.0.cold"));
    }

    #[test]
    fn near_names_are_offered_nearest_first() {
        let names = ["dmu_read", "dmu_read_uio", "dmu_write", "strcmp"];
        assert_eq!(did_you_mean("dmu_raed", names.into_iter()), "; did you mean dmu_read?");
        assert_eq!(did_you_mean("u_read", names.into_iter()), "; did you mean dmu_read, dmu_read_uio?");
        assert_eq!(did_you_mean("zzzzzz", names.into_iter()), "");
    }
}
