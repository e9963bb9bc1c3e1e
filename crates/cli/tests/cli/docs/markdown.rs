//! What the documentation tells a reader to type: commands in code blocks, in spans, and transcripts with their output.
//!
//! Found by rule in every Markdown file of the repository, so that a new page is checked without being listed.

use std::fs;
use std::path::{Path, PathBuf};

/// A page of the documentation.
pub struct Page {
    /// From the root of the repository.
    pub path: String,
    pub text: String,
}

/// A command as the documentation has it, and where.
#[derive(Clone, Debug)]
pub struct Typed {
    pub place: String,
    pub line: String,
}

/// A command after `$ `, and what the page says it prints.
#[derive(Debug)]
pub struct Transcript {
    pub place: String,
    pub line: String,
    /// Lines of the page that are its output, by number from 0.
    pub output: std::ops::Range<usize>,
}

pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// All pages but those that tests compare with, and those of other projects.
pub fn pages() -> Vec<Page> {
    let (root, mut pages) = (repository(), Vec::new());
    let mut todo = vec![root.clone()];
    while let Some(folder) = todo.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && !name.starts_with('.') {
                let foreign = ["target", "node_modules", "tests", "dist"].contains(&name.as_str());
                todo.extend((!foreign).then_some(path));
            } else if name.ends_with(".md") {
                let text = fs::read_to_string(&path).expect("a page");
                let path = path.strip_prefix(&root).expect("below the root").display().to_string();
                pages.push(Page { path, text });
            }
        }
    }
    pages.sort_by(|a, b| a.path.cmp(&b.path));
    pages
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    Prose,
    /// Between fences, in what may be a shell's language.
    Shell,
    /// Between fences, in another language.
    Other,
    /// Behind four spaces.
    Indented,
    /// The line of a fence.
    Fence,
}

impl Page {
    /// Where each line stands.
    fn places(&self) -> Vec<Place> {
        let (mut places, mut fenced, mut after_blank) = (Vec::new(), None, true);
        for line in self.text.lines() {
            let trimmed = line.trim_start();
            let place = match (fenced, trimmed.strip_prefix("```")) {
                (Some(_), Some(_)) => {
                    fenced = None;
                    Place::Fence
                }
                (None, Some(language)) => {
                    let shell = ["", "sh", "bash", "shell", "console"].contains(&language.trim());
                    fenced = Some(if shell { Place::Shell } else { Place::Other });
                    Place::Fence
                }
                (Some(place), None) => place,
                (None, None) if line.starts_with("    ") && after_blank => Place::Indented,
                (None, None) => Place::Prose,
            };
            // A block goes on behind an empty line in it; elsewhere four spaces continue a paragraph.
            after_blank = trimmed.is_empty() || place == Place::Indented;
            places.push(place);
        }
        places
    }

    /// Commands of a program in code blocks, a continued line as one. Where a block has prompts, the rest of it is output.
    pub fn typed(&self, program: &str) -> Vec<Typed> {
        let (mut found, mut open, mut prompted) = (Vec::<Typed>::new(), false, false);
        for ((number, line), place) in self.text.lines().enumerate().zip(self.places()) {
            let code = match place {
                Place::Shell => line,
                Place::Indented => &line[4..],
                _ => {
                    (open, prompted) = (false, false);
                    continue;
                }
            };
            let part = code.trim_end_matches('\\').trim_end();
            if open {
                let last = found.last_mut().expect("an open command");
                last.line = format!("{} {}", last.line, part.trim_start());
            } else {
                prompted |= code.starts_with("$ ");
                let line = command_of(program, part).filter(|_| !prompted || code.starts_with("$ "));
                let Some(line) = line else { continue };
                found.push(Typed { place: format!("{}:{}", self.path, number + 1), line: line.to_owned() });
            }
            open = code.ends_with('\\');
        }
        found
    }

