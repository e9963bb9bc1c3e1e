//! Answers for people and programs: terminal text, JSON, Markdown and the HTML page.
//!
//! Invariant: whatever comes from a profile is escaped for the medium before it gets there.

mod after;
mod answer;
mod bottleneck;
mod count;
mod demand;
mod diff;
#[cfg(unix)]
mod doctor;
mod escape;
mod facts;
mod field_guide;
mod figures;
mod functions;
mod html;
mod inputs_page;
mod layout;
mod markdown;
mod offloaded;
mod page_data;
mod proof;
mod remedy;
mod rows;
mod stats;
mod style;
mod timeline;
mod waiting;
mod words;

pub use after::{after_json, after_markdown, after_text};
pub use answer::answer_text;
pub use count::{CountPer, CountReport, CountRow};
pub use diff::{DiffReport, DiffSide};
#[cfg(unix)]
pub use doctor::{doctor_commands, doctor_json, doctor_text};
pub use escape::{plain, plain_lines, shell_word};
pub use facts::{FactTable, fact_tables};
pub use field_guide::{GuidePage, field_guide};
pub use figures::{grouped, itself_text};
pub use functions::{functions_json, functions_text};
pub use html::{Block, Input, PageError, lab_page, page, page_in_pieces, page_in_pieces_policy, page_of_all};
pub use inputs_page::{INPUTS_POLICY, INPUTS_STYLE, InputRow, inputs_page};
pub use layout::{Align, Grid, cut, labelled, width as cells, wrap, wrap_command};
pub use markdown::answer_markdown;
pub use offloaded::offloaded_text;
pub use page_data::{StagesOf, page_data, tree};
pub use remedy::remedy_text;
pub use stats::{stats_notes, stats_text};
pub use style::{Style, terminal_colour};
pub use timeline::{Curve, MarkRow, Timeline};

/// The answer as JSON, the same that the page embeds.
pub fn answer_json(answer: &zwhy_diagnose::Answer) -> serde_json::Result<String> {
    serde_json::to_string_pretty(answer).map(|s| s + "\n")
}
