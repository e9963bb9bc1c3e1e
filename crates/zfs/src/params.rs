//! Values of module parameters that list choices: `cycle [fastest] generic x86_64 aesni`.

/// A parameter that selects one of several implementations (`icp_aes_impl`, `zfs_fletcher_4_impl`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Implementation {
    /// The one in brackets; `None` when nothing is marked.
    pub selected: Option<String>,
    pub choices: Vec<String>,
}

/// Reads such a value; `None` when no choice is marked, as for plain parameters.
pub fn parse_implementation(value: &str) -> Option<Implementation> {
    let mut selected = None;
    let choices = value
        .split_whitespace()
        .map(|word| match word.strip_prefix('[').and_then(|w| w.strip_suffix(']')) {
            Some(marked) => {
                selected.get_or_insert_with(|| marked.to_owned());
                marked.to_owned()
            }
            None => word.to_owned(),
        })
        .collect();
    selected.is_some().then_some(Implementation { selected, choices })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choice_in_brackets_is_selected() {
        let found = parse_implementation("cycle [fastest] generic x86_64 aesni \n").unwrap();
        assert_eq!(found.selected.as_deref(), Some("fastest"));
        assert_eq!(found.choices, ["cycle", "fastest", "generic", "x86_64", "aesni"]);
        assert_eq!(parse_implementation("4294967296"), None);
        assert_eq!(parse_implementation(""), None);
    }
}
