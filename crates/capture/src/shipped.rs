//! Where the tables of a capture lie in a store of many hosts, and how to tell that an id names what it says.
//!
//! `TABLE/host=NAME/day=DATE/start_ms=MS/FILE-PART.parquet`: the agent writes these keys, the fleet reads them. Keys depend
//! on nothing but the host and the file, so what is sent again is there once.

use crate::ids;

/// The key of one part of a table of the file called `name` (`00000042`, a digest), which begins at `start_ms` since 1970;
/// `facts` is JSON, all others are Parquet.
pub fn shipped_key(table: &str, host: &str, start_ms: i64, name: &str, part: u32) -> String {
    let day = day_of(start_ms);
    let end = if table == "facts" { "json" } else { "parquet" };
    format!("{table}/host={}/day={day}/start_ms={start_ms}/{name}-{part:06}.{end}", shipped_host(host))
}

/// A host's name as a part of a key: letters, digits, `-` and `_`, and dots within; all else as in an address (`%2F`).
pub fn shipped_host(host: &str) -> String {
    let mut out = String::new();
    for (at, byte) in host.bytes().enumerate() {
        match byte {
            b'-' | b'_' => out.push(char::from(byte)),
            b'.' if at > 0 => out.push('.'),
            byte if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    if out.is_empty() { "unknown".to_owned() } else { out }
}

/// `2026-11-22` of milliseconds since 1970, UTC.
pub fn day_of(unix_ms: i64) -> String {
    // Years begin in March here, so that the day that comes and goes is the last one of its year; an era has 400 of them.
    let days = unix_ms.div_euclid(86_400_000) + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", era * 400 + year_of_era + later)
}

/// The id of the stack of `frame` called by the stack `parent`, on every host; 0 is the empty stack.
pub fn stack_row_id(parent: u64, frame: u64) -> u64 {
    ids::stack(parent, frame)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stay_within_the_store() {
        let key = |host| shipped_key("samples", host, 1_795_375_953_123, "00000042", 7);
        assert_eq!(
            key("db7.example"),
            "samples/host=db7.example/day=2026-11-22/start_ms=1795375953123/00000042-000007.parquet"
        );
        assert_eq!(
            shipped_key("facts", "db7", 0, "00000001", 0),
            "facts/host=db7/day=1970-01-01/start_ms=0/00000001-000000.json"
        );
        for host in ["../../etc", "a/b", "..", "", "a\nb", "a=b", "ü", "%2F"] {
            let key = key(host);
            let part = key.split('/').nth(1).unwrap();
            assert_eq!(key.split('/').count(), 5, "{key}");
            let plain = |b: u8| b.is_ascii_alphanumeric() || b"=-_.%".contains(&b);
            assert!(part.bytes().all(plain) && !part.ends_with("=..") && part != "host=", "{key}");
        }
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        // As `date -u -d @SECONDS +%F` says.
        for (seconds, day) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (4_107_542_399, "2100-02-28"),
            (4_107_542_400, "2100-03-01"),
            (1_795_391_999, "2026-11-22"),
            (1_795_392_000, "2026-11-23"),
        ] {
            assert_eq!(day_of(seconds * 1000), day, "{seconds}");
        }
    }
}
