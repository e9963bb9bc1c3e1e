//! `/proc/spl/kstat/zfs/dbgmsg`: what ZFS noted of imports, slow tasks and its own decisions.
//!
//! Table `dbgmsg` (event, time s, function), in the order of the text; times are seconds since 1970.

use super::cells;
use crate::blocks::{Block, Line, Sink, Taken};

/// Messages of one table; those after them make the next one, so that none is lost.
const MOST: usize = 5000;
/// Letters of a message that are kept.
const MOST_LETTERS: usize = 160;

/// Lines such as `1602182716   spa.c:5638:spa_tryimport(): spa_tryimport: importing tank`.
pub struct Dbgmsg;

impl Block for Dbgmsg {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let first: Vec<&str> = lines.first()?.text.split_whitespace().take(3).collect();
        let header = usize::from(first[..] == ["timestamp", "message"]);
        let rows: Vec<Vec<String>> =
            lines[header..].iter().map_while(|l| message(&l.text)).take(MOST).collect();
        if rows.is_empty() {
            return None;
        }
        let used = header + rows.len();
        let origin = sink.origin("dbgmsg", &lines[..used]);
        cells::table(sink, "dbgmsg", cells::names(&["event", "time s", "function"]), rows, origin);
        Taken::kept(used)
    }
}

/// Event, seconds and function of one line.
fn message(text: &str) -> Option<Vec<String>> {
    let (stamp, rest) = text.trim().split_once(char::is_whitespace)?;
    let is_stamp = stamp.len() == 10 && stamp.bytes().all(|b| b.is_ascii_digit());
    let (place, event) = rest.trim_start().split_once("(): ").filter(|_| is_stamp)?;
    let mut parts = place.split(':');
    let (file, line, function) = (parts.next()?, parts.next()?, parts.next()?);
    let is_place = file.ends_with(".c") && line.bytes().all(|b| b.is_ascii_digit()) && parts.next().is_none();
    let event = event.char_indices().nth(MOST_LETTERS).map_or(event, |(at, _)| &event[..at]);
    is_place.then(|| cells::names(&[event, stamp, function]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_a_time_and_a_place() {
        let got =
            message("1602182800   spa_misc.c:408:spa_load_note(): spa_load($import, config trusted): LOADED");
        let want = ["spa_load($import, config trusted): LOADED", "1602182800", "spa_load_note"];
        assert_eq!(got, Some(want.map(str::to_owned).to_vec()));
        for other in [
            "1602182800   a sentence",
            "16021828   spa.c:1:f(): x",
            "1602182800 spa:1:f(): x",
            "1602182800 spa.c:x:f(): y",
            "",
        ] {
            assert_eq!(message(other), None, "{other}");
        }
    }
}
