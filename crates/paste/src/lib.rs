//! Text that people paste: blocks of tools' output between sentences, read into evidence.
//!
//! Most tools are data, one file each in `knowledge/tools/`, which [`tool`] reads; what no list of columns
//! or lines describes is code in `readers`. Importers add the recognisers of stacks.
//!
//! Invariants: every line is kept or dropped with a reason; the text is hostile: no panic, time linear in
//! its length; no clock, no network.

pub mod blocks;
pub mod cells;
mod readers;
mod report_lines;
mod subject;
pub mod text;
pub mod tool;
pub mod words;

pub use readers::Ranked;
pub use subject::{speaks_of_other_storage, speaks_of_zfs};
pub use tool::Tools;

use blocks::Block;

/// The readers of all tools and `more` of the caller, those of a lower rank first.
pub fn ranked<'t>(tools: &'t Tools, more: &[(u16, &'t dyn Block)]) -> Vec<&'t dyn Block> {
    let of_tools = tools.blocks.iter().map(|b| (b.rank, b as &dyn Block));
    let code = readers::READERS.iter().map(|(rank, block)| (*rank, *block as &dyn Block));
    let mut all: Vec<(u16, &dyn Block)> = more.iter().copied().chain(code).chain(of_tools).collect();
    all.sort_by_key(|(rank, _)| *rank);
    all.into_iter().map(|(_, block)| block).collect()
}
