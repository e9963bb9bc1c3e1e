//! One file a command: parse its arguments, call a library, show the result.

pub mod agent;
pub mod ask;
pub mod collect;
pub mod count;
pub mod diff;
pub mod doctor;
pub mod explain;
pub mod export;
pub mod flame;
pub mod help;
pub mod import;
pub mod knowledge;
pub mod lab;
pub mod limits;
pub mod record;
pub mod report;
pub mod share;
pub mod top;
pub mod top_functions;
pub mod view;
