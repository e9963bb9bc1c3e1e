//! Names of this host in texts of the knowledge: `{dataset}` and `{pool}`.

use crate::facts::FactBase;

/// What stands for a dataset and a pool whose name is not known: a word to fill in by hand in a
/// command, plain words in a sentence.
pub const COMMAND: [&str; 2] = ["DATASET", "POOL"];
pub const PROSE: [&str; 2] = ["the dataset", "the pool"];

/// Fills `{dataset}` and `{pool}` with names of this host.
pub fn fill_names(
    text: &str,
    unknown: [&str; 2],
    dataset: Option<&(String, crate::pattern::Pattern)>,
    facts: &FactBase<'_>,
) -> String {
    if !text.contains('{') {
        return text.to_owned();
    }
    let of_property = dataset.and_then(|(name, like)| facts.datasets_with(name, like).first().copied());
    let first_pool = || facts.evidence.facts["pools"][0]["name"].as_str();
    let pool = of_property.map(|d| d.split('/').next().unwrap_or(d)).or_else(first_pool);
    // A name goes into a command line: only what ZFS allows in names may.
    let safe = |name: &&str| {
        !name.is_empty()
            && !name.starts_with('-')
            && name.chars().all(|c| c.is_alphanumeric() || "_-.:/@".contains(c))
    };
    let of_property = of_property.filter(safe);
    let pool = pool.filter(safe);
    text.replace("{dataset}", of_property.unwrap_or(unknown[0])).replace("{pool}", pool.unwrap_or(unknown[1]))
}
