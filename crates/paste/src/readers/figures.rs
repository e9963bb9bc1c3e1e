//! Figures of pool, ARC and settings as people put them into a sentence: `the pool is 91 % full`, `compressratio is 1.00x`,
//! `the ARC is limited to 8 GB`, `zfs_dirty_data_max is 4 GiB`.
//!
//! Only what names its quantity is read, and only quantities that a figure of a tool would give as well. Clauses that ask,
//! compare or speak of another time are left out before (`clauses`).

use super::spoken;
use crate::cells;
use crate::text::numbers;
use crate::words::WORDS;

/// A figure, as the tool that prints it would have told it.
#[derive(Debug, PartialEq)]
pub enum Figure {
    Property(&'static str, String),
    Kstat(&'static str, &'static str, f64),
    Param(String, String),
}

/// The figure whose quantity stands at this word.
pub fn figure(words: &[&str], at: usize) -> Option<Figure> {
    pool(words, at)
        .or_else(|| ratio(words, at))
        .or_else(|| arc(words, at))
        .or_else(|| table_of_dedup(words, at))
        .or_else(|| parameter(words, at))
}

/// `the pool is 95% full`, `fragmentation 80 %`, `5000 snapshots`.
fn pool(words: &[&str], at: usize) -> Option<Figure> {
    let of_pool = || ["pool", "zpool", "fragmentation", "frag"].iter().any(|name| says(words, name));
    let percent = || {
        let (before, behind) = (percent_before(&words[..at]), percent_of(after(words, at + 1)));
        // `CAP 91% FRAG 72%` and `91% capacity, 72% fragmentation`: as the first of them stands.
        if names_first(words) { behind.or(before) } else { before.or(behind) }
    };
    match lower(words[at]).trim_end_matches(':') {
        "capacity" | "cap" if of_pool() => Some(Figure::Property("capacity", percent()?)),
        "full" if of_pool() => Some(Figure::Property("capacity", percent_before(&words[..at])?)),
        "filled" if of_pool() => Some(Figure::Property("capacity", percent_of(after(words, at + 1))?)),
        "fragmented" | "fragmentation" | "frag" => Some(Figure::Property("fragmentation", percent()?)),
        "snapshots" => {
            let about = words[..at].last()?.trim_start_matches(['~', '>', '<']).trim_end_matches('+');
            let count = cells::count(about).filter(|c| *c >= 2.0 && c.fract() == 0.0)?;
            Some(Figure::Property("snapshot_count", cells::show(count)))
        }
        _ => None,
    }
}

/// `compressratio is 1.00x`, `a compression ratio of 1.02`.
fn ratio(words: &[&str], at: usize) -> Option<Figure> {
    let (name, value) = words[at].split_once('=').unwrap_or((words[at], ""));
    let named = match lower(name).trim_end_matches(':') {
        "compressratio" | "compressratio,refcompressratio" => "compressratio",
        "refcompressratio" => "refcompressratio",
        "ratio" if at > 0 && matches!(lower(words[at - 1]).as_str(), "compression" | "compress") => {
            "compressratio"
        }
        _ => return None,
    };
    // `compressratio of tank/video says 1.00x`: the sign of times is enough.
    const NEAR: usize = 6;
    let times = |w: &&&str| w.ends_with(['x', 'X']) && numbers::decimal(&w[..w.len() - 1]).is_some();
    let value = match words[at + 1..].iter().take(NEAR).find(times) {
        _ if !value.is_empty() => value,
        Some(value) => value,
        None => after(words, at + 1).first()?,
    };
    let figure = value.trim_start_matches('~').trim_end_matches(['x', 'X']);
    let figure = figure.strip_suffix(":1").unwrap_or(figure);
    // A compressed file system never has less than one, and hardly ever more than this.
    const MOST: f64 = 1000.0;
    let within = numbers::decimal(figure).filter(|ratio| (1.0..MOST).contains(ratio))?;
    Some(Figure::Property(named, format!("{within:.2}x")))
}

/// `ARC size is 31 GiB`, `the ARC is limited to 8 GB`, `we capped the ARC at 2G`.
fn arc(words: &[&str], at: usize) -> Option<Figure> {
    const LIMIT: [&str; 9] =
        ["max", "maximum", "limit", "cap", "limited", "capped", "restricted", "ceiling", "c_max"];
    const BYTES: [&str; 12] =
        ["size", "uses", "using", "holds", "takes", "target", "usage", "memory", "a", "with", "has", "the"];
    if lower(words[at]) != "arc" || WORDS.tried.iter().any(|word| says(words, word)) {
        return None;
    }
    let rest = &words[at + 1..];
    let known = |word: &&str| {
        let word = lower(word);
        WORDS.links.has(&word) || LIMIT.contains(&word.as_str()) || BYTES.contains(&word.as_str())
    };
    let between = rest.iter().take_while(|word| known(word)).count();
    // An ARC is no smaller: the least that `zfs_arc_min` may be is 32 MiB (module/zfs/arc.c, arc_init).
    const LEAST: f64 = 33_554_432.0;
    let size = size(&rest[between..]).filter(|bytes| between > 0 && *bytes >= LEAST)?;
    let near = &words[at.saturating_sub(3)..at + 1 + between];
    if LIMIT.iter().any(|limit| says(near, limit)) {
        return Some(Figure::Kstat("arcstats", "c_max", size));
    }
    let target = says(near, "target");
    Some(Figure::Kstat("arcstats", if target { "c" } else { "size" }, size))
}

/// `the dedup table has 120 million entries`.
fn table_of_dedup(words: &[&str], at: usize) -> Option<Figure> {
    let of_dedup = says(words, "ddt") || (says(words, "dedup") && says(words, "table"));
    if lower(words[at]) != "entries" || !of_dedup {
        return None;
    }
    let (figure, times) = match words[..at] {
        [.., figure, many] if lower(many) == "million" => (figure, 1e6),
        [.., figure, many] if lower(many) == "billion" => (figure, 1e9),
        [.., figure] => (figure, 1.0),
        [] => return None,
    };
    let count = cells::count(figure.trim_start_matches('~')).filter(|count| *count > 0.0)?;
    Some(Figure::Kstat("ddt", "entries", count * times))
}

/// `zfs_dirty_data_max is 4 GiB`, `zfs_txg_timeout set to 30`: a parameter, a link and its figure.
fn parameter(words: &[&str], at: usize) -> Option<Figure> {
    let name = spoken::parameter(words[at].trim_end_matches([':', '=']))?;
    let value = after(words, at + 1);
    let linked = words.len() - value.len() > at + 1 || words[at].ends_with([':', '=']);
    if !linked || WORDS.tried.iter().any(|word| says(words, word)) {
        return None;
    }
    let first = *value.first()?;
    let of_percent = first.ends_with('%') || value.get(1).is_some_and(|unit| is_percent(unit));
    let digits = first.bytes().all(|b| b.is_ascii_digit());
    match size(value) {
        Some(bytes) => Some(Figure::Param(name, cells::show(bytes))),
        None if digits && first.len() < 20 && !of_percent => Some(Figure::Param(name, first.to_owned())),
        None => None,
    }
}

/// Whether a quantity of the pool stands before the first percentage.
fn names_first(words: &[&str]) -> bool {
    const NAMES: [&str; 5] = ["capacity", "cap", "fragmentation", "fragmented", "frag"];
    let figure = words.iter().position(|word| word.ends_with('%') || is_percent(word));
    let name = words.iter().position(|word| NAMES.contains(&lower(word).trim_end_matches(':')));
    name.zip(figure).is_some_and(|(name, figure)| name < figure)
}

/// What stands behind the links from this word on.
fn after<'w, 'a>(words: &'a [&'w str], from: usize) -> &'a [&'w str] {
    const MOST: usize = 3;
    let words = words.get(from..).unwrap_or_default();
    let links = words.iter().take(MOST).take_while(|word| WORDS.links.has(&lower(word))).count();
    &words[links..]
}

