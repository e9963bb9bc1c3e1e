//! From what the signs give by themselves to how often such a finding is right: a line of a few corners, and what
//! words alone are worth; kept as data in `knowledge/confidence.toml`, with a reason where it leaves the
//! documented cases.

use crate::words::PhraseFit;
use serde::Deserialize;
use std::sync::LazyLock;

const EMBEDDED: &str = include_str!("../knowledge/confidence.toml");

/// One line for people's reports, one for recordings; and what a report's words say.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    pub reports: Line,
    pub recordings: Line,
    /// By the share of the CPU that a report's figures give a cause: the most that is said of it.
    pub parts: Line,
    pub look_alikes: LookAlikes,
    pub corroboration: Corroboration,
    pub words: Words,
}

/// Causes that look alike, of which two are likely in a report.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LookAlikes {
    /// The most that is said of either.
    pub most: f64,
    pub reason: String,
}

/// What a confident finding of a report needs beside the sum of its signs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Corroboration {
    /// Lines of evidence that it has at least.
    pub fewest: usize,
    /// Another finding that is as likely as this, and does not follow from it, takes its confidence.
    pub rival: f64,
    /// The most that is said otherwise.
    pub most: f64,
    pub reason: String,
}

/// How often words name the cause, from 0 to 1.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Words {
    /// Where the report says a phrase of the cause, which comes first, and its other words fit no cause better: much
    /// of what it says, or little.
    pub phrase_fits_well: f64,
    pub phrase_fits_little: f64,
    /// Where it says a phrase of the cause, and its other words fit another one better.
    pub phrase_alone: f64,
    /// Of the causes behind the first of whose phrases it says one, too.
    pub phrase_after: Vec<f64>,
    /// Where it has some of the cause's words only: of the cause that fits best and of those after it.
    pub single: Vec<f64>,
    /// Most that words and signs say together.
    pub most_with_signs: f64,
    /// Most that one setting or name says of a cause that the words do not speak of.
    pub sign_without_words: f64,
    /// Most that words, and settings beside them, say where nobody complains.
    pub without_complaint: f64,
    pub reason: String,
}

/// Straight between its corners; both coordinates from 0 to 1.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    points: Vec<(f64, f64)>,
    pub reason: String,
}

impl Calibration {
    /// The one that comes with zwhy.
    pub fn embedded() -> &'static Calibration {
        static READ: LazyLock<Calibration> =
            LazyLock::new(|| Calibration::read(EMBEDDED).unwrap_or_else(|_| plain()));
        &READ
    }

    /// # Errors
    /// A sentence that says what is wrong with the text.
    pub fn read(text: &str) -> Result<Calibration, String> {
        let read: Calibration = toml::from_str(text).map_err(|e| e.to_string())?;
        for (name, line) in
            [("reports", &read.reports), ("recordings", &read.recordings), ("parts", &read.parts)]
        {
            let rises = line.points.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 <= two[1].1);
            let inside = line.points.iter().all(|(x, y)| (0.0..=1.0).contains(x) && (0.0..=1.0).contains(y));
            if line.points.len() < 2 || !rises || !inside {
                return Err(format!("[{name}]: corners must rise from left to right within 0 and 1"));
            }
            if line.reason.trim().is_empty() {
                return Err(format!("[{name}]: no reason is given"));
            }
        }
        if !(0.0..=1.0).contains(&read.look_alikes.most) || read.look_alikes.reason.trim().is_empty() {
            return Err("[look_alikes]: `most` must be within 0 and 1, with a reason".to_owned());
        }
        let Corroboration { rival, most, reason, .. } = &read.corroboration;
        if !(0.0..=1.0).contains(most) || !(0.0..=1.0).contains(rival) || reason.trim().is_empty() {
            return Err(
                "[corroboration]: `rival` and `most` must be within 0 and 1, with a reason".to_owned()
            );
        }
        read.words.check()?;
        Ok(read)
    }
}

impl Words {
    /// Of the first cause of which the report says a phrase.
    pub fn phrase(&self, fit: PhraseFit) -> f64 {
        match fit {
            PhraseFit::Well => self.phrase_fits_well,
            PhraseFit::Little => self.phrase_fits_little,
            PhraseFit::Other => self.phrase_alone,
        }
    }

