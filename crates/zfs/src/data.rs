//! Tables of names from `knowledge/`, and how a name is looked up in them.

use serde::Deserialize;

/// A table that comes with zwhy. A test reads each, so a broken one never gets here.
pub(crate) fn table<T: Default + Deserialize<'static>>(text: &'static str) -> T {
    toml::from_str(text).unwrap_or_default()
}

/// Whether a name is one of `list`, in which a star stands for any text.
pub(crate) fn is_listed(name: &str, list: &[&str]) -> bool {
    list.iter().any(|pattern| match pattern.split_once('*') {
        None => name == *pattern,
        Some((begin, end)) => {
            name.len() >= begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end)
        }
    })
}
