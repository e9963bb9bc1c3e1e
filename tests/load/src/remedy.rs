//! Runs the commands of the first finding of an answer, as a person would paste them into a shell.
//!
//!     zwhy-load remedy ANSWER.json run|undo [choice=N] [WORD=VALUE…]
//!
//! A word in capitals that the person has to replace is replaced by VALUE.

use serde_json::Value;
use std::process::Command;

/// # Errors
/// A sentence: the answer has no such commands, or which one failed and how.
pub fn run(file: &str, words: &[String]) -> Result<(), String> {
    let (what, settings) = words.split_first().ok_or("remedy: say run or undo")?;
    let key = match what.as_str() {
        "run" => "commands",
        "undo" => "undo",
        other => return Err(format!("remedy: {other} is neither run nor undo")),
    };
    let text = std::fs::read_to_string(file).map_err(|e| format!("reading {file}: {e}"))?;
    let answer: Value = serde_json::from_str(&text).map_err(|e| format!("{file}: {e}"))?;
    let mut remedy = &answer["findings"][0]["remedy"];
    let settings: Vec<(&str, &str)> = settings.iter().filter_map(|s| s.split_once('=')).collect();
    if let Some((_, number)) = settings.iter().find(|(name, _)| *name == "choice") {
        let at: usize = number.parse().map_err(|_| format!("remedy: choice={number} is no number"))?;
        remedy = &remedy["choices"][at.wrapping_sub(1)];
    }
    let commands: Vec<&str> =
        remedy[key].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if commands.is_empty() {
        return Err(format!("{file}: the first finding has no {key}"));
    }
    commands.into_iter().try_for_each(|command| shell(command, &settings))
}

fn shell(command: &str, settings: &[(&str, &str)]) -> Result<(), String> {
    let command = settings.iter().fold(command.to_owned(), |text, (word, value)| text.replace(word, value));
    #[allow(clippy::print_stdout)]
    {
        println!("$ {command}");
    }
    let status = Command::new("sh").args(["-c", &command]).status().map_err(|e| format!("sh: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{command}`: {status}")) }
}
