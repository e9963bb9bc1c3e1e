//! What the table recognisers share: cells in canonical spelling, times in nanoseconds, tables and kstats.
//!
//! Invariant: a cell is only respelled when it is a figure; all other text stays as it was pasted.

use crate::blocks::Sink;
use crate::text::numbers;
use zwhy_evidence::{Kstat, OriginId, Property, Table};

/// A figure with a decimal point and without thousands separators: `49,80` is `49.8`, `1,234K` is `1234K`.
pub fn plain(cell: &str) -> String {
    if !cell.contains(',') {
        return cell.to_owned();
    }
    let end = cell.find(|c: char| !c.is_ascii_digit() && !matches!(c, ',' | '.' | '-')).unwrap_or(cell.len());
    match numbers::number(&cell[..end]) {
        Some(value) => format!("{value}{}", &cell[end..]),
        None => cell.to_owned(),
    }
}

/// A time as OpenZFS and fio print it (`421us`, `1.20ms`, `2s`, `15`), in nanoseconds.
pub fn nanos(text: &str) -> Option<f64> {
    let text = text.trim();
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let scale = unit_nanos(&text[end..]).or_else(|| text[end..].is_empty().then_some(1.0))?;
    // Products of decimals carry rounding noise; nanoseconds are whole.
    Some((numbers::number(text[..end].trim_end())? * scale).round())
}

/// Nanoseconds of a unit of time; `None` for any other word.
pub fn unit_nanos(unit: &str) -> Option<f64> {
    Some(match unit.trim_matches(['(', ')', '.', ':']) {
        "ns" | "nsec" | "nsecs" => 1.0,
        "us" | "µs" | "usec" | "usecs" => 1e3,
        "ms" | "msec" | "msecs" => 1e6,
        "s" | "sec" | "secs" | "seconds" => 1e9,
        "m" | "min" => 60e9,
        _ => return None,
    })
}

/// Bytes of `12345`, `4.1G`, `31.2 GiB`, `512K`; commas of any locale.
pub fn bytes(text: &str) -> Option<f64> {
    // A tenth of a gibibyte is no whole number of bytes; more digits than printed would be noise.
    numbers::scaled(&text.split_whitespace().collect::<String>()).map(f64::round)
}

/// A count as OpenZFS tools shorten it for people: `12.3M`, `98.6k`, powers of 1000.
pub fn count(text: &str) -> Option<f64> {
    let text = text.trim();
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let power = match text[end..].trim() {
        "" => 0,
        "k" | "K" => 1,
        "M" => 2,
        "G" | "B" => 3,
        "T" => 4,
        _ => return None,
    };
    Some(numbers::number(text[..end].trim_end())? * 1000f64.powi(power))
}

/// Shows a figure without a tail of rounding noise.
pub fn show(value: f64) -> String {
    if value.fract() == 0.0 || value.abs() >= 1e12 {
        return format!("{value:.0}");
    }
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Adds a table.
pub fn table(
    sink: &mut Sink,
    tool: impl Into<String>,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
    origin: OriginId,
) {
    sink.evidence.tables.push(Table { tool: tool.into(), columns, rows, origin });
}

/// Column names as owned text.
pub fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|n| (*n).to_owned()).collect()
}

/// Adds a kstat that was seen once.
pub fn kstat(sink: &mut Sink, source: &str, name: &str, value: f64, origin: OriginId) {
    let (source, name) = (source.to_owned(), name.to_owned());
    sink.evidence.kstats.push(Kstat { source, name, value, rate: None, origin });
}

/// Adds a property of a dataset or pool; `-` says that there is none.
pub fn property(sink: &mut Sink, dataset: &str, name: &str, value: &str, origin: OriginId) {
    if value != "-" && !value.is_empty() {
        let dataset = Some(dataset.to_owned()).filter(|d| !d.is_empty());
        sink.evidence.properties.push(Property {
            dataset,
            name: name.to_owned(),
            value: value.to_owned(),
            origin,
        });
    }
}

/// `----------  -----  -----`, `______   ____`.
pub fn is_rule(text: &str) -> bool {
    let text = text.trim();
    text.len() >= 3 && text.bytes().all(|b| matches!(b, b'-' | b' ' | b'=' | b'_'))
}

/// Leading words that tell the time of a row: `12:00:01`, `12:00:01 PM`, `Average:`.
pub fn time_words(words: &[&str]) -> usize {
    let clock = |w: &str| {
        let mut parts = w.split(':');
        let two = |p: Option<&str>| p.is_some_and(|p| p.len() == 2 && p.bytes().all(|b| b.is_ascii_digit()));
        two(parts.next()) && two(parts.next()) && two(parts.next()) && parts.next().is_none()
    };
    match words {
        [time, "AM" | "PM" | "am" | "pm", ..] if clock(time) => 2,
        [time, ..]
            if clock(time) || matches!(*time, "Average:" | "Summary:" | "Durchschn.:" | "Moyenne :") =>
        {
            1
        }
        _ => 0,
    }
}

/// A command as a thread name: kernel threads lose their brackets, programs their path and arguments,
/// FreeBSD's `zfskern{arc_evict}` the process.
pub fn thread_name(command: &str) -> String {
    let command = command.trim_start_matches(['`', '-', '|', ' ', '├', '│', '└', '─', '_']);
    let inside = command.strip_suffix('}').and_then(|c| c.split_once('{')).filter(|(p, _)| !p.contains(' '));
    if let Some((_, thread)) = inside {
        return thread.to_owned();
    }
    if let Some(inner) = command.strip_prefix('[').and_then(|c| c.split_once(']')).map(|(inner, _)| inner) {
        let inner = inner.split_once('{').and_then(|(_, t)| t.strip_suffix('}')).unwrap_or(inner);
        return inner
            .split_once('/')
            .filter(|(p, _)| *p == "kernel" || *p == "zfskern")
            .map_or(inner, |(_, t)| t)
            .to_owned();
    }
    // busybox puts it before the command line of its process: `{postmaster} /usr/bin/postgres -D /data`.
    if let Some((thread, _)) = command.strip_prefix('{').and_then(|c| c.split_once("} ")) {
        return thread.to_owned();
    }
    if command.starts_with('/') {
        let program = command.split(' ').next().unwrap_or(command);
        return program.rsplit('/').next().unwrap_or(program).to_owned();
    }
    command.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_all_locales() {
        for (text, want) in
            [("49,80", "49.8"), ("1,234K", "1234K"), ("0,10%", "0.1%"), ("a,b", "a,b"), ("sda", "sda")]
        {
            assert_eq!(plain(text), want, "{text}");
        }
        assert_eq!((nanos("421us"), nanos("1.2ms"), nanos("-")), (Some(421_000.0), Some(1_200_000.0), None));
        assert_eq!((nanos("15"), nanos("2K")), (Some(15.0), None));
        assert_eq!(
            (bytes("31.2 GiB"), count("98.6k")),
            (Some((31.2 * 1024f64.powi(3)).round()), Some(98_600.0))
        );
        assert_eq!(
            (show(0.1 + 0.2), show(1e15), show(5.0)),
            ("0.3".into(), "1000000000000000".into(), "5".into())
        );
        assert_eq!(time_words(&["12:00:01", "PM", "CPU"]), 2);
        assert_eq!(time_words(&["Average:", "all"]), 1);
        assert_eq!(time_words(&["10:0:1"]), 0);
    }
}
