//! Statements of sentences that somebody broke at the margin: each is read as one, with the line in which it begins.
//!
//! Invariant: every line is still offered to all other readers, and each word is looked at once: what a statement took of a
//! later line is remembered and not read again there.

use crate::blocks::Line;

/// Where the statement that was read last ends, and whether it told anything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Statement {
    /// Number of the line; 0 before any.
    pub ends_in: usize,
    pub told: bool,
}

/// The statements that begin in a line.
#[derive(Debug)]
pub struct Statements {
    pub text: String,
    /// Lines over which they go.
    pub lines: usize,
    /// Number of the line in which the last of them ends.
    pub ends_in: usize,
}

impl Statements {
    /// Those that begin in the first line; `begun` where the line's own begin belongs to one of a line before.
    pub fn of(lines: &[Line], begun: bool) -> Statements {
        const MOST_LINES: usize = 12;
        let Some(first) = lines.first() else {
            return Statements { text: String::new(), lines: 0, ends_in: 0 };
        };
        let own = first.text.trim_end();
        let own = if begun { &own[end(own).unwrap_or(own.len())..] } else { own };
        let mut all = Statements { text: own.to_owned(), lines: 1, ends_in: first.number };
        if own.trim().is_empty() || own.ends_with(['.', '!', '?', ';', ':']) {
            return all;
        }
        for pair in lines.windows(2).take(MOST_LINES - 1) {
            if !goes_on(&pair[0].text, &pair[1].text) {
                break;
            }
            let next = pair[1].text.trim_end();
            let end = end(next);
            all.text.push('\n');
            all.text.push_str(&next[..end.unwrap_or(next.len())]);
            all.lines += 1;
            // A line without an end is read as a whole.
            all.ends_in = pair[1].number + usize::from(end.is_none());
            if end.is_some() {
                break;
            }
        }
        all
    }
}

/// Behind the first end of a statement in a line.
fn end(text: &str) -> Option<usize> {
    let within =
        text.find(['!', ';']).map(|at| at + 1).into_iter().chain(text.find(". ").map(|at| at + 2)).min();
    within.or_else(|| text.ends_with('.').then_some(text.len()))
}

/// Whether a sentence goes on from one line to the next.
fn goes_on(line: &str, next: &str) -> bool {
    const MARGIN: usize = 50;
    let (line, next) = (line.trim_end(), next.trim_end());
    line.chars().count() >= MARGIN
        && !line.ends_with(['.', ':', '?', '!', ';'])
        && is_sentence(line)
        && is_sentence(next)
}

/// Words as in a sentence; no row of a table, no command, no item of a list.
fn is_sentence(text: &str) -> bool {
    const FEWEST_WORDS: usize = 3;
    let marked = text.starts_with(['#', '$', '>', '|', '-', '*', '+', '[', ' ', '\t']);
    if marked || text.contains("  ") {
        return false;
    }
    let plain = |c: char| c.is_alphabetic() || matches!(c, '-' | '\'' | '/' | '_' | '(' | ')' | ',');
    let (mut words, mut spoken) = (0, 0);
    for word in text.split(' ') {
        let word = word.trim_matches(|c: char| c.is_ascii_punctuation() && !matches!(c, '%' | '_'));
        if !word.is_empty() && !word.ends_with('%') {
            words += 1;
            spoken += usize::from(word.chars().all(plain));
        }
    }
    words >= FEWEST_WORDS && spoken * 10 >= words * 6
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of each line: its statements, and what the reader goes on with.
    fn read(text: &str) -> Vec<String> {
        let lines: Vec<Line> =
            text.lines().enumerate().map(|(i, t)| Line { number: i + 1, text: t.into() }).collect();
        let mut before = Statement::default();
        let mut all = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            if line.number < before.ends_in {
                continue;
            }
            let of = Statements::of(&lines[at..], line.number == before.ends_in);
            before.ends_in = of.ends_in;
            all.push(of.text);
        }
        all
    }

    #[test]
    fn a_statement_is_read_with_the_line_in_which_it_begins() {
        let text = "The pool is slow since the upgrade and in perf top I see that\n\
            osq_lock takes 40 % of the time of all the programs that are writing. It is\n\
            busy all day with that. The end of it.\nAnother line";
        assert_eq!(
            read(text),
            [
                "The pool is slow since the upgrade and in perf top I see that\nosq_lock takes 40 % of the time of all the programs that are writing. ",
                "It is\nbusy all day with that. ",
                "The end of it.",
                "Another line",
            ]
        );
    }

    #[test]
    fn other_lines_are_not_sentences_that_go_on() {
        for text in [
            "A short line\nand another one that goes on",
            "The output of the command that I ran on the host in question\n$ zpool list of my pool",
            "The table of what the pool of this host has said to me here\ntank  10T  4T  6T  -  40 %",
            "The figures that I saw on this host when it was as slow as that\n12 44 91 10 4",
        ] {
            assert_eq!(read(text), text.lines().collect::<Vec<_>>(), "{text}");
        }
    }
}
