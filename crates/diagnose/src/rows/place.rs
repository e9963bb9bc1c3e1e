//! Where `zfs set` belongs: on the dataset that sets the value, where all that inherit it are
//! concerned, else on the guilty dataset alone.

use super::{Chosen, MOST_ROWS, Row, RowId, Rows, Scope};
use crate::shell::is_safe;
use rustc_hash::FxHashSet;

/// Ancestors whose heirs are looked through; more are rare, and each costs a look at all datasets.
const MOST_LOOKS: usize = 16;

/// Datasets to set a property on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placed {
    pub targets: Vec<String>,
    /// Why there, where it is not on the dataset that sets the value itself.
    pub notes: Vec<String>,
    /// Guilty datasets that no target covers.
    pub more: usize,
}

/// Where to set a property so that it changes for the guilty datasets and for no other.
pub fn place(rows: &Rows<'_>, chosen: &Chosen, property: &str) -> Placed {
    let mut placed = Placed::default();
    let alike: FxHashSet<RowId> = chosen.alike.iter().copied().collect();
    let mut looked: Vec<(&str, bool)> = Vec::new();
    for id in &chosen.guilty {
        let row = Row { scope: Scope::Dataset, id: *id };
        let Some(name) = rows.name(row).filter(|name| is_safe(name)) else { continue };
        let above = rows.source(*id, property).and_then(|s| s.strip_prefix("inherited from "));
        let above = above.filter(|above| is_safe(above));
        let at_source = above.is_some_and(|above| {
            let known = looked.iter().find(|(looked, _)| *looked == above).map(|(_, all)| *all);
            known.unwrap_or_else(|| {
                let all = looked.len() < MOST_LOOKS && all_heirs(rows, above, property, &alike);
                looked.push((above, all));
                all
            })
        });
        let (target, note) = match above {
            Some(above) if at_source => (
                above,
                format!("{above} sets {property}, and {name} inherits it: the command changes it there."),
            ),
            Some(above) => (
                name,
                format!(
                    "{name} inherits {property} from {above}, which other datasets do too: the command sets it on \
                     {name} alone."
                ),
            ),
            None => (name, String::new()),
        };
        if placed.targets.iter().any(|known| known == target) {
            continue;
        }
        if placed.targets.len() == MOST_ROWS {
            placed.more += 1;
            continue;
        }
        placed.targets.push(target.to_owned());
        if !note.is_empty() {
            placed.notes.push(note);
        }
    }
    placed
}

/// Whether all datasets that take a property from this one are among `alike`; the one that sets it may
/// hold no data of its own.
fn all_heirs(rows: &Rows<'_>, above: &str, property: &str, alike: &FxHashSet<RowId>) -> bool {
    (0..rows.len(Scope::Dataset) as RowId).all(|id| {
        let row = Row { scope: Scope::Dataset, id };
        let is_heir =
            || rows.source(id, property).is_some_and(|s| s.strip_prefix("inherited from ") == Some(above));
        let itself = rows.name(row) == Some(above);
        let idle = || rows.traffic(row).is_none_or(|[read, written]| read + written == 0.0);
        alike.contains(&id) || (itself && idle()) || !(itself || is_heir())
    })
}

/// Whether a dataset lies below another one of these.
pub(super) fn below_another(name: &str, all: &[String]) -> bool {
    let below = |above: &String| name.strip_prefix(above.as_str()).is_some_and(|rest| rest.starts_with('/'));
    all.iter().any(below)
}
