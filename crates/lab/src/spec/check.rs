//! The signature that an experiment is expected to show, as checks that can fail: `zwhy lab check`.

use super::measure::Measure;
use serde::{Deserialize, Serialize};
use zwhy_zfs::{Version, parse_version};

/// One expectation. With `to` it is about the ratio of two cells, without about the figure of one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// What is expected, as a sentence.
    pub say: String,
    /// Where it comes from.
    pub source: Option<String>,
    pub measure: Measure,
    pub step: String,
    /// Label of the cell.
    pub of: String,
    /// Label of the cell that it is compared with.
    pub to: Option<String>,
    /// Step of the other cell, when it is another one.
    pub to_step: Option<String>,
    pub at_least: Option<f64>,
    pub at_most: Option<f64>,
    /// Expected only where the disks are modelled (`device_mb_per_s` and its like are set), or only where they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modelled: Option<bool>,
    /// Expected only of this release of OpenZFS and later ones: `2.4`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Expected only of releases before this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// With `exponent`: the function whose growth is meant; the whole step's without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The cost grows with this power of the size: the interval holds it, and neither the next power below nor the one
    /// above. `of` is the curve then, `newest-first`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exponent: Option<f64>,
}

impl Check {
    /// Whether it is expected of this release; of one that is not known only what is expected of all.
    pub fn is_of(&self, release: Option<&Version>) -> bool {
        let bound = |text: &Option<String>| text.as_deref().and_then(parse_version);
        let since = self.since.is_none() || bound(&self.since).is_some_and(|since| release >= Some(&since));
        let before = || bound(&self.before).zip(release).is_some_and(|(before, release)| *release < before);
        since && (self.before.is_none() || before())
    }

    /// # Errors
    /// What does not fit the cells and steps of the experiment.
    pub fn fits(&self, cells: &[String], steps: &[String]) -> Result<(), String> {
        let at = |what: String| Err(format!("checks: {:?}: {what}", self.say));
        let of_cell = (self.exponent.is_none()).then_some(&self.of);
        for cell in of_cell.into_iter().chain(&self.to) {
            if !cells.contains(cell) {
                return at(format!("no cell is called {cell:?}; there are {}", cells.join(", ")));
            }
        }
        for step in std::iter::once(&self.step).chain(&self.to_step) {
            if !steps.contains(step) {
                return at(format!("no step is called {step:?}; there are {}", steps.join(", ")));
            }
        }
        for release in self.since.iter().chain(&self.before) {
            if parse_version(release).is_none() {
                return at(format!("{release:?} is no release of OpenZFS; write it as 2.4"));
            }
        }
        let bounds = self.at_least.is_some() || self.at_most.is_some();
        match (self.exponent.is_some(), bounds || self.to.is_some()) {
            (false, _) if !bounds => return at("at_least, at_most or exponent is needed".into()),
            (true, true) => return at("exponent is of one curve: leave out to, at_least and at_most".into()),
            (false, _) if self.function.is_some() => return at("function needs exponent".into()),
            _ => {}
        }
        if self.to_step.is_some() && self.to.is_none() {
            return at("to_step needs to".into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(text: &str) -> Result<(), String> {
        let base = "say = \"x\"\nmeasure = \"cpu_s\"\nstep = \"destroy\"\n";
        let check: Check = toml::from_str(&format!("{base}{text}")).unwrap();
        check.fits(&["n=100".to_owned()], &["destroy".to_owned()])
    }

    #[test]
    fn an_exponent_is_of_a_curve_and_bounds_are_of_cells() {
        assert_eq!(fits("of = \"newest-first\"\nfunction = \"dsl_deadlist_merge\"\nexponent = 1.0"), Ok(()));
        assert_eq!(fits("of = \"n=100\"\nat_least = 1.0"), Ok(()));
        let wrong = [
            ("of = \"newest-first\"\nat_least = 1.0", "no cell is called"),
            ("of = \"n=100\"", "at_least, at_most or exponent is needed"),
            ("of = \"\"\nexponent = 1.0\nat_most = 2.0", "leave out to, at_least and at_most"),
            ("of = \"n=100\"\nat_most = 2.0\nfunction = \"f\"", "function needs exponent"),
            ("of = \"n=100\"\nat_most = 2.0\nsince = \"new\"", "no release of OpenZFS"),
        ];
        for (text, says) in wrong {
            let error = fits(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn a_check_may_be_of_some_releases() {
        let of = |bounds: &str, release: Option<&str>| {
            let base =
                "say = \"x\"\nmeasure = \"cpu_s\"\nstep = \"destroy\"\nof = \"n=100\"\nat_least = 1.0\n";
            let check: Check = toml::from_str(&format!("{base}{bounds}")).unwrap();
            check.is_of(release.and_then(parse_version).as_ref())
        };
        assert!(of("", None) && of("", Some("2.3.2")));
        for (release, before, since) in
            [("2.3.2", true, false), ("2.4.0", false, true), ("2.4.4-1~bpo13+1", false, true)]
        {
            assert_eq!(of("before = \"2.4\"", Some(release)), before, "{release}");
            assert_eq!(of("since = \"2.4\"", Some(release)), since, "{release}");
        }
        assert!(!of("before = \"2.4\"", None) && !of("since = \"2.4\"", None));
    }
}
