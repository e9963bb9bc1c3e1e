//! Calling the built program, and looking at what it printed.

use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

/// Long enough for a loaded machine; only a hang reaches it.
const PATIENCE: Duration = Duration::from_secs(120);

/// The program, in a folder, with an environment that does not change what it prints.
pub fn zwhy(folder: &Path) -> Command {
    program(Path::new(env!("CARGO_BIN_EXE_zwhy")), folder)
}

pub fn program(path: &Path, folder: &Path) -> Command {
    let mut command = Command::new(path);
    command.current_dir(folder).env_remove("NO_COLOR").env("TERM", "xterm").stdin(Stdio::null());
    command
}

/// What a call came to.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ran {
    pub fn of(output: Output) -> Ran {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the program prints UTF-8");
        Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// Standard output of a call that must succeed.
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.out
    }

    /// The error of a call that must fail, without result.
    #[track_caller]
    pub fn failed(self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert_eq!(self.out, "", "a failed call has no result");
        assert_eq!(self.err.matches("error: ").count(), 1, "told once: {self:?}");
        self.err.find("error: ").map(|at| self.err[at..].to_owned()).unwrap_or_default()
    }

    #[track_caller]
    pub fn json(self) -> serde_json::Value {
        let out = self.ok();
        serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {out}"))
    }
}

pub fn run<S: AsRef<OsStr>>(folder: &Path, args: impl IntoIterator<Item = S>) -> Ran {
    Ran::of(zwhy(folder).args(args).output().expect("the program starts"))
}

/// As [`run`], with the arguments in one text, split at spaces.
pub fn call(folder: &Path, args: &str) -> Ran {
    run(folder, args.split(' '))
}

/// As [`call`], with `input` on standard input.
pub fn call_with(folder: &Path, args: &str, input: &[u8]) -> Ran {
    let mut command = zwhy(folder);
    command.args(args.split(' ')).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // A program that refuses its input early closes the pipe.
    let _ = stdin.write_all(input);
    drop(stdin);
    Ran::of(child.wait_with_output().expect("the program ends"))
}

/// Says why a test does nothing here; past the capture of the test harness, so that it is seen.
pub fn skip(test: &str, why: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {test}: {why}");
}

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Waits until `ready`; `false` when `child` ended before.
pub fn wait_until(child: &mut Child, ready: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while !ready() {
        if child.try_wait().expect("a child").is_some() {
            return false;
        }
        assert!(start.elapsed() < PATIENCE, "nothing happened for {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}

pub fn signal(child: &Child, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(pid, signal).expect("the child takes a signal");
}

/// A child that is ended with its test.
pub struct Reaped(pub Child);

impl Reaped {
    pub fn end(mut self) -> ExitStatus {
        let _ = self.0.kill();
        self.0.wait().expect("the child ends")
    }
}

impl Drop for Reaped {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Characters that a terminal would obey, or that reorder or hide what is beside them.
pub fn obeyed(text: &str) -> Vec<char> {
    let is_obeyed = |c: &char| {
        (c.is_control() && *c != '\n')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().filter(is_obeyed).collect()
}
