//! Named moments: experiment phases and notes of the user.

use zwhy_profile::Nanos;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// Since the start of the recording.
    pub t: Nanos,
    pub name: String,
    pub text: String,
}