    /// The same between backticks in prose and tables, also where a line break is within.
    pub fn spans(&self, program: &str) -> Vec<Typed> {
        let places = self.places();
        let prose = self.text.lines().zip(places).map(|(line, place)| match place {
            Place::Prose => line,
            _ => "",
        });
        let prose: Vec<&str> = prose.collect();
        let mut found = Vec::new();
        for paragraph in prose.join("\n").split("\n\n") {
            let spans = paragraph.split('`').skip(1).step_by(2);
            for span in spans.map(|s| s.replace('\n', " ").replace("\\|", "|")) {
                let line = span.split_whitespace().collect::<Vec<_>>().join(" ");
                // `zwhy itself: 0.1 CPU s` is of its output.
                let is_output = line.split(' ').nth(1).is_some_and(|word| word.ends_with(':'));
                if let Some(line) = command_of(program, &line).filter(|_| !is_output) {
                    found.push(Typed { place: self.path.clone(), line: line.to_owned() });
                }
            }
        }
        found
    }

    /// Blocks in which `$ ` stands before what is typed.
    pub fn transcripts(&self) -> Vec<Transcript> {
        let mut found = Vec::<Transcript>::new();
        let mut within = false;
        for ((number, line), place) in self.text.lines().enumerate().zip(self.places()) {
            if place != Place::Shell {
                within = false;
            } else if let Some(typed) = line.strip_prefix("$ ") {
                within = true;
                let place = format!("{}:{}", self.path, number + 1);
                found.push(Transcript { place, line: typed.to_owned(), output: number + 1..number + 1 });
            } else if within {
                found.last_mut().expect("its command").output.end = number + 1;
            }
        }
        found
    }

    /// Links to files of the repository, with the line of each.
    pub fn links(&self) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        for ((number, line), place) in self.text.lines().enumerate().zip(self.places()) {
            // What stands in a span of code is no link.
            let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
            for part in prose.split("](").skip(1).filter(|_| place == Place::Prose) {
                let target = part.split([')', ' ']).next().unwrap_or_default();
                if !target.contains("://") && !target.is_empty() {
                    found.push((number + 1, target.to_owned()));
                }
            }
        }
        found
    }

    /// Names by which a link reaches the headings of the page, as Markdown's readers make them.
    pub fn anchors(&self) -> Vec<String> {
        let lines = self.text.lines().zip(self.places());
        let headings = lines.filter(|(line, place)| *place == Place::Prose && line.starts_with('#'));
        let anchor = |(line, _): (&str, Place)| {
            let kept = line.trim_start_matches('#').trim().to_lowercase();
            let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            kept.map(|c| if c == ' ' { '-' } else { c }).collect()
        };
        headings.map(anchor).collect()
    }
}

/// The command of a program in a line, without prompt, variables set for it, and `sudo`.
fn command_of<'a>(program: &str, code: &'a str) -> Option<&'a str> {
    let mut line = code.strip_prefix("$ ").or_else(|| code.strip_prefix("# ")).unwrap_or(code);
    while let Some((word, rest)) = line.split_once(' ') {
        let name = word.split_once('=').map(|(name, _)| name);
        let is_set =
            name.is_some_and(|n| !n.is_empty() && n.chars().all(|c| c.is_ascii_uppercase() || c == '_'));
        if !is_set && word != "sudo" {
            break;
        }
        line = rest;
    }
    line.strip_prefix(program)?.starts_with(' ').then_some(line)
}

#[test]
fn commands_are_found_wherever_they_are_written() {
    let text = "\
zwhy is prose.

    zwhy explain a.zwhy    # a block

Words `zwhy record
-a` and `zwhy itself: 1 s` and `ls \\| wc`, | `zwhy top \\| cat` |.

```
$ zwhy doctor
zwhy said this
  zwhy below
$ A_B=1 sudo zwhy lab \\
    list
```
```toml
zwhy = 1
```
- a list
    zwhy goes on
";
    let page = Page { path: "x.md".to_owned(), text: text.to_owned() };
    let lines = |typed: Vec<Typed>| typed.into_iter().map(|t| t.line).collect::<Vec<_>>();
    assert_eq!(
        lines(page.typed("zwhy")),
        ["zwhy explain a.zwhy    # a block", "zwhy doctor", "zwhy lab list"]
    );
    assert_eq!(lines(page.spans("zwhy")), ["zwhy record -a", "zwhy top | cat"]);
    let transcripts = page.transcripts();
    assert_eq!(transcripts.iter().map(|t| t.output.clone()).collect::<Vec<_>>(), [9..11, 12..13]);
}
