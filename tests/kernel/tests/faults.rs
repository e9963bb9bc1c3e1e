//! Faults injected into the real OpenZFS in the kernel VM: each must be the first finding, and its
//! healthy control must show none that zwhy believes.
//!
//! A scenario is one file in `scenarios/`: how the pool is made with and without the fault, the
//! load, and in its head the classes that name the fault, or what the first line must say.
//! ZWHY_SCENARIOS chooses some.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use zwhy_diagnose::{Knowledge, coverage};
use zwhy_kernel_tests::answers::{self, FirstLines};
use zwhy_kernel_tests::gains::{self, CURED, Gain};
use zwhy_kernel_tests::scenario::{Scenario, boots, scenarios};
use zwhy_kernel_tests::{Boot, Machine, capture_of, root};

/// The list of all first lines.
fn answers_document() -> PathBuf {
    root().join("docs/ANSWERS.md")
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

/// The list is made by runs of the VM; between them nobody may change what a scenario expects, or a line.
#[test]
fn the_first_lines_in_the_document_are_those_that_the_scenarios_expect() {
    let text = std::fs::read_to_string(answers_document()).expect("docs/ANSWERS.md");
    let mut wrong = Vec::new();
    for scenario in scenarios().iter().filter(|s| !s.says.is_empty()) {
        match answers::in_document(&text, scenario) {
            Some(lines) => wrong.extend(answers::faults_of(scenario, &lines)),
            None => wrong.push(format!("{} is not in docs/ANSWERS.md", scenario.name)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Scenarios of one boot: one that ends badly costs no more than these.
const A_BOOT: usize = 5;
/// Of a healthy control no finding may be surer.
const HEALTHY: f64 = 0.3;
/// Part of the confidence in a weak finding below which it is gone.
const MOST: f64 = 0.75;
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
    /// The first lines of each scenario, by its name.
    said: Vec<(String, FirstLines)>,
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
    // What takes little of the CPU is never sure: gone is less than most of what it was.
    let fault = boot.capture(&format!("{}.fault.zwhy", scenario.name)).explain(knowledge);
    let was = fault.findings.iter().filter(|f| scenario.expect.contains(&f.class)).map(|f| f.confidence);
    let there = CURED.min(was.fold(0.0, f64::max) * MOST).max(f64::EPSILON);
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
            "run" if left < there => judged.remedies.cured += 1,
            "undo" if left >= there => judged.remedies.undone += 1,
            _ => judged.wrong.push(format!("{} after {way}: its finding is at {left:.2}", scenario.name)),
        }
    }
}

/// Boots a machine that records these scenarios, which are of one machine.
fn boot(scenarios: &[Scenario], number: usize) -> Boot {
    let mut files: Vec<PathBuf> = scenarios.iter().map(|s| s.file.clone()).collect();
    files.extend(["lib.sh", "scenario.sh"].map(|name| Path::new("tests/kernel/guest").join(name)));
    let names: Vec<String> = scenarios.iter().map(|s| s.name.clone()).collect();
    let machine = Machine {
        disks: scenarios.iter().map(Scenario::disks).max().expect("a scenario"),
        disk_mib: 4096,
        special_disks: &scenarios[0].machine,
        limit: 1800,
        // The kernel of Debian zeroes each page it hands out, which would be found in every capture.
        kernel: "init_on_alloc=0",
        debug: false,
        files: &files,
    };
    Boot::run(&format!("faults-{number:02}"), Path::new("tests/kernel/guest/faults.sh"), &names, &machine)
}

fn judge(scenarios: &[Scenario], number: usize) -> Judged {
    let boot = boot(scenarios, number);
    let knowledge = Knowledge::embedded();
    let mut judged = Judged::default();
    for scenario in scenarios {
        let [fault, control] =
            ["fault", "control"].map(|variant| judge_one(&boot, scenario, variant, &mut judged));
        let lines = FirstLines { fault, control };
        judged.wrong.extend(answers::faults_of(scenario, &lines));
        judged.said.push((scenario.name.clone(), lines));
        if scenario.remedy {
            judge_remedy(&boot, scenario, &knowledge, &mut judged);
            if scenario.no_gain.is_none() {
                judged.gains.extend(gains::gain(boot.folder(), &scenario.name, &scenario.expect, &knowledge));
            }
        }
    }
    judged
}

/// What the findings of a scenario or of its control come to; its first line.
fn judge_one(boot: &Boot, scenario: &Scenario, variant: &str, judged: &mut Judged) -> String {
    let knowledge = Knowledge::embedded();
    let capture = boot.capture(&format!("{}.{variant}.zwhy", scenario.name));
    let seen = coverage(&capture.evidence().profile, &knowledge.anatomy);
    judged.named += seen.named;
    judged.of_zfs += seen.zfs;
    let answer = capture.explain(&knowledge);
    let found: Vec<String> =
        answer.findings.iter().map(|f| format!("{} {:.2}", f.class, f.confidence)).collect();
    let good = match variant {
        "fault" if scenario.expect.is_empty() => true,
        "fault" => answer.findings.first().is_some_and(|f| scenario.expect.contains(&f.class)),
        _ => answer.findings.iter().all(|f| f.confidence <= HEALTHY || scenario.both.contains(&f.class)),
    };
    if !good {
        judged.wrong.push(format!("{} {variant}: {found:?}", scenario.name));
    }
    answer.why
}

#[test]
#[ignore = "boots the kernel VM: make kernel-test"]
fn the_fault_is_named_and_the_control_is_not_accused() {
    let scenarios = scenarios();
    let mut all = Judged::default();
    for (number, group) in boots(&scenarios, A_BOOT).into_iter().enumerate() {
        match std::panic::catch_unwind(|| judge(group, number)) {
            Ok(judged) => {
                all.wrong.extend(judged.wrong);
                all.named += judged.named;
                all.of_zfs += judged.of_zfs;
                all.remedies.add(&judged.remedies);
                all.gains.extend(judged.gains);
                all.said.extend(judged.said);
            }
            // The panic has said why.
            Err(_) => all.wrong.extend(group.iter().map(|s| format!("{}: its boot failed", s.name))),
        }
    }
    say_gains(&all.gains, &scenarios);
    say_first_lines(&scenarios, &all.said);
    let Judged { mut wrong, named, of_zfs, remedies: Remedies { run, cured, undone }, gains, .. } = all;
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
fn say_gains(gains: &[Gain], scenarios: &[Scenario]) {
    let apart: Vec<(String, String)> =
        scenarios.iter().filter_map(|s| Some((s.name.clone(), s.no_gain.clone()?))).collect();
    let _ = writeln!(std::io::stderr(), "{}", gains::table(gains, &apart));
    gains::bless(&root().join("docs/CALIBRATION.md"), gains, &apart);
}

/// All first lines, and with BLESS set into the list of them.
fn say_first_lines(scenarios: &[Scenario], said: &[(String, FirstLines)]) {
    let of = |name: &str| scenarios.iter().find(|s| s.name == name);
    let said: Vec<(&Scenario, FirstLines)> =
        said.iter().filter_map(|(name, lines)| Some((of(name)?, lines.clone()))).collect();
    for (scenario, lines) in &said {
        let right = if answers::faults_of(scenario, lines).is_empty() { "right" } else { "WRONG" };
        let FirstLines { fault, control } = lines;
        let _ = writeln!(std::io::stderr(), "{} {right}\n    {fault}\n    {control}", scenario.name);
    }
    let folder = std::fs::read_dir(root().join("tests/kernel/scenarios")).expect("scenarios");
    let known = folder.filter_map(|e| Some(e.ok()?.path().file_stem()?.to_string_lossy().into_owned()));
    answers::bless(&answers_document(), &said, &known.collect::<Vec<_>>());
}

/// Says the first lines of captures that an earlier run left in the folder that ZWHY_CAPTURES names, and judges them.
#[test]
#[ignore = "needs captures of a run, ZWHY_CAPTURES=FOLDER"]
fn first_lines_of_captures_that_were_kept() {
    let Some(folder) = std::env::var_os("ZWHY_CAPTURES").map(PathBuf::from) else { return };
    let knowledge = Knowledge::embedded();
    let scenarios = scenarios();
    let line = |s: &Scenario, variant: &str| {
        let file = folder.join(format!("{}.{variant}.zwhy", s.name));
        file.exists().then(|| capture_of(&file, &s.name).explain(&knowledge).why)
    };
    let lines = |s: &Scenario| Some(FirstLines { fault: line(s, "fault")?, control: line(s, "control")? });
    let said: Vec<_> = scenarios.iter().filter_map(|s| Some((s.name.clone(), lines(s)?))).collect();
    say_first_lines(&scenarios, &said);
    let of = |name: &str| scenarios.iter().find(|s| s.name == name).expect("it was read");
    let wrong: Vec<String> = said.iter().flat_map(|(name, l)| answers::faults_of(of(name), l)).collect();
    assert!(wrong.is_empty(), "{} scenarios:\n{}", said.len(), wrong.join("\n"));
}

/// Judges captures that an earlier run left in the folder that ZWHY_CAPTURES names; nothing without one, as all
/// ignored tests are run by `make kernel-test`.
#[test]
#[ignore = "needs captures of a run, ZWHY_CAPTURES=FOLDER"]
fn gains_of_captures_that_were_kept() {
    let Some(folder) = std::env::var_os("ZWHY_CAPTURES").map(PathBuf::from) else { return };
    let knowledge = Knowledge::embedded();
    let gain = |s: &Scenario| gains::gain(&folder, &s.name, &s.expect, &knowledge);
    let scenarios = scenarios();
    let measured = scenarios.iter().filter(|s| s.remedy && s.no_gain.is_none());
    let gains: Vec<Gain> = measured.filter_map(gain).collect();
    assert!(!gains.is_empty(), "no remedy of a scenario was recorded in {}", folder.display());
    say_gains(&gains, &scenarios);
}
