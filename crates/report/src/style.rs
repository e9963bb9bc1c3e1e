//! Emphasis on terminals that want it, the same text without; and how wide a line may be.

use zwhy_flame::stage_colour;

/// Cells of a line where nothing says how many there are.
const WIDTH: usize = 80;
/// Narrower than this nothing is readable, wider nobody follows a row.
const NARROWEST: usize = 40;
const WIDEST: usize = 200;
/// Sentences are read best in lines of at most this many cells.
const PROSE: usize = 100;

/// Whether escape sequences are written, and the cells of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    colour: bool,
    width: usize,
}

impl Default for Style {
    fn default() -> Style {
        Style::PLAIN
    }
}

impl Style {
    pub const PLAIN: Style = Style { colour: false, width: WIDTH };

    /// The same for lines of this many cells; of more than 200 only 200 are used, of less than 40 all the same 40.
    pub fn wide(self, cells: usize) -> Style {
        Style { width: cells.clamp(NARROWEST, WIDEST), ..self }
    }

    /// Whether escape sequences are written.
    pub fn has_colour(self) -> bool {
        self.colour
    }

    /// Cells of a row of a table.
    pub fn table(self) -> usize {
        self.width
    }

    /// Cells of a line of sentences.
    pub fn prose(self) -> usize {
        self.width.min(PROSE)
    }

    /// A box in the colour of a stage; nothing without colour.
    pub fn swatch(self, stage: &str) -> String {
        if self.colour {
            format!("\u{1b}[38;5;{}m■\u{1b}[0m ", terminal_colour(stage))
        } else {
            String::new()
        }
    }

    /// Colour for a terminal, unless NO_COLOR is set and not empty (no-color.org).
    pub fn for_terminal(
        is_terminal: bool,
        no_color: Option<&std::ffi::OsStr>,
        term: Option<&std::ffi::OsStr>,
    ) -> Style {
        let refused = no_color.is_some_and(|v| !v.is_empty()) || term.is_some_and(|t| t == "dumb");
        Style { colour: is_terminal && !refused, ..Style::PLAIN }
    }

    pub fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    pub fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    pub fn heading(self, text: &str) -> String {
        self.wrap("1;36", text)
    }

    pub fn warning(self, text: &str) -> String {
        self.wrap("33", text)
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// The colour of a stage among the 256 that terminals have.
pub fn terminal_colour(stage: &str) -> u8 {
    cube(stage_colour(stage))
}

/// The nearest of the 216 colours of the cube that terminals have.
fn cube(colour: &str) -> u8 {
    let step = |at: usize| {
        let v = colour.get(at..at + 2).and_then(|hex| u8::from_str_radix(hex, 16).ok()).unwrap_or_default();
        // Its steps are 0, 95, 135, 175, 215 and 255.
        (0..6u8).min_by_key(|i| v.abs_diff(if *i == 0 { 0 } else { 55 + 40 * i })).unwrap_or_default()
    };
    16 + 36 * step(1) + 6 * step(3) + step(5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colour_becomes_the_nearest_of_the_cube() {
        assert_eq!((cube("#000000"), cube("#ffffff"), cube("#ff5f00")), (16, 231, 202));
        assert_eq!(cube("#f7c15f"), 215, "ffaf5f");
        assert_eq!(Style::PLAIN.swatch("decrypt"), "");
    }
}
