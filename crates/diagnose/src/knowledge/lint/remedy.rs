//! Checks of remedies: every command is one that OpenZFS 2.1 or 2.3 knows, and can be taken back.

use crate::facts::Requirement;
use crate::knowledge::commands::{Release, releases};
use crate::knowledge::shell::simple_commands;
use crate::knowledge::{Cause, Change, Remedy};
use crate::remedy::is_derived;
use serde::Deserialize;
use std::sync::LazyLock;

/// Words of command lines.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Words<'a> {
    #[serde(borrow)]
    known: Vec<&'a str>,
    before: Vec<&'a str>,
    looks: Vec<&'a str>,
    changes: Vec<&'a str>,
}

/// Where they could not be read lint would know no command.
static WORDS: LazyLock<Words> = LazyLock::new(|| {
    toml::from_str(include_str!("../../../knowledge/commands/shell.toml")).unwrap_or_default()
});

pub(super) fn lint(cause: &Cause, say: &mut impl FnMut(String)) {
    let remedy = &cause.remedy;
    for change in remedy.changes() {
        way_back(change, remedy, say);
        for command in change.commands.iter().chain(&change.undo) {
            known(command, change.zfs.as_ref(), say);
        }
    }
    for command in &remedy.look {
        changes_nothing(command, say);
        // A look at what a release does not have shows that: only what no release has is wrong.
        known_by_some(command, say);
    }
}

/// Every change can be taken back: by commands, by what was recorded, or a note says why not.
fn way_back(change: &Change, remedy: &Remedy, say: &mut impl FnMut(String)) {
    // What is dropped from memory is read again when it is needed.
    let derived = change.commands.iter().all(|c| is_derived(c) || c.ends_with("> /proc/sys/vm/drop_caches"));
    if change.undo.is_empty() && !derived && remedy.undo_note.trim().is_empty() {
        say(format!("remedy: nothing takes back `{}`: give undo or undo_note", change.commands.join("; ")));
    }
}

/// Each release that the commands are for knows them.
fn known(command: &str, zfs: Option<&Requirement>, say: &mut impl FnMut(String)) {
    for words in simple_commands(command) {
        let words = own_words(&words);
        if let Some(what) = misplaced(words) {
            say(format!("remedy: `{command}`: {what}"));
        }
        let wanted =
            releases().iter().filter(|r| zfs.is_none_or(|zfs| zfs.holds(&r.series_end()) != Some(false)));
        for release in wanted {
            if let Some(what) = release.unknown(words) {
                say(format!(
                    "remedy: `{command}`: {what} in OpenZFS {}: correct it, or say with zfs = \"…\" which releases have it",
                    release.series
                ));
            }
        }
    }
}

fn changes_nothing(command: &str, say: &mut impl FnMut(String)) {
    for words in simple_commands(command) {
        let words = own_words(&words);
        let Some((program, rest)) = words.split_first() else { continue };
        let of_zfs = matches!(program.as_str(), "zfs" | "zpool");
        // `zfs mount` by itself lists what is mounted.
        let looks =
            |verb: &String| WORDS.looks.contains(&verb.as_str()) && (verb != "mount" || rest.len() == 1);
        let verb = of_zfs && !rest.first().is_some_and(looks);
        let writes = words.iter().any(|w| w == ">" || w == ">>");
        if verb || writes || WORDS.changes.contains(&program.as_str()) {
            say(format!("remedy: look: `{command}` changes something"));
        }
    }
}

fn known_by_some(command: &str, say: &mut impl FnMut(String)) {
    for words in simple_commands(command) {
        let words = own_words(&words);
        if let Some(what) = misplaced(words) {
            say(format!("remedy: `{command}`: {what}"));
        }
        let unknown = |release: &Release| release.unknown(words);
        if let Some(what) = releases().iter().map(unknown).reduce(|a, b| a.and(b)).flatten() {
            say(format!("remedy: `{command}`: {what}"));
        }
    }
}

/// Without what stands before the command itself.
fn own_words(words: &[String]) -> &[String] {
    let mut words = words;
    while let Some((first, rest)) = words.split_first() {
        let assignment =
            first.split_once('=').is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_lowercase()));
        if !WORDS.before.contains(&first.as_str()) && !assignment {
            break;
        }
        words = rest;
        // Options of xargs and their figures.
        while words
            .first()
            .is_some_and(|w| first == "xargs" && (w.starts_with('-') || w.parse::<u32>().is_ok()))
        {
            words = &words[1..];
        }
    }
    words
}

fn misplaced(words: &[String]) -> Option<String> {
    let program = words.first()?;
    let known = matches!(program.as_str(), "zfs" | "zpool") || WORDS.known.contains(&program.as_str());
    (!known && !program.starts_with('{')).then(|| format!("`{program}` is no command that lint knows"))
}
