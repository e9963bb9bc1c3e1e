//! Faults injected into the real OpenZFS in the kernel VM: each must be the first finding, and its
//! healthy control must show none that zwhy believes.
//!
//! A scenario is one file in `scenarios/`: how the pool is made with and without the fault, the
//! load, and on a line of its own the classes that name the fault. ZWHY_SCENARIOS chooses some.

use std::fs;
use std::path::{Path, PathBuf};
use zwhy_diagnose::{Knowledge, coverage};
use zwhy_kernel_tests::{Boot, Machine, root};

struct Scenario {
    name: String,
    file: PathBuf,
    /// Classes of which any names the fault.
    expect: Vec<String>,
}

fn scenarios() -> Vec<Scenario> {
    let chosen = std::env::var("ZWHY_SCENARIOS").unwrap_or_default();
    let folder = root().join("tests/kernel/scenarios");
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).expect("scenarios").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    let scenario = |file: PathBuf| {
        let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = fs::read_to_string(&file).expect("a scenario");
        let expect = text.lines().find_map(|line| line.strip_prefix("# expect: "));
        let expect = expect.unwrap_or_else(|| panic!("{name} does not say what it expects"));
        Scenario { name, file, expect: expect.split('|').map(str::to_owned).collect() }
    };
    let all = files.into_iter().map(scenario);
    all.filter(|s| chosen.is_empty() || chosen.split_whitespace().any(|name| name == s.name)).collect()
}

#[test]
fn every_scenario_expects_a_cause_that_is_known() {
    let knowledge = Knowledge::embedded();
    for scenario in scenarios() {
        for class in &scenario.expect {
            assert!(knowledge.cause(class).is_some(), "{}: no cause {class}", scenario.name);
        }
    }
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn the_fault_is_named_and_the_control_is_not_accused() {
    let scenarios = scenarios();
    let mut files: Vec<PathBuf> = scenarios.iter().map(|s| s.file.clone()).collect();
    files.push("tests/kernel/guest/lib.sh".into());
    let names: Vec<String> = scenarios.iter().map(|s| s.name.clone()).collect();
    // The kernel of Debian zeroes each page it hands out, which would be found in every capture.
    let machine = Machine { disks: 5, disk_mib: 256, limit: 1800, kernel: "init_on_alloc=0", files: &files };
    let boot = Boot::run("faults", Path::new("tests/kernel/guest/faults.sh"), &names, &machine);

    let knowledge = Knowledge::embedded();
    let (mut wrong, mut named, mut of_zfs) = (Vec::new(), 0, 0);
    for scenario in &scenarios {
        for variant in ["fault", "control"] {
            let capture = boot.capture(&format!("{}.{variant}.zwhy", scenario.name));
            let seen = coverage(&capture.evidence().profile, &knowledge.anatomy);
            (named, of_zfs) = (named + seen.named, of_zfs + seen.zfs);
            let answer = capture.explain(&knowledge);
            let found: Vec<String> =
                answer.findings.iter().map(|f| format!("{} {:.2}", f.class, f.confidence)).collect();
            let good = match variant {
                "fault" => answer.findings.first().is_some_and(|f| scenario.expect.contains(&f.class)),
                _ => answer.findings.iter().all(|f| f.confidence <= 0.5),
            };
            if !good {
                wrong.push(format!("{} {variant}: {found:?}", scenario.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), 2 * scenarios.len(), wrong.join("\n"));
    assert!(named as f64 >= 0.95 * of_zfs as f64, "{named} of {of_zfs} samples of ZFS have a stage");
}
