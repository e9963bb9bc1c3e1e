//! The first line that zwhy prints for each scenario and its control, in one list to read: docs/ANSWERS.md.

use crate::scenario::Scenario;
use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};

/// Characters of a first line, at most: it is read at once, on one row of a wide terminal.
pub const LONGEST: usize = 160;

const BEGIN: &str = "<!-- answers: made by `BLESS=1 make kernel-test` -->\n";
const END: &str = "<!-- answers end -->\n";

/// What zwhy said first of a scenario and of its control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstLines {
    pub fault: String,
    pub control: String,
}

/// What is wrong with the first lines of a scenario; nothing when they are as its head expects.
pub fn faults_of(scenario: &Scenario, lines: &FirstLines) -> Vec<String> {
    let mut wrong = Vec::new();
    if scenario.says.is_empty() {
        return wrong;
    }
    let FirstLines { fault, control } = lines;
    if !scenario.is_said_by(fault) {
        wrong
            .push(format!("{} fault: the first line says {fault:?}, not {:?}", scenario.name, scenario.says));
    }
    if scenario.is_accused_by(control) {
        wrong.push(format!("{} control: the first line accuses: {control:?}", scenario.name));
    }
    for (variant, line) in [("fault", fault), ("control", control)] {
        let long = line.chars().count();
        if long > LONGEST {
            wrong.push(format!("{} {variant}: a first line of {long} characters: {line}", scenario.name));
        }
    }
    wrong
}

/// Rows of the list, by scenario.
type Rows = BTreeMap<String, Vec<String>>;

fn rows(scenario: &Scenario, lines: &FirstLines) -> Vec<String> {
    let cell = |text: &str| text.replace('|', "\\|").replace(['\n', '\r'], " ");
    vec![
        format!("| {} | {} | {} |", scenario.name, cell(&scenario.wrong), cell(&lines.fault)),
        format!("| {}, control | {} | {} |", scenario.name, cell(&scenario.control), cell(&lines.control)),
    ]
}

/// The scenario of a row.
fn name_of(row: &str) -> Option<&str> {
    row.strip_prefix("| ")?.split([' ', ',']).next()
}

/// The rows of a document, by scenario.
fn read(text: &str) -> Rows {
    let mut rows = Rows::new();
    let list = text.split_once(BEGIN).and_then(|(_, rest)| rest.split_once(END)).map_or("", |(list, _)| list);
    for row in list.lines().skip(2) {
        if let Some(name) = name_of(row) {
            rows.entry(name.to_owned()).or_default().push(row.to_owned());
        }
    }
    rows
}

/// With BLESS set, puts these rows into the document; what was not run again keeps its rows, and a scenario that is
/// gone loses them.
pub fn bless(document: &Path, said: &[(&Scenario, FirstLines)], known: &[String]) {
    if env::var_os("BLESS").is_none() || said.is_empty() {
        return;
    }
    let text = fs::read_to_string(document).expect("the document");
    fs::write(document, replaced(&text, said, known)).expect("the document");
}

fn replaced(text: &str, said: &[(&Scenario, FirstLines)], known: &[String]) -> String {
    let (head, rest) = text.split_once(BEGIN).expect("the mark where the list begins");
    let (_, tail) = rest.split_once(END).expect("the mark where it ends");
    let mut all = read(text);
    all.retain(|name, _| known.contains(name));
    for (scenario, lines) in said {
        all.insert(scenario.name.clone(), rows(scenario, lines));
    }
    let mut list = "| scenario | what is wrong | the first line |\n|---|---|---|\n".to_owned();
    for row in all.values().flatten() {
        list.push_str(row);
        list.push('\n');
    }
    format!("{head}{BEGIN}{list}{END}{tail}")
}

/// What the document has as first lines of a scenario.
pub fn in_document(text: &str, scenario: &Scenario) -> Option<FirstLines> {
    let rows = read(text).remove(&scenario.name)?;
    let line = |row: &String| {
        let cells = row.trim_end_matches(" |").replace("\\|", "\u{1}");
        cells.rsplit_once(" | ").map(|(_, line)| line.replace('\u{1}', "|"))
    };
    Some(FirstLines { fault: line(rows.first()?)?, control: line(rows.get(1)?)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn scenario(name: &str) -> Scenario {
        Scenario {
            name: name.to_owned(),
            file: PathBuf::new(),
            wrong: "A disk is slow".to_owned(),
            control: "the control is not".to_owned(),
            expect: Vec::new(),
            says: vec![vec!["nvme5n1".to_owned()]],
            both: Vec::new(),
            spares: Vec::new(),
            machine: Vec::new(),
            remedy: false,
            no_gain: None,
        }
    }

    fn lines(fault: &str, control: &str) -> FirstLines {
        FirstLines { fault: fault.to_owned(), control: control.to_owned() }
    }

    #[test]
    fn a_wrong_line_an_accused_control_and_a_long_line_are_told() {
        let slow = scenario("slow");
        assert_eq!(faults_of(&slow, &lines("It waits for nvme5n1.", "ZFS is idle.")), Vec::<String>::new());
        assert_eq!(faults_of(&slow, &lines("ZFS is idle.", "It waits for nvme5n1.")).len(), 2);
        assert_eq!(faults_of(&slow, &lines(&"nvme5n1 ".repeat(21), "ZFS is idle.")).len(), 1);
    }

    #[test]
    fn rows_of_scenarios_that_were_not_run_are_kept() {
        let (a, b) = (scenario("a"), scenario("b"));
        let known = ["a".to_owned(), "b".to_owned()];
        let empty = format!("before\n{BEGIN}{END}after\n");
        let both = replaced(&empty, &[(&a, lines("x | y", "idle")), (&b, lines("z", "idle"))], &known);
        assert_eq!(in_document(&both, &a), Some(lines("x | y", "idle")));
        let again = replaced(&both, &[(&b, lines("new", "idle"))], &known);
        assert_eq!(in_document(&again, &a), in_document(&both, &a));
        assert_eq!(in_document(&again, &b), Some(lines("new", "idle")));
        assert!(again.starts_with("before\n") && again.ends_with("after\n"));
        assert_eq!(
            in_document(&replaced(&both, &[(&b, lines("z", "idle"))], &known[1..]), &a),
            None,
            "it is gone"
        );
    }
}
