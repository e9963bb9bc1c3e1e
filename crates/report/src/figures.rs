//! Numbers for people.

/// Digits in groups of three: `4,751,716`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn digits_are_grouped_from_the_right() {
        let cases = [(0, "0"), (999, "999"), (1000, "1,000"), (4_751_716, "4,751,716")];
        for (number, want) in cases {
            assert_eq!(grouped(number), want);
        }
        assert_eq!(grouped(u64::MAX), "18,446,744,073,709,551,615");
    }
}
