//! Collectors: scripts for any POSIX shell, whose text is read back.

use crate::inputs;
use crate::support::{call, skip};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const SYSTEMS: [&str; 3] = ["linux-minimal", "freebsd", "illumos"];

#[test]
fn collectors_are_scripts_for_any_shell() {
    let folder = inputs::bare_folder();
    for system in SYSTEMS {
        let text = call(folder.path(), &format!("collect --print {system}")).ok();
        assert!(text.starts_with("#!/bin/sh\n") && text.contains("zwhy explain host.txt"), "{system}");
        assert!(text.is_ascii(), "{system}: a shell may read it in any locale");
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

/// Shells that a system may have as sh, of which one is there for sure.
const SHELLS: [&[&str]; 8] = [
    &["sh"],
    &["dash"],
    &["bash", "--posix"],
    &["busybox", "sh"],
    &["ksh93"],
    &["mksh"],
    &["yash"],
    &["posh"],
];

/// A program that does not end, and that only the kernel can end.
const HANGS: &str = "trap '' TERM; while :; do sleep 1; done";

/// Tools of a system in a folder of their own, as shell scripts.
fn tools(folder: &Path, scripts: &[(&str, &str)]) {
    for (name, script) in scripts {
        let file = folder.join(name);
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).expect("a tool");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("a tool that runs");
    }
}

/// A collector whose commands have a second each, run by a shell with these tools before those of the host.
fn collect(folder: &Path, system: &str, shell: &[&str]) -> Option<Child> {
    let mut script = call(folder, &format!("collect --print {system}")).ok();
    for seconds in ["20", "30", "60"] {
        script = script.replace(&format!("limited {seconds} "), "limited 1 ");
    }
    assert!(script.contains("limited 1 \"$@\""), "{script}");
    // Its own file: others begin while this one is read.
    let file = folder.join(format!("collect-{}.sh", shell[0]));
    fs::write(&file, script).expect("a script");
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let mut command = Command::new(shell[0]);
    command.args(&shell[1..]).arg(&file).env_clear().env("PATH", path).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().ok()
}

/// What a collector printed, and nothing else.
fn printed(child: Child, shell: &[&str]) -> String {
    let output = child.wait_with_output().expect("a shell that ends");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.is_empty(), "{shell:?}: {said}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn a_command_that_hangs_is_left_behind_in_every_shell() {
    const LOOKS: &str = "echo '   PID USERNAME USR SYS TRP TFL DFL LCK SLP LAT VCX ICX SCL SIG PROCESS/LWPID'
echo \"   512 root     0.0  $1 0.0 0.0 0.0 0.0  28 0.9  1K  12   0   0 zpool-tank/145\"";
    let folder = inputs::bare_folder();
    tools(
        folder.path(),
        &[
            ("uname", "echo 'SunOS box 5.11 omnios-r151050 i86pc i386 i86pc'"),
            ("look", LOOKS),
            ("prstat", "look 99; look 71"),
            ("vmstat", "exit 0"),
            ("kstat", "echo 'zfs:0:arcstats:c_max\t4242424242'; exec sleep 600"),
            ("zpool", HANGS),
            ("zfs", "exec sleep 600"),
            (
                "mdb",
                "cat | sed -n 's/^::stacks.*/ffffff0007c0bc40 SLEEP    CV        3\\n  swtch+0x145\\n  zio_wait+0x5b/p'",
            ),
            ("dtrace", HANGS),
        ],
    );
    let started: Vec<_> =
        SHELLS.iter().filter_map(|shell| Some((shell, collect(folder.path(), "illumos", shell)?))).collect();
    for (shell, child) in started {
        let text = printed(child, shell);
        assert!(text.contains("zpool status") && text.contains("$ zfs get"), "{shell:?} goes on: {text}");
        assert!(!text.contains("  99 0.0"), "{shell:?} prints the last look alone: {text}");
        fs::write(folder.path().join("host.txt"), text).expect("the text");
        let answer = call(folder.path(), "explain --json host.txt").json();
        // A busybox may have a uname of its own, which goes before those of the folder.
        assert!(shell[0] == "busybox" || answer["source"]["kernel"] == "5.11", "{shell:?}: {answer}");
        let text = call(folder.path(), "explain -v host.txt").ok();
        assert!(text.contains("zpool-tank") && text.contains("zio_wait"), "{shell:?}: {text}");
    }
}

#[test]
fn a_top_without_options_of_procps_is_asked_for_what_it_has() {
    const BUSYBOX: &str = "case $* in *-w*|*-H*) echo 'top: invalid option' >&2; exit 1;; esac
for cpu in 90% 34%; do
echo 'Mem: 14353780K used, 10330304K free, 8872K shrd, 177824K buff, 11570008K cached'
echo 'CPU:  75% usr  25% sys   0% nic   0% idle   0% io   0% irq   0% sirq'
echo 'Load average: 8.18 3.42 1.38 14/170 28185'
echo '  PID  PPID USER     STAT   VSZ %VSZ %CPU COMMAND'
echo \"   77     2 root     RW       0   0%  $cpu [z_wr_iss]\"
done";
    let folder = inputs::bare_folder();
    tools(folder.path(), &[("top", BUSYBOX), ("vmstat", "exit 1"), ("zpool", HANGS), ("zfs", "exit 1")]);
    let child = collect(folder.path(), "linux-minimal", SHELLS[0]).expect("a shell");
    let text = printed(child, SHELLS[0]);
    assert!(text.contains("$ top -b -d 5 -n 2\n") && !text.contains("invalid option"), "{text}");
    assert_eq!(text.matches("[z_wr_iss]").count(), 1, "{text}");
    fs::write(folder.path().join("host.txt"), text).expect("the text");
    let text = call(folder.path(), "explain -v host.txt").ok();
    assert!(text.contains("z_wr_iss") && text.contains("34"), "{text}");
}

#[test]
fn collectors_run_without_a_path_and_without_root() {
    let folder = inputs::bare_folder();
    for system in SYSTEMS {
        let file = folder.path().join("collect.sh");
        fs::write(&file, call(folder.path(), &format!("collect --print {system}")).ok()).expect("a script");
        // Of the other systems nothing but uname and vmstat is here, so this takes seconds.
        let mut command = Command::new("/bin/sh");
        command.arg(&file).env_clear().env("PATH", "").stdin(Stdio::null()).current_dir(folder.path());
        let output = command.output().expect("a shell");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && said.is_empty(), "{system}: {said}");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("$ uname -a") && !text.contains("not found"), "{system}: {text}");
    }
}
