//! A scenario of `scenarios/`: a shell file whose head says what is wrong, and what zwhy must answer.
//!
//! The first line of the head is one sentence on what is wrong, and after a semicolon what the control has
//! instead. The others are `# KEY: VALUE`; what is expected is written there before zwhy is asked.

use crate::root;
use std::fs;
use std::path::{Path, PathBuf};

/// Disks without limits that every machine has.
pub const DISKS: u32 = 5;

/// What one scenario's head says.
#[derive(Debug)]
pub struct Scenario {
    pub name: String,
    pub file: PathBuf,
    /// What is wrong, a sentence.
    pub wrong: String,
    /// What the control has instead.
    pub control: String,
    /// Classes of which any names the fault; none where the first line alone tells.
    pub expect: Vec<String>,
    /// Classes that are as true of the control, and no accusation: the load itself.
    pub both: Vec<String>,
    /// What the first line must have: one of each of these lists.
    pub says: Vec<Vec<String>>,
    /// What the control's first line must not have, any of it: what is not so there.
    pub spares: Vec<String>,
    /// The disks of the machine that are slow or bad, in the words of `vm/run -d`.
    pub machine: Vec<String>,
    /// The remedy of the first finding is run, and taken back.
    pub remedy: bool,
    /// Why what the remedy gains cannot be measured in this machine, if so.
    pub no_gain: Option<String>,
}

impl Scenario {
    /// # Panics
    /// When the head does not say what is wrong or what is expected: a mistake of who wrote it.
    pub fn read(file: &Path) -> Scenario {
        let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = fs::read_to_string(file).expect("a scenario");
        Scenario::parse(&name, file, &text)
    }

    fn parse(name: &str, file: &Path, text: &str) -> Scenario {
        let first = text.lines().next().and_then(|line| line.strip_prefix("# "));
        let first = first.unwrap_or_else(|| panic!("{name} does not say what is wrong"));
        let (wrong, control) = first.rsplit_once("; ").unwrap_or((first, "the control has nothing of it"));
        let values = |key: &str| -> Vec<&str> {
            let head = format!("# {key}: ");
            text.lines().filter_map(|line| line.strip_prefix(&head)).collect()
        };
        let list = |line: &str| line.split('|').map(|word| word.trim().to_owned()).collect::<Vec<_>>();
        let expect: Vec<String> = values("expect").first().map(|line| list(line)).unwrap_or_default();
        let both = values("both").first().map(|line| list(line)).unwrap_or_default();
        let says: Vec<Vec<String>> = values("says").into_iter().map(list).collect();
        let spares = values("spares").into_iter().flat_map(list).collect();
        assert!(!expect.is_empty() || !says.is_empty(), "{name} does not say what it expects");
        let machine = values("machine").first().map_or("", |line| *line).split_whitespace();
        Scenario {
            name: name.to_owned(),
            file: file.to_owned(),
            wrong: wrong.trim_end_matches('.').to_owned(),
            control: control.trim_end_matches('.').to_owned(),
            expect,
            both,
            says,
            spares,
            machine: machine.map(str::to_owned).collect(),
            remedy: !values("remedy").is_empty(),
            no_gain: values("gain")
                .first()
                .and_then(|line| line.strip_prefix("not here, "))
                .map(str::to_owned),
        }
    }

    /// Whether a first line says what this scenario's head expects, in any case of letters.
    pub fn is_said_by(&self, line: &str) -> bool {
        let line = line.to_lowercase();
        self.says.iter().all(|any| any.iter().any(|text| line.contains(&text.to_lowercase())))
    }

    /// Whether a control's first line says of it what is so only with the fault.
    pub fn is_accused_by(&self, line: &str) -> bool {
        let small = line.to_lowercase();
        self.is_said_by(line) || self.spares.iter().any(|text| small.contains(&text.to_lowercase()))
    }

    /// Disks of its machine: those without limits, and as many more as have a word.
    pub fn disks(&self) -> u32 {
        let number = |word: &String| word.split_once(':').and_then(|(n, _)| n.parse::<u32>().ok());
        self.machine.iter().filter_map(number).map(|n| n + 1).fold(DISKS, u32::max)
    }
}

/// All scenarios, or those that ZWHY_SCENARIOS names, by their machine and name.
pub fn scenarios() -> Vec<Scenario> {
    let chosen = std::env::var("ZWHY_SCENARIOS").unwrap_or_default();
    let folder = root().join("tests/kernel/scenarios");
    let files = fs::read_dir(folder).expect("scenarios").map(|entry| entry.expect("an entry").path());
    let all = files.map(|file| Scenario::read(&file));
    let mut all: Vec<Scenario> =
        all.filter(|s| chosen.is_empty() || chosen.split_whitespace().any(|name| name == s.name)).collect();
    all.sort_by(|a, b| (&a.machine, &a.name).cmp(&(&b.machine, &b.name)));
    all
}

/// Scenarios that share a boot: of one machine, and at most so many.
pub fn boots(scenarios: &[Scenario], most: usize) -> Vec<&[Scenario]> {
    scenarios.chunk_by(|a, b| a.machine == b.machine).flat_map(|same| same.chunks(most)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(text: &str) -> Scenario {
        Scenario::parse("slow", Path::new("slow.sh"), text)
    }

    #[test]
    fn the_head_says_what_is_wrong_and_what_the_first_line_must_have() {
        let slow = scenario(
            "# A disk is slow; the control has a fast one.\n# machine: 5:iops=80 7:bps=10M\n\
             # spares: waits for | lock\n# says: nvme5n1\n# says: waits for | 100 % busy\nsetup() { :; }\n",
        );
        assert_eq!(
            (slow.wrong.as_str(), slow.control.as_str()),
            ("A disk is slow", "the control has a fast one")
        );
        assert_eq!(slow.disks(), 8);
        assert!(slow.is_said_by("PROGRAM waits for NVME5n1."));
        assert!(slow.is_said_by("nvme5n1 is 100 % busy"));
        assert!(!slow.is_said_by("nvme5n1 is fast"), "one of each list");
        assert!(!slow.is_said_by("PROGRAM waits for sda"));
        assert!(slow.is_accused_by("PROGRAM waits for sda"));
        assert!(!slow.is_accused_by("ZFS is idle"));
    }

    #[test]
    #[should_panic(expected = "slow does not say what it expects")]
    fn a_head_that_expects_nothing_is_refused() {
        scenario("# A disk is slow.\n# machine: 5:iops=80\n");
    }

    #[test]
    fn scenarios_of_one_machine_share_a_boot() {
        let of = |machine: &str| scenario(&format!("# A.\n# machine: {machine}\n# says: x\n"));
        let all = [of("5:iops=8"), of("5:iops=8"), of("5:iops=8"), of("6:bps=1M")];
        let boots: Vec<usize> = boots(&all, 2).iter().map(|boot| boot.len()).collect();
        assert_eq!(boots, [2, 1, 1]);
    }
}
