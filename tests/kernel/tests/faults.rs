//! Faults injected into the real OpenZFS in the kernel VM: each must be the first finding, and its
//! healthy control must show none that zwhy believes.
//!
//! A scenario is one file in `scenarios/`: how the pool is made with and without the fault, the
//! load, and on a line of its own the classes that name the fault. ZWHY_SCENARIOS chooses some.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use zwhy_diagnose::{Knowledge, coverage};
use zwhy_kernel_tests::gains::{self, CURED, Gain};
use zwhy_kernel_tests::{Boot, Machine, root};

struct Scenario {
    name: String,
    file: PathBuf,
    /// Classes of which any names the fault.
    expect: Vec<String>,
    /// The remedy of the first finding is run, and taken back.
    remedy: bool,
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
        let expect = expect.split('|').map(str::to_owned).collect();
        Scenario { name, file, expect, remedy: text.lines().any(|line| line.starts_with("# remedy: ")) }
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

/// Scenarios of one boot: one that ends badly costs no more than these.
const A_BOOT: usize = 5;
/// Part of the samples in ZFS that must have a stage.
const STAGED: f64 = 0.95;

/// What the captures of a boot come to.
#[derive(Default)]
struct Judged {
    wrong: Vec<String>,
    /// Samples of ZFS that have a stage, and all of them.
    named: u64,
    of_zfs: u64,
    remedies: Remedies,
    gains: Vec<Gain>,
}

/// How many remedies were run, and what became of them.
#[derive(Default)]
struct Remedies {
    run: usize,
    cured: usize,
    undone: usize,
}

impl Remedies {
    fn add(&mut self, other: &Remedies) {
        self.run += other.run;
        self.cured += other.cured;
        self.undone += other.undone;
    }
}

/// What a load did while it was recorded, of the file that the guest keeps beside the capture.
#[derive(serde::Deserialize)]
struct Load {
    bytes: f64,
    operations: f64,
    seconds: f64,
    /// Of the whole machine without the recorder.
    cpu_seconds: f64,
}

impl Load {
    /// How fast it was and what it cost: by the byte where bytes were moved.
    fn words(&self) -> String {
        let (amount, unit) = match self.bytes > 0.0 {
            true => (self.bytes / 1e6, "MB"),
            false => (self.operations, "operations"),
        };
        let cost = self.cpu_seconds * 1000.0 / amount.max(1.0);
        format!("{:.1} {unit}/s at {cost:.1} CPU s per 1000", amount / self.seconds)
    }
}

/// What the load came to with the fault, after the remedy and after its undo.
fn say_loads(boot: &Boot, scenario: &Scenario) {
    let words = ["fault", "run", "undo"].map(|way| {
        let load = serde_json::from_str::<Load>(&boot.text(&format!("{}.{way}.load", scenario.name)));
        load.map_or_else(|e| format!("{way}: not measured, {e}"), |load| format!("{way}: {}", load.words()))
    });
    let _ = writeln!(std::io::stderr(), "{}: {}", scenario.name, words.join("; "));
}

/// What the remedy of a scenario came to: the finding must go, and come back when it is undone.
fn judge_remedy(boot: &Boot, scenario: &Scenario, knowledge: &Knowledge, judged: &mut Judged) {
    judged.remedies.run += 1;
    say_loads(boot, scenario);
    for way in ["run", "undo"] {
        let exit = boot.text(&format!("{}.{way}.remedy.exit", scenario.name));
        if exit != "0" {
            let log = boot.text(&format!("{}.{way}.remedy.log", scenario.name));
            judged.wrong.push(format!("{} remedy {way}: exit {exit}: {log}", scenario.name));
            continue;
        }
        let answer = boot.capture(&format!("{}.{way}.zwhy", scenario.name)).explain(knowledge);
        let left = answer.findings.iter().filter(|f| scenario.expect.contains(&f.class));
        let left = left.map(|f| f.confidence).fold(0.0, f64::max);
        match way {
            "run" if left < CURED => judged.remedies.cured += 1,
            "undo" if left >= CURED => judged.remedies.undone += 1,
            _ => judged.wrong.push(format!("{} after {way}: its finding is at {left:.2}", scenario.name)),
        }
    }
}

fn judge(scenarios: &[Scenario], first: usize) -> Judged {
    let mut files: Vec<PathBuf> = scenarios.iter().map(|s| s.file.clone()).collect();
    files.push("tests/kernel/guest/lib.sh".into());
    let names: Vec<String> = scenarios.iter().map(|s| s.name.clone()).collect();
    // The kernel of Debian zeroes each page it hands out, which would be found in every capture.
    let kernel = "init_on_alloc=0";
    let machine = Machine { disks: 5, disk_mib: 4096, limit: 1800, kernel, debug: false, files: &files };
    let name = format!("faults-{first:02}");
    let boot = Boot::run(&name, Path::new("tests/kernel/guest/faults.sh"), &names, &machine);

    let knowledge = Knowledge::embedded();
    let mut judged = Judged::default();
    for scenario in scenarios {
        for variant in ["fault", "control"] {
            let capture = boot.capture(&format!("{}.{variant}.zwhy", scenario.name));
            let seen = coverage(&capture.evidence().profile, &knowledge.anatomy);
            judged.named += seen.named;
            judged.of_zfs += seen.zfs;
            let answer = capture.explain(&knowledge);
            let found: Vec<String> =
                answer.findings.iter().map(|f| format!("{} {:.2}", f.class, f.confidence)).collect();
            let good = match variant {
                "fault" => answer.findings.first().is_some_and(|f| scenario.expect.contains(&f.class)),
                _ => answer.findings.iter().all(|f| f.confidence <= 0.5),
            };
            if !good {
                judged.wrong.push(format!("{} {variant}: {found:?}", scenario.name));
            }
        }
        if scenario.remedy {
            judge_remedy(&boot, scenario, &knowledge, &mut judged);
            judged.gains.extend(gains::gain(boot.folder(), &scenario.name, &scenario.expect, &knowledge));
        }
    }
    judged
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn the_fault_is_named_and_the_control_is_not_accused() {
    let scenarios = scenarios();
    let mut all = Judged::default();
    for (at, group) in scenarios.chunks(A_BOOT).enumerate() {
        match std::panic::catch_unwind(|| judge(group, at * A_BOOT)) {
            Ok(judged) => {
                all.wrong.extend(judged.wrong);
                all.named += judged.named;
                all.of_zfs += judged.of_zfs;
                all.remedies.add(&judged.remedies);
                all.gains.extend(judged.gains);
            }
            // The panic has said why.
            Err(_) => all.wrong.extend(group.iter().map(|s| format!("{}: its boot failed", s.name))),
        }
    }
    say_gains(&all.gains);
    let Judged { mut wrong, named, of_zfs, remedies: Remedies { run, cured, undone }, gains } = all;
    let within = gains.iter().filter(|gain| gain.is_within()).count();
    let _ = writeln!(
        std::io::stderr(),
        "{run} remedies run, {cured} cured, {undone} undone, {within} of {} gains within the prediction",
        gains.len()
    );
    if (named as f64) < STAGED * of_zfs as f64 {
        wrong.push(format!("only {named} of {of_zfs} samples of ZFS have a stage"));
    }
    assert!(wrong.is_empty(), "{} scenarios:\n{}", scenarios.len(), wrong.join("\n"));
}

/// The table of what was promised and what came, and with BLESS set into the document of all such tables.
fn say_gains(gains: &[Gain]) {
    let _ = writeln!(std::io::stderr(), "{}", gains::table(gains));
    gains::bless(&root().join("docs/CALIBRATION.md"), gains);
}

/// Judges captures that an earlier run left in the folder that ZWHY_CAPTURES names; nothing without one, as all
/// ignored tests are run by `make kernel-test`.
#[test]
#[ignore = "needs captures of a run, ZWHY_CAPTURES=FOLDER"]
fn gains_of_captures_that_were_kept() {
    let Some(folder) = std::env::var_os("ZWHY_CAPTURES").map(PathBuf::from) else { return };
    let knowledge = Knowledge::embedded();
    let gain = |s: &Scenario| gains::gain(&folder, &s.name, &s.expect, &knowledge);
    let gains: Vec<Gain> = scenarios().iter().filter(|s| s.remedy).filter_map(gain).collect();
    assert!(!gains.is_empty(), "no remedy of a scenario was recorded in {}", folder.display());
    say_gains(&gains);
}
