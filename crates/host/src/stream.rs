//! A tool of ZFS that goes on writing while something is recorded.
//!
//! Invariants: nobody waits for it, even where it hangs on a suspended pool; dropped, it is told to end. At most
//! [`MOST_LINES`] lines wait to be taken: then the tool waits.

use crate::facts::{ASKING_THREAD, zfs_command};
use crate::monotonic_ns;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const MOST_LINES: usize = 8192;
/// Bytes of a line: names of devices are shorter.
const LONGEST: u64 = 64 << 10;

/// What the thread that reads and its owner share.
#[derive(Default)]
struct Shared {
    child: Option<Child>,
    given_up: bool,
}

/// A running tool.
pub struct ToolStream {
    lines: Receiver<(u64, String)>,
    shared: Arc<Mutex<Shared>>,
}

impl ToolStream {
    /// Starts a program, also one that lies where only root looks for it. Where it cannot be started the stream ends
    /// at once.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(program: &Path, args: &[String]) -> std::io::Result<ToolStream> {
        let mut command = zfs_command(program);
        command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let shared = Arc::new(Mutex::new(Shared::default()));
        let (send, lines) = sync_channel(MOST_LINES);
        let of_thread = Arc::clone(&shared);
        // By the name of its thread the recorder knows its own commands.
        let thread = std::thread::Builder::new().name(ASKING_THREAD.to_owned());
        thread.spawn(move || {
            let Ok(mut child) = command.spawn() else { return };
            let stdout = child.stdout.take();
            let given_up = {
                let mut shared = lock(&of_thread);
                shared.child = Some(child);
                shared.given_up
            };
            if let Some(stdout) = stdout.filter(|_| !given_up) {
                pass_on(BufReader::new(stdout), &send);
            }
            let child = lock(&of_thread).child.take();
            if let Some(mut child) = child {
                let _ = child.kill();
                let _ = child.wait();
            }
        })?;
        Ok(ToolStream { lines, shared })
    }

    /// The lines since the last call, each with the monotonic clock when it came, and whether there will be no more.
    pub fn take(&self) -> (Vec<(u64, String)>, bool) {
        let mut lines = Vec::new();
        loop {
            match self.lines.try_recv() {
                Ok(line) => lines.push(line),
                Err(TryRecvError::Empty) => return (lines, false),
                Err(TryRecvError::Disconnected) => return (lines, true),
            }
        }
    }
}

impl Drop for ToolStream {
    fn drop(&mut self) {
        let mut shared = lock(&self.shared);
        shared.given_up = true;
        if let Some(child) = &mut shared.child {
            // It is waited for by its thread, which may take for ever.
            let _ = child.kill();
        }
    }
}

/// What is shared stays whole, whoever panics.
fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn pass_on(mut from: impl BufRead, send: &SyncSender<(u64, String)>) {
    let mut line = Vec::new();
    while let Ok(1..) = from.by_ref().take(LONGEST).read_until(b'\n', &mut line) {
        let text = String::from_utf8_lossy(&line).trim_end_matches('\n').to_owned();
        if send.send((monotonic_ns(), text)).is_err() {
            return;
        }
        line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    fn shell(script: &str) -> ToolStream {
        ToolStream::start(Path::new("sh"), &["-c".to_owned(), script.to_owned()]).unwrap()
    }

    /// Waits until there is what is asked for, however slow the machine is.
    fn until(mut is: impl FnMut() -> bool) {
        let begin = Instant::now();
        while !is() {
            assert!(begin.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    #[test]
    fn lines_come_as_they_are_written() {
        let before = monotonic_ns();
        let tool = shell("echo a; printf 'b\\tc\\n'; exec sleep 600");
        let mut seen = Vec::new();
        until(|| {
            let (lines, ended) = tool.take();
            assert!(!ended);
            seen.extend(lines);
            seen.len() == 2
        });
        assert!(seen[0].0 >= before && seen[1].0 >= seen[0].0);
        assert_eq!((seen[0].1.as_str(), seen[1].1.as_str()), ("a", "b\tc"));
    }

    #[test]
    fn a_tool_that_ends_or_is_not_there_says_so() {
        let tool = shell("echo last");
        let mut seen = Vec::new();
        until(|| {
            let (lines, ended) = tool.take();
            seen.extend(lines);
            ended
        });
        assert_eq!(seen.len(), 1);
        let none = ToolStream::start(Path::new("no-such-program-here"), &[]).unwrap();
        until(|| none.take().1);
    }

    #[test]
    fn dropped_it_ends() {
        let tool = shell("echo $$; exec sleep 600");
        let mut pid = String::new();
        until(|| {
            pid.extend(tool.take().0.into_iter().map(|(_, line)| line));
            !pid.is_empty()
        });
        drop(tool);
        until(|| !Path::new(&format!("/proc/{pid}")).exists());
    }
}