/// A percentage that ends the words: `91%`, `91 %`, `91 percent`.
fn percent_before(words: &[&str]) -> Option<String> {
    match words {
        [.., figure, unit] if is_percent(unit) => percent(figure),
        [.., figure] => percent(figure.strip_suffix('%')?),
        [] => None,
    }
}

/// A percentage that begins the words.
fn percent_of(words: &[&str]) -> Option<String> {
    let (first, rest) = words.split_first()?;
    match rest.first().filter(|unit| is_percent(unit)) {
        Some(_) => percent(first),
        None => percent(first.strip_suffix('%')?),
    }
}

fn percent(figure: &str) -> Option<String> {
    let figure = figure.trim_start_matches(['~', '>', '<']);
    numbers::percent(figure).map(|_| format!("{figure}%"))
}

fn is_percent(word: &str) -> bool {
    matches!(lower(word).as_str(), "%" | "percent")
}

/// A size with its unit, joined or apart, that begins the words: `8G`, `31 GiB`, `512 MB`.
fn size(words: &[&str]) -> Option<f64> {
    let first = words.first()?.trim_start_matches('~');
    let digits = first.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
    let (figure, unit) = first.split_at(digits);
    let unit = if unit.is_empty() { words.get(1).copied()? } else { unit };
    let unit = unit.to_ascii_uppercase();
    let letter = unit.strip_suffix("IB").or_else(|| unit.strip_suffix('B')).unwrap_or(&unit);
    let whole = !figure.is_empty() && matches!(letter, "K" | "M" | "G" | "T");
    whole.then(|| cells::bytes(&format!("{figure}{letter}"))).flatten()
}

