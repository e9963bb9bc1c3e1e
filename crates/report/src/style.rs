//! Emphasis on terminals that want it; the same text without.

/// Whether escape sequences are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    colour: bool,
}

impl Style {
    pub const PLAIN: Style = Style { colour: false };

    /// Colour for a terminal, unless NO_COLOR is set and not empty (no-color.org).
    pub fn for_terminal(
        is_terminal: bool,
        no_color: Option<&std::ffi::OsStr>,
        term: Option<&std::ffi::OsStr>,
    ) -> Style {
        let refused = no_color.is_some_and(|v| !v.is_empty()) || term.is_some_and(|t| t == "dumb");
        Style { colour: is_terminal && !refused }
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

    pub fn less(self, text: &str) -> String {
        self.wrap("34", text)
    }

    pub fn more(self, text: &str) -> String {
        self.wrap("33", text)
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}
