//! Sizes as ZFS writes them: powers of 1024 with one letter, `128K`, `1.5T`.

const SUFFIXES: &[u8] = b"BKMGTPE";

/// A size for people: exact when it is a whole number of the unit (`128K`), else two places.
pub fn format_bytes(bytes: u64) -> String {
    let mut power = 0;
    while power < 6 && bytes >> (10 * (power + 1)) > 0 {
        power += 1;
    }
    let unit = 1u64 << (10 * power);
    let letter = SUFFIXES[power] as char;
    if bytes.is_multiple_of(unit) {
        format!("{}{letter}", bytes / unit)
    } else {
        format!("{:.2}{letter}", bytes as f64 / unit as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn whole_units_have_no_places() {
        for (bytes, text) in [
            (0, "0B"),
            (512, "512B"),
            (1536, "1.50K"),
            (131_072, "128K"),
            (1 << 20, "1M"),
            (3 << 29, "1.50G"),
            (u64::MAX, "16.00E"),
        ] {
            assert_eq!(format_bytes(bytes), text);
        }
    }

    proptest! {
        #[test]
        fn whole_units_are_exact(n in 1u64..1000, power in 0usize..6) {
            prop_assert_eq!(format_bytes(n << (10 * power)), format!("{n}{}", SUFFIXES[power] as char));
        }
    }
}
