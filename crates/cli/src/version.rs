//! `zwhy --version`: which build this is, and which knowledge is in it.

use zwhy_diagnose::{KNOWLEDGE_DIGEST, Knowledge};

/// The first line is name and number, for programs.
pub fn text() -> String {
    let causes = Knowledge::embedded().causes.len();
    format!(
        "zwhy {}\nbuild      {}\nknowledge  {causes} causes, {KNOWLEDGE_DIGEST}\ncapture    format {}\n",
        env!("CARGO_PKG_VERSION"),
        build(),
        zwhy_capture::FORMAT_VERSION
    )
}

/// Nothing that differs between two builds of the same sources: no time, no folder, no machine.
fn build() -> String {
    let mut words = vec![match option_env!("ZWHY_COMMIT") {
        Some(commit) if !commit.is_empty() => commit.to_owned(),
        _ => "commit not recorded".to_owned(),
    }];
    words.push(target());
    if cfg!(debug_assertions) {
        words.push("not optimised".to_owned());
    }
    words.join(", ")
}

/// The platform, in the words of a target triple without its vendor.
fn target() -> String {
    let library = if cfg!(target_env = "musl") {
        "-musl"
    } else if cfg!(target_env = "gnu") {
        "-gnu"
    } else {
        ""
    };
    format!("{}-{}{library}", std::env::consts::ARCH, std::env::consts::OS)
}
