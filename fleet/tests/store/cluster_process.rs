//! A cluster of processes of the program itself: a scheduler and executors, each ended with the test.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use zwhy_fleet::Scheduler;

pub const FLEET: &str = env!("CARGO_BIN_EXE_zwhy-fleet");

/// A process that has said its first line.
pub struct Process {
    pub child: Child,
    pub line: String,
    /// Its temporary files.
    pub folder: tempfile::TempDir,
}

impl Process {
    /// Starts the program and waits until it says that it is ready.
    pub fn start(args: &[&str], variables: &[(&str, &str)]) -> Process {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(FLEET);
        command.args(args).envs(variables.iter().copied()).env("TMPDIR", folder.path());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        if line.is_empty() {
            let mut why = String::new();
            let _ = child.stderr.take().unwrap().read_to_string(&mut why);
            panic!("{args:?}: {why}");
        }
        // What it says later is for whoever reads the output of the test.
        let mut errors = child.stderr.take().unwrap();
        let name = args[0].to_owned();
        std::thread::spawn(move || {
            let mut lines = BufReader::new(&mut errors).lines().map_while(Result::ok);
            lines.by_ref().for_each(|line| drop(writeln!(std::io::stderr(), "{name}: {line}")));
        });
        Process { child, line: line.trim().to_owned(), folder }
    }

    /// Sends a signal: `-STOP`, `-CONT`, `-KILL`.
    pub fn signal(&self, name: &str) {
        assert!(Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap().success());
    }

    /// Jobs of which it keeps parts.
    pub fn jobs(&self) -> usize {
        let folders = |at: &Path| {
            let entries = std::fs::read_dir(at).into_iter().flatten().map_while(Result::ok);
            entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect::<Vec<_>>()
        };
        folders(self.folder.path()).iter().map(|work| folders(work).len()).sum()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn scheduler() -> Process {
    Process::start(&["scheduler", "--listen", "127.0.0.1:0"], &[])
}

pub fn executor(store: &str, scheduler: &str, variables: &[(&str, &str)]) -> Process {
    Process::start(&["executor", "--store", store, "--scheduler", scheduler, "--cpus", "1"], variables)
}

pub struct Cluster {
    pub executors: Vec<Process>,
    pub scheduler: Process,
}

impl Cluster {
    /// A scheduler and two executors over a store.
    pub fn over(store: &str, variables: &[(&str, &str)]) -> Cluster {
        let scheduler = scheduler();
        let executors = (0..2).map(|_| executor(store, &scheduler.line, variables)).collect();
        Cluster { executors, scheduler }
    }

    pub fn at(&self) -> Scheduler {
        self.scheduler.line.parse().unwrap()
    }
}
