//! What the cells of a column are, and how each is written in evidence.

use crate::cells;
use crate::text::numbers;
use serde::Deserialize;

/// Kind and unit of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// As printed, except that a figure has a decimal point and no thousands separators.
    #[default]
    Figure,
    /// As printed.
    Text,
    /// As printed, each run of blanks one blank.
    Words,
    /// As `figure`, without blanks: `0.00 B/s`.
    Joined,
    Lower,
    /// A plain number.
    Number,
    /// A number with thousands separators: `10,193.72`.
    Grouped,
    /// A number in which a comma is a decimal comma.
    Decimal,
    /// `1.2ms` in nanoseconds.
    Time,
    /// `4.1G` in bytes.
    Size,
    /// `4.1G` in MiB.
    Mib,
    /// `64` of /proc/meminfo in bytes.
    Kib,
    /// `12.3M`, by powers of 1000.
    Count,
    /// A size where a unit of bytes stands behind it, else a count: arc_summary.
    Amount,
    /// `1m3.5s`, `1:02.5` in seconds.
    Clock,
    /// `12.5 + 80.1`, worked out.
    Calc,
    /// Command of a process as the name of its thread.
    Thread,
}

impl Kind {
    /// The cell as it stands in a table; text that is none of this kind stays as printed.
    pub fn cell(self, text: &str) -> String {
        let text = text.trim();
        match self {
            Kind::Figure => cells::plain(text),
            Kind::Text => text.to_owned(),
            Kind::Words => text.split_whitespace().collect::<Vec<_>>().join(" "),
            Kind::Joined => text.split_whitespace().map(cells::plain).collect::<Vec<_>>().join(""),
            Kind::Lower => text.to_lowercase(),
            Kind::Thread => cells::thread_name(text),
            _ => self.number(text).map_or_else(|| text.to_owned(), cells::show),
        }
    }

    /// The cell as a number in the unit of its kind.
    pub fn number(self, text: &str) -> Option<f64> {
        let text = text.trim();
        let value = match self {
            Kind::Time => cells::nanos(text),
            Kind::Size => cells::bytes(text),
            Kind::Mib => cells::bytes(text).map(|bytes| bytes / 1048576.0),
            Kind::Kib => text.parse::<f64>().ok().map(|kib| kib * 1024.0),
            Kind::Count => cells::count(text),
            Kind::Grouped => numbers::number(text),
            Kind::Amount => amount(text),
            Kind::Clock => clock(text),
            Kind::Calc => super::template::calculate(text),
            Kind::Decimal => numbers::decimal(text.trim_end_matches('%')),
            _ => text.parse::<f64>().ok(),
        };
        value.filter(|v| v.is_finite())
    }
}

/// `98.6 %   15.5 GiB`, `16:1 31.0 GiB`, `(Adaptive) 100.00% 15.50 GiB`, `12.3M`: bytes or a count behind a
/// share, a ratio or a word in parentheses.
fn amount(text: &str) -> Option<f64> {
    let words: Vec<&str> = text.split_whitespace().filter(|w| !w.contains([':', '('])).collect();
    let from = words.iter().position(|w| w.ends_with('%')).map_or(0, |at| at + 1);
    let text = words.get(from..)?.join("");
    let size = text.ends_with('B') || text.ends_with("Bytes");
    if size { cells::bytes(text.trim_end_matches("ytes")) } else { cells::count(&text) }
}

/// `1m3.500s`, `12.34`, `1:02.5`.
fn clock(text: &str) -> Option<f64> {
    let text = text.trim_end_matches('s');
    if let Some((minutes, seconds)) = text.split_once('m') {
        return Some(minutes.parse::<f64>().ok()? * 60.0 + numbers::decimal(seconds)?);
    }
    text.split(':').try_fold(0.0, |sum, part| Some(sum * 60.0 + numbers::decimal(part)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_by_their_kind() {
        for (kind, text, want) in [
            (Kind::Figure, "49,80", "49.8"),
            (Kind::Joined, "145,47 M", "145.47M"),
            (Kind::Words, " a   b ", "a b"),
            (Kind::Time, "1.2ms", "1200000"),
            (Kind::Time, "-", "-"),
            (Kind::Mib, "2G", "2048"),
            (Kind::Amount, "1.5k", "1500"),
            (Kind::Amount, "0 Bytes", "0"),
            (Kind::Amount, "98.6 %   12.0 MiB", "12582912"),
            (Kind::Amount, "16:1 12.0 MiB", "12582912"),
            (Kind::Amount, "(Adaptive) 100.00% 12.00 MiB", "12582912"),
            (Kind::Amount, "many", "many"),
            (Kind::Grouped, "10,193.72", "10193.72"),
            (Kind::Clock, "1m3.5s", "63.5"),
            (Kind::Calc, "12.5 + 80.1", "92.6"),
            (Kind::Clock, "1:02.5", "62.5"),
            (Kind::Clock, "0,12s", "0.12"),
            (Kind::Thread, "[z_wr_iss]", "z_wr_iss"),
        ] {
            assert_eq!(kind.cell(text), want, "{kind:?} {text}");
        }
        assert_eq!((Kind::Number.number("inf"), Kind::Number.number("1e3")), (None, Some(1000.0)));
    }
}
