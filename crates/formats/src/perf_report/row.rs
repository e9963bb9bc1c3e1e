//! One flat row: `+  86.49%     0.07%  arc_prune  [spl]  [k] taskq_thread`.

use crate::text::{names, numbers};
use zwhy_evidence::{FlatRow, OriginId};
use zwhy_paste::words::WORDS;

/// What the header line said of the columns; nothing is known without one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Columns {
    comm: Option<bool>,
    module: Option<bool>,
    symbol: Option<bool>,
}

/// Symbol of rows that have no column for it.
pub const NO_SYMBOL: &str = "[unknown]";

impl Columns {
    /// The header line names a thread or a module, and no function.
    fn without_symbol(&self) -> bool {
        self.symbol == Some(false) && (self.comm == Some(true) || self.module == Some(true))
    }

    /// Takes a header or comment line of perf; `false` for any other line.
    pub fn header(&mut self, text: &str) -> bool {
        if !is_header(text) {
            return false;
        }
        if text.contains("Overhead") || text.contains("Children") {
            self.comm = Some(text.contains("Command"));
            self.module = Some(text.contains("Shared O"));
            self.symbol = Some(text.contains("Symbol"));
        }
        true
    }
}

/// Lines that perf writes around its rows.
pub fn is_header(text: &str) -> bool {
    let trimmed = text.trim();
    if let Some(comment) = trimmed.strip_prefix('#') {
        let comment = comment.trim();
        return comment.is_empty() || WORDS.perf_comments.beginning(comment).is_some() || is_field(comment);
    }
    (trimmed.starts_with("Samples:") && trimmed.contains("of event"))
        || (trimmed.starts_with("Overhead")
            && ["Symbol", "Command", "Shared O"].iter().any(|column| trimmed.contains(column)))
        || (trimmed.starts_with("Children") && trimmed.contains("Self"))
        || (trimmed.starts_with("PerfTop:") && trimmed.contains("irqs/sec"))
        || (trimmed.len() > 20 && trimmed.bytes().all(|b| b == b'-' || b == b'_' || b == b'.' || b == b' '))
}

/// The event that the rows below are of: `# Samples: 12K of event 'page-faults'`.
pub fn event(text: &str) -> Option<&str> {
    let text = text.trim_start().trim_start_matches('#').trim_start();
    let (_, rest) = text.strip_prefix("Samples:")?.split_once("of event")?;
    let name = rest.trim_start_matches('s').trim().split(',').next()?;
    Some(name.trim_matches('\'')).filter(|name| !name.is_empty())
}

/// Counts time on a CPU, more or less.
pub fn is_cpu_event(name: &str) -> bool {
    ["cycles", "cpu-clock", "task-clock"].iter().any(|cpu| name.contains(cpu))
}

/// `cpudesc : …` of `--header`.
fn is_field(comment: &str) -> bool {
    comment.split_once(" : ").is_some_and(|(key, _)| {
        let key = key.trim();
        key.len() <= 24
            && !key.is_empty()
            && key.bytes().all(|b| b.is_ascii_lowercase() || b == b' ' || b == b'_')
    })
}

/// Reads a row; `None` for any other line.
pub fn parse(text: &str, columns: &Columns) -> Option<FlatRow> {
    let text =
        text.trim_start_matches(|c: char| c.is_whitespace() || is_box(c) || matches!(c, '+' | '-' | '|'));
    if let Some(row) = old_perf_top(text) {
        return Some(row);
    }
    let (first, rest) = percent(text)?;
    let (pct, children_pct, rest) = match percent(rest) {
        // A third one is of `perf c2c`: parts of a cache line's misses, not of the CPU's time.
        Some((_, rest)) if percent(rest).is_some() => return None,
        Some((own, rest)) => (own, Some(first), rest),
        None => (first, None, rest),
    };
    let marked = split_marker(rest).or_else(|| split_module(rest)).or_else(|| only_symbol(rest, columns));
    let (before, symbol) = match marked {
        Some((before, symbol)) => (before, trim_symbol(symbol)),
        // `--sort comm,dso`: what perf prints where it has no name.
        None if columns.without_symbol() => {
            (rest.trim_matches(|c: char| c.is_whitespace() || is_box(c)), NO_SYMBOL)
        }
        None => return None,
    };
    if symbol.is_empty() || (symbol == NO_SYMBOL && before.is_empty()) {
        return None;
    }
    let (comm, module) = comm_and_module(before, columns);
    let marks = |mark: &str| rest.find(mark).unwrap_or(usize::MAX);
    Some(FlatRow {
        pct: Some(pct),
        children_pct,
        user: marks("[.]").min(marks("[u]")) < marks("[k]"),
        comm: comm.map(str::to_owned),
        module: module.map(|m| names::module(m).to_owned()).filter(|m| !m.is_empty()),
        symbol: symbol.to_owned(),
        origin: OriginId::default(),
    })
}

