//! Counting calls of a real program by probes: exact numbers, recursion, forks, attaching, limits.
//!
//! Needs root and the kernel's uprobes; where they are missing each test says so and does nothing.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use zwhy_capture::Capture;
use zwhy_evidence::Kind;
use zwhy_profile::Event;
use zwhy_record::{CountError, CountOptions, Counted, Counting, Target};

/// `work N`: N times `outer`, which calls `inner` N, N-1, … times, then `recurse` to depth 10.
/// `fork`: the same work for 10 in a child, too. `wait`: works for ever, once a line is written.
const PROGRAM: &str = r#"
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#define KEPT __attribute__((noinline, noclone, visibility("default")))
volatile int sink;
KEPT void inner(int n) { sink += n; __asm__ volatile(""); }
KEPT void outer(int n) { for (int i = 0; i < n; i++) inner(i); __asm__ volatile(""); }
KEPT void beside(int n) { inner(n); __asm__ volatile(""); }
KEPT void recurse(int n) { if (n > 0) recurse(n - 1); __asm__ volatile(""); }
static void work(int n) { for (int i = n; i > 0; i--) outer(i); beside(1); recurse(10); }
int main(int argc, char **argv) {
    int n = argc > 2 ? atoi(argv[2]) : 10;
    if (argc > 1 && !strcmp(argv[1], "fork")) {
        if (fork() == 0) { work(n); _exit(0); }
        wait(0);
    }
    if (argc > 1 && !strcmp(argv[1], "wait")) {
        char line[16];
        if (!fgets(line, sizeof line, stdin)) return 3;
    }
    work(n);
    return argc > 1 && !strcmp(argv[1], "code") ? 7 : 0;
}
"#;

struct Program {
    dir: tempfile::TempDir,
}

impl Program {
    /// Builds it, or says why nothing can be tested here.
    fn new() -> Option<Program> {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let root = status.lines().any(|l| l.starts_with("Uid:\t0\t0"));
        if !root || !Path::new("/sys/bus/event_source/devices/uprobe").exists() {
            let _ = writeln!(std::io::stderr(), "skipped: counting needs root and uprobes");
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("calls.c"), PROGRAM).unwrap();
        let built = Command::new("cc")
            .args(["-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-o", "calls", "calls.c"])
            .current_dir(dir.path())
            .status();
        assert!(built.unwrap().success());
        Some(Program { dir })
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("calls")
    }

    fn spec(&self, function: &str) -> String {
        format!("{}:{function}", self.path().display())
    }

    fn command(&self, args: &[&str]) -> Target {
        let words = std::iter::once(OsString::from(self.path())).chain(args.iter().map(OsString::from));
        Target::Command(words.collect())
    }

    fn options(&self, function: &str, args: &[&str]) -> CountOptions {
        let mut options = CountOptions::new(self.spec(function), self.command(args));
        options.max_overhead = None;
        options
    }

    fn waiting(&self) -> Child {
        Command::new(self.path()).args(["wait", "20"]).stdin(Stdio::piped()).spawn().unwrap()
    }
}

fn count(options: CountOptions) -> Counted {
    let mut counting = Counting::start(options).unwrap();
    counting.run(&AtomicBool::new(false), |_, _| {}).unwrap();
    counting.stop().unwrap()
}

/// Function names of each stack, root first, up to the program's own.
fn stacks(counted: &Counted) -> Vec<(Vec<&str>, u64)> {
    let own = ["work", "outer", "inner", "beside", "recurse"];
    let names = |stack| -> Vec<&str> {
        let all = counted.profile.function_names(stack);
        all.into_iter().filter(|n| own.contains(n)).collect()
    };
    counted.stacks.iter().map(|(stack, n, _)| (names(*stack), *n)).collect()
}

#[test]
fn calls_are_exact_by_caller() {
    let Some(program) = Program::new() else { return };
    let mut options = program.options("inner", &["code", "40"]);
    options.under = Some("outer".into());
    options.per = Some("outer".into());
    options.out = Some(program.dir.path().join("x.zwhy"));
    let counted = count(options);
    let calls = 40 * 41 / 2;
    assert_eq!((counted.calls, counted.lost, counted.one_in), (calls + 1, 0, 1));
    assert_eq!(counted.under, Some(("outer".to_owned(), calls)));
    let per = counted.per.as_ref().unwrap();
    assert_eq!((per.caller_calls, per.calls), (40, calls));
    assert_eq!(per.each, (1..=40).rev().collect::<Vec<u32>>());
    assert_eq!(counted.exit_status.unwrap().code(), Some(7));
    let direct: Vec<(&str, u64)> =
        stacks(&counted).iter().map(|(names, n)| (names[names.len() - 2], *n)).collect();
    assert_eq!(direct, [("outer", calls), ("beside", 1)]);
    let capture = Capture::open(counted.path.as_ref().unwrap()).unwrap();
    assert_eq!((capture.profile.total(Event::Count), capture.profile.total(Event::Cpu)), (calls + 1, 0));
    assert_eq!(capture.facts.kind, Some(Kind::Count));
}

