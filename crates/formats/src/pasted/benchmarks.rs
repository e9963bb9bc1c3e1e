//! Result lines of small tools: dd, `perf stat`, `time`.

use super::cells;
use super::report_lines::report_lines;
use crate::blocks::{Block, Line, Sink, Taken};
use crate::text::numbers;

/// `1073741824 bytes (1.1 GB, 1.0 GiB) copied, 1.234 s, 870 MB/s`, FreeBSD's `… bytes transferred in …`.
pub struct Dd;

impl Block for Dd {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let records = lines.iter().take(2).take_while(|l| is_records(&l.text)).count();
        let (bytes, seconds) = copied(&lines.get(records)?.text)?;
        let used = records + 1;
        let origin = sink.origin("dd", &lines[..used]);
        let command = sink.command.as_deref().filter(|c| c.contains("dd ")).unwrap_or("");
        let option = |key: &str| {
            let found = command.split_whitespace().find_map(|w| w.strip_prefix(key));
            found.unwrap_or("").to_owned()
        };
        let row = vec![
            option("if="),
            option("of="),
            option("bs="),
            cells::show(bytes),
            cells::show(seconds),
            cells::show(bytes / seconds / 1e6),
        ];
        let columns = cells::names(&["if", "of", "bs", "bytes", "seconds", "MB/s"]);
        cells::table(sink, "dd", columns, vec![row], origin);
        Taken::kept(used)
    }
}

/// `1024+0 records in`; its words are translated, its figures are not.
fn is_records(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or("");
    first
        .split_once('+')
        .is_some_and(|(a, b)| [a, b].iter().all(|n| !n.is_empty() && n.bytes().all(|c| c.is_ascii_digit())))
}

/// Bytes and seconds.
fn copied(text: &str) -> Option<(f64, f64)> {
    let text = text.trim();
    let (bytes, rest) = text.split_once(' ')?;
    let bytes: f64 = bytes.parse().ok()?;
    let seconds = if let Some((_, rest)) = rest.split_once(" transferred in ") {
        rest.split(' ').next()?
    } else {
        // `bytes (1.1 GB) copied, 1.234 s, 870 MB/s`; in other languages only the order is the same.
        let parts: Vec<&str> = rest.split(", ").collect();
        let at = parts.iter().position(|p| p.ends_with(" s"))?;
        parts.get(at + 1).filter(|p| p.ends_with("B/s"))?;
        parts[at].trim_end_matches(" s").split(' ').next_back()?
    };
    let seconds = numbers::decimal(seconds).filter(|s| *s > 0.0)?;
    Some((bytes, seconds))
}

/// `perf stat`: `   1,234,567      cycles        #    2.9 GHz`.
pub struct PerfStat;

impl Block for PerfStat {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let head = lines.first()?.text.trim();
        head.starts_with("Performance counter stats for").then_some(())?;
        let mut rows = Vec::new();
        let mut taken = Taken { kept: 1, dropped: Vec::new() };
        for (blanks, line) in report_lines(&lines[1..]) {
            let Some(row) = counter(line.text.trim()) else { break };
            rows.push(row);
            taken.drop("blank line", blanks);
            taken.kept += 1;
        }
        if rows.is_empty() {
            return None;
        }
        let origin = sink.origin("perf stat", &lines[..taken.used()]);
        let columns = cells::names(&["event", "value", "unit", "note"]);
        cells::table(sink, "perf stat", columns, rows, origin);
        Some(taken)
    }
}

fn counter(text: &str) -> Option<Vec<String>> {
    let (figures, note) = text.split_once('#').unwrap_or((text, ""));
    let words: Vec<&str> = figures.split_whitespace().take(12).collect();
    if let Some(start) = figures.strip_prefix("<not ") {
        let event = start.split_once('>')?.1.trim();
        return Some(vec![event.to_owned(), String::new(), String::new(), "not counted".to_owned()]);
    }
    let value = numbers::number(words.first()?)?;
    let (unit, event) = match words[1..] {
        ["seconds", what, ..] => ("s", what),
        [unit @ ("msec" | "Joules" | "MiB"), event, ..] => (unit, event),
        [event, ..] => ("", event),
        [] => return None,
    };
    let is_event = event.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.:/,=".contains(&b))
        && event.contains(|c: char| c.is_ascii_lowercase());
    let note = note.split_whitespace().collect::<Vec<_>>().join(" ");
    is_event.then(|| vec![event.to_owned(), cells::show(value), unit.to_owned(), note])
}

/// `real 1m3.456s` with `user` and `sys`, of bash, zsh and GNU time.
pub struct Time;

