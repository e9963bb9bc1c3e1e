//! The name that was meant, of a slip.

/// The known name that looks most like `name`, if any looks like it at all.
pub fn near<'a>(name: &str, known: impl Iterator<Item = &'a str>, least: f64) -> Option<&'a str> {
    let scored = known.map(|k| (strsim::normalized_damerau_levenshtein(name, k), k));
    scored.filter(|(score, _)| *score >= least).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, k)| k)
}

/// `; did you mean recordsize?`, or nothing.
pub fn meant<'a>(name: &str, known: impl Iterator<Item = &'a str>, least: f64) -> String {
    near(name, known, least).map_or_else(String::new, |known| format!("; did you mean {known}?"))
}