/// `     2844.00 17.0% _spin_lock    [kernel]` of perf before 3.x.
fn old_perf_top(text: &str) -> Option<FlatRow> {
    let mut words = text.split_whitespace();
    let samples = words.next()?;
    let pct = words.next()?;
    let (symbol, module) = (words.next()?, words.next()?);
    let shape = words.next().is_none()
        && samples.split_once('.').is_some_and(|(_, d)| d.len() == 2)
        && numbers::number(samples).is_some()
        && pct.ends_with('%')
        && !symbol.starts_with('[')
        && (module.starts_with('[') || module.starts_with('/'));
    if !shape {
        return None;
    }
    Some(FlatRow {
        pct: numbers::percent(pct),
        module: Some(names::module(module).to_owned()),
        symbol: symbol.to_owned(),
        ..FlatRow::default()
    })
}

/// A percentage at the start of a text, and what follows it.
pub fn percent(text: &str) -> Option<(f64, &str)> {
    let text = text.trim_start();
    let end = text.find('%').filter(|end| (1..=8).contains(end))?;
    let rest = &text[end + 1..];
    if !matches!(rest.chars().next(), None | Some(' ' | '\t' | '-')) {
        return None;
    }
    Some((numbers::percent(&text[..end])?, rest))
}

/// Splits at the privilege mark `[k]`, `[.]`, `[g]`, `[u]`, `[H]`.
fn split_marker(text: &str) -> Option<(&str, &str)> {
    ["[k]", "[.]", "[g]", "[u]", "[H]"]
        .into_iter()
        .filter_map(|mark| text.find(mark))
        .min()
        .map(|at| (text[..at].trim(), text[at + 3..].trim()))
}

/// A row below a header that has a column for the symbol and none before it: `99.6%  0.0%  spa_sync`.
fn only_symbol<'a>(text: &'a str, columns: &Columns) -> Option<(&'a str, &'a str)> {
    let alone = columns.symbol == Some(true) && columns.comm == Some(false) && columns.module == Some(false);
    let name = text.trim();
    let is_name =
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.'));
    (alone && is_name).then_some(("", name))
}

/// A row that somebody typed, or cut the mark from: `z_wr_iss  [zfs]  zio_execute`.
fn split_module(text: &str) -> Option<(&str, &str)> {
    let at = text.rfind(']')? + 1;
    let (before, symbol) = (text[..at].trim(), text[at..].trim());
    let module = &before[before.rfind('[')? + 1..before.len() - 1];
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.'))
    };
    (module.len() >= 3 && is_name(module) && is_name(symbol)).then_some((before, symbol))
}

/// Takes padding, frames of terminals and empty trailing columns off a symbol.
fn trim_symbol(text: &str) -> &str {
    let text = text.trim_matches(|c: char| c.is_whitespace() || is_box(c));
    // Columns after the symbol (IPC) stand far away; C++ names have single blanks.
    let text = text.find("   ").map_or(text, |gap| &text[..gap]);
    text.trim_end_matches(|c: char| c.is_whitespace() || is_box(c) || c == '|')
}

/// Box drawing, block and private glyphs of terminals.
pub fn is_box(c: char) -> bool {
    ('\u{2500}'..='\u{25ff}').contains(&c) || c == '\u{fffd}' || c == '\u{2026}'
}

