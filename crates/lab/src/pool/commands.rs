//! `zpool` and `zfs`, each call with a time limit: a pool that is stuck must not stop the lab.

use super::kill;
use crate::engine::parent::{ended, printable};
use crate::failure::Failure;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Shorter than the silence after which a run is given up.
const LIMIT: Duration = Duration::from_secs(100);
/// Time to end after SIGKILL.
const GRACE: Duration = Duration::from_secs(5);
/// Without udev, as in a VM, zpool would wait 3 s for each disk to write down what udev calls it (`encode_device_strings`,
/// lib/libzutil/os/linux/zutil_import_os.c); a pool that lives for one run is found by its paths.
const NO_DEVICE_STRINGS: &str = "ZFS_VDEV_DEVID_OPT_OUT";
/// What an error quotes of a program's words.
const LONGEST: usize = 400;

/// Where the programs are found.
#[derive(Clone, Debug)]
pub struct Tools {
    path: OsString,
    limit: Duration,
}

impl Default for Tools {
    /// They are often not in the path of a user.
    fn default() -> Self {
        let mut path = std::env::var_os("PATH").unwrap_or_default();
        path.push(":/usr/local/sbin:/usr/sbin:/sbin");
        Tools { path, limit: LIMIT }
    }
}

impl Tools {
    #[cfg(test)]
    pub fn in_folder(folder: &std::path::Path) -> Tools {
        let mut path = folder.as_os_str().to_owned();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        Tools { path, limit: Duration::from_millis(2000) }
    }

    /// Changes something: a kill may strike before it or after it.
    ///
    /// # Errors
    /// When the program is not there, does not end, or fails.
    pub fn change<S: AsRef<OsStr>>(&self, program: &str, args: &[S]) -> Result<String, Failure> {
        kill::point()?;
        let said = self.ask(program, args)?;
        kill::point()?;
        Ok(said)
    }

    /// Runs a program and returns what it printed.
    ///
    /// # Errors
    /// When the program is not there, does not end, or fails.
    pub fn ask<S: AsRef<OsStr>>(&self, program: &str, args: &[S]) -> Result<String, Failure> {
        let words: Vec<_> = args.iter().map(|arg| arg.as_ref().to_string_lossy()).collect();
        let doing = format!("run {program} {}", words.join(" "));
        let mut child = Command::new(program)
            .args(args)
            .env("PATH", &self.path)
            .env("LC_ALL", "C")
            .env(NO_DEVICE_STRINGS, "YES")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| {
                Failure::other(
                    &doing,
                    format!("{e}; the OpenZFS programs are needed (Debian: zfsutils-linux)"),
                )
            })?;
        let (out, err) = (listen(child.stdout.take()), listen(child.stderr.take()));
        let Some(status) = ended(&mut child, self.limit) else {
            // Fails only when it has just ended.
            let _ = child.kill();
            let found = match ended(&mut child, GRACE) {
                Some(_) => format!("it had not ended after {} s, and was killed", self.limit.as_secs()),
                None => format!(
                    "it had not ended after {} s, and cannot be killed (state D): OpenZFS holds it. It is left \
                     behind as process {}",
                    self.limit.as_secs(),
                    child.id()
                ),
            };
            return Err(Failure::other(doing, found));
        };
        let (out, err) = (heard(&out), heard(&err));
        if status.success() {
            return Ok(out);
        }
        let words = if err.trim().is_empty() { out } else { err };
        let plain = printable(words.trim(), LONGEST);
        Err(Failure::other(doing, format!("it said: {plain}")))
    }
}

/// Reads on the side, so that a full pipe stops nobody.
fn listen(from: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut from) = from {
            // What was read until an error is what there is.
            let _ = from.read_to_end(&mut bytes);
        }
        // Nobody listens any more after the limit.
        let _ = send.send(bytes);
    });
    receive
}

fn heard(from: &Receiver<Vec<u8>>) -> String {
    let bytes = from.recv_timeout(GRACE).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn words_of_a_program_are_returned_or_quoted() {
        let tools = Tools::default();
        assert_eq!(tools.ask("sh", &["-c", "echo $0 one", "a b"]).unwrap(), "a b one\n");
        let error = tools.ask("sh", &["-c", "echo pool is busy >&2; exit 1"]).unwrap_err().to_string();
        assert!(error.contains("run sh -c") && error.contains("it said: pool is busy"), "{error}");
        let error = tools.ask("zwhy-no-such-program", &["x"]).unwrap_err().to_string();
        assert!(error.contains("zfsutils-linux"), "{error}");
    }

    #[test]
    fn a_program_that_does_not_end_is_killed_at_the_limit() {
        let tools = Tools { limit: Duration::from_millis(100), ..Tools::default() };
        let begin = Instant::now();
        let error = tools.ask("sleep", &["60"]).unwrap_err().to_string();
        assert!(error.contains("was killed") && begin.elapsed() < Duration::from_secs(10), "{error}");
    }
}
