//! Recording with source lines: a program with an inlined function, built with debug information.

mod common;

use common::{options, record};
use std::path::Path;
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

fn build(dir: &Path) -> std::path::PathBuf {
    std::fs::write(dir.join("spin.c"), SOURCE).unwrap();
    let args = ["-g", "-O2", "-fno-omit-frame-pointer", "spin.c", "-o", "spin"];
    assert!(Command::new("gcc").current_dir(dir).args(args).status().unwrap().success());
    dir.join("spin")
}

#[test]
fn samples_have_lines_and_inlined_functions() {
    let dir = tempfile::tempdir().unwrap();
    let program = build(dir.path());
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
    assert!(capture.facts["recorder"]["lines"]["objects"].as_u64() >= Some(1));
}