/// Splits what stands between percentage and mark: `123  z_wr_iss  [kernel.kallsyms]`.
fn comm_and_module<'a>(text: &'a str, columns: &Columns) -> (Option<&'a str>, Option<&'a str>) {
    let mut fields: Vec<&str> = text.split("  ").map(str::trim).filter(|f| !f.is_empty()).collect();
    // A column of sample counts (`-n`) comes first.
    if fields.len() > 1 && fields[0].bytes().all(|b| b.is_ascii_digit()) {
        fields.remove(0);
    }
    match fields[..] {
        [only] if columns.without_symbol() && columns.comm != Some(true) => (None, Some(only)),
        [] => (None, None),
        [only] => {
            if let Some(open) = only.rfind(" [").or_else(|| only.rfind(" /")) {
                return (Some(only[..open].trim()), Some(only[open + 1..].trim()));
            }
            match (columns.comm, columns.module) {
                (Some(true), Some(false)) => (Some(only), None),
                (Some(true), Some(true)) => {
                    // One blank between a long thread name and its module.
                    only.rsplit_once(' ').map_or((Some(only), None), |(c, m)| (Some(c.trim()), Some(m)))
                }
                _ => match only.rsplit_once(' ') {
                    Some((comm, module)) => (Some(comm.trim()), Some(module)),
                    None => (None, Some(only)),
                },
            }
        }
        [comm, module] => (Some(comm), Some(module)),
        // `Pid:Command`, `CPU` and other sort keys in front: the last two are what we want.
        [.., comm, module] => (Some(comm), Some(module)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_all_ages_and_locales() {
        let all = Columns { comm: Some(true), module: Some(true), symbol: Some(true) };
        type Want<'a> = (f64, Option<f64>, Option<&'a str>, Option<&'a str>, &'a str);
        let wants: [(&str, Columns, Want); 11] = [
            (
                "  40,13%  [kernel]            [k] osq_lock         ",
                Columns::default(),
                (40.13, None, None, Some("kernel"), "osq_lock"),
            ),
            (
                "+   86.49%     0.07%  [spl]  [k] taskq_thread",
                Columns::default(),
                (0.07, Some(86.49), None, Some("spl"), "taskq_thread"),
            ),
            (
                "-   28.55%    28.55%  z_wr_iss  [kernel.kallsyms]   [k] osq_lock     ▒",
                all,
                (28.55, Some(28.55), Some("z_wr_iss"), Some("kernel"), "osq_lock"),
            ),
            (
                "    56.55%            82  w        libc.so.6     [.] std::f(int, char)",
                all,
                (56.55, None, Some("w"), Some("libc.so.6"), "std::f(int, char)"),
            ),
            (
                "  12.3%  arc_prune [zfs] [k] zfs_prune",
                Columns::default(),
                (12.3, None, Some("arc_prune"), Some("zfs"), "zfs_prune"),
            ),
            (
                "│  3.00%  Web Content  [zfs]  [k] x.isra.0   -      -  │",
                all,
                (3.0, None, Some("Web Content"), Some("zfs"), "x.isra.0"),
            ),
            ("   5.00%  [k] lone", Columns::default(), (5.0, None, None, None, "lone")),
            (
                "   5.00%  zdb  [.] f",
                Columns { comm: Some(true), module: Some(false), symbol: Some(true) },
                (5.0, None, Some("zdb"), None, "f"),
            ),
            ("   5.00%  zdb  [.] f", Columns::default(), (5.0, None, None, Some("zdb"), "f")),
            (
                "    2844.00 17.0% _spin_lock    [kernel]",
                Columns::default(),
                (17.0, None, None, Some("kernel"), "_spin_lock"),
            ),
            (
                "+  25.9% 1.2% a  [kernel]  [k] 0xffffffff81",
                all,
                (1.2, Some(25.9), Some("a"), Some("kernel"), "0xffffffff81"),
            ),
        ];
        for (text, columns, (pct, children, comm, module, symbol)) in wants {
            let row = parse(text, &columns).unwrap_or_else(|| panic!("no row: {text}"));
            assert_eq!(
                (row.pct, row.children_pct, row.comm.as_deref(), row.module.as_deref(), row.symbol.as_str()),
                (Some(pct), children, comm, module, symbol),
                "{text}"
            );
        }
        for text in
            ["", "50% of the time [k]", "100% sure", "  50%  [k]   ", "%", "250% x [k] y", "|--50.00%--f"]
        {
            assert!(parse(text, &Columns::default()).is_none(), "{text}");
        }
        assert!(is_header("# Samples: 144K of event 'cycles'") && !is_header("# a heading of a README"));
    }
}
