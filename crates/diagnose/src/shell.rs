//! Names in the command lines that answers suggest.

/// Whether a name means itself in a command line.
pub fn is_safe(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('-')
        && name.chars().all(|c| c.is_alphanumeric() || "_-.:/@".contains(c))
}
