//! The program as people call it: one file a concern, all in one binary to link once.
//!
//! What needs root, a terminal tool or a file that is not here says so and is skipped.

mod after;
mod agent;
mod agent_prometheus;
mod bad_input;
mod both;
mod burner;
mod collect;
mod count;
mod docs;
mod doctor;
mod inputs;
mod knowledge;
mod lab;
mod lab_ended;
mod lab_like;
mod lab_page;
mod lab_unsampled;
mod lab_vm;
mod limits;
mod manual;
mod notes;
mod output;
mod packages;
mod pages;
mod places;
mod published;
mod reading;
mod record;
mod record_ends;
mod round_trip;
mod share;
mod stages;
mod support;
mod terminal;
mod top;
mod usage;
mod view;
mod weights;
