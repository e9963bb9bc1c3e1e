//! What is known of properties by their names (`knowledge/properties.toml`).

use serde::Deserialize;
use std::sync::LazyLock;

/// Names by what they are.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Properties<'a> {
    /// Dataset properties that children take over.
    #[serde(borrow)]
    pub inherited: Vec<&'a str>,
    pub of_pool: Vec<&'a str>,
    /// No settings: they change by use.
    pub figures: Vec<&'a str>,
    pub bytes: Vec<&'a str>,
    pub per_cent: Vec<&'a str>,
}

/// The file comes with zwhy and a test reads it, so a broken one never gets here.
pub static PROPERTIES: LazyLock<Properties> =
    LazyLock::new(|| toml::from_str(include_str!("../knowledge/properties.toml")).unwrap_or_default());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_that_come_with_zwhy_can_be_read() {
        assert!(PROPERTIES.inherited.contains(&"recordsize") && PROPERTIES.per_cent.contains(&"capacity"));
    }
}