#[test]
fn recursion_keeps_each_depth() {
    let Some(program) = Program::new() else { return };
    let counted = count(program.options("recurse", &[]));
    assert_eq!(counted.calls, 11);
    let mut depths: Vec<usize> =
        stacks(&counted).iter().map(|(names, _)| names.iter().filter(|n| **n == "recurse").count()).collect();
    depths.sort_unstable();
    assert_eq!(depths, (1..=11).collect::<Vec<_>>());
}

#[test]
fn patterns_count_several_functions_and_forks_are_followed() {
    let Some(program) = Program::new() else { return };
    let counted = count(program.options("*e*r", &["fork", "10"]));
    let calls: Vec<(&str, u64)> = counted.functions.iter().map(|f| (f.function.as_str(), f.calls)).collect();
    assert!(calls.contains(&("inner", 112)) && calls.contains(&("outer", 20)), "{calls:?}");
}

#[test]
fn a_running_process_is_attached_and_others_are_left_out() {
    let Some(program) = Program::new() else { return };
    let (mut wanted, mut other) = (program.waiting(), program.waiting());
    // Without an object: found in what the process maps.
    let mut options = CountOptions::new("inner", Target::Pid(vec![wanted.id() as i32]));
    options.max_overhead = None;
    let mut counting = Counting::start(options).unwrap();
    for child in [&mut other, &mut wanted] {
        child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    }
    other.wait().unwrap();
    wanted.wait().unwrap();
    counting.run(&AtomicBool::new(false), |_, _| {}).unwrap();
    let counted = counting.stop().unwrap();
    assert_eq!((counted.calls, counted.lost), (211, 0));
}

#[test]
fn a_function_of_libc_that_is_chosen_at_run_time_is_found() {
    let Some(_) = Program::new() else { return };
    let target = Target::Command(vec!["true".into()]);
    let mut counting = Counting::start(CountOptions::new("libc.so.6:strlen", target)).unwrap();
    counting.run(&AtomicBool::new(false), |_, _| {}).unwrap();
    let counted = counting.stop().unwrap();
    assert_eq!(counted.functions.len(), 1, "{:?}", counted.functions);
}

#[test]
fn too_high_a_cost_ends_counting_and_says_so() {
    let Some(program) = Program::new() else { return };
    let mut options = program.options("inner", &["code", "3000"]);
    options.max_overhead = Some(1e-9);
    let counted = count(options);
    assert_eq!(counted.exit_status.unwrap().code(), Some(7));
    let told = counted.notes.iter().any(|n| n.contains("--max-overhead"));
    assert!(told && (counted.calls < 4_501_501 || counted.one_in > 1), "{:?}", counted.notes);
}

#[test]
fn stopping_early_leaves_the_command_and_keeps_the_counts() {
    let Some(program) = Program::new() else { return };
    let mut child = program.waiting();
    let mut options = CountOptions::new("inner", Target::Pid(vec![child.id() as i32]));
    options.duration = Some(Duration::from_millis(50));
    assert_eq!(count(options).calls, 0);
    child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn what_cannot_be_counted_says_why() {
    let Some(program) = Program::new() else { return };
    let out = program.dir.path().join("x.zwhy");
    let error = |function: &str, target: Target| {
        let options = CountOptions { out: Some(out.clone()), ..CountOptions::new(function, target) };
        Counting::start(options).err().unwrap()
    };
    let unknown = error(&program.spec("inenr"), program.command(&[]));
    assert!(unknown.to_string().contains("did you mean inner?") && unknown.is_usage(), "{unknown}");
    let no_object = error("libnothere:f", program.command(&[])).to_string();
    assert!(no_object.contains("libnothere") && no_object.contains("give its path"), "{no_object}");
    let many = error("libc.so.6:*", Target::System);
    assert!(matches!(many, CountError::TooMany { .. }), "{many}");
    let gone = error(&program.spec("inner"), Target::Pid(vec![i32::MAX])).to_string();
    assert!(gone.contains("no such process"), "{gone}");
    let command = Target::Command(vec!["/no/such/command".into()]);
    let none = error(&program.spec("inner"), command).to_string();
    assert!(none.contains("/no/such/command"), "{none}");
    let script = program.dir.path().join("calls.c");
    let no_elf = error(&format!("{}:main", script.display()), Target::System).to_string();
    assert!(no_elf.contains("no ELF object"), "{no_elf}");
    assert!(!out.exists() && !zwhy_left_part(&out));
}

fn zwhy_left_part(out: &Path) -> bool {
    let mut name = out.as_os_str().to_owned();
    name.push(".part");
    Path::new(&name).exists()
}
