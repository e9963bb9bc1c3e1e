//! Keys of the store taken apart: which table, host, time and file an object is of.
//!
//! Invariant: what is no key of the agent's form is nothing; no text of a key is used as a path.

use zwhy_capture::{day_of, shipped_host};

/// Tables of a capture, as they lie in the store.
pub const TABLES: [&str; 6] = ["samples", "stacks", "frames", "threads", "series", "marks"];
/// JSON beside the tables, put last: a file without its facts is not whole yet.
pub const FACTS: &str = "facts";
/// No file holds more than a day, so what overlaps a range begins at most a day before it.
pub const LONGEST_MS: i64 = 86_400_000;

/// A key of the form `TABLE/host=NAME/day=DATE/start_ms=MS/FILE-PART.END`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub host: String,
    pub start_ms: i64,
    /// Of the file: a number of the agent's, or a digest.
    pub name: String,
    pub part: u32,
}

impl Place {
    /// Of a key below `folder` (`samples`); `None` where it is of another form.
    pub fn of(folder: &str, key: &str) -> Option<Place> {
        let rest = key.strip_prefix(folder)?.strip_prefix('/')?;
        let mut parts = rest.split('/');
        let host = parts.next()?.strip_prefix("host=")?;
        let day = parts.next()?.strip_prefix("day=")?;
        let start_ms: i64 = parts.next()?.strip_prefix("start_ms=")?.parse().ok()?;
        let file = parts.next()?;
        let end = if folder == FACTS { ".json" } else { ".parquet" };
        let (name, part) = file.strip_suffix(end)?.split_once('-')?;
        let plain = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric());
        if parts.next().is_some() || !plain(name) || !plain(part) || day_of(start_ms) != day {
            return None;
        }
        let host = host_of(host)?;
        Some(Place { host, start_ms, name: name.to_owned(), part: part.parse().ok()? })
    }

    /// What the files of one capture have in common.
    pub fn unit(&self) -> UnitKey {
        UnitKey { host: self.host.clone(), start_ms: self.start_ms, name: self.name.clone() }
    }
}

/// One file of the agent's, or one capture: its tables and facts.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UnitKey {
    pub host: String,
    pub start_ms: i64,
    pub name: String,
}

/// The name of a host from its part of a key; `None` where that was not written by [`shipped_host`].
pub fn host_of(part: &str) -> Option<String> {
    let mut bytes = part.bytes();
    let mut out = Vec::new();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        out.push((digit(bytes.next())? << 4 | digit(bytes.next())?) as u8);
    }
    let host = String::from_utf8(out).ok()?;
    (shipped_host(&host) == part).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;
    use zwhy_capture::shipped_key;

    #[test]
    fn keys_come_back_and_others_are_nothing() {
        for host in ["db7", "a/b", "..", "ü=\n"] {
            let key = shipped_key("series", host, 1_795_375_953_123, "00000042", 7);
            let want =
                Place { host: host.into(), start_ms: 1_795_375_953_123, name: "00000042".into(), part: 7 };
            assert_eq!(Place::of("series", &key), Some(want), "{key}");
            assert_eq!(Place::of("samples", &key), None);
        }
        for key in [
            "samples/host=a/day=2026-11-22/start_ms=1795375953123/42.parquet",
            "samples/host=a/day=2026-11-23/start_ms=1795375953123/42-0.parquet",
            "samples/host=a/day=2026-11-22/start_ms=x/42-0.parquet",
            "samples/host=%2/day=2026-11-22/start_ms=1795375953123/42-0.parquet",
            "samples/host=a b/day=2026-11-22/start_ms=1795375953123/42-0.parquet",
            "samples/host=a/day=2026-11-22/start_ms=1795375953123/42-0.parquet.tmp",
            "samples/host=a/day=2026-11-22/start_ms=1795375953123/x/42-0.parquet",
        ] {
            assert_eq!(Place::of("samples", key), None, "{key}");
        }
    }
}
