//! Tables of counters: two columns, a name and a figure, of a tool that is called like the kstat.
//!
//! Whoever writes figures down keeps `dbufstats` or `/proc/spl/kstat/zfs/tank/iostats` as a table, as it is printed.

use super::scalar;
use serde_json::Value;
use zwhy_evidence::{Kstat, OriginId, Table};

/// Headings of the column of names.
const NAMES: [&str; 7] = ["name", "stat", "kstat", "counter", "item", "field", "key"];
/// Headings of the column of figures; the last of a counter's readings is the newest.
const VALUES: [&str; 5] = ["data", "value", "now", "after", "last"];
const RATES: [&str; 5] = ["/s", "per second", "per_second", "per s", "rate"];
const DELTAS: [&str; 5] = ["delta", "diff", "growth", "increase", "change"];
/// Kstats that are named without their folder.
const KNOWN: [&str; 11] = [
    "arcstats",
    "dbufstats",
    "abdstats",
    "zfetchstats",
    "dmu_tx",
    "zil",
    "dnodestats",
    "iostats",
    "brtstats",
    "vdev_cache_stats",
    "metaslab_stats",
];

/// The counters of a table of names and figures; none of any other.
pub fn counters(table: &Table, origin: OriginId) -> Vec<Kstat> {
    let is = |list: &[&str], column: &str| list.contains(&column.trim().to_ascii_lowercase().as_str());
    let Some((_, figures)) = table.columns.split_first().filter(|(name, _)| is(&NAMES, name)) else {
        return Vec::new();
    };
    let kind = match figures {
        [figure] => figure,
        // As the kernel prints them: `name type data`.
        [kind, figure] if is(&["type"], kind) => figure,
        [_, _] => return two_readings(table, origin),
        _ => return Vec::new(),
    };
    let seconds = match kind {
        kind if is(&VALUES, kind) => None,
        kind if is(&RATES, kind) => Some(1.0),
        kind if is(&DELTAS, kind) => match seconds(&table.tool) {
            Some(seconds) => Some(seconds),
            None => return Vec::new(),
        },
        _ => return Vec::new(),
    };
    let counter = |row: &Vec<String>| {
        let (source, name) = named(row.first()?, &table.tool)?;
        let value = figure(row.last()?)?;
        Some(Kstat { source, name, value, rate: seconds.map(|seconds| value / seconds), origin })
    };
    table.rows.iter().filter_map(counter).collect()
}

/// Columns such as `t0` and `t10`: seconds between two readings.
fn two_readings(table: &Table, origin: OriginId) -> Vec<Kstat> {
    let at =
        |column: &String| column.trim().strip_prefix(['t', 'T'])?.trim_end_matches('s').parse::<f64>().ok();
    let (Some(first), Some(last)) = (at(&table.columns[1]), at(&table.columns[2])) else { return Vec::new() };
    let counter = |row: &Vec<String>| {
        let (source, name) = named(row.first()?, &table.tool)?;
        let (before, value) = (figure(row.get(1)?)?, figure(row.get(2)?)?);
        let rate = (last > first).then(|| (value - before) / (last - first)).filter(|rate| *rate >= 0.0);
        Some(Kstat { source, name, value, rate, origin })
    };
    table.rows.iter().filter_map(counter).collect()
}

fn figure(cell: &str) -> Option<f64> {
    scalar::number(&Value::String(cell.to_owned()))
}

/// Kstat and counter: of the row itself (`kstat.zfs.misc.arcstats.l2_feeds`), or of the tool's name.
fn named(row: &str, tool: &str) -> Option<(String, String)> {
    let row = row.trim();
    match row.strip_prefix("kstat.zfs.misc.").and_then(|full| full.split_once('.')) {
        Some((source, name)) => Some((source.to_owned(), name.to_owned())),
        None => Some((source(tool)?, row.to_owned())),
    }
}

