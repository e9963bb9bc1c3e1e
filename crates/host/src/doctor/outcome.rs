//! What a check came to.

use super::remedy::Trouble;
use super::{Check, State};

/// What a check came to.
pub(super) struct Outcome {
    pub state: State,
    pub found: String,
    pub trouble: Option<Trouble>,
}

impl Outcome {
    pub(super) fn ready(found: impl Into<String>) -> Outcome {
        Outcome { state: State::Ready, found: found.into(), trouble: None }
    }

    pub(super) fn missing(trouble: Trouble, found: impl Into<String>) -> Outcome {
        Outcome { state: State::Missing, found: found.into(), trouble: Some(trouble) }
    }

    pub(super) fn optional(trouble: Option<Trouble>, found: impl Into<String>) -> Outcome {
        Outcome { state: State::Optional, found: found.into(), trouble }
    }

    pub(super) fn named(self, name: &'static str) -> Check {
        Check { name, state: self.state, found: self.found, trouble: self.trouble }
    }
}
