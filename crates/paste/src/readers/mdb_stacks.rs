//! Kernel stacks of illumos threads as `::stacks` of mdb lists them: each place at which threads stand, once.
//!
//! Each becomes a stack. Threads that only wait for work are left out, as of `procstat -kk`.

use super::procstat::{function, only_waits_for_work};
use crate::blocks::{Block, Line, Sink, Taken};
use zwhy_evidence::PctStack;

pub struct MdbStacks;

impl Block for MdbStacks {
    fn take(&self, lines: &[Line], sink: &mut Sink) -> Option<Taken> {
        let mut at =
            usize::from(lines.first()?.text.split_whitespace().eq(["THREAD", "STATE", "SOBJ", "COUNT"]));
        let mut taken = Taken { kept: at, dropped: Vec::new() };
        let mut found: Vec<(bool, Vec<String>)> = Vec::new();
        while let Some(running) = lines.get(at).and_then(|line| head(&line.text)) {
            let frames: Vec<String> =
                lines[at + 1..].iter().map_while(|line| function(line.text.trim())).collect();
            let used = 1 + frames.len();
            at += used;
            if !running && only_waits_for_work(&frames) {
                taken.drop("threads that wait for work", used);
            } else {
                taken.kept += used;
                found.push((running, frames));
            }
            let blank = lines[at..].iter().take_while(|line| line.is_blank()).count();
            if lines.get(at + blank).is_some_and(|line| head(&line.text).is_some()) {
                taken.drop("blank line", blank);
                at += blank;
            }
        }
        if taken.used() < 2 {
            return None;
        }
        let origin = sink.origin("mdb ::stacks", &lines[..at]);
        let depth = sink.max_depth;
        sink.evidence.trees.extend(found.into_iter().map(|(running, frames)| PctStack {
            waiting: !running,
            frames: frames.into_iter().take(depth).rev().collect(),
            origin,
            ..PctStack::default()
        }));
        Some(taken)
    }
}

/// `ffffff0007c0bc40 SLEEP    CV        84`: whether such threads were on a CPU.
fn head(text: &str) -> Option<bool> {
    let words: Vec<&str> = text.split_whitespace().take(5).collect();
    let [thread, state, _, count] = words[..] else { return None };
    let is_thread = thread.len() >= 8 && thread.bytes().all(|b| b.is_ascii_hexdigit());
    let known = ["FREE", "SLEEP", "RUN", "ONPROC", "ZOMB", "STOPPED", "WAIT", "PANIC"].contains(&state);
    (is_thread && known && count.parse::<u32>().is_ok()).then_some(state == "ONPROC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_of_illumos_threads_that_do_not_wait_for_work() {
        let text = "THREAD           STATE    SOBJ                COUNT\n\
            ffffff0007c0bc40 SLEEP    CV                     84\n                 swtch+0x145\n                 \
            cv_wait+0x61\n                 taskq_thread_wait+0x6b\n                 taskq_thread+0x2c0\n                 \
            thread_start+8\n\n\
            ffffff001f3e2c40 SLEEP    CV                      3\n                 swtch+0x141\n                 \
            cv_wait+0x70\n                 zio_wait+0x5b\n                 dmu_buf_hold_array_by_dnode+0x1f4\n\n\
            ffffff001f3e2c41 ONPROC   <NONE>                  1\n                 lz4_compress+0x12\n\n\
            that was all\n";
        let read = |text: &str| crate::blocks::read("pasted", "x", text.as_bytes(), &[&MdbStacks], 3);
        let imported = read(text);
        let told: Vec<_> = imported.evidence.trees.iter().map(|t| (t.waiting, t.frames.join(" "))).collect();
        assert_eq!(told, [(true, "zio_wait cv_wait swtch".to_owned()), (false, "lz4_compress".to_owned())]);
        assert_eq!(imported.stats.dropped["threads that wait for work"], 6);
        assert!(read("deadbeefdeadbeef SLEEP is 1\n").evidence.trees.is_empty());
    }
}
