//! Starting a command so that it is sampled from its first instruction: the child waits before
//! exec until its events are open.
#![allow(unsafe_code)] // code between fork and exec

use crate::error::RecordError;
use rustix::fd::AsRawFd;
use std::ffi::OsString;
use std::io;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::thread::JoinHandle;

/// A child that waits before exec.
pub(crate) struct Waiting {
    pub pid: i32,
    gate: UnixStream,
    /// `Command::spawn` returns only after exec, so it runs in a thread of its own.
    spawned: JoinHandle<io::Result<Child>>,
    command: String,
}

/// Forks; the command starts with [`Waiting::release`].
pub(crate) fn spawn_waiting(words: &[OsString]) -> Result<Waiting, RecordError> {
    let name = words.first().cloned().unwrap_or_default();
    let command = name.to_string_lossy().into_owned();
    let failed = |source| RecordError::Command { command: command.clone(), source };
    let (ours, theirs) = UnixStream::pair().map_err(failed)?;
    let mut process = Command::new(&name);
    process.args(&words[1..]);
    let our_number = ours.as_raw_fd();
    let gate = move || -> io::Result<()> {
        // Our copy of the other end must go, or the death of the recorder would not be seen.
        // SAFETY: the number is that descriptor in the child too, and nobody uses it there.
        unsafe { rustix::io::close(our_number) };
        let pid = rustix::process::getpid().as_raw_nonzero().get();
        rustix::io::write(&theirs, &pid.to_ne_bytes())?;
        let mut go = [0u8; 1];
        match rustix::io::read(&theirs, &mut go)? {
            1 => Ok(()),
            _ => Err(io::ErrorKind::Interrupted.into()),
        }
    };
    // SAFETY: the closure only makes system calls, which is allowed between fork and exec.
    unsafe { process.pre_exec(gate) };
    let spawned = std::thread::spawn(move || process.spawn());
    let mut pid = [0u8; 4];
    match rustix::io::read(&ours, &mut pid) {
        Ok(4) => Ok(Waiting { pid: i32::from_ne_bytes(pid), gate: ours, spawned, command }),
        Ok(_) => Err(failed(joined(spawned).err().unwrap_or_else(|| io::ErrorKind::BrokenPipe.into()))),
        Err(e) => Err(failed(e.into())),
    }
}

impl Waiting {
    /// Lets the command run.
    ///
    /// # Errors
    /// When it could not be executed.
    pub(crate) fn release(self) -> Result<Child, RecordError> {
        let failed = |source| RecordError::Command { command: self.command.clone(), source };
        rustix::io::write(&self.gate, b"g").map_err(|e| failed(e.into()))?;
        joined(self.spawned).map_err(failed)
    }
}

fn joined(thread: JoinHandle<io::Result<Child>>) -> io::Result<Child> {
    thread.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
}
