//! What the evidence answers to a question, and how good that answer is.

use zwhy_profile::{Interval, Sampling};

/// A value with its type.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Number(f64),
    Truth(bool),
    Text(String),
}

impl Value {
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Number(n) => Some(*n),
            _ => None,
        }
    }
}

/// How far an answer can be trusted, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quality {
    /// Counted samples.
    Counted,
    /// A figure of a tool or kstat.
    Figure,
    /// A percentage that may be inclusive, or relative to its caller: call trees that were pasted.
    Unclear,
    /// Configuration: a version, parameter or property. True, but not a measurement.
    Configured,
    /// Something was named without a figure.
    Named,
}

/// An answer; where there is none the evidence does not say.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    pub value: Value,
    pub quality: Quality,
    /// Where it comes from: a file name, `samples`.
    pub origin: String,
    /// Of a share of counted samples, and of what is decided by one: what the share may be.
    pub interval: Option<Interval>,
    /// In words, where it is of one row: a dataset, pool, vdev, thread or process.
    pub said: Option<String>,
    /// The thread or process whose samples it is of, where that is not in `said`.
    pub task: Option<String>,
}

impl Reading {
    pub fn number(value: f64, quality: Quality, origin: impl Into<String>) -> Option<Reading> {
        value.is_finite().then(|| Reading::new(Value::Number(value), quality, origin))
    }

    pub fn truth(value: bool, quality: Quality, origin: impl Into<String>) -> Option<Reading> {
        Some(Reading::new(Value::Truth(value), quality, origin))
    }

    pub fn text(value: impl Into<String>, quality: Quality, origin: impl Into<String>) -> Option<Reading> {
        Some(Reading::new(Value::Text(value.into()), quality, origin))
    }

    /// The share that some counted samples have of others (amounts both); `None` where there are no others.
    pub fn share(part: u64, whole: u64, sampling: &Sampling, origin: impl Into<String>) -> Option<Reading> {
        let share = Reading::number(part as f64 / whole as f64, Quality::Counted, origin)?;
        Some(Reading { interval: Some(sampling.interval(part, whole)), ..share })
    }

    pub fn new(value: Value, quality: Quality, origin: impl Into<String>) -> Reading {
        Reading { value, quality, origin: origin.into(), interval: None, said: None, task: None }
    }
}
