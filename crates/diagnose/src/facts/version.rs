//! Versions in free text, compared number by number.

use std::cmp::Ordering;

/// Numbers of a version: `0.8.4-1` is `[0, 8, 4]`.
type Numbers = Vec<u64>;

/// All versions in a text such as `2.3.4 / 2.3.5` or `zfs-2.1.11-1 (Debian)`.
fn versions(text: &str) -> Vec<Numbers> {
    text.split(|c: char| c.is_whitespace() || matches!(c, '/' | ',' | ';' | '(' | ')'))
        .filter_map(|word| numbers(word.trim_start_matches(|c: char| !c.is_ascii_digit())))
        .collect()
}

/// The leading `digits.digits…` of a word; one number alone is no version.
fn numbers(word: &str) -> Option<Numbers> {
    let end = word.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(word.len());
    let parts: Option<Numbers> =
        word[..end].trim_end_matches('.').split('.').map(|part| part.parse().ok()).collect();
    parts.filter(|p| p.len() > 1)
}

/// One comparison of a requirement such as `>=0.7,<0.8.4`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Bound {
    /// How a version may compare with this one; empty where it has to begin with it.
    orders: &'static [Ordering],
    version: Numbers,
}

/// Bounds that must all hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement(Vec<Bound>);

impl Requirement {
    /// Parses `<0.8.4`, `>=2.1`, `=2.3` (any 2.3.x), joined by commas; `None` if it is malformed.
    pub fn parse(text: &str) -> Option<Requirement> {
        let bounds: Option<Vec<Bound>> = text.split(',').map(|part| bound(part.trim())).collect();
        bounds.filter(|b| !b.is_empty()).map(Requirement)
    }

    /// Whether the versions in a text satisfy this; `None` when there are none or they disagree.
    pub fn holds(&self, text: &str) -> Option<bool> {
        let mut results = versions(text).into_iter().map(|v| self.0.iter().all(|b| b.holds(&v)));
        let first = results.next()?;
        results.all(|r| r == first).then_some(first)
    }
}

/// Whether a host of this version has a fix: `2.1.3 and 2.2 (PR 12896)` is in 2.1.3 and later of
/// 2.1, and in 2.2 and all that follow. `None` when the fix is not told by versions alone, or when
/// the host's text has none or several that disagree, or is a candidate of the release with the fix.
pub fn has_fix(fixed_in: &str, host: &str) -> Option<bool> {
    let (list, note) = fixed_in.split_once(" (").unwrap_or((fixed_in, ")"));
    if note.find(')') != note.len().checked_sub(1) {
        return None;
    }
    let fixes: Option<Vec<Numbers>> = list
        .split(" and ")
        .map(|word| word.split('.').map(|part| part.trim().parse().ok()).collect())
        .collect();
    let fixes = fixes?;
    let newest = fixes.iter().max_by(|a, b| compare(a, b))?;
    let fixed = |host: &[u64]| {
        let same_series = |fix: &&Numbers| fix.iter().take(2).eq(host.iter().take(2));
        let at_least = |fix: &Numbers| !compare(host, fix).is_lt();
        at_least(newest) || fixes.iter().filter(same_series).any(at_least)
    };
    // A candidate of a release may be from before or after the fix.
    let candidate = host.contains("-rc");
    let undecided = |v: &[u64]| candidate && fixes.iter().any(|fix| compare(v, fix).is_eq());
    let mut results = versions(host).into_iter().map(|v| (!undecided(&v)).then(|| fixed(&v)));
    let first = results.next()??;
    results.all(|r| r == Some(first)).then_some(first)
}

/// Number by number; what is not written is 0.
fn compare(a: &[u64], b: &[u64]) -> Ordering {
    let at = |list: &[u64], i: usize| list.get(i).copied().unwrap_or(0);
    let length = a.len().max(b.len());
    let differences = (0..length).map(|i| at(a, i).cmp(&at(b, i))).find(|o| o.is_ne());
    differences.unwrap_or(Ordering::Equal)
}

