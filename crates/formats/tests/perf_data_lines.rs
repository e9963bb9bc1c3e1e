//! Source lines and inlined functions of a perf.data, of a program built with debug information.
//!
//! Without perf, or without permission to use it, there is nothing to read and the test passes.
#![allow(clippy::print_stderr)] // a skipped test says so

use std::path::Path;
use std::process::{Command, Stdio};
use zwhy_formats::{ImportOptions, Imported, import_path};
use zwhy_profile::FrameKind;

const SOURCE: &str = "\
static volatile unsigned sink;
static inline __attribute__((always_inline)) void step(unsigned i)
{
	for (unsigned k = 0; k < 1000; k++)
		sink += i ^ k;
}
static inline __attribute__((always_inline)) void steps(unsigned i)
{
	step(i);
	step(i + 1);
}
__attribute__((noinline)) void spin(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++)
		steps(i);
}
int main(void)
{
	spin(100000);
	return 0;
}
";

fn quiet(dir: &Path, program: &str, args: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.current_dir(dir).args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Stacks as `function:line kind`, leaf first, down to `spin`, of the samples of the program.
fn chains(imported: &Imported) -> Vec<Vec<(String, u32, FrameKind)>> {
    let p = &imported.evidence.profile;
    let mut chains = Vec::new();
    for sample in p.samples.iter() {
        let (mut chain, mut at) = (Vec::new(), sample.stack);
        while let Some(frame) = p.stacks.frame(at) {
            let f = p.frames.get(frame);
            chain.push((p.function_of(frame).to_owned(), f.line, f.kind));
            at = p.stacks.parent(at);
            if p.function_of(frame) == "spin" {
                chains.push(chain);
                break;
            }
        }
    }
    chains
}

#[test]
fn inlined_functions_and_lines_are_added_only_when_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("spin.c"), SOURCE).unwrap();
    let args = ["-g", "-O2", "-fno-omit-frame-pointer", "-Wl,--build-id", "spin.c", "-o", "spin"];
    assert!(quiet(dir.path(), "gcc", &args));
    if !quiet(dir.path(), "perf", &["record", "-g", "-F", "1999", "-o", "perf.data", "./spin"]) {
        eprintln!("skipped: perf cannot record here");
        return;
    }
    let path = dir.path().join("perf.data");
    let plain = import_path(&path, &ImportOptions::default()).unwrap();
    assert!(chains(&plain).iter().flatten().all(|(_, line, kind)| *line == 0 && *kind != FrameKind::Inlined));
    let lines = import_path(&path, &ImportOptions { lines: true, ..ImportOptions::default() }).unwrap();
    assert_eq!(lines.stats.kept, plain.stats.kept);
    let p = &lines.evidence.profile;
    assert!(p.frames.iter().any(|(_, f)| p.strings.get(f.file).ends_with("/spin.c")));
    let (mut deep, chains) = (0, chains(&lines));
    for chain in &chains {
        let user: Vec<_> = chain.iter().filter(|(.., kind)| *kind != FrameKind::Kernel).collect();
        let ((_, line, kind), inlined) = user.split_last().expect("spin itself");
        assert!((12..=16).contains(line) && *kind == FrameKind::User, "{chain:?}");
        if let [leaf, outer] = inlined {
            assert_eq!((leaf.0.as_str(), leaf.2), ("step", FrameKind::Inlined));
            assert_eq!((outer.0.as_str(), outer.2), ("steps", FrameKind::Inlined));
            assert!((2..=6).contains(&leaf.1) && (9..=10).contains(&outer.1), "{chain:?}");
            deep += 1;
        }
    }
    assert!(deep > 0, "no inlined function in {} stacks", chains.len());
}
