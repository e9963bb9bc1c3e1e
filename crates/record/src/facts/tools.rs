//! Running a command that may hang, for a limited time.

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// A suspended pool makes `zpool` and `zfs` wait in the kernel for ever.
const LIMIT: Duration = Duration::from_secs(3);

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// What it wrote; it ended with success.
    Text(String),
    /// It ended with failure and said this.
    Failed(String),
    NotInstalled,
    TimedOut,
}

pub(crate) fn run(program: &str, args: &[&str]) -> Output {
    run_for(program, args, LIMIT)
}

fn run_for(program: &str, args: &[&str], limit: Duration) -> Output {
    let mut command = Command::new(program);
    // Daemons and restricted users often lack the sbin folders where ZFS tools live.
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{path}:/usr/sbin:/sbin:/usr/local/sbin")).env("LC_ALL", "C");
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Output::NotInstalled,
        Err(e) => return Output::Failed(e.to_string()),
    };
    let (Some(mut stdout), Some(mut stderr)) = (child.stdout.take(), child.stderr.take()) else {
        return Output::Failed("no pipe".into());
    };
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let (mut text, mut complaint) = (Vec::new(), Vec::new());
        // A reader error ends the text early; the exit status tells.
        let _ = stdout.read_to_end(&mut text);
        let _ = stderr.read_to_end(&mut complaint);
        let _ = send.send((text, complaint));
    });
    match receive.recv_timeout(limit) {
        Ok((text, complaint)) => match child.wait() {
            Ok(status) if status.success() => Output::Text(String::from_utf8_lossy(&text).into_owned()),
            _ => Output::Failed(String::from_utf8_lossy(&complaint).trim().to_owned()),
        },
        Err(_) => {
            // It may be beyond killing; then it is left behind, and so is the thread that reads it.
            let _ = child.kill();
            std::thread::spawn(move || child.wait());
            Output::TimedOut
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_read_fails_or_is_given_up() {
        assert_eq!(run("echo", &["a"]), Output::Text("a\n".into()));
        assert_eq!(run("sh", &["-c", "echo bad >&2; exit 3"]), Output::Failed("bad".into()));
        assert_eq!(run("no-such-program-here", &[]), Output::NotInstalled);
        assert_eq!(run_for("sleep", &["600"], Duration::from_millis(10)), Output::TimedOut);
    }
}
