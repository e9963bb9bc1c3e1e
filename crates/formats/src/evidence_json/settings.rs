//! Tables of settings: what `zfs get`, `zpool get`, `sysctl` and the files of module parameters print.

use zwhy_evidence::{OriginId, Param, Property, Table};

/// Headings of the column of names, and of values.
const NAMES: [&str; 8] = ["property", "name", "file", "parameter", "param", "setting", "key", "dataset"];
const VALUES: [&str; 2] = ["value", "data"];

/// Properties and parameters of such a table; none of any other.
pub fn settings(table: &Table, origin: OriginId) -> (Vec<Property>, Vec<Param>) {
    let at = |list: &[&str]| {
        let is = |column: &String| list.contains(&column.trim().to_ascii_lowercase().as_str());
        table.columns.iter().position(is)
    };
    let Some(value) = at(&VALUES) else { return (Vec::new(), Vec::new()) };
    let property = at(&NAMES[..1]);
    let name = property.or_else(|| at(&NAMES));
    let cells = table.rows.iter().map(|row| (name.and_then(|at| row.get(at)), row.get(value)));
    let cells = cells.filter_map(|(name, value)| Some((name.map(|n| n.trim()), value?.trim())));
    if let Some(one) = got(&table.tool) {
        // `zfs get sync` of several datasets, or all properties of one.
        let of = |(name, value): (Option<&str>, &str)| {
            let value = value.split(" (").next().unwrap_or(value).to_owned();
            match (property.is_some(), one) {
                (true, _) | (false, None) => {
                    Some(Property { dataset: None, name: name?.to_owned(), value, origin })
                }
                (false, Some(one)) => {
                    Some(Property { dataset: name.map(str::to_owned), name: one.to_owned(), value, origin })
                }
            }
        };
        return (cells.filter_map(of).collect(), Vec::new());
    }
    if !["/parameters", "sysctl", "module param", "modinfo"].iter().any(|tool| table.tool.contains(tool)) {
        return (Vec::new(), Vec::new());
    }
    let of = |(name, value): (Option<&str>, &str)| {
        let name = name.filter(|name| !name.starts_with("kstat."))?;
        Some(Param { name: name.rsplit('/').next()?.to_owned(), value: value.to_owned(), origin })
    };
    (Vec::new(), cells.filter_map(of).collect())
}

/// Of `zfs get -r -s local sync` the one property that is asked for; nothing of other commands.
fn got(tool: &str) -> Option<Option<&str>> {
    let (_, after) = tool.split_once("zfs get").or_else(|| tool.split_once("zpool get"))?;
    let mut words = after.split_whitespace().take_while(|word| !word.starts_with('('));
    let mut asked = None;
    while let Some(word) = words.next() {
        match word {
            "-s" | "-o" | "-t" | "-d" => drop(words.next()),
            _ if word.starts_with('-') => {}
            _ => {
                asked = Some(word.trim_end_matches(','));
                break;
            }
        }
    }
    Some(asked.filter(|word| *word != "all" && !word.contains(',')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(tool: &str, columns: &[&str], rows: &[&[&str]]) -> Vec<String> {
        let owned = |cells: &[&str]| cells.iter().map(|c| (*c).to_owned()).collect::<Vec<_>>();
        let rows = rows.iter().map(|row| owned(row)).collect();
        let table = Table { tool: tool.to_owned(), columns: owned(columns), rows, ..Table::default() };
        let (properties, params) = settings(&table, OriginId::default());
        let properties = properties.into_iter().map(|p| format!("{:?} {}={}", p.dataset, p.name, p.value));
        properties.chain(params.into_iter().map(|p| format!("{}={}", p.name, p.value))).collect()
    }

    #[test]
    fn what_was_asked_for_is_known() {
        assert_eq!(
            of("zfs get", &["property", "value"], &[&["volblocksize", "128K"]]),
            ["None volblocksize=128K"]
        );
        let local = [&["vol1", "always"][..], &["vol1/smb", "always (inherited)"]];
        let known = ["Some(\"vol1\") sync=always", "Some(\"vol1/smb\") sync=always"];
        assert_eq!(of("zfs get -r -s local sync", &["name", "value"], &local), known);
        assert_eq!(
            of("zpool get freeing (every 60 s)", &["t", "value"], &[&["0", "911G"]]),
            ["None freeing=911G"]
        );
        assert_eq!(
            of(
                "cat /sys/module/icp/parameters/*",
                &["file", "value"],
                &[&["icp_gcm_impl", "cycle [fastest] generic"]]
            ),
            ["icp_gcm_impl=cycle [fastest] generic"]
        );
        assert!(of("fio", &["name", "value"], &[&["a", "1"]]).is_empty());
        assert!(of("zfs get sync", &["name", "seconds"], &[&["a", "1"]]).is_empty());
    }
}
