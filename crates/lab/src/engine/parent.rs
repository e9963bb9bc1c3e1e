//! The parent's side: starts the child, hears it, and tells a crash from a hang from an error.

use super::Engine;
use super::protocol::{ChildPlan, FromChild, GO};
use crate::LabError;
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The command that ends up in [`crate::child_main`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChildProgram {
    pub program: PathBuf,
    pub args: Vec<OsString>,
}

impl ChildProgram {
    /// This program again, with a hidden command.
    pub fn this(args: impl IntoIterator<Item = impl Into<OsString>>) -> ChildProgram {
        // Works after the file was replaced or removed, as an upgrade does.
        ChildProgram { program: "/proc/self/exe".into(), args: args.into_iter().map(Into::into).collect() }
    }
}

/// Where a run is, for errors.
#[derive(Clone, Debug)]
pub struct RunStep {
    pub variant: String,
    pub phase: String,
}

impl fmt::Display for RunStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.variant, self.phase)
    }
}

/// How long a child may say nothing, and what ends it from elsewhere.
#[derive(Clone)]
pub struct Patience {
    pub silence: Duration,
    pub cancel: Arc<AtomicBool>,
}

pub struct RunningChild {
    /// Where it is, for errors.
    pub place: RunStep,
    patience: Patience,
    child: Child,
    input: ChildStdin,
    messages: Receiver<Result<FromChild, String>>,
    words: Arc<Mutex<LastWords>>,
    /// Ends when the child's standard error does.
    listener: Option<JoinHandle<()>>,
    library: String,
    /// Its end was seen: its process id may be somebody else's by now.
    ended: bool,
}

