//! Blocked processes as ps lists them: `2770 D txg_rele_to_sync [z_wr_int_h/0]`.
//!
//! The function that a task sleeps in (`wchan`) becomes a waiting stack of one frame. Only tasks in
//! uninterruptible sleep count: all others wait for something to do.

use super::threads::thread_name;
use crate::blocks::{Block, Line, Sink, Taken};
use zwhy_evidence::{OriginId, PctKind, PctStack};

pub struct Blocked;

impl Block for Blocked {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let headers = usize::from(is_header(&lines.first()?.text));
        let mut found: Vec<(String, String)> = Vec::new();
        let mut taken = Taken { kept: headers, dropped: Vec::new() };
        for line in &lines[headers..] {
            match row(&line.text) {
                Some((true, function, comm)) => {
                    found.push((function.to_owned(), comm));
                    taken.kept += 1;
                }
                Some((false, ..)) if headers > 0 => taken.drop("process that is not blocked", 1),
                _ => break,
            }
        }
        if found.is_empty() {
            return None;
        }
        let origin: OriginId = sink.origin("blocked processes", &lines[..taken.used()]);
        sink.evidence.trees.extend(found.into_iter().map(|(function, comm)| PctStack {
            pct: None,
            kind: PctKind::Unclear,
            comm: Some(comm),
            waiting: true,
            frames: vec![function],
            origin,
        }));
        Some(taken)
    }
}

fn is_header(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().take(6).collect();
    words.first() == Some(&"PID")
        && matches!(words.get(1), Some(&"S" | &"STAT" | &"STATE"))
        && words.get(2) == Some(&"WCHAN")
}

/// Whether it is blocked, the function and the name.
fn row(text: &str) -> Option<(bool, &str, String)> {
    let mut words = text.split_whitespace();
    words.next().filter(|w| w.bytes().all(|b| b.is_ascii_digit()))?;
    let state = words.next().filter(|w| w.len() <= 4 && w.starts_with(['D', 'S', 'R', 'I', 'Z', 'T']))?;
    let function = words.next().filter(|w| {
        let name = w.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_.".contains(&b));
        *w == "-" || (name && w.contains('_'))
    })?;
    let command: Vec<&str> = words.collect();
    if command.is_empty() {
        return None;
    }
    Some((state.starts_with('D') && function != "-", function, thread_name(&command.join(" "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_uninterruptible_sleep_is_blocked() {
        let got = row("2770 D txg_rele_to_sync                 [z_wr_int_h/0]").unwrap();
        assert_eq!(got, (true, "txg_rele_to_sync", "z_wr_int_h/0".to_owned()));
        assert!(!row("812 Ss do_epoll_wait /usr/sbin/smbd -D").unwrap().0);
        assert!(!row("812 D - [kworker/0:1]").unwrap().0);
        assert_eq!(row("2770 D disks were slow"), None);
    }
}
