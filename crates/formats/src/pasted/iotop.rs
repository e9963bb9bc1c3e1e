//! Rows of iotop: what each thread reads and writes, and the part of time that it waits for I/O.
//!
//! Table `iotop`. `io %` is time spent waiting, not CPU: a thread of ZFS at 99 % may be idle otherwise.

use super::cells;
use crate::blocks::{Block, Line, Sink, Taken};
use crate::text::numbers;

const COLUMNS: [&str; 8] = ["tid", "prio", "user", "disk read", "disk write", "swapin %", "io %", "command"];

pub struct Iotop;

impl Block for Iotop {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        const MOST_HEADERS: usize = 4;
        let headers = lines.iter().take(MOST_HEADERS).take_while(|l| is_header(&l.text)).count();
        let rows: Vec<Vec<String>> = lines[headers..].iter().map_while(|l| row(&l.text)).collect();
        if rows.is_empty() {
            return None;
        }
        let used = headers + rows.len();
        let origin = sink.origin("iotop", &lines[..used]);
        cells::table(sink, "iotop", cells::names(&COLUMNS), rows, origin);
        Taken::kept(used)
    }
}

/// `Total DISK READ: …`, `Actual DISK READ: …`, and the names of the columns, `>` at the sorted one.
fn is_header(text: &str) -> bool {
    let text = text.trim();
    ["Total DISK READ", "Actual DISK READ", "Current DISK READ"].iter().any(|s| text.starts_with(s))
        || (text.contains("PRIO") && text.contains("USER") && text.contains("DISK READ"))
}

/// `968 be/0 root  0.00 B/s  0.00 B/s  0.00 % 99.99 % [txg_sync]`: the I/O class tells it from all else.
fn row(text: &str) -> Option<Vec<String>> {
    let mut words = text.split_whitespace();
    let tid = words.next().filter(|w| w.bytes().all(|b| b.is_ascii_digit()))?;
    let prio = words.next().filter(|w| {
        *w == "idle" || w.strip_prefix("be/").or(w.strip_prefix("rt/")).is_some_and(|n| n.len() == 1)
    })?;
    let user = words.next()?;
    let mut row = cells::names(&[tid, prio, user]);
    // Two rates with their unit apart (`145.47 M`, `0.00 B/s`), and two parts of time.
    for _ in 0..2 {
        let (figure, unit) = (words.next()?, words.next()?);
        numbers::number(figure)?;
        row.push(format!("{}{unit}", cells::plain(figure)));
    }
    let mut rest = words.peekable();
    for _ in 0..2 {
        // A kernel without delay accounting prints no parts of time.
        if rest.peek() == Some(&"?unavailable?") {
            rest.next();
            row.push(String::new());
            continue;
        }
        let figure = rest.next()?;
        let bare = figure.trim_end_matches('%');
        numbers::number(bare)?;
        if bare.len() == figure.len() && rest.next() != Some("%") {
            return None;
        }
        row.push(format!("{}%", cells::plain(bare)));
    }
    let command: Vec<&str> = rest.collect();
    row.push(command.join(" "));
    (!command.is_empty()).then_some(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_with_and_without_seconds() {
        let got = row("  968 be/0 root        0.00 B/s    0.00 B/s  0.00 % 99.99 % [txg_sync]").unwrap();
        assert_eq!(got[3..], ["0.00B/s", "0.00B/s", "0.00%", "99.99%", "[txg_sync]"]);
        let got = row("  743 be/7 root  145,47 M  0,00 B  0,00 %  0,00 % [z_rd_int/11]").unwrap();
        assert_eq!((got[3].as_str(), got[7].as_str()), ("145.47M", "[z_rd_int/11]"));
        let got = row("77 be/4 root 0.00 B/s 1.00 K/s ?unavailable?  ?unavailable?  kvm -id 101").unwrap();
        assert_eq!((got[6].as_str(), got[7].as_str()), ("", "kvm -id 101"));
        assert_eq!(row("3 be/4 of them are root and the rest is not"), None);
        assert!(is_header("  TID  PRIO  USER     DISK READ>  DISK WRITE  SWAPIN      IO    COMMAND"));
    }
}
