//! Output for terminals: tables in columns, and names of hosts that are harmless.

use anyhow::Result;
use std::io::{ErrorKind, Write};

/// Writes to standard output.
pub fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Writes a value as JSON to standard output.
pub fn print_json(value: &impl serde::Serialize) -> Result<()> {
    print(&(serde_json::to_string_pretty(value)? + "\n"))
}

/// Writes warnings of the parts of a cluster to standard error; what they say of hosts and queries is harmless there.
pub fn log_warnings() {
    struct Warnings;
    impl log::Log for Warnings {
        fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
            metadata.level() <= log::Level::Warn
        }
        fn log(&self, record: &log::Record<'_>) {
            if self.enabled(record.metadata()) {
                let level = record.level().as_str().to_ascii_lowercase();
                let _ = writeln!(std::io::stderr(), "{level}: {}", plain(&record.args().to_string()));
            }
        }
        fn flush(&self) {}
    }
    if log::set_logger(&Warnings).is_ok() {
        log::set_max_level(log::LevelFilter::Warn);
    }
}

/// Whoever reads the output has left: `zwhy-fleet query functions | head`.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    io.is_some_and(|e| e.kind() == ErrorKind::BrokenPipe)
}

/// A name as it is shown: control characters, and those that change the direction of text, as `?`.
pub fn plain(text: &str) -> String {
    let odd = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    text.chars().map(|c| if odd(c) { '?' } else { c }).collect()
}

/// `41.3 %`.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Rows below a heading, in columns; the columns named in `right` are numbers.
pub fn grid(heading: &[&str], right: &[usize], rows: &[Vec<String>]) -> String {
    let clean: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| plain(cell)).collect()).collect();
    let cells = |text: &str| text.chars().count();
    let width = |at: usize| {
        let rows = clean.iter().filter_map(|row| row.get(at)).map(|cell| cells(cell));
        rows.chain([cells(heading[at])]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heading.len()).map(width).collect();
    let line = |row: &[&str]| {
        let mut out = String::new();
        for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let blanks = " ".repeat(width - cells(cell));
            let gap = if at > 0 { "  " } else { "" };
            match right.contains(&at) {
                true => out.push_str(&format!("{gap}{blanks}{cell}")),
                false => out.push_str(&format!("{gap}{cell}{blanks}")),
            }
        }
        out.trim_end().to_owned() + "\n"
    };
    let mut out = line(heading);
    clean.iter().for_each(|row| out.push_str(&line(&row.iter().map(String::as_str).collect::<Vec<_>>())));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_below_each_other_and_names_are_harmless() {
        let rows = vec![vec!["a\x1b[2J".into(), "5".into()], vec!["host".into(), "1234".into()]];
        assert_eq!(grid(&["host", "n"], &[1], &rows), "host      n\na?[2J     5\nhost   1234\n");
        assert_eq!(plain("a\u{202e}b"), "a?b");
    }
}
