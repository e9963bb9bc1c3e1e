//! Writes man pages and completions of the shells, made from the program's own definition:
//! `cargo run -p zwhy --example manual -- FOLDER`. The program itself carries none of it.

mod pages;

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        return failed("name the folder to write to");
    };
    match pages::write(&folder) {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => failed(&format!("cannot write to {}: {error}", folder.display())),
    }
}

fn failed(what: &str) -> ExitCode {
    use std::io::Write;
    // Without standard error there is nobody to tell.
    let _ = writeln!(std::io::stderr(), "error: {what}");
    ExitCode::FAILURE
}
