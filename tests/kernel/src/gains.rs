//! What remedies promised against what came, on captures of a fault, of its remedy and of its undo.
//!
//! The fault and the undo are the same load with the same fault, so what came is measured twice, and its interval
//! reaches over both: that two runs differ is in it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use zwhy_capture::Capture;
use zwhy_diagnose::{
    AfterAnswer, Classified, Done, Knowledge, Options, Range, Side, classify, did_it_help, explain_classified,
};
use zwhy_evidence::Evidence;

/// Above this a finding is still there.
pub const CURED: f64 = 0.3;

/// One remedy's promise: parts of ZFS's CPU for the same work.
#[derive(Debug, PartialEq)]
pub struct Gain {
    pub scenario: String,
    pub class: String,
    pub promised: Range,
    pub came: f64,
    pub interval: Range,
}

impl Gain {
    pub fn is_within(&self) -> bool {
        self.interval.high >= self.promised.low && self.interval.low <= self.promised.high
    }
}

/// One capture with what its load counted.
struct Recorded {
    evidence: Evidence,
    classified: Classified,
    done: Option<Done>,
    name: String,
}

impl Recorded {
    fn open(folder: &Path, name: &str, knowledge: &Knowledge) -> Option<Recorded> {
        let capture = Capture::open(&folder.join(format!("{name}.zwhy"))).ok()?;
        let mut evidence = capture.into_imported(name).evidence;
        evidence.set_recorder_aside();
        let classified = classify(&evidence.profile, &knowledge.anatomy);
        let load = fs::read_to_string(folder.join(format!("{name}.load"))).ok();
        let load = load.and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
        let done = load.and_then(|load| {
            let of = |key: &str| load[key].as_f64();
            Some(Done { bytes: of("bytes")?, operations: of("operations")?, seconds: of("seconds")? })
        });
        Some(Recorded { evidence, classified, done, name: name.to_owned() })
    }

    fn side<'a>(&'a self, knowledge: &Knowledge) -> Side<'a> {
        let options = Options { name: self.name.clone(), ..Options::default() };
        let answer = explain_classified(&self.evidence, &self.classified, knowledge, &options);
        Side { evidence: &self.evidence, classified: &self.classified, answer, done: self.done }
    }
}

/// The gain of a scenario's remedy; `None` where nothing is promised, the remedy did not cure, or nothing counted
/// the work.
pub fn gain(folder: &Path, scenario: &str, expect: &[String], knowledge: &Knowledge) -> Option<Gain> {
    let [fault, run, undo] =
        ["fault", "run", "undo"].map(|way| Recorded::open(folder, &format!("{scenario}.{way}"), knowledge));
    let (fault, run) = (fault?, run?);
    let (before, after) = (fault.side(knowledge), run.side(knowledge));
    let found = before.answer.findings.iter().find(|f| expect.contains(&f.class))?;
    let promised = found.gain.as_ref()?.zfs_cpu_less?;
    let left = after.answer.findings.iter().filter(|f| f.class == found.class);
    if left.map(|f| f.confidence).fold(0.0, f64::max) >= CURED {
        return None;
    }
    let mut came: Vec<[f64; 3]> = came(&did_it_help(&before, &after, knowledge)).into_iter().collect();
    if let Some(undo) = undo {
        came.extend(self::came(&did_it_help(&undo.side(knowledge), &after, knowledge)));
    }
    let of = |at: usize| came.iter().map(move |c| c[at]);
    let interval = Range { low: of(1).reduce(f64::min)?, high: of(2).reduce(f64::max)? };
    let came = of(0).sum::<f64>() / came.len() as f64;
    Some(Gain { scenario: scenario.to_owned(), class: found.class.clone(), promised, came, interval })
}

/// Part of ZFS's CPU for the same work that went away, with its interval.
fn came(answer: &AfterAnswer) -> Option<[f64; 3]> {
    let times = answer.cost.zfs_cpu_s_per_unit?;
    Some([1.0 - times.ratio?, 1.0 - times.high?, 1.0 - times.low?])
}

/// An interval that says something.
const NARROW: f64 = 0.5;

const BEGIN: &str = "<!-- gains: made by `BLESS=1 make kernel-test` -->\n";
const END: &str = "<!-- gains end -->\n";

/// The table of docs/CALIBRATION.md. `apart` are scenarios whose gain this machine cannot show, with the reason.
pub fn table(gains: &[Gain], apart: &[(String, String)]) -> String {
    let percent = |part: f64| format!("{:.0}", part * 100.0);
    let range = |r: &Range| format!("{} to {} %", percent(r.low), percent(r.high));
    let within = gains.iter().filter(|gain| gain.is_within()).count();
    let mut out = "| scenario | finding | promised | came | interval | within |\n|---|---|--:|--:|--:|---|\n"
        .to_owned();
    for gain in gains {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} % | {} | {} |",
            gain.scenario,
            gain.class,
            range(&gain.promised),
            percent(gain.came),
            range(&gain.interval),
            if gain.is_within() { "yes" } else { "no" }
        );
    }
    let narrow: Vec<&Gain> = gains.iter().filter(|g| g.interval.high - g.interval.low <= NARROW).collect();
    let of_narrow = narrow.iter().filter(|gain| gain.is_within()).count();
    let holds = |g: &&Gain| g.promised.low <= g.came && g.came <= g.promised.high;
    let points = gains.iter().filter(holds).count();
    let _ = writeln!(out, "\n{within} of {} within the prediction.", gains.len());
    let _ = writeln!(
        out,
        "Of the {} that were measured to within {} points, {of_narrow} are; what came lies itself in the promised \
         range {points} times.",
        narrow.len(),
        percent(NARROW)
    );
    for (scenario, reason) in apart {
        let _ = writeln!(out, "Not measured: {scenario}, {reason}.");
    }
    out
}

/// With BLESS set, puts the table into the document.
pub fn bless(document: &Path, gains: &[Gain], apart: &[(String, String)]) {
    if std::env::var_os("BLESS").is_none() || gains.is_empty() {
        return;
    }
    let text = fs::read_to_string(document).expect("the document");
    let (head, rest) = text.split_once(BEGIN).expect("the mark where the table begins");
    let (_, tail) = rest.split_once(END).expect("the mark where it ends");
    fs::write(document, format!("{head}{BEGIN}{}{END}{tail}", table(gains, apart))).expect("the document");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_holds_where_it_and_what_came_overlap() {
        let gain = |came: f64, low, high| Gain {
            scenario: "x".into(),
            class: "y".into(),
            promised: Range { low: 0.4, high: 0.6 },
            came,
            interval: Range { low, high },
        };
        let gains =
            [gain(0.5, 0.45, 0.55), gain(0.3, 0.2, 0.41), gain(0.9, 0.61, 0.95), gain(-0.2, -0.5, 0.1)];
        let within: Vec<bool> = gains.iter().map(Gain::is_within).collect();
        assert_eq!(within, [true, true, false, false]);
        let table = table(&gains, &[]);
        assert!(table.contains("| x | y | 40 to 60 % | -20 % | -50 to 10 % | no |"), "{table}");
        assert!(table.contains("\n2 of 4 within the prediction.\nOf the 3 that"), "{table}");
        assert!(
            table.contains("to within 50 points, 2 are;") && table.ends_with("range 1 times.\n"),
            "{table}"
        );
    }
}
