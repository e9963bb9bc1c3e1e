//! Flame graphs: the merged call tree, its columns for the viewer, and a static SVG.
//!
//! A tree holds one profile or two (a differential graph); nothing is pruned from the columns, and
//! what a static picture cannot show is counted in it.

mod block;
mod overview;
mod palette;
mod samples;
mod svg;
mod tree;

pub use block::encode_block;
pub use overview::encode_overview;
pub use palette::stage_colour;
pub use samples::encode_samples;
pub use svg::{SvgOptions, svg};
pub use tree::{FlameTree, Node, Roots, Side, Stages};
