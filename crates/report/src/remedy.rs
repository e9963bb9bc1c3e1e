//! The remedy of a finding on the terminal and in Markdown: look, do, choose, take back.

use crate::Style;
use crate::escape::plain;
use crate::layout::{INDENT, labelled, wrap_command};
use std::fmt::Write;
use zwhy_diagnose::{Cause, ChoiceAnswer, RemedyAnswer};

const LABEL: usize = 9;

/// Commands below the headline: those to run, or each choice with its commands.
pub(crate) fn short(remedy: &RemedyAnswer, style: Style) -> String {
    let mut out = commands(&remedy.commands, style);
    remedy.place.iter().for_each(|text| out.push_str(&labelled("", INDENT + 2, text, style.prose())));
    if remedy.commands.is_empty() {
        remedy.choices.iter().for_each(|choice| out.push_str(&one_choice(choice, INDENT, style)));
    }
    out
}

/// The remedy of a cause, without a host.
pub fn remedy_text(cause: &Cause, style: Style) -> String {
    whole(&zwhy_diagnose::general_remedy(cause), style)
}

/// All of it.
pub(crate) fn whole(remedy: &RemedyAnswer, style: Style) -> String {
    let mut out = labelled("Remedy", LABEL, &remedy.text, style.prose());
    out.push_str(&under("Look", &remedy.look, style));
    out.push_str(&under("Run", &remedy.commands, style));
    for choice in &remedy.choices {
        out.push_str(&labelled("Or", LABEL, &choice.text, style.prose()));
        out.push_str(&commands(&choice.commands, style));
        out.push_str(&under("  undo", &choice.undo, style));
    }
    remedy.place.iter().for_each(|text| out.push_str(&labelled("Where", LABEL, text, style.prose())));
    remedy.advice.iter().for_each(|text| out.push_str(&labelled("Also", LABEL, text, style.prose())));
    remedy.rewrite.iter().for_each(|text| out.push_str(&labelled("Old data", LABEL, text, style.prose())));
    out.push_str(&under("Undo", &remedy.undo, style));
    out.push_str(&labelled(
        if remedy.undo.is_empty() { "Undo" } else { "" },
        LABEL,
        &remedy.undo_note,
        style.prose(),
    ));
    out.push_str(&labelled("Risk", LABEL, &remedy.risk, style.prose()));
    out
}

/// The same as Markdown, for an issue or a chat.
pub(crate) fn markdown(out: &mut String, remedy: &RemedyAnswer) {
    let _ = writeln!(out, "{}\n", crate::escape::markdown_text(&remedy.text));
    titled(out, "To look first:", &remedy.look);
    titled(out, "To do:", &remedy.commands);
    for choice in &remedy.choices {
        let _ = writeln!(out, "Or: {}\n", crate::escape::markdown_text(&choice.text));
        block(out, &choice.commands);
        titled(out, "To undo that:", &choice.undo);
    }
    for text in remedy.place.iter().chain(&remedy.advice).chain(&remedy.rewrite) {
        let _ = writeln!(out, "{}\n", crate::escape::markdown_text(text));
    }
    titled(out, "To undo:", &remedy.undo);
    for (label, text) in [("Undo", &remedy.undo_note), ("Risk", &remedy.risk)] {
        if !text.is_empty() {
            let _ = writeln!(out, "{label}: {}\n", crate::escape::markdown_text(text));
        }
    }
}

fn one_choice(choice: &ChoiceAnswer, indent: usize, style: Style) -> String {
    labelled("", indent, &choice.text, style.prose()) + &commands(&choice.commands, style)
}

fn under(label: &str, list: &[String], style: Style) -> String {
    if list.is_empty() {
        return String::new();
    }
    format!("{label}\n{}", commands(list, style))
}

/// Commands, each line of a longer one on its own, indented as it is written.
fn commands(commands: &[String], style: Style) -> String {
    let mut out = String::new();
    for line in commands.iter().flat_map(|command| command.lines()) {
        let code = line.trim_start();
        let indent = INDENT + 2 + (line.len() - code.len());
        for piece in wrap_command(code, style.prose() - indent) {
            out.push_str(&" ".repeat(indent));
            out.push_str(&style.bold(&plain(&piece)));
            out.push('\n');
        }
    }
    out
}

fn titled(out: &mut String, title: &str, commands: &[String]) {
    if !commands.is_empty() {
        let _ = writeln!(out, "{title}\n");
        block(out, commands);
    }
}

fn block(out: &mut String, commands: &[String]) {
    if !commands.is_empty() {
        let lines = commands.iter().flat_map(|c| c.lines()).map(|line| plain(line).into_owned());
        let _ = writeln!(out, "```sh\n{}\n```\n", lines.collect::<Vec<_>>().join("\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_script_keep_their_indentation_when_they_are_wrapped() {
        let long = format!("if true; then\n  echo {}\nfi", "word ".repeat(20).trim_end());
        let shown = commands(&[long], Style::PLAIN);
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines.len() > 3 && lines.iter().all(|l| l.chars().count() <= 80), "{shown}");
        assert!(lines[0].starts_with("       if") && lines[1].starts_with("         echo"), "{shown}");
    }
}
