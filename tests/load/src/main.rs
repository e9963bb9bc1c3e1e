//! Puts one kind of load on a file or folder for some seconds: the part of a test that makes ZFS work.
//!
//!     zwhy-load write|read FILE [KEY=VALUE…]     zwhy-load files FOLDER [KEY=VALUE…]
//!     zwhy-load hold|compute [KEY=VALUE…]        memory that is held, a CPU that computes; no file
//!     zwhy-load remedy ANSWER.json run|undo      runs what an answer of zwhy says
//!
//! Sizes are in bytes with K, M or G. It repeats until `seconds` are over (0: one pass), so a load
//! lasts as long as the recording beside it, however slow the machine. With `pause=20` it rests for
//! 20 ms after each access.

mod alone;
mod count;
mod data;
mod files;
mod remedy;
mod settings;
mod stream;

use rustix::process::setpriority_process;
use settings::Settings;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.as_slice() {
        [mode, path, rest @ ..] if mode == "remedy" => remedy::run(path, rest),
        [mode, rest @ ..] if mode == "hold" => Settings::parse(rest)
            .and_then(|settings| alone::hold(&settings).map_err(|e| format!("holding: {e}"))),
        [mode, rest @ ..] if mode == "compute" => Settings::parse(rest)
            .and_then(|settings| alone::compute(&settings).map_err(|e| format!("computing: {e}"))),
        [mode, path, rest @ ..] => Settings::parse(rest).and_then(|settings| match mode.as_str() {
            _ if settings.nice != 0 && setpriority_process(None, settings.nice).is_err() => {
                Err(format!("cannot take the nice value {}", settings.nice))
            }
            "write" => stream::write(path.as_ref(), &settings).map_err(|e| format!("writing {path}: {e}")),
            "read" => stream::read(path.as_ref(), &settings).map_err(|e| format!("reading {path}: {e}")),
            "files" => files::run(path.as_ref(), &settings).map_err(|e| format!("files in {path}: {e}")),
            _ => Err(format!("no mode {mode}; there are write, read and files")),
        }),
        _ => Err("usage: zwhy-load write|read|files PATH [KEY=VALUE…]".to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(what) => {
            #[allow(clippy::print_stderr)]
            {
                eprintln!("zwhy-load: {what}");
            }
            ExitCode::FAILURE
        }
    }
}
