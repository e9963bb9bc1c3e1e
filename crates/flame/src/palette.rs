//! Colours by stage, the same in every face: light enough for #111 text (contrast at least 5.7).

/// Hues are told apart by lightness order too; legend and tooltips carry the name, so colour is
/// never the only cue.
const HUES: [&str; 9] =
    ["#e8a08c", "#e6b85c", "#c9c65a", "#8fc98a", "#6fc7b7", "#7cbbe0", "#a5aef0", "#cfa3e3", "#e79cc2"];

const MUTED: &str = "#b9b9b9";
const STRUCTURE: &str = "#d7d4cf";

/// Colours of one drawing: the largest stages get the hues, so that neighbours differ.
pub struct Palette<'a> {
    ranked: Vec<&'a str>,
}

impl<'a> Palette<'a> {
    /// `ranked` are stage names, the largest first.
    pub fn new(ranked: impl IntoIterator<Item = &'a str>) -> Palette<'a> {
        Palette { ranked: ranked.into_iter().filter(|name| !is_muted(name)).collect() }
    }

    /// Fill colour of a stage by name.
    pub fn colour(&self, stage: &str) -> &'static str {
        if stage.is_empty() {
            return STRUCTURE;
        }
        match self.ranked.iter().position(|name| *name == stage) {
            Some(rank) => HUES[rank % HUES.len()],
            None => MUTED,
        }
    }
}

fn is_muted(stage: &str) -> bool {
    matches!(stage, "" | "unknown" | "idle" | "not zfs")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// WCAG 2.2 relative luminance.
    fn luminance(colour: &str) -> f64 {
        let channel = |i: usize| {
            let v = f64::from(u8::from_str_radix(&colour[i..i + 2], 16).unwrap()) / 255.0;
            if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    #[test]
    fn every_colour_carries_dark_text() {
        for colour in HUES.into_iter().chain([MUTED, STRUCTURE]) {
            let contrast = (luminance(colour) + 0.05) / (luminance("#111111") + 0.05);
            assert!(contrast >= 5.7, "{colour}: {contrast:.2}");
        }
    }
}
