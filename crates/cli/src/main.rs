//! The program `zwhy`; all of it is in the library beside, which man pages and completions are made from.

fn main() -> std::process::ExitCode {
    zwhy_cli::run()
}