impl RunningChild {
    pub fn start(
        program: &ChildProgram,
        plan: &ChildPlan,
        engine: &dyn Engine,
        place: RunStep,
        patience: Patience,
    ) -> Result<RunningChild, LabError> {
        let failed = |source| LabError::Spawn { program: program.program.display().to_string(), source };
        let shim = engine.preload()?;
        let mut command = Command::new(&program.program);
        if let Some(shim) = &shim {
            command.env("LD_PRELOAD", shim.preload());
        }
        let mut child = command
            .args(&program.args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C at the terminal is for the parent, which ends the child in order.
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let (Some(input), Some(output), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(failed(std::io::Error::other("a pipe is missing")));
        };
        let (send, messages) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let message = line.map_err(|e| e.to_string()).and_then(|line| {
                    serde_json::from_str(&line).map_err(|e| format!("{e}: {}", printable(&line, 200)))
                });
                if send.send(message).is_err() {
                    return;
                }
            }
        });
        let words = Arc::new(Mutex::new(LastWords::default()));
        let listener = {
            let words = Arc::clone(&words);
            std::thread::spawn(move || LastWords::listen(errors, &words))
        };
        let library = engine.info().version_text().to_owned();
        let (listener, ended) = (Some(listener), false);
        let mut running =
            RunningChild { place, patience, child, input, messages, words, listener, library, ended };
        let mut line = serde_json::to_vec(plan).map_err(|e| failed(e.into()))?;
        line.push(b'\n');
        // A child that died at once is found by the first `hear`.
        let _ = running.input.write_all(&line);
        Ok(running)
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn go(&mut self) {
        // As above.
        let _ = writeln!(self.input, "{GO}");
    }

    /// The next message; any end of the child other than by `Done` or `Failed` is an error.
    pub fn hear(&mut self) -> Result<FromChild, LabError> {
        const LOOK_UP: Duration = Duration::from_millis(100);
        let until = Instant::now() + self.patience.silence;
        loop {
            if self.patience.cancel.load(Ordering::Relaxed) {
                self.kill();
                return Err(LabError::Cancelled);
            }
            match self.messages.recv_timeout(LOOK_UP) {
                Ok(Ok(FromChild::Failed { failure })) => {
                    return Err(LabError::OpenZfs { place: self.at(), failure: Box::new(failure) });
                }
                Ok(Ok(message)) => return Ok(message),
                Ok(Err(what)) => {
                    self.kill();
                    return Err(self.protocol(what));
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() >= until => return Err(self.hung()),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.crashed()),
            }
        }
    }

    pub fn at(&self) -> Box<RunStep> {
        Box::new(self.place.clone())
    }

    pub fn protocol(&self, what: impl Into<String>) -> LabError {
        LabError::Protocol { place: self.at(), what: what.into() }
    }

    /// Hears `Done`, waits for the end and judges it.
    pub fn finish(mut self) -> Result<(), LabError> {
        match self.hear()? {
            FromChild::Done => {}
            other => return Err(self.protocol(format!("{other:?} instead of the end"))),
        }
        match ended(&mut self.child, self.patience.silence) {
            None => Err(self.hung()),
            Some(status) => {
                self.ended = true;
                if status.success() { Ok(()) } else { Err(self.crashed()) }
            }
        }
    }

    fn hung(&mut self) -> LabError {
        self.kill();
        LabError::Hung { place: self.at(), after: self.patience.silence, last_words: self.last_words() }
    }

    fn crashed(&mut self) -> LabError {
        self.kill_group();
        let how = match ended(&mut self.child, PATIENCE) {
            Some(status) => how_it_ended(status),
            None => "does not end: OpenZFS holds it; it is left behind".into(),
        };
        self.ended = true;
        let (library, last_words) = (self.library.clone(), self.last_words());
        LabError::Crashed { place: self.at(), how, library, last_words }
    }

    /// With the commands that it runs. One that cannot end, because OpenZFS does not let go of it, is left
    /// behind: it holds nothing that is waited for here.
    fn kill(&mut self) {
        if !self.ended {
            self.kill_group();
            ended(&mut self.child, PATIENCE);
            self.ended = true;
        }
    }

    /// The child leads a group of its own, which has the commands that it runs.
    fn kill_group(&self) {
        if !self.ended
            && let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
        {
            // Fails only when all have ended already.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    /// Complete, unless the child could not be ended.
    fn last_words(&mut self) -> String {
        if let Some(listener) = self.listener.take()
            && !matches!(self.child.try_wait(), Ok(None))
        {
            let _ = listener.join();
        }
        self.words.lock().map(|words| words.text()).unwrap_or_default()
    }
}

impl Drop for RunningChild {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Time to end after SIGKILL.
const PATIENCE: Duration = Duration::from_secs(10);

/// `None` when it still runs after `limit`.
pub fn ended(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let begin = Instant::now();
    let mut pause = Duration::from_micros(500);
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        if begin.elapsed() > limit {
            return None;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

fn how_it_ended(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(libc::SIGABRT), _) => "aborted (SIGABRT: a failed assertion or a panic)".into(),
        (Some(libc::SIGSEGV), _) => "was killed by SIGSEGV (a bad memory access)".into(),
        (Some(libc::SIGKILL), _) => {
            "was killed by SIGKILL (by someone, or by the kernel for want of memory: see dmesg)".into()
        }
        (Some(signal), _) => format!("was killed by signal {signal}"),
        (None, code) => format!("ended with code {}", code.unwrap_or(-1)),
    }
}

/// The end of what the child printed to standard error.
#[derive(Default)]
struct LastWords {
    lines: VecDeque<String>,
}

impl LastWords {
    const LINES: usize = 24;
    const COLUMNS: usize = 300;

    fn listen(errors: impl Read, words: &Mutex<LastWords>) {
        let mut errors = BufReader::new(errors);
        let mut line = Vec::new();
        loop {
            line.clear();
            // Bounded: a line without end must not fill the memory.
            match (&mut errors).take(1 << 16).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {
                    let Ok(mut words) = words.lock() else { return };
                    words.push(&String::from_utf8_lossy(&line));
                }
            }
        }
    }

    fn push(&mut self, line: &str) {
        let line = printable(line.trim_end(), Self::COLUMNS);
        if line.is_empty() {
            return;
        }
        if self.lines.len() == Self::LINES {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
    }

    fn text(&self) -> String {
        let lines: Vec<String> = self.lines.iter().map(|l| format!("  {l}")).collect();
        lines.join("\n")
    }
}

/// Text of strangers without what a terminal would obey.
pub fn printable(text: &str, longest: usize) -> String {
    text.chars().take(longest).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_words_are_the_last_lines_without_control_characters() {
        let words = Mutex::new(LastWords::default());
        let mut text: String = (0..30).map(|i| format!("line {i}\n")).collect();
        text.push_str("VERIFY(\x1b[31m0 == 1\x07) failed\n\n");
        LastWords::listen(text.as_bytes(), &words);
        let text = words.into_inner().unwrap().text();
        assert_eq!(text.lines().count(), LastWords::LINES);
        assert!(text.ends_with("VERIFY( [31m0 == 1 ) failed") && !text.contains("line 6\n"), "{text}");
    }
}
