//! A size in bytes as people write it in specifications: `4096`, `128K`, `1M`, `2G` (powers of 1024).

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

const UNITS: [(char, u32); 4] = [('K', 10), ('M', 20), ('G', 30), ('T', 40)];

/// Bytes as digits, two for each.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Bytes, String> {
        let wrong =
            || format!("{text:?} is not a size; write bytes or a number with K, M, G or T, as in 128K");
        let unit = UNITS.iter().find(|(letter, _)| text.ends_with(*letter));
        let digits = if unit.is_some() { &text[..text.len() - 1] } else { text };
        let number: u64 = digits.parse().map_err(|_| wrong())?;
        let bytes = number.checked_mul(1 << unit.map_or(0, |(_, shift)| *shift)).ok_or_else(wrong)?;
        Ok(Bytes(bytes))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = |shift: u32| self.0 != 0 && self.0.is_multiple_of(1 << shift);
        match UNITS.iter().rev().find(|(_, shift)| whole(*shift)) {
            Some((letter, shift)) => write!(f, "{}{letter}", self.0 >> shift),
            None => write!(f, "{}", self.0),
        }
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Bytes, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Number(u64),
            Text(String),
        }
        match Written::deserialize(input)? {
            Written::Number(n) => Ok(Bytes(n)),
            Written::Text(text) => text.parse().map_err(serde::de::Error::custom),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_and_print_alike() {
        for (text, value) in [("0", 0), ("4097", 4097), ("128K", 131_072), ("1M", 1 << 20), ("3G", 3 << 30)] {
            assert_eq!(text.parse::<Bytes>(), Ok(Bytes(value)));
            assert_eq!(Bytes(value).to_string(), text);
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "K", "1.5M", "-1", "1 M", "99999999999T", "1k", "é"] {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
    }
}
