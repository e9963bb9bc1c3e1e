//! `pmcstat -T` of FreeBSD: functions by share of samples, each with its callers.
//!
//! Invariant: a row's share is that of the function itself; callers get their parts of it, `caller:PCT`, and what is
//! left is nobody's.

use crate::blocks::{Block, Line, Sink, Taken};
use zwhy_evidence::{FlatRow, OriginId, PctKind, PctStack};

pub struct Pmcstat;

impl Block for Pmcstat {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let mut taken = Taken::default();
        let mut at = 0;
        if is_title(&lines.first()?.text) {
            at += 1;
            let blank = lines[at..].iter().take(2).take_while(|l| l.is_blank()).count();
            at += blank;
            taken.drop("blank line", blank);
        }
        if !lines.get(at)?.text.split_whitespace().take(3).eq(["%SAMP", "IMAGE", "FUNCTION"]) {
            return None;
        }
        let heading = at;
        let rows: Vec<Row> = lines[at + 1..].iter().map_while(|l| row(&l.text)).collect();
        at += 1 + rows.len();
        if rows.is_empty() {
            return None;
        }
        taken.kept = usize::from(heading > 0) + 1 + rows.len();
        let origin = sink.origin("pmcstat -T", &lines[..at]);
        for row in rows {
            for (caller, pct) in &row.callers {
                sink.evidence.trees.push(PctStack {
                    pct: Some(*pct),
                    kind: PctKind::Own,
                    frames: vec![caller.clone(), row.function.clone()],
                    origin,
                    ..PctStack::default()
                });
            }
            sink.evidence.flat.push(row.flat(origin));
        }
        Some(taken)
    }
}

struct Row {
    pct: f64,
    image: String,
    function: String,
    callers: Vec<(String, f64)>,
}

impl Row {
    fn flat(self, origin: OriginId) -> FlatRow {
        let module = Some(self.image.trim_end_matches(".ko").to_owned());
        FlatRow { pct: Some(self.pct), module, symbol: self.function, origin, ..FlatRow::default() }
    }
}

/// `PMC: [cpu_clk_unhalted.thread] Samples: 61284 (100.0%) , 0 unresolved`
fn is_title(text: &str) -> bool {
    text.trim_start().starts_with("PMC: [") && text.contains("Samples:")
}

/// `23.8 kernel  memcpy_erms  abd_copy_to_buf_off_cb:21.9 uiomove_faultflag:1.9`; a caller alone has no figure.
fn row(text: &str) -> Option<Row> {
    let mut words = text.split_whitespace();
    let pct: f64 = words.next()?.parse().ok().filter(|p| (0.0..=100.0).contains(p))?;
    let (image, function) = (words.next()?.to_owned(), words.next()?.to_owned());
    if !function.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return None;
    }
    let callers: Vec<&str> = words.collect();
    let alone = callers.len() == 1;
    let caller = |word: &&str| match word.rsplit_once(':') {
        Some((name, part)) => Some((name.to_owned(), part.parse().ok()?)),
        None if alone => Some(((*word).to_owned(), pct)),
        None => None,
    };
    Some(Row { pct, image, function, callers: callers.iter().filter_map(caller).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use zwhy_evidence::Evidence;

    fn evidence_of(text: &str) -> Evidence {
        crate::blocks::read("pasted", "x", text.as_bytes(), &[&Pmcstat], 9).evidence
    }

    #[test]
    fn functions_with_their_callers() {
        let text = "PMC: [cpu_clk_unhalted.thread] Samples: 61284 (100.0%) , 0 unresolved\n\n\
            %SAMP IMAGE      FUNCTION             CALLERS\n 23.8 kernel     memcpy_erms          \
            abd_copy_to_buf_off_cb:21.9 uiomove_faultflag:1.9\n  5.2 zfs.ko     abd_iterate_func     \
            abd_copy_to_buf_off\n  1.1 kernel     cpu_idle\n";
        let evidence = evidence_of(text);
        let flat: Vec<_> =
            evidence.flat.iter().map(|r| (r.pct, r.module.as_deref(), r.symbol.as_str())).collect();
        assert_eq!(
            flat,
            [
                (Some(23.8), Some("kernel"), "memcpy_erms"),
                (Some(5.2), Some("zfs"), "abd_iterate_func"),
                (Some(1.1), Some("kernel"), "cpu_idle"),
            ]
        );
        let trees: Vec<_> = evidence.trees.iter().map(|t| (t.pct, t.frames.join(";"))).collect();
        assert_eq!(
            trees,
            [
                (Some(21.9), "abd_copy_to_buf_off_cb;memcpy_erms".to_owned()),
                (Some(1.9), "uiomove_faultflag;memcpy_erms".to_owned()),
                (Some(5.2), "abd_copy_to_buf_off;abd_iterate_func".to_owned()),
            ]
        );
    }

    #[test]
    fn a_heading_alone_is_nothing() {
        let evidence = evidence_of("%SAMP IMAGE FUNCTION CALLERS\nand then nothing\n");
        assert!(evidence.flat.is_empty());
    }
}
