//! Vdev trees from `zpool status`: its JSON (`-j`, OpenZFS 2.3 and later) or its text.
//!
//! Layout of the text: `print_status_config` of cmd/zpool/zpool_main.c: after
//! `config:` one line a vdev behind a tab, two blanks a level; `logs`, `cache`, `spares`, `special`
//! and `dedup` begin a class.

use crate::moves;
use crate::status_json::{clock, json_number, json_text};
use crate::vdev_work::{VdevWork, of_json, of_row};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One vdev with what is below it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Vdev {
    pub name: String,
    /// `mirror`, `raidz2`, `draid1`, `disk`, `file`, `spare`, `replacing`, …
    pub kind: String,
    /// `normal`, `logs`, `l2cache`, `spares`, `special`, `dedup`.
    pub class: String,
    pub state: String,
    #[serde(skip_serializing_if = "is_zero")]
    pub read_errors: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub write_errors: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub checksum_errors: u64,
    /// Bytes; 0 where the source does not say.
    #[serde(skip_serializing_if = "is_zero")]
    pub size_bytes: u64,
    /// The kernel's name of its device (`sda1`), where it is called otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// A trim or an initialisation that is under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim: Option<VdevWork>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initialize: Option<VdevWork>,
    #[serde(skip_serializing_if = "Vec::is_empty", alias = "vdevs")]
    pub children: Vec<Vdev>,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// One pool: its top-level vdevs of all classes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PoolStatus {
    pub name: String,
    pub state: String,
    /// What a scrub or a resilver does or did: `scrub in progress, 12.3 % done`; empty where there was none.
    pub scan: String,
    /// Removals of devices and expansions of RAID-Z vdevs under way, in the same words.
    pub moves: Vec<String>,
    pub vdevs: Vec<Vdev>,
}

/// Why a text is not the JSON of `zpool status -j`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the JSON of zpool status -j: {0}")]
pub struct StatusError(String);

/// Reads `zpool status -jp`; numbers may be numbers or text. `now_s` is when it was printed, in seconds of the Unix
/// clock: from then on a scan has the time left that it is said to have.
///
/// # Errors
/// When the text is no JSON or has no `pools`.
pub fn parse_pool_status_json(text: &str, now_s: u64) -> Result<Vec<PoolStatus>, StatusError> {
    let value: Value = serde_json::from_str(text).map_err(|e| StatusError(e.to_string()))?;
    let pools = value["pools"].as_object().ok_or_else(|| StatusError("it has no pools".into()))?;
    Ok(pools.iter().map(|(name, pool)| json_pool(name, pool, now_s)).collect())
}

fn json_pool(name: &str, pool: &Value, now_s: u64) -> PoolStatus {
    let mut vdevs = Vec::new();
    for (class, group) in pool.as_object().into_iter().flatten() {
        for (name, vdev) in group.as_object().into_iter().flatten().filter(|(_, v)| !v["vdev_type"].is_null())
        {
            let vdev = json_vdev(name, vdev, if class == "vdevs" { "normal" } else { class }, now_s);
            // The root vdev only repeats the pool.
            if vdev.kind == "root" { vdevs.extend(vdev.children) } else { vdevs.push(vdev) }
        }
    }
    let scan = json_scan(&pool["scan_stats"], now_s);
    let moves = moves::of_json(pool, now_s);
    PoolStatus { name: name.to_owned(), state: json_text(&pool["state"]), scan, moves, vdevs }
}

/// The scan in the words of the text (`scan_status_nvlist` and `print_scan_scrub_resilver_status` of zpool_main.c,
/// OpenZFS 2.3).
fn json_scan(scan: &Value, now_s: u64) -> String {
    let function = json_text(&scan["function"]).to_lowercase();
    let done = json_number(&scan["issued"]) as f64 / json_number(&scan["to_examine"]).max(1) as f64;
    let paused =
        scan["scrub_pause"].as_str().is_none_or(|t| t != "-") && json_number(&scan["scrub_pause"]) > 0;
    match json_text(&scan["state"]).as_str() {
        "SCANNING" if paused => format!("{function} paused, {:.1} % done", done.min(1.0) * 100.0),
        "SCANNING" => {
            let left =
                seconds_left(scan, now_s).map_or(String::new(), |left| format!(", {} to go", clock(left)));
            format!("{function} in progress, {:.1} % done{left}", done.min(1.0) * 100.0)
        }
        "" => String::new(),
        state => format!("{function} {}", state.to_lowercase()),
    }
}

