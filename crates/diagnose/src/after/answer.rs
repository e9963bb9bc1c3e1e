//! Whether a change helped, as data: what `zwhy explain BEFORE --after AFTER --json` prints and every face shows.

use crate::answer::{ConfidenceWord, Range, ShareOf, Source};
use serde::Serialize;

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    Helped,
    HelpedInPart,
    DidNotHelp,
    Worse,
    /// The two cannot be compared; `doubts` say why.
    CannotTell,
}

/// A figure before and after, and how many times as large it became, with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Times {
    pub before: f64,
    pub after: f64,
    /// `None` where it was nothing before.
    pub ratio: Option<f64>,
    /// The interval of `ratio`; absent where nothing says how sure the figures are.
    pub low: Option<f64>,
    pub high: Option<f64>,
}

impl Times {
    /// Surely smaller than before.
    pub fn fell(&self) -> bool {
        self.high.is_some_and(|high| high < 1.0)
    }

    /// Surely greater than before.
    pub fn rose(&self) -> bool {
        self.low.is_some_and(|low| low > 1.0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Gone,
    Came,
    Stayed,
}

/// How sure a finding is on one side; without a share where no samples are its own.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Seen {
    pub confidence: f64,
    pub confidence_word: ConfidenceWord,
}

/// A difference of two shares, -1 to 1, by the rules of `zwhy diff`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    pub value: f64,
    pub low: f64,
    pub high: f64,
    pub p_value: f64,
    /// At most 5 % of the rows marked so are expected to be chance.
    pub real: bool,
}

/// A cause that was found before, after, or both times.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FindingChange {
    pub class: String,
    pub title: String,
    pub state: State,
    /// `None` where it was not found.
    pub before: Option<Seen>,
    pub after: Option<Seen>,
    /// Its part of all CPU samples on either side, whether it was found there or not; `None` for a cause
    /// that has no CPU of its own.
    pub share_before: Option<ShareOf>,
    pub share_after: Option<ShareOf>,
    pub change: Option<Difference>,
}

/// How much was done, and what tells.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Work {
    /// `bytes` or `operations`.
    pub unit: String,
    /// Which counters: in words.
    pub source: String,
    /// A second.
    pub rate: Times,
    /// Part of it that was read; `None` where that is not told apart.
    pub read_before: Option<f64>,
    pub read_after: Option<f64>,
}

/// What it cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    /// CPUs' worth of busy time; `None` where the rate of sampling is not known.
    pub cpus: Option<Times>,
    /// The same of the work of ZFS alone.
    pub zfs_cpus: Option<Times>,
    /// CPU seconds for 10^9 bytes, or for 1,000 operations.
    pub cpu_s_per_unit: Option<Times>,
    pub zfs_cpu_s_per_unit: Option<Times>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kept {
    /// What came and what was promised overlap.
    Kept,
    More,
    Less,
    /// Nothing tells what came, or the two do not compare.
    NotMeasured,
}

/// What the remedy of the main finding promised, and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Promise {
    pub class: String,
    /// Part of ZFS's CPU for the same work that should go away.
    pub zfs_cpu_less: Range,
    /// The part that did, with its interval.
    pub came: Option<ShareOf>,
    pub kept: Kept,
    pub text: String,
}

/// Something that was set otherwise.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SettingChange {
    /// `release`, `kernel`, `parameter`, `property`.
    pub kind: String,
    /// The pool or dataset of a property.
    pub of: Option<String>,
    pub name: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// A reason why the two may not be comparable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Doubt {
    pub text: String,
    /// It forbids a verdict.
    pub forbids: bool,
}

/// Two recordings, and what the change between them came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AfterAnswer {
    pub zwhy: String,
    pub schema: u32,
    pub outcome: Outcome,
    /// The verdict in a sentence or two.
    pub verdict: String,
    pub before: Source,
    pub after: Source,
    /// Confident ones first, those that are gone before those that came and stayed.
    pub findings: Vec<FindingChange>,
    pub work: Option<Work>,
    pub cost: Cost,
    /// `None` where nothing was promised.
    pub promise: Option<Promise>,
    pub settings: Vec<SettingChange>,
    pub doubts: Vec<Doubt>,
    /// What the intervals cover and what they do not.
    pub note: String,
}