/// `tank/iostats` of `/proc/spl/kstat/zfs/tank/iostats`, `dmu_tx` of `kstat.zfs.misc.dmu_tx, 5 s apart`.
fn source(tool: &str) -> Option<String> {
    let words = tool.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')' | ':'));
    words.filter(|word| !word.is_empty()).find_map(|word| {
        if let Some((_, of)) = word.split_once("/kstat/zfs/") {
            return Some(of.to_owned());
        }
        let last = word.rsplit(['.', '/']).next()?;
        KNOWN.contains(&last).then(|| last.to_owned())
    })
}

/// The seconds of `dmu_tx 5 s apart` or `10s`.
fn seconds(tool: &str) -> Option<f64> {
    let words: Vec<&str> =
        tool.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')')).collect();
    let unit = |word: &str| matches!(word, "s" | "sec" | "secs" | "second" | "seconds");
    (0..words.len()).find_map(|at| {
        let number = words[at].trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let value: f64 = number.parse().ok().filter(|v| *v > 0.0)?;
        let own = &words[at][number.len()..];
        (unit(own) || own.is_empty() && words.get(at + 1).is_some_and(|next| unit(next))).then_some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(tool: &str, columns: [&str; 2], rows: &[[&str; 2]]) -> Vec<(String, String, f64, Option<f64>)> {
        let table = Table {
            tool: tool.to_owned(),
            columns: columns.map(str::to_owned).to_vec(),
            rows: rows.iter().map(|row| row.map(str::to_owned).to_vec()).collect(),
            ..Table::default()
        };
        let read = counters(&table, OriginId::default());
        read.into_iter().map(|k| (k.source, k.name, k.value, k.rate)).collect()
    }

    #[test]
    fn tables_that_are_called_like_a_kstat_are_counters() {
        let of = |source: &str, value, rate| vec![(source.to_owned(), "a".to_owned(), value, rate)];
        assert_eq!(
            read("dbufstats", ["name", "data"], &[["a", "7"], ["b", "some text"]]),
            of("dbufstats", 7.0, None)
        );
        let path = "cat /proc/spl/kstat/zfs/tank/iostats, after dd";
        assert_eq!(read(path, ["Name", "Value"], &[["a", "0"]]), of("tank/iostats", 0.0, None));
        let delta = "kstat.zfs.misc.dmu_tx 5 s apart during dd";
        assert_eq!(read(delta, ["name", "delta"], &[["a", "10"]]), of("dmu_tx", 10.0, Some(2.0)));
        assert_eq!(
            read("/proc/spl/kstat/zfs/zil (10s)", ["stat", "diff"], &[["a", "5"]]),
            of("zil", 5.0, Some(0.5))
        );
    }

    #[test]
    fn as_the_kernel_prints_them_and_two_readings() {
        let of = |columns: [&str; 3], row: [&str; 3], tool: &str| {
            let rows = vec![row.map(str::to_owned).to_vec()];
            let table = Table {
                tool: tool.to_owned(),
                columns: columns.map(str::to_owned).to_vec(),
                rows,
                ..Table::default()
            };
            counters(&table, OriginId::default()).pop().map(|k| (k.source, k.name, k.value, k.rate))
        };
        let is = |value, rate| Some(("abdstats".to_owned(), "a".to_owned(), value, rate));
        assert_eq!(
            of(["name", "type", "data"], ["a", "4", "7"], "/proc/spl/kstat/zfs/abdstats"),
            is(7.0, None)
        );
        assert_eq!(of(["name", "t0", "t10"], ["a", "10", "30"], "abdstats"), is(30.0, Some(2.0)));
        assert_eq!(of(["name", "min", "max"], ["a", "10", "30"], "abdstats"), None);
        let full = read("sysctl -d 1s", ["name", "per_second"], &[["kstat.zfs.misc.arcstats.l2_feeds", "9"]]);
        assert_eq!(full, [("arcstats".to_owned(), "l2_feeds".to_owned(), 9.0, Some(9.0))]);
    }

    #[test]
    fn other_tables_are_not() {
        for (tool, columns) in [
            ("fio", ["name", "value"]),
            ("arcstats", ["name", "before"]),
            ("arcstats", ["time", "value"]),
            ("arcstats", ["name", "delta"]),
        ] {
            assert_eq!(read(tool, columns, &[["a", "7"]]), [], "{tool} {columns:?}");
        }
    }
}
