//! The causes as a book: one Markdown page each, in chapters, for mdBook or a forge's own viewer.
//!
//! Generated from the same files that the diagnosis reads, so the two never disagree.

use crate::escape::markdown_text as text;
use serde::Deserialize;
use std::fmt::Write;
use std::sync::LazyLock;
use zwhy_diagnose::{Cause, IfFalse, Knowledge, Sign, Weight};

/// One file of the book, by its path below the book's folder.
pub struct GuidePage {
    pub path: String,
    pub text: String,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Chapters<'a> {
    #[serde(borrow)]
    chapters: Vec<Chapter<'a>>,
}

/// A chapter, and how the classes in it begin.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Chapter<'a> {
    title: &'a str,
    classes: Vec<&'a str>,
}

/// Where they could not be read all causes would stand in the last chapter.
static CHAPTERS: LazyLock<Vec<Chapter>> = LazyLock::new(|| {
    let read: Result<Chapters, _> = toml::from_str(include_str!("../chapters.toml"));
    read.unwrap_or_default().chapters
});
const OTHERS: &str = "Others";

/// The whole book: `book.toml`, a summary by chapter, an index of what people see, a page a cause.
pub fn field_guide(knowledge: &Knowledge) -> Vec<GuidePage> {
    let page = |path: &str, text: String| GuidePage { path: path.to_owned(), text };
    let mut pages = vec![
        page("book.toml", BOOK.to_owned()),
        page("src/SUMMARY.md", summary(knowledge)),
        page("src/README.md", introduction(knowledge)),
    ];
    for cause in &knowledge.causes {
        pages.push(page(&format!("src/{}.md", cause.class), cause_page(cause, knowledge)));
    }
    pages
}

const BOOK: &str = "[book]\ntitle = \"The field guide of ZFS performance\"\nlanguage = \"en\"\n\n\
                    [output.html]\nno-section-label = true\n";

/// Chapters with the causes in them; a chapter without causes is left out.
fn chapters(knowledge: &Knowledge) -> Vec<(&'static str, Vec<&Cause>)> {
    let chapter_of = |class: &str| {
        let found = CHAPTERS.iter().find(|c| c.classes.iter().any(|begin| class.starts_with(begin)));
        found.map_or(OTHERS, |chapter| chapter.title)
    };
    let titles = CHAPTERS.iter().map(|chapter| chapter.title).chain([OTHERS]);
    titles
        .map(|title| (title, knowledge.causes.iter().filter(|c| chapter_of(&c.class) == title).collect()))
        .filter(|(_, causes): &(_, Vec<&Cause>)| !causes.is_empty())
        .collect()
}

fn summary(knowledge: &Knowledge) -> String {
    let mut out = String::from("# Summary\n\n[The field guide of ZFS performance](README.md)\n");
    for (title, causes) in chapters(knowledge) {
        let _ = writeln!(out, "\n# {title}\n");
        for cause in causes {
            let _ = writeln!(out, "- [{}]({}.md)", text(&cause.title), cause.class);
        }
    }
    out
}

fn introduction(knowledge: &Knowledge) -> String {
    let mut out = format!(
        "# The field guide of ZFS performance\n\n\
         {} causes of performance problems with OpenZFS: how each shows, what looks like it, what \
         to do and how to undo it. These pages are generated from `knowledge/causes` by \
         `zwhy knowledge book`; `zwhy explain` weighs the same signs on a recording.\n\n\
         A sign is a condition on evidence, in the expression language that `knowledge/README.md` \
         describes. Its weight says how much it speaks for the cause:\n\n\
         - **decisive**: almost only this cause looks so\n\
         - **strong**: few others look so\n\
         - **moderate**: fits this cause, and some others\n\
         - **weak**: makes it a little likelier\n",
        knowledge.causes.len()
    );
    for (title, causes) in chapters(knowledge) {
        let _ = writeln!(out, "\n## {title}\n\n| cause | affects |\n|---|---|");
        for cause in causes {
            let affected = prose(&one_line(&cause.affected));
            let _ = writeln!(out, "| [{}]({}.md) | {affected} |", text(&cause.title), cause.class);
        }
    }
    out
}

fn cause_page(cause: &Cause, knowledge: &Knowledge) -> String {
    let mut out = format!("# {}\n\n`{}`\n\n", text(&cause.title), cause.class);
    let _ = writeln!(out, "{}\n", prose(&general(&one_line(&cause.explanation))));
    signs(&mut out, cause);
    look_alikes(&mut out, cause, knowledge);
    explains(&mut out, cause, knowledge);
    remedy(&mut out, cause);
    let _ = writeln!(out, "## Versions\n\n{}", prose(&one_line(&cause.affected)));
    if let Some(version) = &cause.fixed_in {
        let _ = writeln!(out, "\nFixed in {}.", text(version));
    }
    if let Some(experiment) = &cause.experiment {
        let _ = writeln!(out, "\n## Proof\n\n```sh\nzwhy lab run {experiment}\n```");
    }
    if !cause.references.is_empty() {
        out.push_str("\n## References\n\n");
        for reference in &cause.references {
            let is_address = reference.starts_with("https://");
            let address = || format!("<{}>", reference.replace(['<', '>'], ""));
            let _ = writeln!(out, "- {}", if is_address { address() } else { text(reference) });
        }
    }
    out
}

