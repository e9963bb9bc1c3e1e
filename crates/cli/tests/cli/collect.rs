//! Collectors: scripts for any POSIX shell, whose text is read back.

use crate::inputs;
use crate::support::{call, skip};
use std::fs;
use std::process::{Command, Stdio};

const SYSTEMS: [&str; 3] = ["linux-minimal", "freebsd", "illumos"];

#[test]
fn collectors_are_scripts_for_any_shell() {
    let folder = inputs::bare_folder();
    for system in SYSTEMS {
        let text = call(folder.path(), &format!("collect --print {system}")).ok();
        assert!(text.starts_with("#!/bin/sh\n") && text.contains("zwhy explain host.txt"), "{system}");
        let file = folder.path().join(format!("{system}.sh"));
        fs::write(&file, text).expect("a script");
        for (program, args) in [("sh", &["-n"][..]), ("dash", &["-n"]), ("shellcheck", &["--shell=sh"])] {
            let Ok(output) = Command::new(program).args(args).arg(&file).output() else {
                skip("collectors_are_scripts_for_any_shell", &format!("there is no {program}"));
                continue;
            };
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.status.success(), "{system}, {program}: {said}");
        }
    }
    let error = call(folder.path(), "collect --print plan9");
    assert!(error.code == Some(2) && error.err.contains("illumos"), "{error:?}");
}

#[test]
fn what_this_host_prints_is_read() {
    let folder = inputs::bare_folder();
    let script = call(folder.path(), "collect --print linux-minimal").ok();
    fs::write(folder.path().join("collect.sh"), script).expect("a script");
    let mut command = Command::new("sh");
    command.arg("collect.sh").current_dir(folder.path()).stdin(Stdio::null()).stderr(Stdio::null());
    let output = command.output().expect("a shell");
    assert!(output.status.success(), "{output:?}");
    fs::write(folder.path().join("host.txt"), &output.stdout).expect("the text");
    let answer = call(folder.path(), "explain --json host.txt").json();
    let (read, kept) = (&answer["stats"]["read"], &answer["stats"]["kept"]);
    let (read, kept) = (read.as_u64().unwrap_or_default(), kept.as_u64().unwrap_or_default());
    assert!(read > 5 && kept * 2 > read, "{kept} of {read} lines: {}", answer["stats"]);
}
