//! How often bpftrace saw functions called: `@w: 82611` below a script that counts a probe in `@w`, and maps that are
//! keyed by the probe itself.
//!
//! Emits the table `calls counted` (function, calls), and each function as one that was seen.

use crate::blocks::{Block, Line, Sink, Taken};
use crate::cells;
use zwhy_evidence::PctStack;

pub struct Probes;

pub(super) const COLUMNS: [&str; 2] = ["function", "calls"];

impl Block for Probes {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let script = sink.command.clone().filter(|command| command.contains("bpftrace")).unwrap_or_default();
        let counted = |line: &Line| counted(&line.text, &script);
        let rows: Vec<(String, u64)> = lines.iter().map_while(counted).collect();
        if rows.is_empty() {
            return None;
        }
        let origin = sink.origin("calls counted by bpftrace", &lines[..rows.len()]);
        for (function, _) in rows.iter().filter(|(_, calls)| *calls > 0) {
            let frames = vec![function.clone()];
            sink.evidence.trees.push(PctStack { frames, origin, ..PctStack::default() });
        }
        let used = rows.len();
        let rows = rows.into_iter().map(|(function, calls)| vec![function, calls.to_string()]).collect();
        cells::table(sink, "calls counted", cells::names(&COLUMNS), rows, origin);
        Taken::kept(used)
    }
}

/// The function that a line counts, and how often it was called.
fn counted(text: &str, script: &str) -> Option<(String, u64)> {
    let (key, calls) = text.trim().strip_prefix('@')?.rsplit_once(": ")?;
    let calls = calls.parse().ok()?;
    let function = match key.split_once('[') {
        Some((_, probe)) => {
            let probe = probe.strip_suffix(']')?;
            is_probe(probe).then(|| of_probe(probe)).flatten()?
        }
        None => counted_in(script, key)?,
    };
    Some((function.to_owned(), calls))
}

/// Kinds of probes at the start of functions; a return is counted as the call.
const KINDS: [&str; 6] = ["kprobe:", "kretprobe:", "kfunc:", "fentry:", "fexit:", "kretfunc:"];

fn is_probe(text: &str) -> bool {
    KINDS.iter().any(|kind| text.starts_with(kind))
}

/// `kprobe:zil_commit`, `kfunc:zfs:zil_commit`; `None` where it is of many functions or of none.
fn of_probe(probe: &str) -> Option<&str> {
    let name = probe.rsplit(':').next()?;
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    (plain && name.len() > 2).then_some(name)
}

/// The function whose probe a script counts in a map: `kprobe:zil_commit { @c = count(); }`. `None` where several are.
fn counted_in<'s>(script: &'s str, map: &str) -> Option<&'s str> {
    let (_, program) = script.split_once(['\'', '"'])?;
    let mut found = None;
    for clause in program.split('}') {
        let Some((probes, action)) = clause.split_once('{') else { continue };
        if !counts(action, map) {
            continue;
        }
        let probes = probes.split('/').next()?;
        for probe in probes.split(',').map(str::trim).filter(|p| is_probe(p)) {
            if found.is_some() {
                return None;
            }
            found = Some(of_probe(probe)?);
        }
    }
    found
}

/// `@c = count()`, `@c++`.
fn counts(action: &str, map: &str) -> bool {
    action.split(';').map(str::trim).any(|statement| {
        let rest = statement.strip_prefix('@').and_then(|s| s.strip_prefix(map)).map(str::trim_start);
        rest.is_some_and(|rest| {
            rest.starts_with("++")
                || rest.strip_prefix('=').is_some_and(|value| value.trim_start().starts_with("count()"))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_belongs_to_the_probe_that_counts_in_it() {
        let script = "bpftrace -e 'kprobe:zio_write_gang_block { @w = count(); } kprobe:arc_read /pid > 0/ { @ar++; } \
            kprobe:zil_commit { @t[tid] = nsecs; @sum = sum(1); } kprobe:a1,kprobe:b1 { @ab = count(); } interval:s:30 { exit(); }'";
        for (line, want) in [
            ("@w: 82611", Some(("zio_write_gang_block", 82_611))),
            ("@ar: 61208", Some(("arc_read", 61_208))),
            ("@sum: 4", None),
            ("@ab: 4", None),
            ("@nothing: 4", None),
            ("@[kprobe:zil_commit]: 12", Some(("zil_commit", 12))),
            ("@n[kfunc:zfs:dmu_tx_assign]: 3", Some(("dmu_tx_assign", 3))),
            ("@[postgres]: 12", None),
            ("@w: many", None),
        ] {
            let want = want.map(|(name, calls): (&str, u64)| (name.to_owned(), calls));
            assert_eq!(counted(line, script), want, "{line}");
        }
    }
}
