//! The systemd unit: valid, and open no further than it must be.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};

fn unit() -> String {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/zwhy-agent.service"));
    std::fs::read_to_string(path).unwrap()
}

/// Of a setting that is given once.
fn value<'a>(unit: &'a str, name: &str) -> &'a str {
    let mut values = unit.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    let value = values.next().unwrap_or_else(|| panic!("no {name}"));
    assert_eq!(values.next(), None, "{name} twice");
    value
}

#[test]
fn it_may_what_it_needs_and_no_more() {
    let unit = unit();
    for name in ["CapabilityBoundingSet", "AmbientCapabilities"] {
        assert_eq!(value(&unit, name), "CAP_PERFMON CAP_SYSLOG CAP_SYS_PTRACE");
    }
    assert_eq!((value(&unit, "ProtectSystem"), value(&unit, "StateDirectory")), ("strict", "zwhy"));
    // These would hide what it reads.
    for name in ["ProtectKernelTunables", "ProtectKernelLogs", "ProtectProc", "ProcSubset", "PrivateUsers"] {
        assert!(!unit.lines().any(|line| line.starts_with(&format!("{name}="))), "{name}");
    }
}

/// Runs systemd-analyze on the unit with a program that is there; `None` where there is none.
fn analyze(args: &[&str]) -> Option<Output> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("zwhy-agent.service");
    std::fs::write(&path, unit().replace("/usr/bin/zwhy agent", "/bin/true")).unwrap();
    match Command::new("systemd-analyze").args(args).arg(&path).output() {
        Ok(output) => Some(output),
        Err(_) => {
            let _ = writeln!(std::io::stderr(), "skipped: no systemd-analyze");
            None
        }
    }
}

#[test]
fn systemd_takes_it_without_a_word() {
    let Some(output) = analyze(&["--man=no", "verify"]) else { return };
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && !text.contains("zwhy-agent"), "{text}");
}

#[test]
fn its_exposure_is_low() {
    // In tenths of systemd's own scale of 0 to 10, where 4 and less is called OK.
    let Some(output) = analyze(&["security", "--offline=yes", "--threshold=30"]) else { return };
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if text.contains("unrecognized option") {
        let _ = writeln!(std::io::stderr(), "skipped: this systemd-analyze does not read units offline");
        return;
    }
    assert!(output.status.success(), "{text}");
}

#[test]
fn its_options_are_those_of_the_file_that_it_reads() {
    let unit = unit();
    assert_eq!(value(&unit, "EnvironmentFile"), "-/etc/default/zwhy-agent");
    let variable = value(&unit, "ExecStart").strip_prefix("/usr/bin/zwhy agent $").expect("a variable");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/zwhy-agent.default");
    let settings = std::fs::read_to_string(path).unwrap();
    assert!(settings.lines().any(|line| line == format!("{variable}=\"\"")), "{settings}");
}
