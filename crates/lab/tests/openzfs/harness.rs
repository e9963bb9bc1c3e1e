//! Runs tests one after another: each drives a pool of its own with all cores.

// Reports to the terminal, as the harness of the standard library does.
#![allow(clippy::print_stdout)]

use std::path::Path;
use std::process::ExitCode;
use zwhy_lab::{ChildProgram, Experiment, RunOptions, Size, Whom};

pub const CHILD: &str = "lab-child";
pub const PARENT: &str = "lab-parent";

pub type Test = (&'static str, fn());

/// Takes a filter as `cargo test` does.
pub fn main(args: &[String], tests: &[Test]) -> ExitCode {
    let filters: Vec<&String> = args.iter().filter(|a| !a.starts_with('-')).collect();
    let mut failed = Vec::new();
    for (name, test) in tests {
        if !filters.is_empty() && !filters.iter().any(|f| name.contains(f.as_str())) {
            continue;
        }
        if args.iter().any(|a| a == "--list") {
            println!("{name}: test");
            continue;
        }
        let passed = std::panic::catch_unwind(test).is_ok();
        println!("test {name} ... {}", if passed { "ok" } else { "FAILED" });
        if !passed {
            failed.push(name);
        }
    }
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The given axes over all phases, with `bytes` of data.
pub fn experiment(axes: &str, bytes: &str) -> Experiment {
    let text = format!(
        r#"
        name = "test"
        title = "Test"
        question = "?"
        expectation = "?"
        engine = "user"
        [axes]
        {axes}
        [settings]
        arc_max = "64M"
        [[phases]]
        kind = "write"
        record = true
        [[phases]]
        kind = "reimport"
        [[phases]]
        kind = "read"
        record = true
        [[phases]]
        kind = "verify"
        [size]
        quick = {{ bytes = "{bytes}", repetitions = 1 }}
        full = {{ bytes = "{bytes}", repetitions = 2 }}
        [compare]
        phase = "read"
        measure = "cpu_s_per_gb"
        largest_first = []
        "#
    );
    Experiment::parse(&text, "test").unwrap()
}

pub fn options(out: &Path) -> RunOptions {
    let mut options = RunOptions::new(out, ChildProgram::this([CHILD]));
    options.size = Size::Quick;
    options.seed = Some(1);
    options
}

/// The process that is recorded: the engine in user space has one.
pub fn process(whom: Whom) -> u32 {
    match whom {
        Whom::Process(pid) => pid,
        Whom::Host => panic!("the host is recorded"),
    }
}
