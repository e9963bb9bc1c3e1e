//! Data that a pool moves because its vdevs change: a device that is removed, a RAID-Z vdev that is being widened.

use crate::status_json::{clock, json_number, json_text};
use serde_json::Value;

/// Fields of `zpool status` that tell of it, and what the text after them begins with while it goes on
/// (`print_removal_status` and `print_raidz_expand_status` of zpool_main.c, OpenZFS 2.3).
const FIELDS: [(&str, &str, &str); 2] =
    [("remove:", "Evacuation of ", "removal of "), ("expand:", "expansion of ", "expansion of ")];
/// The same of `zpool status -j` (`removal_status_nvlist` and `raidz_expand_status_nvlist`): object, what it is called
/// here, all bytes, bytes that are moved.
const OBJECTS: [(&str, &str, &str, &str); 2] = [
    ("removal_stats", "removal", "to_copy", "copied"),
    ("raidz_expand_stats", "expansion", "to_reflow", "reflowed"),
];

/// `removal of sda in progress since …` of a line of `zpool status`; empty of one that tells of an end, `None` of any
/// other line.
pub(crate) fn of_line(line: &str) -> Option<String> {
    let line = line.trim();
    let (field, begin, name) = FIELDS.iter().find(|(field, ..)| line.starts_with(field))?;
    let what = line[field.len()..].trim().strip_prefix(begin).filter(|rest| rest.contains(" in progress"));
    Some(what.map_or(String::new(), |rest| format!("{name}{rest}")))
}

/// The same of the JSON of a pool, as `scrub in progress, 12.3 % done, 00:10:00 to go`; `now_s` is when it was printed.
pub(crate) fn of_json(pool: &Value, now_s: u64) -> Vec<String> {
    let number = |stats: &Value, name: &str| json_number(&stats[name]);
    let one = |(object, what, all, done): &(&str, &str, &str, &str)| {
        let stats = &pool[object];
        (json_text(&stats["state"]) == "SCANNING").then(|| {
            let (all, done) = (number(stats, all), number(stats, done));
            let spent = now_s.checked_sub(number(stats, "start_time")).filter(|s| *s > 0 && done > 0);
            let left = spent.map(|spent| all.saturating_sub(done) as f64 / done as f64 * spent as f64);
            let left = left.map_or(String::new(), |s| format!(", {} to go", clock(s as u64)));
            let part = (done as f64 / all.max(1) as f64).min(1.0);
            format!("{what} of {} in progress, {:.1} % done{left}", json_text(&stats["name"]), part * 100.0)
        })
    };
    OBJECTS.iter().filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_text_tell_what_goes_on() {
        let told = |line: &str| of_line(line);
        assert_eq!(
            told("remove: Evacuation of sda in progress since Sun Nov 22 14:00:00 2026").unwrap(),
            "removal of sda in progress since Sun Nov 22 14:00:00 2026"
        );
        assert_eq!(
            told("remove: Removal of vdev 1 copied 1.2G in 0h1m, completed on x"),
            Some(String::new())
        );
        assert_eq!(
            told("expand: expansion of raidz1-0 in progress since x").unwrap(),
            "expansion of raidz1-0 in progress since x"
        );
        assert_eq!((told("errors: No known data errors"), told("remote: x")), (None, None));
    }

    #[test]
    fn the_json_tells_part_and_time() {
        let json = r#"{"raidz_expand_stats":{"name":"raidz1-0","vdev_type":"raidz","state":"SCANNING","expanding_vdev":"0",
            "start_time":"1000","to_reflow":"4000","reflowed":"1000"},
            "removal_stats":{"name":"sda","state":"FINISHED","to_copy":"1","copied":"1"}}"#;
        let pool: Value = serde_json::from_str(json).unwrap();
        assert_eq!(of_json(&pool, 1100), ["expansion of raidz1-0 in progress, 25.0 % done, 00:05:00 to go"]);
        assert_eq!(of_json(&pool, 0), ["expansion of raidz1-0 in progress, 25.0 % done"]);
    }
}