    fn check(&self) -> Result<(), String> {
        let phrase = [self.phrase_fits_well, self.phrase_fits_little, self.phrase_alone];
        let phrases: Vec<f64> = phrase.into_iter().chain(self.phrase_after.iter().copied()).collect();
        for (name, values) in [("phrase", &phrases), ("single", &self.single)] {
            let falls = values.windows(2).all(|two| two[0] >= two[1]);
            if values.is_empty() || !falls || values.iter().any(|v| !(0.0..1.0).contains(v)) {
                return Err(format!("[words] {name}: values must fall from first to last within 0 and 1"));
            }
        }
        match self.reason.trim().is_empty() {
            true => Err("[words]: no reason is given".to_owned()),
            false => Ok(()),
        }
    }
}

/// No line at all.
fn plain() -> Calibration {
    let line = || Line { points: vec![(0.0, 0.0), (1.0, 1.0)], reason: String::new() };
    let words = Words {
        phrase_fits_well: 0.0,
        phrase_fits_little: 0.0,
        phrase_alone: 0.0,
        phrase_after: Vec::new(),
        single: Vec::new(),
        most_with_signs: 0.0,
        sign_without_words: 0.0,
        without_complaint: 0.0,
        reason: String::new(),
    };
    Calibration {
        look_alikes: LookAlikes { most: 1.0, reason: String::new() },
        corroboration: Corroboration { fewest: 0, rival: 1.0, most: 1.0, reason: String::new() },
        reports: line(),
        recordings: line(),
        parts: Line { points: vec![(0.0, 1.0), (1.0, 1.0)], reason: String::new() },
        words,
    }
}

impl Line {
    /// The share of findings that were right, for a confidence from the signs.
    pub fn at(&self, confidence: f64) -> f64 {
        let after = self.points.iter().position(|(x, _)| *x >= confidence);
        match after {
            Some(0) => self.points[0].1,
            Some(i) => {
                let ((x0, y0), (x1, y1)) = (self.points[i - 1], self.points[i]);
                y0 + (y1 - y0) * (confidence - x0) / (x1 - x0)
            }
            None => self.points.last().map_or(confidence, |(_, y)| *y),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_lines_can_be_read_and_rise() {
        let read = Calibration::read(EMBEDDED).unwrap();
        for line in [&read.reports, &read.recordings] {
            let values: Vec<f64> = (0..=100).map(|i| line.at(f64::from(i) / 100.0)).collect();
            assert!(values.windows(2).all(|two| two[0] <= two[1]), "{values:?}");
            assert_eq!(values[0], 0.0);
            assert!((0.97..=0.98).contains(&line.at(1.0)));
        }
        assert!((read.reports.at(0.5) - 0.69).abs() < 1e-9 && read.reports.at(0.15) > 0.4);
    }

    #[test]
    fn a_line_that_falls_or_has_no_reason_is_refused() {
        let text = |points: &str, reason: &str, alone: f64| {
            format!(
                "[reports]\npoints = {points}\nreason = '{reason}'\n[recordings]\npoints = [[0,0],[1,1]]\nreason = 'r'\n[parts]\npoints = [[0,1],[1,1]]\nreason = 'r'\n[look_alikes]\nmost = 0.7\nreason = 'r'\n[corroboration]\nfewest = 3\nrival = 0.8\nmost = 0.6\nreason = 'r'\n[words]\nphrase_fits_well = 0.5\nphrase_fits_little = 0.4\nphrase_alone = {alone}\nphrase_after = []\nsingle = [0.1]\nmost_with_signs = 0.6\nsign_without_words = 0.2\nwithout_complaint = 0.3\nreason = 'r'"
            )
        };
        assert!(Calibration::read(&text("[[0, 0], [1, 1]]", "because", 0.3)).is_ok());
        for (points, reason, says) in [
            ("[[0, 0.5], [1, 0.4]]", "r", "rise"),
            ("[[0, 0], [1, 2]]", "r", "within"),
            ("[[0, 0], [1, 1]]", "", "reason"),
        ] {
            assert!(Calibration::read(&text(points, reason, 0.3)).unwrap_err().contains(says), "{points}");
        }
        let falls = Calibration::read(&text("[[0, 0], [1, 1]]", "r", 0.45)).unwrap_err();
        assert!(falls.contains("phrase") && falls.contains("fall"), "{falls}");
    }
}
