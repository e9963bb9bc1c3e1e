//! What a terminal shows of a model, and what its keys do: `state` (which moment, table, order and filter), `keys`,
//! `screen` (the whole), `head` and `panes` (its parts), `overlay` (help and answer), `flame` (the graph of the last seconds),
//! `latency` (how long requests of vdevs take).
//!
//! Pure: the model and the state go in, cells of a buffer come out; the terminal itself is the caller's.

mod flame;
mod head;
mod keys;
mod latency;
mod overlay;
mod panes;
mod screen;
mod state;

pub use keys::{Asked, Key};
pub use screen::draw;
pub use state::View;