fn signs(out: &mut String, cause: &Cause) {
    out.push_str("## How it shows\n\n");
    for sign in &cause.signs {
        let weight = weight(sign.weight);
        let otherwise = match sign.if_false {
            IfFalse::Weakens => "",
            IfFalse::SaysNothing => "; its absence says nothing",
            IfFalse::RulesOut => "; its absence rules this cause out",
        };
        let of = of_each(sign);
        let _ = writeln!(out, "- {} ({weight}{of}{otherwise})<br>", prose(&general(&one_line(&sign.claim))));
        let _ = writeln!(out, "  `{}`", one_line(&sign.when.text));
        if !sign.ask.is_empty() {
            let _ = writeln!(out, "  <br>To see it: {}", prose(&general(&one_line(&sign.ask))));
        }
    }
    if !cause.against.is_empty() {
        out.push_str("\n## What speaks against it\n\n");
    }
    for sign in &cause.against {
        let claim = prose(&general(&one_line(&sign.claim)));
        let weight = format!("{}{}", weight(sign.weight), of_each(sign));
        let _ = writeln!(out, "- {claim} ({weight})<br>\n  `{}`", one_line(&sign.when.text));
    }
    out.push('\n');
}

/// What a sign is asked of, one at a time.
fn of_each(sign: &Sign) -> String {
    sign.each.map_or(String::new(), |scope| format!(", of one {}", scope.word()))
}

fn weight(weight: Weight) -> &'static str {
    match weight {
        Weight::Decisive => "decisive",
        Weight::Strong => "strong",
        Weight::Moderate => "moderate",
        Weight::Weak => "weak",
    }
}

fn link(class: &str, knowledge: &Knowledge) -> String {
    match knowledge.cause(class) {
        Some(other) => format!("[{}]({class}.md)", text(&other.title)),
        None => format!("`{class}`"),
    }
}

/// What holds beside this cause because of it, or as its general form.
fn explains(out: &mut String, cause: &Cause, knowledge: &Knowledge) {
    if cause.explains.is_empty() {
        return;
    }
    out.push_str("## What holds beside it\n\nIt follows from this cause or is its general form, so this cause is told first.\n\n");
    for class in &cause.explains {
        let _ = writeln!(out, "- {}", link(class, knowledge));
    }
    out.push('\n');
}

/// What this cause is mistaken for, and what is mistaken for it.
fn look_alikes(out: &mut String, cause: &Cause, knowledge: &Knowledge) {
    let link = |class: &str| link(class, knowledge);
    let others = knowledge.causes.iter().filter(|c| c.class != cause.class);
    let mentioned: Vec<&Cause> = others
        .filter(|c| c.look_alikes.iter().any(|l| l.class == cause.class))
        .filter(|c| cause.look_alikes.iter().all(|l| l.class != c.class))
        .collect();
    if cause.look_alikes.is_empty() && mentioned.is_empty() {
        return;
    }
    out.push_str("## What looks like it\n\n");
    for other in &cause.look_alikes {
        let _ = writeln!(out, "- {}: {}", link(&other.class), prose(&one_line(&other.tell)));
    }
    for other in mentioned {
        let _ = writeln!(out, "- {}", link(&other.class));
    }
    out.push('\n');
}

fn remedy(out: &mut String, cause: &Cause) {
    let remedy = zwhy_diagnose::general_remedy(cause);
    out.push_str("## Remedy\n\n");
    crate::remedy::markdown(out, &remedy);
    if let Some(rule) = &cause.gain {
        let _ =
            writeln!(out, "### Gain\n\n{}\n", prose(&general(&one_line(&zwhy_diagnose::gain_words(rule)))));
    }
}

/// The book has no host whose names could be filled in.
fn general(said: &str) -> String {
    said.replace("{dataset}", "DATASET").replace("{pool}", "POOL")
}

/// Prose of the knowledge: what stands in backticks is code, all else is no markup.
fn prose(said: &str) -> String {
    let parts = said.split('`').enumerate();
    parts.map(|(i, part)| if i % 2 == 0 { text(part) } else { format!("`{part}`") }).collect()
}

fn one_line(said: &str) -> String {
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_has_a_page_in_a_chapter_and_every_link_leads_somewhere() {
        let knowledge = Knowledge::embedded();
        let pages = field_guide(&knowledge);
        let paths: Vec<&str> = pages.iter().map(|p| p.path.as_str()).collect();
        for cause in &knowledge.causes {
            let path = format!("src/{}.md", cause.class);
            let page = pages.iter().find(|page| page.path == path).expect(&path);
            assert_eq!(page.text.contains("\n### Gain\n"), cause.gain.is_some(), "{path}");
        }
        for page in &pages {
            for target in page.text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
                assert!(paths.contains(&format!("src/{target}").as_str()), "{target} in {}", page.path);
            }
            assert!(!page.text.contains("{dataset}") && !page.text.contains("{pool}"), "{}", page.path);
        }
        let summary = &pages[1].text;
        assert!(!summary.contains(OTHERS), "every class that is built in has a chapter: {summary}");
    }
}
