//! Runs an experiment without recording and prints its table: `lab NAME quick|full FOLDER [LIBZPOOL]`.

use std::io::Write;
use std::process::ExitCode;
use zwhy_lab::{
    ChildProgram, Experiment, LabError, NullRecorder, RunOptions, Silent, Size, child_main, run, table,
};

const CHILD: &str = "lab-child";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    if args.get(1).is_some_and(|arg| arg == CHILD) {
        return ExitCode::from(child_main() as u8);
    }
    let text = match experiment(&args) {
        Ok(text) => text,
        Err(error) => format!("error: {error}\n"),
    };
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn experiment(args: &[String]) -> Result<String, LabError> {
    let [_, name, size, folder, library @ ..] = args else {
        return Ok("usage: lab NAME quick|full FOLDER [LIBZPOOL]\n".into());
    };
    let mut options = RunOptions::new(folder, ChildProgram::this([CHILD]));
    options.size = if size == "quick" { Size::Quick } else { Size::Full };
    options.library = library.first().map(Into::into);
    options.command = args.to_vec();
    run(&Experiment::builtin(name)?, &options, &mut NullRecorder, &mut Silent).map(|result| table(&result))
}
