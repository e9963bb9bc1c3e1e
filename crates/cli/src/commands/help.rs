//! `zwhy help`: a command, or a topic that people search for.

use crate::failure::usage;
use crate::output;
use crate::topics;
use anyhow::Result;

#[derive(clap::Args, Debug)]
pub struct Args {
    /// A command such as `lab run`, or a topic; without it both are listed.
    #[arg(value_name = "COMMAND|TOPIC")]
    words: Vec<String>,
}

/// A topic comes before a command of the same name, and says how to see the command's options.
pub fn run(args: &Args) -> Result<()> {
    if let [name] = &args.words[..]
        && let Some(text) = topics::text(name)
    {
        return output::print(&text);
    }
    let program = crate::definition();
    let mut command = &program;
    for word in &args.words {
        command = command.find_subcommand(word).ok_or_else(|| unknown(word))?;
    }
    let name = program.get_name().to_owned();
    let call = [name].into_iter().chain(args.words.iter().cloned()).chain(["--help".to_owned()]);
    // Help is what parsing ends with here.
    crate::definition().try_get_matches_from(call).err().map_or(Ok(()), |help| Ok(help.print()?))
}

fn unknown(word: &str) -> anyhow::Error {
    let names: Vec<&str> = topics::topics().iter().map(|t| t.name).collect();
    usage(format!(
        "`{word}` is no command and no topic; `zwhy help` lists the commands, the topics are {}",
        names.join(", ")
    ))
}
