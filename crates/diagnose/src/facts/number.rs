//! Numbers in the text of parameters, properties and table cells.

/// The first number of a text, its suffix taken as a power of 1024: `1M`, `16K vs 4K` (16 Ki),
/// `512 MB`, `37-45` (37), `88%`; minutes and seconds as `time` prints them are seconds (`2m16.485s`).
/// `None` when the text does not begin with a number.
pub fn leading_number(text: &str) -> Option<f64> {
    let text = text.trim();
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let end = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
    let value: f64 = unsigned[..end].trim_end_matches('.').parse().ok()?;
    let value = if unsigned.len() < text.len() { -value } else { value };
    if let Some(seconds) = unsigned[end..].strip_prefix('m').and_then(seconds_of_a_minute) {
        return Some(value * 60.0 + seconds);
    }
    let suffix: String =
        unsigned[end..].trim_start().chars().take_while(|c| c.is_ascii_alphabetic()).collect();
    let power = match suffix.to_ascii_lowercase().as_str() {
        "k" | "ki" | "kb" | "kib" => 1,
        "m" | "mi" | "mb" | "mib" => 2,
        "g" | "gi" | "gb" | "gib" => 3,
        "t" | "ti" | "tb" | "tib" => 4,
        "p" | "pb" | "pib" => 5,
        _ => 0,
    };
    Some(value * 1024f64.powi(power))
}

/// `16.485` of `16.485s`, which follows the minutes.
fn seconds_of_a_minute(text: &str) -> Option<f64> {
    let seconds: f64 = text.trim().strip_suffix('s')?.trim().parse().ok()?;
    (0.0..60.0).contains(&seconds).then_some(seconds)
}

/// Exponent `b` of `y = a·x^b` fitted to at least three points with positive values, else `None`.
///
/// Least squares on logarithms; points at fewer than two distinct `x` have no exponent.
pub fn growth(points: &[(f64, f64)]) -> Option<f64> {
    let logs: Vec<(f64, f64)> =
        points.iter().filter(|(x, y)| *x > 0.0 && *y > 0.0).map(|(x, y)| (x.ln(), y.ln())).collect();
    if logs.len() < 3 {
        return None;
    }
    let n = logs.len() as f64;
    let (mx, my) = (logs.iter().map(|p| p.0).sum::<f64>() / n, logs.iter().map(|p| p.1).sum::<f64>() / n);
    let spread: f64 = logs.iter().map(|p| (p.0 - mx).powi(2)).sum();
    let slope = logs.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum::<f64>() / spread;
    slope.is_finite().then_some(slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_real_texts() {
        for (text, expected) in [
            ("1M", Some(1048576.0)),
            ("64.0Ki", Some(65536.0)),
            ("16K vs 4K", Some(16384.0)),
            ("8 MB default, 512 MB tried", Some(8388608.0)),
            ("37-45", Some(37.0)),
            ("-3188600832", Some(-3188600832.0)),
            ("1 in this run", Some(1.0)),
            ("4.1G", Some(4.1 * 1073741824.0)),
            ("88%", Some(88.0)),
            ("2m16.485s", Some(136.485)),
            ("0m 0.224s", Some(0.224)),
            ("5m", Some(5242880.0)),
            ("350 ms", Some(350.0)),
            ("default", None),
            ("", None),
            (".", None),
        ] {
            assert_eq!(leading_number(text), expected, "{text}");
        }
    }

    #[test]
    fn growth_finds_the_exponent() {
        let quadratic: Vec<(f64, f64)> = (1..6).map(|i| (f64::from(i), 3.0 * f64::from(i * i))).collect();
        assert!((growth(&quadratic).unwrap() - 2.0).abs() < 1e-9);
        assert_eq!(growth(&quadratic[..2]), None);
        assert_eq!(growth(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]), None);
    }
}