impl Block for Time {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        if let Some(row) = lines.first().and_then(|l| of_zsh(&l.text)) {
            let origin = sink.origin("time", &lines[..1]);
            cells::table(
                sink,
                "time",
                cells::names(&["command", "real s", "user s", "sys s"]),
                vec![row],
                origin,
            );
            return Taken::kept(1);
        }
        let (typed, above) = timed(lines);
        let names = ["real", "user", "sys"];
        let found: Vec<f64> =
            names.iter().zip(&lines[above..]).map_while(|(name, line)| seconds(name, &line.text)).collect();
        let [real, user, sys] = found[..] else { return None };
        let used = above + names.len();
        let origin = sink.origin("time", &lines[..used]);
        let command = typed.or(sink.command.as_deref()).unwrap_or("");
        let command = command.trim_start_matches("sudo ").trim_start_matches("time ");
        let row = [command.to_owned()].into_iter().chain([real, user, sys].map(cells::show)).collect();
        let columns = cells::names(&["command", "real s", "user s", "sys s"]);
        cells::table(sink, "time", columns, vec![row], origin);
        Taken::kept(used)
    }
}

/// A command without a prompt that was timed (`time zfs list`), and the lines down to its result.
fn timed<'l>(lines: &'l [Line]) -> (Option<&'l str>, usize) {
    const MOST_BLANKS: usize = 2;
    let typed =
        lines.first().map(|l| l.text.trim()).filter(|t| t.trim_start_matches("sudo ").starts_with("time "));
    let blanks = lines.iter().skip(1).take_while(|l| l.text.trim().is_empty()).count();
    match typed {
        Some(typed) if blanks <= MOST_BLANKS => (Some(typed), 1 + blanks),
        _ => (None, 0),
    }
}

/// `tar cf - /z  0.12s user 0.98s system 99% cpu 1.108 total`, also `1:02.5 total`.
fn of_zsh(text: &str) -> Option<Vec<String>> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [command @ .., user, "user", sys, "system", cpu, "cpu", real, "total"] = &words[..] else {
        return None;
    };
    cpu.strip_suffix('%')?.parse::<f64>().ok()?;
    let part = |w: &str| numbers::decimal(w.strip_suffix('s')?).map(cells::show);
    let real = real.split(':').try_fold(0.0, |sum, part| Some(sum * 60.0 + numbers::decimal(part)?))?;
    Some(vec![command.join(" "), cells::show(real), part(user)?, part(sys)?])
}

fn seconds(name: &str, text: &str) -> Option<f64> {
    let rest = text.trim().strip_prefix(name)?;
    rest.starts_with([' ', '\t']).then_some(())?;
    let text = rest.trim().trim_end_matches('s');
    match text.split_once('m') {
        Some((minutes, seconds)) => Some(minutes.parse::<f64>().ok()? * 60.0 + numbers::decimal(seconds)?),
        None => numbers::decimal(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_dd_in_several_tongues() {
        for (text, want) in [
            ("1073741824 bytes (1.1 GB, 1.0 GiB) copied, 2 s, 537 MB/s", Some((1073741824.0, 2.0))),
            ("1000 bytes (1.0 kB) copied, 0,5 s, 2.0 kB/s", Some((1000.0, 0.5))),
            ("1073741824 bytes transferred in 4.0 secs (268435456 bytes/sec)", Some((1073741824.0, 4.0))),
            ("1000 bytes (1,0 kB, 1000 B) kopiert, 0,5 s, 2,0 kB/s", Some((1000.0, 0.5))),
            ("12 bytes are too few", None),
        ] {
            assert_eq!(copied(text), want, "{text}");
        }
        let zsh = of_zsh("tar cf - /z  0.12s user 0.98s system 99% cpu 1:02.5 total").unwrap();
        assert_eq!(zsh, ["tar cf - /z", "62.5", "0.12", "0.98"]);
        assert_eq!(of_zsh("the user said the system has a cpu in total"), None);
        assert_eq!(seconds("real", "real\t1m3.5s"), Some(63.5));
        assert_eq!(seconds("sys", "sys 0,12"), Some(0.12));
        assert_eq!(seconds("real", "really 5"), None);
    }

    #[test]
    fn counters_with_units_and_notes() {
        let got = counter("10,193.72 msec task-clock   #    4.357 CPUs utilized").unwrap();
        assert_eq!(got, ["task-clock", "10193.72", "msec", "4.357 CPUs utilized"]);
        assert_eq!(counter("2.339594000 seconds time elapsed").unwrap()[..3], ["time", "2.3396", "s"]);
        assert_eq!(counter("<not supported>      cycles").unwrap()[0], "cycles");
        assert_eq!(counter("a word"), None);
    }
}
