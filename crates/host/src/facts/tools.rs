//! Running commands that may hang, for a limited time in all.
//!
//! A suspended pool makes `zpool` and `zfs` wait in the kernel, where no signal reaches them. Such a
//! command is left behind: it is asked to end, never waited for.

use std::ffi::OsStr;
use std::io::Read;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// Name of the threads that start commands: by it the recorder knows its own commands among the
/// processes of a host.
pub const ASKING_THREAD: &str = "zwhy-asks";
/// No output is larger; 10,000 datasets with 26 properties are 12 MiB.
const LONGEST: usize = 64 << 20;

/// What came of a command.
#[derive(Debug, PartialEq, Eq)]
pub enum Output {
    /// What it wrote; it ended with success.
    Text(String),
    /// It ended with failure and said this.
    Failed(String),
    NotInstalled,
    /// The time was up; the whole lines that it had written by then.
    TimedOut(String),
}

/// Time for all commands together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    until: Instant,
}

impl Patience {
    pub(crate) fn of(time: Duration) -> Patience {
        Patience { until: Instant::now() + time }
    }

    pub(crate) fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    /// Runs a command for at most `limit`, and no longer than what is left.
    pub(crate) fn run(&self, program: &str, args: &[&str], limit: Duration) -> Output {
        run(program, args, Instant::now() + limit.min(self.left()))
    }
}

enum Event {
    Started(Child),
    NotStarted(std::io::Error),
    Chunk(Vec<u8>),
    /// Both outputs are closed; what it wrote to standard error.
    Closed(Vec<u8>),
}

/// A program that speaks English, tells the time in UTC, and is found where those of ZFS are.
pub(crate) fn zfs_command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    // Daemons and restricted users often lack the sbin folders where ZFS tools live.
    let path = std::env::var("PATH").unwrap_or_default();
    command
        .env("PATH", format!("{path}:/usr/sbin:/sbin:/usr/local/sbin"))
        .env("LC_ALL", "C")
        .env("TZ", "UTC0");
    command
}

fn run(program: &str, args: &[&str], until: Instant) -> Output {
    let mut command = zfs_command(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let (send, receive) = channel();
    // Even starting a program hangs when it lies on the suspended pool.
    let thread = std::thread::Builder::new().name(ASKING_THREAD.to_owned());
    match thread.spawn(move || start(command, &send)) {
        Ok(_) => follow(&receive, until),
        Err(error) => Output::Failed(error.to_string()),
    }
}

/// Starts the command and passes on what it writes. Whoever listens may be gone at any time.
fn start(mut command: Command, send: &Sender<Event>) {
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return drop(send.send(Event::NotStarted(error))),
    };
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let _ = send.send(Event::Started(child));
    let complaint = std::thread::spawn(move || {
        let mut text = Vec::new();
        if let Some(mut pipe) = stderr {
            // A reader error ends the text early; the exit status tells.
            let _ = pipe.by_ref().take(1 << 16).read_to_end(&mut text);
            let _ = std::io::copy(&mut pipe, &mut std::io::sink());
        }
        text
    });
    if let Some(stdout) = stdout {
        pass_on(stdout, send);
    }
    let _ = send.send(Event::Closed(complaint.join().unwrap_or_default()));
}

fn pass_on(mut stdout: ChildStdout, send: &Sender<Event>) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length @ 1..) = stdout.read(&mut buffer) {
        if send.send(Event::Chunk(buffer[..length].to_vec())).is_err() {
            return;
        }
    }
}

fn follow(events: &Receiver<Event>, until: Instant) -> Output {
    let (mut child, mut text) = (None, Vec::new());
    loop {
        match events.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(Event::Started(started)) => child = Some(started),
            Ok(Event::NotStarted(e)) if e.kind() == std::io::ErrorKind::NotFound => {
                return Output::NotInstalled;
            }
            Ok(Event::NotStarted(e)) => return Output::Failed(e.to_string()),
            Ok(Event::Chunk(bytes)) if text.len() < LONGEST => text.extend(bytes),
            Ok(Event::Chunk(_)) => return give_up(child, text),
            Ok(Event::Closed(complaint)) => return ended(child, text, &complaint, until),
            Err(_) => return give_up(child, text),
        }
    }
}

/// The outputs are closed; the exit may still hang.
fn ended(mut child: Option<Child>, text: Vec<u8>, complaint: &[u8], until: Instant) -> Output {
    loop {
        match child.as_mut().map(Child::try_wait) {
            Some(Ok(Some(status))) if status.success() => {
                return Output::Text(String::from_utf8_lossy(&text).into_owned());
            }
            Some(Ok(None)) if Instant::now() < until => std::thread::sleep(Duration::from_millis(1)),
            Some(Ok(None)) => return give_up(child, text),
            _ => return Output::Failed(String::from_utf8_lossy(complaint).trim().to_owned()),
        }
    }
}

/// Asks the command to end and keeps its whole lines.
fn give_up(child: Option<Child>, mut text: Vec<u8>) -> Output {
    if let Some(mut child) = child {
        let _ = child.kill();
        // Reaped when it ends, if it ever does.
        std::thread::spawn(move || child.wait());
    }
    text.truncate(text.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1));
    Output::TimedOut(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Longer than any command here takes on a loaded machine.
    const LONG: Duration = Duration::from_secs(60);

    fn shell(script: &str, limit: Duration) -> Output {
        Patience::of(LONG).run("sh", &["-c", script], limit)
    }

    #[test]
    fn a_command_is_read_fails_or_is_given_up() {
        assert_eq!(shell("echo a", LONG), Output::Text("a\n".into()));
        assert_eq!(shell("echo bad >&2; exit 3", LONG), Output::Failed("bad".into()));
        assert_eq!(Patience::of(LONG).run("no-such-program-here", &[], LONG), Output::NotInstalled);
        assert_eq!(shell("sleep 600", Duration::from_millis(10)), Output::TimedOut(String::new()));
    }

    #[test]
    fn of_a_command_that_hangs_whole_lines_are_kept() {
        let script = "printf 'a\\nb\\nhalf'; exec sleep 600";
        // However slow the machine is, the output is there at some limit.
        let mut limit = Duration::from_millis(200);
        loop {
            match shell(script, limit) {
                Output::TimedOut(text) if text.is_empty() && limit < LONG => limit *= 2,
                other => return assert_eq!(other, Output::TimedOut("a\nb\n".into())),
            }
        }
    }

    #[test]
    fn a_command_that_complains_at_length_does_not_hang() {
        let script = "i=0; while [ $i -lt 3000 ]; do echo 'a long line of complaint about this' >&2; i=$((i+1)); done; echo done";
        assert_eq!(shell(script, LONG), Output::Text("done\n".into()));
    }

    #[test]
    fn nothing_runs_when_the_time_is_up() {
        let patience = Patience::of(Duration::ZERO);
        assert_eq!(patience.run("sleep", &["600"], LONG), Output::TimedOut(String::new()));
    }
}
