//! Figures in words that fit a column: the same on the terminal, in a table and in a sentence.

/// What is not known.
pub(crate) const NONE: &str = "-";

/// `4.2 %` of a share.
pub(crate) fn percent(share: f64) -> String {
    let pct = share * 100.0;
    if pct >= 99.95 { format!("{pct:.0} %") } else { format!("{pct:.1} %") }
}

/// `12.3 MiB`, in three digits or so; `0` of nothing.
pub fn bytes(n: f64) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = n.abs();
    let mut unit = 0;
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let sign = if n < 0.0 { "-" } else { "" };
    match (unit, value) {
        (0, v) if v < 0.5 => "0".to_owned(),
        (0, v) => format!("{sign}{v:.0} B"),
        (_, v) if v < 99.95 => format!("{sign}{v:.1} {}", UNITS[unit]),
        (_, v) => format!("{sign}{v:.0} {}", UNITS[unit]),
    }
}

/// A number of things a second: `0`, `0.4`, `12`, `3,400`, `1.2M`.
pub(crate) fn count(n: f64) -> String {
    match n {
        n if n < 0.05 => "0".to_owned(),
        n if n < 9.95 => format!("{n:.1}"),
        n if n < 999_999.5 => zwhy_report::grouped(n.round() as u64),
        n => format!("{:.1}M", n / 1e6),
    }
}

/// A number of things that cannot be halved.
pub(crate) fn whole(n: f64) -> String {
    zwhy_report::grouped(n.max(0.0).round() as u64)
}

/// Milliseconds: `0.02`, `1.4`, `230`.
pub(crate) fn ms(n: f64) -> String {
    match n {
        n if n < 0.995 => format!("{n:.2}"),
        n if n < 99.95 => format!("{n:.1}"),
        n => zwhy_report::grouped(n.round() as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_three_digits() {
        assert_eq!(
            [0.2, 640.0, 1024.0, 150.0 * 1048576.0, 1.5e12].map(bytes),
            ["0", "640 B", "1.0 KiB", "150 MiB", "1.4 TiB"]
        );
        assert_eq!([0.0, 0.44, 12.4, 3400.0, 1_240_000.0].map(count), ["0", "0.4", "12", "3,400", "1.2M"]);
        assert_eq!([0.004, 0.25, 12.34, 2300.0].map(ms), ["0.00", "0.25", "12.3", "2,300"]);
        assert_eq!([0.0, 0.042, 1.0].map(percent), ["0.0 %", "4.2 %", "100 %"]);
    }
}