fn bound(text: &str) -> Option<Bound> {
    use Ordering::{Equal, Greater, Less};
    const OPERATORS: [(&str, &[Ordering]); 5] =
        [("<=", &[Less, Equal]), (">=", &[Greater, Equal]), ("<", &[Less]), (">", &[Greater]), ("=", &[])];
    let (orders, rest) =
        OPERATORS.into_iter().find_map(|(sign, orders)| Some((orders, text.strip_prefix(sign)?)))?;
    let version: Option<Numbers> = rest.trim().split('.').map(|p| p.parse().ok()).collect();
    Some(Bound { orders, version: version? })
}

impl Bound {
    fn holds(&self, version: &[u64]) -> bool {
        let at = |list: &[u64], i: usize| list.get(i).copied().unwrap_or(0);
        match self.orders {
            [] => (0..self.version.len()).all(|i| at(version, i) == self.version[i]),
            orders => orders.contains(&compare(version, &self.version)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixes_by_series() {
        for (fixed_in, host, expected) in [
            ("2.1.3 and 2.2 (PR 12896)", "2.1.2", Some(false)),
            ("2.1.3 and 2.2 (PR 12896)", "zfs-2.1.11-1 (Debian)", Some(true)),
            ("2.1.3 and 2.2 (PR 12896)", "2.3.0-rc1", Some(true)),
            ("2.0 and 0.8.2 (PR 8877)", "0.8.1", Some(false)),
            ("2.0 and 0.8.2 (PR 8877)", "0.8.6", Some(true)),
            ("0.8", "0.7.13", Some(false)),
            ("0.8", "0.8.0", Some(true)),
            ("0.8 (PR 8142)", "0.7.9 / 0.8.3", None),
            ("0.8", "none", None),
            ("2.3.0 (PR 16729)", "2.3.0-rc2", None),
            ("0.8", "2.3.0-rc2", Some(true)),
            ("after 2.4 (PR 19122)", "2.5.0", None),
            ("0.8 eases it (PR 7888)", "2.2.0", None),
            ("0.8.2 (PR 8901) in part; 2.1 (wmsum)", "2.2.0", None),
            ("2.2 (PR 15516) for reordered reads", "2.2.0", None),
            ("FreeBSD 14.0-p2, 13.3-p1", "2.2.0", None),
            ("kernel 4.2; 0.7 (scatter buffers)", "2.2.0", None),
            ("PR 18741", "2.2.0", None),
        ] {
            assert_eq!(has_fix(fixed_in, host), expected, "{fixed_in} / {host}");
        }
    }

    #[test]
    fn versions_of_real_texts_compare() {
        for (requirement, text, expected) in [
            ("<0.8.4", "0.8.3", Some(true)),
            ("<0.8.4", "0.8.4-1~bpo10+1", Some(false)),
            ("<0.8.4", "0.8.6-1~bpo10+1 / 2.0.1-2", Some(false)),
            ("<0.8.4", "0.8.4 and 0.7.13", None),
            (">=2.3", "2.3.0-rc1", Some(true)),
            ("=2.3", "zfs-2.3.9-1 (Debian)", Some(true)),
            (">=0.7,<0.8.4", "0.6.5.9-1", Some(false)),
            ("<0.7", "0.6.5.4 (1ffc4c1) with 650f6cf", Some(true)),
            (">=5.0", "3.10.0-1062.18.1.el7.x86_64", Some(false)),
            ("<2", "none", None),
            ("<2", "99999999999999999999999.1", None),
        ] {
            assert_eq!(
                Requirement::parse(requirement).unwrap().holds(text),
                expected,
                "{requirement} {text}"
            );
        }
        for bad in ["", "0.8", "<", "<a", "<0.8,,"] {
            assert_eq!(Requirement::parse(bad), None, "{bad}");
        }
    }
}
