//! Texts with places for values: `{1}`, `{name}`; and regular expressions that are built when first used.

use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;
use std::borrow::Cow;
use std::sync::OnceLock;

/// A regular expression over one line. Building one costs more than reading a short paste, so those of
/// the embedded files, which tests have built, are built when they are first needed.
#[derive(Debug, Deserialize)]
#[serde(from = "String")]
pub struct Pattern {
    pub text: String,
    built: OnceLock<Option<Regex>>,
}

impl From<String> for Pattern {
    fn from(text: String) -> Pattern {
        Pattern { text, built: OnceLock::new() }
    }
}

impl Pattern {
    /// # Errors
    /// What is wrong with the expression.
    pub fn check(&self) -> Result<(), String> {
        self.build().map(drop).map_err(|e| format!("pattern `{}`: {e}", self.text))
    }

    fn build(&self) -> Result<Regex, String> {
        const MOST_BYTES: usize = 1 << 20;
        // Bytes and ASCII classes: a tenth of the size of Unicode ones.
        RegexBuilder::new(&self.text)
            .unicode(false)
            .size_limit(MOST_BYTES)
            .build()
            .map_err(|e| e.to_string().lines().last().unwrap_or("not valid").trim().to_owned())
    }

    fn regex(&self) -> Option<&Regex> {
        self.built.get_or_init(|| self.build().ok()).as_ref()
    }

    pub fn matches(&self, text: &str) -> bool {
        self.regex().is_some_and(|r| r.is_match(text.as_bytes()))
    }

    /// Number of groups.
    pub fn groups(&self) -> usize {
        self.regex().map_or(0, |r| r.captures_len() - 1)
    }

    /// The texts of all groups and the end of the match; a group that took no part is empty.
    pub fn captures(&self, text: &str) -> Option<(Vec<String>, usize)> {
        let found = self.regex()?.captures(text.as_bytes())?;
        let group = |i| {
            found.get(i).map_or_else(String::new, |m: regex::bytes::Match| {
                String::from_utf8_lossy(m.as_bytes()).into_owned()
            })
        };
        Some(((1..found.len()).map(group).collect(), found.get(0)?.end()))
    }

    /// All matches one after the other.
    pub fn all(&self, text: &str) -> Vec<Vec<String>> {
        let Some(regex) = self.regex() else { return Vec::new() };
        const MOST: usize = 200;
        let groups = |found: regex::bytes::Captures| {
            let text = |m: regex::bytes::Match| String::from_utf8_lossy(m.as_bytes()).into_owned();
            (1..found.len()).map(|i| found.get(i).map_or_else(String::new, text)).collect()
        };
        regex.captures_iter(text.as_bytes()).take(MOST).map(groups).collect()
    }
}

/// Values by name (`section`, a heading, `pool`: the pool of the command, with a slash) or by number (groups).
#[derive(Clone, Copy)]
pub struct Values<'a> {
    pub names: &'a [String],
    pub cells: &'a [String],
    pub section: &'a str,
    /// The last command line.
    pub command: &'a str,
}

impl Values<'_> {
    pub fn get(&self, name: &str) -> Option<Cow<'_, str>> {
        if let Ok(number) = name.parse::<usize>() {
            return self.cells.get(number.checked_sub(1)?).map(|c| Cow::Borrowed(c.as_str()));
        }
        match name {
            "section" => return Some(Cow::Borrowed(self.section)),
            "pool" => {
                return Some(
                    pool_of(self.command).map_or(Cow::Borrowed(""), |p| Cow::Owned(format!("{p}/"))),
                );
            }
            _ => {}
        }
        let at = self.names.iter().position(|n| n == name)?;
        self.cells.get(at).map(|c| Cow::Borrowed(c.as_str()))
    }
}

/// The pool of a kstat file in a command: `cat /proc/spl/kstat/zfs/tank/txgs`.
fn pool_of(command: &str) -> Option<&str> {
    let (_, path) = command.split_once("/proc/spl/kstat/zfs/")?;
    let (pool, _) = path.split([' ', '|', ';', '>']).next()?.split_once('/')?;
    (!pool.is_empty() && pool != "*").then_some(pool)
}

/// A text whose places are filled with values.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "String")]
pub struct Template {
    pub text: String,
    parts: Vec<Part>,
}

#[derive(Debug)]
enum Part {
    Text(String),
    Place(String),
}

impl From<String> for Template {
    fn from(text: String) -> Template {
        let (mut parts, mut rest) = (Vec::new(), text.as_str());
        while let Some((before, after)) = rest.split_once('{') {
            let Some((place, next)) = after.split_once('}') else { break };
            if !before.is_empty() {
                parts.push(Part::Text(before.to_owned()));
            }
            parts.push(Part::Place(place.to_owned()));
            rest = next;
        }
        if !rest.is_empty() {
            parts.push(Part::Text(rest.to_owned()));
        }
        Template { text, parts }
    }
}

impl Template {
    /// # Errors
    /// When a brace is left open.
    pub fn check(&self) -> Result<(), String> {
        let open = self.text.rsplit('}').next().is_some_and(|rest| rest.contains('{'));
        if open { Err(format!("`{}` has an open brace", self.text)) } else { Ok(()) }
    }

    /// Names and numbers of its places.
    pub fn places(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Place(name) => Some(name.as_str()),
            Part::Text(_) => None,
        })
    }

    /// The text with a star at each place.
    pub fn with_stars(&self) -> String {
        let part = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Place(_) => "*".to_owned(),
        };
        self.parts.iter().map(part).collect()
    }

    /// The text; `None` when a value is not there.
    pub fn fill(&self, values: &Values) -> Option<String> {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Place(name) => out.push_str(&values.get(name)?),
            }
        }
        Some(out)
    }
}

/// Works out `1073741824 / 4.0 / 1e6` and `12.5 + 80.1` from left to right.
pub fn calculate(text: &str) -> Option<f64> {
    let mut words = text.split_whitespace();
    let number = |word: &str| crate::text::numbers::decimal(word).or_else(|| word.parse().ok());
    let mut value = number(words.next()?)?;
    while let Some(sign) = words.next() {
        let by = number(words.next()?)?;
        value = match sign {
            "*" => value * by,
            "/" if by != 0.0 => value / by,
            "+" => value + by,
            _ => return None,
        };
    }
    value.is_finite().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_filled_by_name_and_number() {
        let (names, cells) = (["a b".to_owned()], ["x".to_owned()]);
        let values = Values {
            names: &names,
            cells: &cells,
            section: "S",
            command: "cat /proc/spl/kstat/zfs/tank/txgs | head",
        };
        let template = |text: &str| Template::from(text.to_owned());
        let fill = |text: &str| template(text).fill(&values);
        assert_eq!(fill("{1}-{a b}-{section}-{pool}").as_deref(), Some("x-x-S-tank/"));
        assert_eq!((fill("{2}"), fill("{c}"), fill("{0}")), (None, None, None));
        assert!(template("{a").check().is_err() && template("{a} b").check().is_ok());
        assert_eq!((calculate("8 / 2 * 3"), calculate("1.5 + 2")), (Some(12.0), Some(3.5)));
        assert_eq!((calculate("8 / 0"), calculate("x"), calculate("8 +")), (None, None, None));
    }
}
