//! Kernel stacks of threads as FreeBSD's `procstat -kk` lists them, one thread a line.
//!
//! Each becomes a waiting stack of its thread. Threads that only wait for work are left out: what they
//! wait in says nothing of a delay.

use crate::blocks::{Block, Line, Sink, Taken};
use crate::cells::thread_name;
use zwhy_evidence::{OriginId, PctStack};

pub struct Procstat;

impl Block for Procstat {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let headers = usize::from(is_header(&lines.first()?.text));
        let mut found: Vec<(String, Vec<String>)> = Vec::new();
        let mut taken = Taken { kept: headers, dropped: Vec::new() };
        for line in &lines[headers..] {
            let Some((comm, frames)) = row(&line.text) else { break };
            if only_waits_for_work(&frames) {
                taken.drop("thread that waits for work", 1);
            } else {
                found.push((comm, frames));
                taken.kept += 1;
            }
        }
        if found.is_empty() {
            return None;
        }
        let origin: OriginId = sink.origin("procstat -kk", &lines[..taken.used()]);
        let depth = sink.max_depth;
        sink.evidence.trees.extend(found.into_iter().map(|(comm, frames)| PctStack {
            comm: Some(comm),
            waiting: true,
            frames: frames.into_iter().take(depth).rev().collect(),
            origin,
            ..PctStack::default()
        }));
        Some(taken)
    }
}

fn is_header(text: &str) -> bool {
    let mut words = text.split_whitespace();
    ["PID", "TID", "COMM", "TDNAME", "KSTACK"].iter().all(|want| words.next() == Some(want))
}

/// The thread and its functions, innermost first: `64265 693365 zfs - mi_switch+0xc1 _sleep+0x1ab`.
fn row(text: &str) -> Option<(String, Vec<String>)> {
    let words: Vec<&str> = text.split_whitespace().take(200).collect();
    let is_id = |w: &&str| w.bytes().all(|b| b.is_ascii_digit());
    let [pid, tid, comm, rest @ ..] = &words[..] else { return None };
    (is_id(pid) && is_id(tid)).then_some(())?;
    let first = rest.iter().position(|w| function(w).is_some())?;
    let thread = rest[..first].join(" ");
    let thread = if thread.is_empty() || thread == "-" { comm } else { thread.as_str() };
    let frames: Option<Vec<String>> = rest[first..].iter().map(|w| function(w)).collect();
    Some((thread_name(thread), frames?))
}

/// Whether the caller of what sleeps, innermost first, waits for work.
pub(super) fn only_waits_for_work(frames: &[String]) -> bool {
    let inside = frames.iter().find(|f| !zwhy_zfs::leaves_the_cpu(f));
    inside.is_none_or(|f| zwhy_zfs::waits_for_work(f))
}

/// `dmu_tx_wait+0x3cc`, and `thread_start+8` of mdb, which prints one digit without `0x`.
pub(super) fn function(word: &str) -> Option<String> {
    let (name, offset) =
        word.split_once("+0x").or_else(|| word.split_once('+').filter(|(_, at)| at.len() == 1))?;
    let known = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.".contains(&b))
        && !offset.is_empty()
        && offset.bytes().all(|b| b.is_ascii_hexdigit());
    known.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_of_freebsd_threads_that_do_not_wait_for_work() {
        let text = "  PID    TID COMM     TDNAME              KSTACK\n\
            64265 693365 zfs      -                   mi_switch+0xc1 sleepq_timedwait+0x2f _sleep+0x1ab pause_sbt+0xfe \
            dmu_tx_wait+0x3cc dmu_tx_assign+0x412 spa_history_log_nvl+0x7c\n\
            9 100321 zfskern  arc_evict           mi_switch+0xc1 _sleep+0x1ab zthr_procedure+0xd2 fork_exit+0x7e\n\
            9 100400 zfskern  txg_thread_enter    mi_switch+0xc1 sleepq_wait+0x2c _cv_wait+0x16a zio_wait+0x2b3 spa_sync+0x9\n";
        let read = |text: &str| crate::blocks::read("pasted", "x", text.as_bytes(), &[&Procstat], 4);
        let imported = read(text);
        let trees = &imported.evidence.trees;
        let told: Vec<_> =
            trees.iter().map(|t| (t.comm.as_deref().unwrap(), t.frames.last().unwrap().as_str())).collect();
        assert_eq!(told, [("zfs", "mi_switch"), ("txg_thread_enter", "mi_switch")]);
        assert_eq!(trees[1].frames, ["zio_wait", "_cv_wait", "sleepq_wait", "mi_switch"]);
        assert!(trees.iter().all(|t| t.waiting));
        assert!(read("64265 693365 zfs is slow since 0.8+0x1\n").evidence.trees.is_empty());
    }
}
