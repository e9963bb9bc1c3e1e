//! Recording with source lines, of a program with an inlined function, and of code made at run time.

mod common;

use common::{options, record, wait_for};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use zwhy_capture::Capture;
use zwhy_profile::FrameKind;
use zwhy_record::Target;

const SOURCE: &str = "\
static volatile unsigned sink;
static inline __attribute__((always_inline)) void step(unsigned i)
{
	for (unsigned k = 0; k < 1000; k++)
		sink += i ^ k;
}
__attribute__((noinline)) void spin(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++)
		step(i);
}
int main(void)
{
	spin(300000);
	return 0;
}
";

/// Runs a copy of a function, as a compiler at run time would, and says in its map what it is.
const MAKER: &str = "\
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
__attribute__((noinline)) static void made(volatile unsigned *sink, unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++)
		*sink += i;
}
int main(void)
{
	unsigned sink = 0;
	char name[64];
	char *code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(code, (char *)made, 512);
	__builtin___clear_cache(code, code + 512);
	snprintf(name, sizeof name, \"/tmp/perf-%d.map\", getpid());
	FILE *map = fopen(name, \"w\");
	fprintf(map, \"%lx 200 made at run time\\n\", (unsigned long)code);
	fclose(map);
	alarm(120);
	for (;;)
		((void (*)(volatile unsigned *, unsigned))code)(&sink, 1000000);
}
";

fn build(dir: &Path, source: &str) -> PathBuf {
    std::fs::write(dir.join("spin.c"), source).unwrap();
    let args = ["-g", "-O2", "-fno-omit-frame-pointer", "spin.c", "-o", "spin"];
    assert!(Command::new("gcc").current_dir(dir).args(args).status().unwrap().success());
    dir.join("spin")
}

#[test]
fn samples_have_lines_and_inlined_functions() {
    let dir = tempfile::tempdir().unwrap();
    let program = build(dir.path(), SOURCE);
    let out = dir.path().join("spin.zwhy");
    let mut options = options(Target::Command(vec![program.into()]), &out);
    options.lines = true;
    options.duration = Some(Duration::from_secs(60));
    record(options);
    let capture = Capture::open(&out).unwrap();
    let p = &capture.profile;
    let shown = |id| {
        let f = p.frames.get(id);
        let file = p.strings.get(f.file).rsplit('/').next().unwrap_or_default().to_owned();
        (p.function_of(id), p.module_of(id), file, f.line, f.kind)
    };
    let mut inlined = 0;
    for sample in p.samples.iter() {
        let Some(leaf) = p.stacks.frame(sample.stack) else { continue };
        let (function, module, file, line, kind) = shown(leaf);
        if function != "step" {
            continue;
        }
        assert_eq!((module, file.as_str(), kind), ("spin", "spin.c", FrameKind::Inlined));
        assert!((2..=6).contains(&line), "line {line}");
        let caller = p.stacks.frame(p.stacks.parent(sample.stack)).unwrap();
        let (function, _, file, line, kind) = shown(caller);
        assert_eq!((function, file.as_str(), kind), ("spin", "spin.c", FrameKind::User));
        assert!((8..=11).contains(&line), "call in line {line}");
        inlined += 1;
    }
    assert!(inlined > 0, "{} samples, none in the inlined function", p.samples.len());
    assert!(capture.facts.recorder.lines.unwrap().objects >= Some(1));
}

#[test]
fn code_made_at_run_time_is_named_by_the_map_of_its_process() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = Command::new(build(dir.path(), MAKER)).spawn().unwrap();
    let map = PathBuf::from(format!("/tmp/perf-{}.map", child.id()));
    wait_for(&map);
    let out = dir.path().join("made.zwhy");
    let mut options = options(Target::Pid(vec![child.id().cast_signed()]), &out);
    options.duration = Some(Duration::from_secs(1));
    // Its process lives until the last of its samples was named.
    let summary = record(options);
    child.kill().unwrap();
    child.wait().unwrap();
    std::fs::remove_file(&map).unwrap();
    assert!(summary.samples > 0);
    let capture = Capture::open(&out).unwrap();
    let p = &capture.profile;
    let made = p.frames.iter().find(|(id, _)| p.function_of(*id) == "made at run time");
    let (id, frame) = made.expect("a frame of that name");
    assert_eq!((p.module_of(id), frame.kind), ("jit", FrameKind::User));
}
