//! Progress on standard error, only when it is a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

/// A bar over `total` units with time left; invisible when standard error is no terminal.
pub fn bar(total: u64, template: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total), target());
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("━╸ "));
    }
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

/// A bar over a time in milliseconds, or without an end where there is none.
pub fn over(doing: &str, duration: Option<Duration>) -> ProgressBar {
    match duration {
        Some(d) => bar(d.as_millis() as u64, &format!("{doing} {{bar:30}} {{msg}} · {{eta}} left")),
        None => bar(0, &format!("{doing} {{elapsed}} · {{msg}} · Ctrl-C ends it")),
    }
}

fn target() -> ProgressDrawTarget {
    if std::io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() }
}
