//! Real OpenZFS through the engine `user`, whole and broken. Needs libzpool; `make setup` installs it.
//!
//! The program is its own child: called with [`harness::CHILD`] it is the process that runs OpenZFS,
//! with [`harness::PARENT`] one that is killed while such a child runs.

mod broken;
mod files;
mod harness;
mod idle;
mod offload;
mod offload_model;
mod offload_results;
mod offload_stays;
mod signatures;
mod whole;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some(harness::CHILD) => ExitCode::from(zwhy_lab::child_main() as u8),
        Some(harness::PARENT) => broken::parent_to_be_killed(args[1].as_ref()),
        _ => harness::main(
            &args,
            &[
                whole::TESTS,
                signatures::TESTS,
                offload::TESTS,
                offload_model::TESTS,
                offload_results::TESTS,
                offload_stays::TESTS,
                idle::TESTS,
                broken::TESTS,
                files::TESTS,
            ]
            .concat(),
        ),
    }
}