fn says(words: &[&str], word: &str) -> bool {
    words.iter().any(|said| said.eq_ignore_ascii_case(word))
}

fn lower(word: &str) -> String {
    word.to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        let words: Vec<&str> = text.split_whitespace().collect();
        let show = |figure| match figure {
            Figure::Property(name, value) => format!("{name}={value}"),
            Figure::Kstat(source, name, value) => format!("{source}.{name}={value}"),
            Figure::Param(name, value) => format!("{name}={value}"),
        };
        (0..words.len()).filter_map(|at| figure(&words, at)).map(show).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn figures_as_admins_write_them() {
        for (text, want) in [
            ("the pool is at 91 % capacity", "capacity=91%"),
            ("capacity 91 percent and fragmentation 72 %", "capacity=91% fragmentation=72%"),
            ("our zpool is 96 percent full", "capacity=96%"),
            ("the pool is filled to ~93%", "capacity=93%"),
            ("CAP 91% FRAG 72%", "capacity=91% fragmentation=72%"),
            ("91% capacity with 72% fragmentation", "capacity=91% fragmentation=72%"),
            ("40000 snapshots", "snapshot_count=40000"),
            ("compressratio is 1.00x", "compressratio=1.00x"),
            ("compressratio=1.00x", "compressratio=1.00x"),
            ("refcompressratio 1.00x", "refcompressratio=1.00x"),
            ("the compression ratio is only 1.02", "compressratio=1.02x"),
            ("compressratio,refcompressratio of tank/video says 1.00x", "compressratio=1.00x"),
            ("a compression ratio of 3:1", "compressratio=3.00x"),
            ("ARC size is 31 GiB", "arcstats.size=33285996544"),
            ("the ARC is limited to 8 GB", "arcstats.c_max=8589934592"),
            ("we capped the ARC at 2G", "arcstats.c_max=2147483648"),
            ("the ARC max is 512M", "arcstats.c_max=536870912"),
            ("ARC target size 4 GB", "arcstats.c=4294967296"),
            ("the dedup table has 120 million entries", "ddt.entries=120000000"),
            ("zfs_dirty_data_max is 4 GiB", "zfs_dirty_data_max=4294967296"),
            ("zfs_txg_timeout is set to 30", "zfs_txg_timeout=30"),
            ("zfs_arc_max: 8589934592", "zfs_arc_max=8589934592"),
        ] {
            assert_eq!(said(text), want, "{text}");
        }
    }

    #[test]
    fn what_names_no_quantity_or_no_figure_is_not_read() {
        for text in [
            "the disk is 91% full",
            "compression ratio is good",
            "a ratio of 1.00x",
            "the dedup ratio is 1.02x",
            "compressratio 0.5x",
            "ARC hit ratio is 43%",
            "the ARC is 43% of memory",
            "2 GB and the ARC",
            "the ARC grew by 8 GB",
            "ARC size 3",
            "raising zfs_dirty_data_max to 8G",
            "capping the ARC to 8 GB helped",
            "zfs_arc_max 50% of memory",
            "zfs_arc_meta_limit_percent is 75 %",
            "zfs_dirty_data_max 10 times",
            "120 million entries in a table",
            "",
        ] {
            assert_eq!(said(text), "", "{text}");
        }
    }
}
