//! Shares in words, as exact as they are known.

use crate::answer::ShareOf;

/// `63 %`, `0.4 %`, `11.7 %`: a decimal where it is known or the number is small.
pub fn percent(share: f64, exact: bool) -> String {
    let pct = share * 100.0;
    let whole = (pct - pct.round()).abs() < 1e-9;
    if whole || (pct >= 10.0 && !exact) { format!("{pct:.0} %") } else { format!("{pct:.1} %") }
}

/// Whether the interval is so narrow that tenths of a per cent mean something.
pub fn is_exact(share: &ShareOf) -> bool {
    share.high - share.low < 0.02
}

/// `59–67 %`
pub fn range(share: &ShareOf) -> String {
    let one = |v: f64| percent(v, is_exact(share));
    format!("{}–{}", one(share.low).trim_end_matches(" %"), one(share.high))
}
