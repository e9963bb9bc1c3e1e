//! What the evidence answers to a question, and how good that answer is.

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
}

impl Reading {
    pub fn number(value: f64, quality: Quality, origin: impl Into<String>) -> Option<Reading> {
        value.is_finite().then(|| Reading { value: Value::Number(value), quality, origin: origin.into() })
    }

    pub fn truth(value: bool, quality: Quality, origin: impl Into<String>) -> Option<Reading> {
        Some(Reading { value: Value::Truth(value), quality, origin: origin.into() })
    }

    pub fn text(value: impl Into<String>, quality: Quality, origin: impl Into<String>) -> Option<Reading> {
        Some(Reading { value: Value::Text(value.into()), quality, origin: origin.into() })
    }
}
