//! Vdevs of some evidence: the tree of a capture, and the rows of `zpool status` that somebody pasted.

use super::column::Column;
use super::storage::meaning;
use crate::facts::Query;
use zwhy_evidence::{Evidence, Table};

/// One vdev, with what is known of it as text.
pub(super) struct Vdev {
    pub name: String,
    pub pool: String,
    values: Vec<(String, String)>,
}

/// All of them, pool by pool, each before those below it.
#[derive(Default)]
pub(super) struct Vdevs {
    pub all: Vec<Vdev>,
}

/// Hosts have some hundreds; what a table of a stranger may have is bounded.
const MOST: usize = 4096;

impl Vdevs {
    pub fn new(evidence: &Evidence) -> Vdevs {
        let mut vdevs = Vdevs::default();
        for pool in evidence.facts.pools.iter().flatten() {
            if let (Some(name), Some(of_pool)) = (&pool.name, &pool.vdevs) {
                vdevs.add(name, of_pool);
            }
        }
        let status = |t: &&Table| t.tool.starts_with("zpool status");
        evidence.tables.iter().filter(status).for_each(|table| vdevs.add_table(table));
        vdevs
    }

    fn add(&mut self, pool: &str, vdevs: &[zwhy_zfs::Vdev]) {
        for vdev in vdevs {
            if self.all.len() == MOST {
                return;
            }
            let values = [
                ("kind", vdev.kind.clone()),
                ("class", vdev.class.clone()),
                ("state", vdev.state.clone()),
                ("read_errors", vdev.read_errors.to_string()),
                ("write_errors", vdev.write_errors.to_string()),
                ("checksum_errors", vdev.checksum_errors.to_string()),
            ];
            let values = values.into_iter().filter(|(_, text)| !text.is_empty());
            let values = values.map(|(name, text)| (name.to_owned(), text)).collect();
            self.all.push(Vdev { name: vdev.name.clone(), pool: pool.to_owned(), values });
            self.add(pool, &vdev.children);
        }
    }

    /// Rows of a table of `zpool status`; that of the pool itself is none.
    fn add_table(&mut self, table: &Table) {
        let at = |name: &str| table.columns.iter().position(|c| c.eq_ignore_ascii_case(name));
        let Some(of_name) = at("name") else { return };
        let of_pool = at("pool");
        for row in &table.rows {
            let Some(name) = row.get(of_name).filter(|_| self.all.len() < MOST) else { continue };
            let pool = of_pool.and_then(|at| row.get(at)).cloned().unwrap_or_default();
            if name.is_empty() || *name == pool {
                continue;
            }
            let cells = table.columns.iter().zip(row).map(|(column, cell)| {
                let column = column.to_ascii_lowercase();
                let column = match column.as_str() {
                    "read" => "read_errors".to_owned(),
                    "write" => "write_errors".to_owned(),
                    "cksum" => "checksum_errors".to_owned(),
                    _ => column,
                };
                (column, cell.clone())
            });
            let values = cells.collect();
            self.all.push(Vdev { name: name.clone(), pool, values });
        }
    }

    pub fn column(&self, query: &Query) -> Column {
        Column::of(self.all.iter().map(|vdev| meaning(vdev.value(query.argument(0))?, query)))
    }
}

impl Vdev {
    pub fn value(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}