/// At the mean speed of this pass, as `zpool status` reckons.
fn seconds_left(scan: &Value, now_s: u64) -> Option<u64> {
    let number = |name: &str| json_number(&scan[name]);
    let begin = Some(number("pass_start")).filter(|begin| *begin > 0)?;
    let spent = now_s.checked_sub(begin)?.checked_sub(number("scrub_spent_paused"))?;
    let issued = Some(number("issued_bytes_per_scan")).filter(|bytes| *bytes > 0 && spent > 0)?;
    let left = number("to_examine").checked_sub(number("skipped"))?.checked_sub(number("issued"))?;
    Some((left as f64 / issued as f64 * spent as f64) as u64)
}

fn json_vdev(name: &str, vdev: &Value, class: &str, now_s: u64) -> Vdev {
    let children = vdev["vdevs"].as_object().into_iter().flatten();
    let own_class = vdev["class"].as_str().filter(|c| *c != "normal").unwrap_or(class);
    let size = ["total_space", "phys_space", "rep_dev_size"].map(|key| json_number(&vdev[key]));
    let [trim, initialize] = of_json(vdev, now_s);
    Vdev {
        name: name.to_owned(),
        device: None,
        trim,
        initialize,
        kind: exact_kind(name, &json_text(&vdev["vdev_type"])),
        class: own_class.to_owned(),
        state: json_text(&vdev["state"]),
        read_errors: json_number(&vdev["read_errors"]),
        write_errors: json_number(&vdev["write_errors"]),
        checksum_errors: json_number(&vdev["checksum_errors"]),
        size_bytes: size.into_iter().find(|n| *n > 0).unwrap_or(0),
        children: children.map(|(name, vdev)| json_vdev(name, vdev, own_class, now_s)).collect(),
    }
}

/// The JSON says `raidz` for all levels of parity; the name has it.
fn exact_kind(name: &str, kind: &str) -> String {
    let from_name = kind_of_name(name);
    if from_name.starts_with(kind) && !kind.is_empty() { from_name } else { kind.to_owned() }
}

/// `raidz2-0` is a raidz2; a path or a bare name is a disk, a path outside of /dev a file.
fn kind_of_name(name: &str) -> String {
    let head = name.split([':', '-']).next().unwrap_or(name);
    let has_parity = |kind| head.strip_prefix(kind).is_some_and(|level| matches!(level, "1" | "2" | "3"));
    let known = matches!(head, "mirror" | "spare" | "replacing" | "indirect");
    if name.contains('-') && (known || has_parity("raidz") || has_parity("draid")) {
        head.to_owned()
    } else if name.starts_with('/') && !name.starts_with("/dev/") {
        "file".to_owned()
    } else {
        "disk".to_owned()
    }
}

/// Reads the text of `zpool status -p` of any version. `now_s` is when it was printed, in seconds of the Unix clock,
/// where that is known.
///
/// Returns the pools and how many lines inside of `config` were not understood.
pub fn parse_pool_status(text: &str, now_s: Option<u64>) -> (Vec<PoolStatus>, usize) {
    let (mut pools, mut odd) = (Vec::<PoolStatus>::new(), 0);
    let (mut in_config, mut class, mut in_scan, mut in_move) = (false, "normal", false, false);
    for line in text.lines() {
        if let Some(name) = line.trim_start().strip_prefix("pool:").filter(|_| !line.starts_with('\t')) {
            pools.push(PoolStatus { name: name.trim().to_owned(), ..PoolStatus::default() });
            (in_config, class) = (false, "normal");
            continue;
        }
        let Some(pool) = pools.last_mut() else { continue };
        // What is left to do stands in the lines that follow, behind a tab.
        (in_scan, in_move) = (in_scan && line.starts_with('\t'), in_move && line.starts_with('\t'));
        if let Some(going_on) = pool.moves.last_mut().filter(|_| in_move) {
            *going_on = format!("{going_on} {}", line.trim());
        } else if in_scan {
            pool.scan = format!("{} {}", pool.scan, line.trim());
        } else if let Some(row) = line.strip_prefix('\t').filter(|_| in_config) {
            match config_row(row, &pool.name, now_s) {
                Row::Vdev(depth, vdev) => {
                    let vdev = Vdev { class: class.to_owned(), ..*vdev };
                    insert(&mut pool.vdevs, depth, vdev);
                }
                Row::Class(name) => class = name,
                Row::Other => {}
                Row::Odd => odd += 1,
            }
        } else if let Some(scan) = line.trim_start().strip_prefix("scan:") {
            (pool.scan, in_scan, in_config) = (scan.trim().to_owned(), true, false);
        } else if let Some(going_on) = moves::of_line(line) {
            (in_move, in_config) = (!going_on.is_empty(), false);
            pool.moves.extend(Some(going_on).filter(|text| !text.is_empty()));
        } else if let Some(state) = line.trim_start().strip_prefix("state:") {
            pool.state = state.trim().to_owned();
        } else if line.trim_end() == "config:" {
            in_config = true;
        } else if !line.trim().is_empty() {
            in_config = false;
        }
    }
    (pools, odd)
}

