//! The colour of each stage: one of its own, the same in every page, picture and terminal.
//!
//! All are light enough for #111 text (contrast at least 5.7). Stages that meet most often come first and are
//! also told apart by eyes that see no red or no green. Colour is never the only cue: legends and tooltips
//! carry the name.

use std::sync::LazyLock;

/// Stages as `knowledge/anatomy/stages.toml` names them, and their colours.
static STAGES: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    let pair = |line: &'static str| line.split_once(' ').map(|(colour, stage)| (stage, colour));
    include_str!("palette.txt").lines().filter_map(pair).collect()
});

/// No finding can be read from these: idle, not ZFS, not known.
const QUIET: [(&str, &str); 4] =
    [("unknown", "#b4b7bd"), ("idle", "#c9ccd1"), ("not zfs", "#d3cfc8"), ("", "#dadada")];

/// Stages of knowledge files that this table does not know.
const OTHER: &str = "#d9c3ae";

/// Fill colour of a stage by name, `#rrggbb`; the empty name is that of boxes that only carry others.
pub fn stage_colour(stage: &str) -> &'static str {
    let mut known = STAGES.iter().chain(&QUIET);
    known.find(|(name, _)| *name == stage).map_or(OTHER, |(_, colour)| colour)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channels(colour: &str) -> [f64; 3] {
        [1, 3, 5].map(|i| {
            let v = f64::from(u8::from_str_radix(&colour[i..i + 2], 16).unwrap()) / 255.0;
            if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
        })
    }

    /// WCAG 2.2 relative luminance.
    fn luminance(colour: &str) -> f64 {
        let [r, g, b] = channels(colour);
        0.2126 * r + 0.7152 * g + 0.0722 * b
    }

    /// Coordinates in which equal distances look alike (Oklab, Ottosson 2020).
    fn oklab(colour: &str) -> [f64; 3] {
        let [r, g, b] = channels(colour);
        let l = (0.412_221_470_8 * r + 0.536_332_536_3 * g + 0.051_445_992_9 * b).cbrt();
        let m = (0.211_903_498_2 * r + 0.680_699_545_1 * g + 0.107_396_956_6 * b).cbrt();
        let s = (0.088_302_461_9 * r + 0.281_718_837_6 * g + 0.629_978_700_5 * b).cbrt();
        [
            0.210_454_255_3 * l + 0.793_617_785_0 * m - 0.004_072_046_8 * s,
            1.977_998_495_1 * l - 2.428_592_205_0 * m + 0.450_593_709_9 * s,
            0.025_904_037_1 * l + 0.782_771_766_2 * m - 0.808_675_766_0 * s,
        ]
    }

    #[test]
    fn every_colour_carries_dark_text() {
        let known = STAGES.iter().chain(&QUIET).map(|(_, colour)| *colour);
        for colour in known.chain([OTHER]) {
            let contrast = (luminance(colour) + 0.05) / (luminance("#111111") + 0.05);
            assert!(contrast >= 5.7, "{colour}: {contrast:.2}");
        }
    }

    #[test]
    fn no_two_stages_look_alike() {
        let known: Vec<_> = STAGES.iter().chain(&QUIET).filter(|(name, _)| !name.is_empty()).collect();
        for (at, (name, colour)) in known.iter().enumerate() {
            for (other, theirs) in &known[..at] {
                let (a, b) = (oklab(colour), oklab(theirs));
                let apart = a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt();
                let quiet = QUIET.iter().any(|(q, _)| q == name) && QUIET.iter().any(|(q, _)| q == other);
                assert!(apart >= if quiet { 0.02 } else { 0.04 }, "{name} and {other}: {apart:.3}");
            }
        }
    }
}
