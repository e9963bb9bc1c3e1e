//! Output of `zfs get -Hp`, `zpool get -Hp` and `zpool list -Hp`: fields separated by tabs.

/// Where a property's value comes from, as `zfs get` prints it: `local`, `inherited from tank`, `-`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source(String);

impl Source {
    /// Where the value comes from, where somebody chose it; `None` for defaults and read-only properties.
    pub fn as_set(&self) -> Option<String> {
        self.is_set().then(|| self.0.clone())
    }

    /// Somebody chose this value.
    pub fn is_set(&self) -> bool {
        matches!(self.0.as_str(), "local" | "received" | "temporary") || self.0.starts_with("inherited from ")
    }
}

/// One property of a pool or dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyRow {
    pub name: String,
    pub property: String,
    /// Exact (`-p`): sizes in bytes.
    pub value: String,
    pub source: Source,
}

/// Reads lines `name, property, value, source` and counts lines that are not.
pub fn parse_properties(text: &str) -> (Vec<PropertyRow>, usize) {
    let mut odd = 0;
    let rows = text
        .lines()
        .filter(|line| !line.is_empty())
        .filter_map(|line| {
            let row = property_row(line);
            odd += usize::from(row.is_none());
            row
        })
        .collect();
    (rows, odd)
}

fn property_row(line: &str) -> Option<PropertyRow> {
    let (name, rest) = line.split_once('\t')?;
    let (property, rest) = rest.split_once('\t')?;
    // Values of user properties may hold tabs; the source never does.
    let (value, source) = rest.rsplit_once('\t')?;
    Some(PropertyRow {
        name: name.to_owned(),
        property: property.to_owned(),
        value: value.to_owned(),
        source: Source(source.trim_end().to_owned()),
    })
}

/// One pool of `zpool list -Hp -o name,size,alloc,free,frag,cap,health`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PoolRow {
    pub name: String,
    pub size_bytes: Option<u64>,
    pub allocated_bytes: Option<u64>,
    pub free_bytes: Option<u64>,
    pub fragmentation_pct: Option<u64>,
    pub capacity_pct: Option<u64>,
    pub health: String,
}

/// Reads the list; a field of `-` is `None`, a line with other fields is counted.
pub fn parse_pool_list(text: &str) -> (Vec<PoolRow>, usize) {
    let (mut rows, mut odd) = (Vec::new(), 0);
    for line in text.lines().filter(|line| !line.is_empty()) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, size, alloc, free, frag, cap, health] = fields[..] else {
            odd += 1;
            continue;
        };
        let number = |text: &str| text.trim_end_matches('%').parse().ok();
        rows.push(PoolRow {
            name: name.to_owned(),
            size_bytes: number(size),
            allocated_bytes: number(alloc),
            free_bytes: number(free),
            fragmentation_pct: number(frag),
            capacity_pct: number(cap),
            health: health.to_owned(),
        });
    }
    (rows, odd)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn properties_keep_tabs_in_values_and_know_their_source() {
        let text = "tank\tcompression\tlz4\tlocal\ntank/a b\tnote:x\ta\tb\tinherited from tank\n\nodd line\n\
                    tank@s\tused\t1024\t-\n";
        let (rows, odd) = parse_properties(text);
        assert_eq!((rows.len(), odd), (3, 1));
        assert_eq!((rows[1].name.as_str(), rows[1].value.as_str()), ("tank/a b", "a\tb"));
        assert_eq!(rows[1].source.as_set().as_deref(), Some("inherited from tank"));
        assert!(rows[0].source.is_set() && !rows[2].source.is_set());
    }

    #[test]
    fn a_faulted_pool_has_no_sizes() {
        let (rows, odd) =
            parse_pool_list("tank\t100\t40\t60\t7\t40\tONLINE\nbad\t-\t-\t-\t-\t-\tFAULTED\nx\n");
        assert_eq!((rows.len(), odd), (2, 1));
        assert_eq!((rows[0].capacity_pct, rows[0].fragmentation_pct), (Some(40), Some(7)));
        assert_eq!((rows[1].size_bytes, rows[1].health.as_str()), (None, "FAULTED"));
    }

    proptest! {
        #[test]
        fn every_line_is_a_row_or_counted(text in "[ -~\n\t]{0,200}") {
            let lines = text.lines().filter(|l| !l.is_empty()).count();
            let (rows, odd) = parse_properties(&text);
            prop_assert_eq!(rows.len() + odd, lines);
            let (rows, odd) = parse_pool_list(&text);
            prop_assert_eq!(rows.len() + odd, lines);
        }
    }
}