enum Row {
    /// With its level below the class, 0 for a top-level vdev.
    Vdev(usize, Box<Vdev>),
    Class(&'static str),
    /// The heading and the pool itself.
    Other,
    Odd,
}

/// `row` is a line of the config block without its tab.
fn config_row(row: &str, pool: &str, now_s: Option<u64>) -> Row {
    let indent = row.len() - row.trim_start_matches(' ').len();
    let words: Vec<&str> = row.split_whitespace().collect();
    match (indent, words.as_slice()) {
        (_, []) | (0, ["NAME", ..]) => Row::Other,
        (0, ["logs", ..]) => Row::Class("logs"),
        (0, ["cache", ..]) => Row::Class("l2cache"),
        (0, ["spares", ..]) => Row::Class("spares"),
        (0, ["special", ..]) => Row::Class("special"),
        (0, ["dedup", ..]) => Row::Class("dedup"),
        (0, [name, ..]) if *name == pool => Row::Other,
        (2.., [name, state, errors @ ..]) => {
            let error = |at: usize| errors.get(at).and_then(|n| n.parse().ok()).unwrap_or(0);
            let [trim, initialize] = of_row(row, now_s);
            let vdev = Vdev {
                name: (*name).to_owned(),
                trim,
                initialize,
                kind: kind_of_name(name),
                state: (*state).to_owned(),
                read_errors: error(0),
                write_errors: error(1),
                checksum_errors: error(2),
                ..Vdev::default()
            };
            Row::Vdev(indent / 2 - 1, Box::new(vdev))
        }
        _ => Row::Odd,
    }
}

fn insert(list: &mut Vec<Vdev>, depth: usize, vdev: Vdev) {
    match list.last_mut() {
        Some(parent) if depth > 0 => insert(&mut parent.children, depth - 1, vdev),
        _ => list.push(vdev),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "  pool: tank
 state: DEGRADED
  scan: scrub in progress since Sun Nov 22 14:00:00 2026
\t1.00G / 2.00G scanned at 10.0M/s, 512M / 2.00G issued at 5.00M/s
\t0B repaired, 25.00% done, 00:05:00 to go
config:

\tNAME                STATE     READ WRITE CKSUM
\ttank                DEGRADED     0     0     0
\t  raidz2-0          DEGRADED     0     0     0
\t    sda             ONLINE       0     0     0
\t    replacing-1     DEGRADED     0     0     0
\t      sdb           UNAVAIL      3   241     0
\t      sdc           ONLINE       0     0     0  (resilvering)
\tlogs\t
\t  mirror-1          ONLINE       0     0     0
\t    nvme0n1p1       ONLINE       0     0     0
\tspares
\t  sdd               AVAIL   

errors: No known data errors

  pool: files
 state: ONLINE
config:

\tNAME        STATE     READ WRITE CKSUM
\tfiles       ONLINE       0     0     0
\t  /var/a    ONLINE       0     0     0

errors: No known data errors
";

    #[test]
    fn the_text_gives_classes_levels_and_errors() {
        let (pools, odd) = parse_pool_status(TEXT, None);
        assert_eq!((pools.len(), odd), (2, 0));
        let tank = &pools[0];
        let top: Vec<_> =
            tank.vdevs.iter().map(|v| (v.kind.as_str(), v.class.as_str(), v.children.len())).collect();
        assert_eq!(top, [("raidz2", "normal", 2), ("mirror", "logs", 1), ("disk", "spares", 0)]);
        let failed = &tank.vdevs[0].children[1].children[0];
        assert_eq!((failed.name.as_str(), failed.read_errors, failed.write_errors), ("sdb", 3, 241));
        let scan = "scrub in progress since Sun Nov 22 14:00:00 2026 1.00G / 2.00G scanned at 10.0M/s, 512M / 2.00G \
                    issued at 5.00M/s 0B repaired, 25.00% done, 00:05:00 to go";
        assert_eq!((tank.scan.as_str(), pools[1].scan.as_str()), (scan, ""));
        assert_eq!((tank.state.as_str(), pools[1].vdevs[0].kind.as_str()), ("DEGRADED", "file"));
    }

    #[test]
    fn devices_that_leave_and_vdevs_that_grow_are_told_with_their_lines() {
        let moving = TEXT.replacen(
            "config:\n",
            "remove: Evacuation of sdx in progress since Sun Nov 22 14:00:00 2026\n\t1.00G copied out of 4.00G at \
             10.0M/s, 25.00% done, 0h5m to go\nconfig:\n",
            1,
        );
        let (pools, odd) = parse_pool_status(&moving, None);
        let want = "removal of sdx in progress since Sun Nov 22 14:00:00 2026 1.00G copied out of 4.00G at 10.0M/s, \
                    25.00% done, 0h5m to go";
        assert_eq!(
            (pools[0].moves.as_slice(), pools[1].moves.len(), odd),
            ([want.to_owned()].as_slice(), 0, 0)
        );
        assert_eq!(pools[0].vdevs, parse_pool_status(TEXT, None).0[0].vdevs);
    }

    #[test]
    fn the_json_of_2_3_gives_the_same_tree() {
        // Shape from `zpool status -jp` of 2.3.2.
        let json = r#"{"output_version":{"command":"zpool status","vers_major":0,"vers_minor":1},"pools":{"tank":{
            "name":"tank","state":"ONLINE","vdevs":{"tank":{"name":"tank","vdev_type":"root","class":"normal",
            "state":"ONLINE","vdevs":{"raidz2-0":{"name":"raidz2-0","vdev_type":"raidz","class":"normal",
            "state":"ONLINE","total_space":"503316480","read_errors":"0","vdevs":{"sda":{"name":"sda",
            "vdev_type":"disk","path":"/dev/sda1","class":"normal","state":"ONLINE","write_errors":7}}}}}},
            "logs":{"sdb":{"name":"sdb","vdev_type":"disk","class":"log","state":"ONLINE"}},"error_count":"0",
            "scan_stats":{"function":"RESILVER","state":"SCANNING","to_examine":"2000","issued":"246",
            "scrub_pause":"-"}}}}"#;
        let pools = parse_pool_status_json(json, 0).unwrap();
        assert_eq!(pools[0].scan, "resilver in progress, 12.3 % done");
        let pass =
            r#""issued":"246","pass_start":"1000","scrub_spent_paused":"0","issued_bytes_per_scan":"246","#;
        let later = parse_pool_status_json(&json.replace("\"issued\":\"246\",", pass), 1060).unwrap();
        assert_eq!(later[0].scan, "resilver in progress, 12.3 % done, 00:07:07 to go");
        assert_eq!(clock(2 * 86_400 + 3600), "2 days 01:00:00");
        let vdevs = &pools[0].vdevs;
        let raidz = vdevs.iter().find(|v| v.class == "normal").unwrap();
        assert_eq!((raidz.kind.as_str(), raidz.size_bytes), ("raidz2", 503_316_480));
        assert_eq!((raidz.children[0].kind.as_str(), raidz.children[0].write_errors), ("disk", 7));
        assert!(vdevs.iter().any(|v| v.name == "sdb" && v.class == "log"));
        assert!(parse_pool_status_json("invalid option 'j'", 0).is_err());
        assert!(parse_pool_status_json("{}", 0).is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "[ -~\n\t]{0,300}") {
            let _ = parse_pool_status(&text, Some(u64::MAX));
            let _ = parse_pool_status_json(&text, u64::MAX);
        }

        #[test]
        fn every_vdev_line_is_in_the_tree(depths in prop::collection::vec(1usize..6, 1..30)) {
            let mut text = String::from("  pool: p\n state: ONLINE\nconfig:\n\n\tp  ONLINE 0 0 0\n");
            for (i, depth) in depths.iter().enumerate() {
                text.push_str(&format!("\t{}d{i} ONLINE 0 0 {i}\n", "  ".repeat(*depth)));
            }
            fn count(vdevs: &[Vdev]) -> usize {
                vdevs.iter().map(|v| 1 + count(&v.children)).sum()
            }
            let (pools, odd) = parse_pool_status(&text, None);
            prop_assert_eq!((count(&pools[0].vdevs), odd), (depths.len(), 0));
        }
    }
}
