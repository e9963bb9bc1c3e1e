//! What the runs come to: the answer in a sentence, the expected signature, two experiments compared.

mod answer;
mod break_even;
mod checks;
mod compare;
mod enough;
mod functions;
mod grows;
mod limit;
mod offload;
mod outcomes;
mod predict;
mod providers;
mod saved;
mod surfaces;
mod table;

pub use answer::{answer, number, range};
pub use checks::{CheckResult, Outcome, check};
pub use compare::{Compared, compare};
pub use enough::enough;
pub use functions::functions_grow;
pub use grows::grows;
pub use offload::offload;
pub use predict::predict;
pub use saved::saved;
pub use surfaces::{surface_law, surface_line, surfaces};
pub use table::{growth_line, table, trust};
